"""What goes wrong between Myriad and an API server: one clear line each, and back by itself."""
import http.server
import json
import signal
import subprocess
import threading
import time

from lab import LIMIT_S, Scheduler, bound, say


def rights(lab, myriad, nodes):
    """RBAC: a verb that is forbidden is one clear line, and it goes on when it is allowed."""
    role = lab.get("/apis/rbac.authorization.k8s.io/v1/clusterroles/myriad")
    path = "/apis/rbac.authorization.k8s.io/v1/clusterroles/myriad"
    less = [rule for rule in role["rules"] if rule["resources"] != ["pods/binding"]]
    lab.ask("PATCH", path, {"rules": less}, kind="application/merge-patch+json")
    scheduler = Scheduler(lab, myriad)
    lab.job("rights", 2)
    lines = scheduler.line('forbidden: .*cannot create resource "pods/binding"')
    assert len(lines) == 1 and "rbac.yaml" in lines[0], lines
    lab.ask("PATCH", path, {"rules": role["rules"]}, kind="application/merge-patch+json")
    bound(lab, "rights", 2)
    scheduler.end()
    lab.delete_job("rights")
    stranger = Scheduler(lab, myriad, "--alone",
                         kubeconfig=lab.kubeconfig("nobody", token="nobody-token"))
    stranger.line('forbidden: .*User "nobody" cannot list resource "nodes"')
    time.sleep(3)
    forbidden = [line for line in stranger.lines() if "forbidden" in line]
    assert len(forbidden) == 2, forbidden  # nodes and pods, once each
    stranger.end()
    say(f"rights: {lines[0][:140]}")


def wrong_credentials(lab, myriad, nodes):
    """A token that nobody has given: one line, and back when the file is mended."""
    wrong = Scheduler(lab, myriad, "--alone",
                      kubeconfig=lab.kubeconfig("wrong", token="no-such-token"))
    # /version may be asked by anybody, lists may not.
    line = wrong.line("not accepted .401")
    time.sleep(2)
    assert len([text for text in wrong.lines() if "401" in text]) == 1, wrong.lines()
    lab.kubeconfig("wrong", token="scheduler-token")  # mended in place
    wrong.line("well again")
    wrong.end()
    say(f"wrong token: {line[0]}; back when the file was mended")


def expired_certificates(lab, myriad, nodes):
    """A person's that has run out, and then a good one in the same file; then the API server's."""
    lab.certificate("old", "/O=system:masters/CN=person", "extendedKeyUsage=clientAuth\n", -1)
    path = lab.kubeconfig("person", certificate="old")
    person = Scheduler(lab, myriad, "--alone", kubeconfig=path)
    line = person.line("not accepted .401")
    lab.kubeconfig("person", certificate="person")
    person.line("well again")
    say(f"expired certificate of a person: {line[0]}; back when the file was mended")
    lab.job("papers", 2)
    bound(lab, "papers", 2)
    # The API server comes back with a certificate that has run out, then with a good one.
    lab.stop(lab.api)
    lab.serving(days=-1)
    lab.start_api()
    line = person.line("certificate has expired")
    lab.stop(lab.api)
    lab.serving()
    lab.start_api()
    lab.ready()
    person.line("well again")
    say(f"expired certificate: {line[0]}; back with a good one")
    person.end()
    lab.delete_job("papers")


def hangs(lab, myriad, nodes):
    """An API server that is stopped: one line, and back when it goes on."""
    quick = Scheduler(lab, myriad, "--timeout", "3", "--lease-seconds", "6")
    quick.line("holds the lease")
    lab.api.send_signal(signal.SIGSTOP)
    line = quick.line("no answer within 3 s")
    lab.api.send_signal(signal.SIGCONT)
    quick.line("well again")
    lab.job("after", 2)
    bound(lab, "after", 2)
    lab.delete_job("after")
    quick.end()
    say(f"hanging API server: {line[0]}; back when it went on")


def other_versions(lab, myriad, nodes):
    """Another major version, one that is too old, none (stand-ins, as there is one release here);
    and the real one without groups that are asked for."""
    without(lab, myriad)
    for body, expected in (('{"major": "2", "minor": "1", "gitVersion": "v2.1.0"}', "2.1"),
                           ('{"major": "1", "minor": "9", "gitVersion": "v1.9.0"}', "1.9"),
                           ("<html>hello</html>", "no version")):
        other = other_version(lab, body)
        odd = Scheduler(lab, myriad, "--alone", "--stop-after", "3", kubeconfig=lab.kubeconfig(
            "odd", token="x", url=f"http://127.0.0.1:{other.server_port}"))
        line = odd.line("Kubernetes 1.16 or later")
        assert expected in line[0] and len(line) == 1, line
        odd.child.wait(timeout=LIMIT_S)
        lab.children.remove(odd.child)
        other.shutdown()
        other.server_close()
        say(f"another version: {line[0]}")


def without(lab, myriad):
    """A real API server that does not serve what is asked for, and then does."""
    job = lab.top / "without.yaml"
    job.write_text("name: without\nnodes: 1\ncommand: 'true'\nimage: lab/train:1\n")
    lab.stop(lab.controllers)  # they do not bear it, nor recover from it
    lab.stop(lab.api)
    lab.start_api("--runtime-config", "coordination.k8s.io/v1=false,batch/v1=false")
    lab.ready()
    scheduler = Scheduler(lab, myriad)
    line = scheduler.line("does not serve coordination.k8s.io/v1 .404.")
    words = [myriad, "submit", job, "--kubeconfig", lab.admin]
    said = subprocess.run(words, capture_output=True, text=True, check=False)
    assert said.returncode != 0 and "does not serve batch/v1 (404)" in said.stderr, said
    assert len(said.stderr.strip().splitlines()) <= 2, said.stderr  # and a hint
    time.sleep(2)
    told = [text for text in scheduler.lines() if "warning" in text]
    assert len(told) == 1, told
    lab.stop(lab.api)
    lab.start_api()
    lab.ready()
    lab.start_controllers(*lab.controller_words)
    scheduler.line("well again")
    scheduler.line("holds the lease")
    made = subprocess.run([*words, "-o", "json"], capture_output=True, text=True, check=True)
    name = json.loads(made.stdout)["kubernetes"][0]["name"]
    bound(lab, name, 1)
    scheduler.end()
    lab.delete_job(name)
    say(f"an API that is not served: {line[0]}; {said.stderr.splitlines()[0]}; back with it")


def other_version(lab, body):
    """Something else than an API server, on plain HTTP of this machine."""
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body.encode())

        def log_message(self, *words):
            pass
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server
