#!/usr/bin/env python3
"""What users stumble over, one check each, against a real server.

    tests/server/small.py MYRIAD [CHECK...]
"""
import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from lab import LIMIT_S, ROOT, Lab, init, run_checks, token_file  # noqa: E402

JOB = ROOT / "examples" / "jobs" / "hello.yaml"
checks = []


def check(function):
    checks.append(function)
    return function


def post(lab, path, body, **headers):
    """(status, JSON) of a request with headers of its own."""
    url = Path(lab.folder, "server.url").read_text().strip().rstrip("/")
    token = Path(lab.folder, "admin.token").read_text().strip()
    request = urllib.request.Request(url + path, data=body, headers={
        "Authorization": "Bearer " + token,
        **{key.replace("_", "-"): value for key, value in headers.items()}})
    try:
        with urllib.request.urlopen(request, timeout=LIMIT_S) as answer:
            return answer.status, json.loads(answer.read())
    except urllib.error.HTTPError as error:
        return error.code, json.loads(error.read())


@check
def shares_are_set_and_outlive_the_server(lab):
    row = lab.json("tenant", "set", "research", "--weight", "3")["tenants"][0]
    assert row == {"name": "research", "weight": 3}, row
    lab.ask("tenant", "set", "research", "--weight", "5")
    lab.ask("tenant", "set", "research", "--weight", "0", code=2)
    lab.ask("tenant", "set", "two words", code=2)
    lab.server.kill()  # from the journal, not from a snapshot
    lab.server.communicate(timeout=LIMIT_S)
    lab.serve()
    weights = {row["name"]: row["weight"] for row in lab.json("usage")["tenants"]}
    assert weights["research"] == 5, weights
    operator = token_file(lab, "olga", "operator")
    lab.ask("tenant", "set", "x", "--token-file", operator, code=1)


@check
def a_share_decides_who_is_next(lab):
    """Four nodes come free for two who want more: who has a tiny share gets one, and no more."""
    folder = os.path.join(lab.top, "shares")
    init(lab, folder, "--world", "twin", "--speed", "200")
    with open(os.path.join(folder, "myriad.yaml"), "a", encoding="utf-8") as file:
        file.write("faults: none\n")
    twin = Lab(lab.myriad, lab.top)
    twin.folder = folder
    twin.serve()
    end = time.monotonic() + LIMIT_S

    def wait(what, ask):
        while not ask():
            assert time.monotonic() < end, f"{what}: {twin.json('job', 'list')['jobs']}"
            time.sleep(0.2)

    def submit(name, nodes):
        text = (f"name: {name}\ntenant: {name}\nnodes: {nodes}\ncommand: x\n"
                "twin: {hours: 1000}\n")
        out = twin.run("submit", "-", "--dir", folder, "-o", "json", text=text).stdout
        return json.loads(out)["jobs"][0]["id"]

    def running():
        return sorted(row["tenant"] for row in twin.json("job", "list")["jobs"]
                      if row["state"] == "running")
    try:
        wait("nodes", lambda: all(node["state"] == "healthy"
                                  for node in twin.json("node", "list")["nodes"]))
        first = submit("all", 4)
        wait("it runs", lambda: running() == ["all"])
        twin.ask("tenant", "set", "b", "--weight", "1000")
        for name in ("a", "a", "a", "a", "b", "b", "b", "b"):
            submit(name, 1)
        twin.ask("job", "cancel", str(first))
        wait("four run", lambda: len(running()) == 4)
        assert running() == ["a", "b", "b", "b"], running()
    finally:
        twin.stop()


@check
def tokens_are_listed_and_revoked(lab):
    viewer = token_file(lab, "vera", "viewer")
    rows = lab.json("token", "list")["tokens"]
    vera = next(row for row in rows if row["user"] == "vera")
    assert vera["role"] == "viewer" and len(vera["id"]) == 12, vera
    secret = Path(viewer).read_text().strip()
    assert secret not in json.dumps(rows), "a token stands in the list of tokens"
    lab.ask("node", "list", "--token-file", viewer)
    lab.ask("token", "list", "--token-file", viewer, code=1)
    revoked = lab.json("token", "revoke", vera["id"])["tokens"][0]
    assert revoked["user"] == "vera", revoked
    lab.ask("node", "list", "--token-file", viewer, code=1)
    lab.ask("token", "revoke", vera["id"], code=2)
    lab.ask("token", "revoke", "no-such-id", code=2)
    admins = [row for row in lab.json("token", "list")["tokens"] if row["role"] == "admin"]
    assert len(admins) == 1
    error = lab.ask("token", "revoke", admins[0]["id"], code=1).stderr
    assert "last one of an administrator" in error, error


@check
def a_long_list_of_jobs_says_where_it_goes_on(lab):
    for _ in range(5):
        job = lab.json("submit", str(JOB))["jobs"][0]["id"]
        lab.ask("job", "cancel", str(job))
    whole = [row["id"] for row in lab.json("job", "list", "--all")["jobs"]]
    found, page = [], lab.json("job", "list", "--all", "--limit", "2")
    while True:
        assert len(page["jobs"]) <= 2
        found += [row["id"] for row in page["jobs"]]
        if page["next"] is None:
            break
        page = lab.json("job", "list", "--all", "--limit", "2", "--before", str(page["next"]))
    assert found == whole and len(whole) >= 5, (found, whole)
    told = lab.ask("job", "list", "--all", "--limit", "2").stdout
    assert "--before" in told, told
    status, answer = post(lab, "/v1/jobs?limit=0", None)
    assert status == 400 and "limit" in answer["error"], answer


@check
def a_key_stands_for_one_file(lab):
    one = b"gpus: 1\ncommand: 'true'\n"
    status, first = post(lab, "/v1/jobs", one, Idempotency_Key="k-1")
    assert status == 200, first
    assert post(lab, "/v1/jobs", one, Idempotency_Key="k-1")[1]["id"] == first["id"]
    status, answer = post(lab, "/v1/jobs", b"gpus: 2\ncommand: 'true'\n", Idempotency_Key="k-1")
    assert status == 409 and f"job {first['id']}" in answer["error"], (status, answer)
    lab.ask("job", "cancel", str(first["id"]))


@check
def nodes_are_drained_by_lists(lab):
    rows = lab.json("node", "drain", "gpu-[01-03]", "--reason", "new fans")["nodes"]
    assert [row["name"] for row in rows] == ["gpu-01", "gpu-02", "gpu-03"], rows
    assert all(row["reason"] == "admin: new fans" for row in rows), rows
    assert all(row["state"] == "drained" for row in rows), rows
    listed = lab.json("node", "list", "--state", "drained")["nodes"]
    assert [row["name"] for row in listed] == ["gpu-01", "gpu-02", "gpu-03"], listed
    # Once more without a word: why it was drained stands; with one there is a new reason.
    again = lab.json("node", "drain", "gpu-[01-02]")["nodes"]
    assert all(row["reason"] == "admin: new fans" for row in again), again
    assert lab.json("node", "drain", "gpu-01", "--reason", "x")["nodes"][0]["reason"] == "admin: x"
    error = lab.ask("node", "drain", "gpu-[03-05]", code=2).stderr
    assert "no node 'gpu-05'" in error, error
    assert not lab.json("node", "show", "gpu-04")["nodes"][0]["reason"], "half of it was done"
    assert "gpu-02" in lab.ask("node", "resume", "gpu-[01,02,03]").stdout
    assert not lab.json("node", "list", "--state", "drained")["nodes"], "still drained"
    lab.ask("node", "drain", "gpu-[", code=2)


@check
def relays_have_names_that_can_be_used(lab):
    error = lab.ask("enrol", "--relay", "a b", code=2).stderr
    assert "relay name 'a b': letters" in error, error
    lab.ask("enrol", "--relay", "r_1.a-B")


@check
def a_server_that_is_not_there_is_named_by_its_folder(lab):
    folder = os.path.join(lab.top, "at rest")
    init(lab, folder)
    gone = Lab(lab.myriad, lab.top)
    gone.folder = folder
    gone.serve()
    gone.stop()
    Path(folder, "server.url").write_text("http://127.0.0.1:1\n")
    assert f"hint: myriad serve '{folder}'" in gone.ask("queue", code=3).stderr


@check
def the_doctor_misses_a_key(lab):
    folder = os.path.join(lab.top, "keyless")
    init(lab, folder)
    os.unlink(os.path.join(folder, "server-key.pem"))
    out = lab.run("doctor", folder, code=1).stdout
    assert "server-key.pem: No such file" in out, out


@check
def the_servers_certificate_is_renewed(lab):
    papers = Path(lab.myriad).parent.parent / "tests" / "server-papers"
    if not papers.exists():
        print(f"      {papers} is not built: nothing is renewed")
        return
    folder, made = Path(lab.top, "renewed"), Path(lab.top, "papers")
    init(lab, str(folder))
    made.mkdir()
    subprocess.run([papers, "sign", folder, "30", "myriad-server", made], check=True)
    old = (made / "cert.pem").read_text() + (folder / "ca.pem").read_text()
    (folder / "server.pem").write_text(old)
    (folder / "server-key.pem").write_text((made / "key.pem").read_text())
    other = Lab(lab.myriad, lab.top)
    other.folder = str(folder)
    for _ in range(2):  # once is enough
        other.serve()
        assert other.json("node", "list")["nodes"]
        other.stop()
    fresh = (folder / "server.pem").read_text()
    told = lab.run("doctor", str(folder)).stdout
    assert fresh != old and "server.pem is good for 82" in told, told
    audit = (folder / "audit.log").read_text()
    assert audit.count("renew server.pem") == 1, audit


@check
def a_world_that_breaks_still_starts_once(lab):
    """At this rate some node of two thousand breaks within the seconds that a start takes."""
    folder = Path(lab.top, "breaking")
    lab.run("init", str(folder), "--world", "twin", "--nodes", "n[1-2000]", "--speed", "3600")
    config = folder / "myriad.yaml"
    assert "faults" not in config.read_text()
    config.write_text(config.read_text() + "faults: 500\n")
    told = json.loads(lab.run("serve", str(folder), "--once", "-o", "json").stdout)["served"][0]
    assert told["nodes"] == told["healthy"] == 2000, told


@check
def the_configuration_is_read_again_when_asked(lab):
    """SIGHUP: what can change while it runs does, what is wrong changes nothing."""
    folder = Path(lab.top, "again")
    init(lab, str(folder))
    config, log = folder / "myriad.yaml", Path(lab.top, "again.log")
    text = config.read_text()
    with open(log, "w", encoding="utf-8") as kept, \
         subprocess.Popen([lab.myriad, "serve", folder], env=lab.environment, text=True,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=kept) as server:
        def said(words, times):
            end = time.monotonic() + LIMIT_S
            while log.read_text().count(words) < times:
                assert server.poll() is None and time.monotonic() < end, log.read_text()
                time.sleep(0.02)
        try:
            assert server.stdout.readline().startswith("serving ")
            config.write_text(text + "power: {kw_per_gpu: 1.5, price_kwh: 0.25, currency: CHF}\n")
            (folder / "audit.log").rename(folder / "audit.old")
            server.send_signal(signal.SIGHUP)
            said("configuration read again", 1)
            assert (folder / "audit.log").exists()  # another one was opened in its place
            other = Lab(lab.myriad, lab.top)
            other.folder = str(folder)
            told = other.json("usage")
            assert (told["currency"], told["kw_per_gpu"], told["price_kwh"]) == ("CHF", 1.5, 0.25)
            config.write_text("nonsense: 1\n")
            server.send_signal(signal.SIGHUP)
            said("the old configuration stays", 1)
            assert other.json("usage")["currency"] == "CHF"
        finally:
            server.send_signal(signal.SIGTERM)
            server.wait(timeout=LIMIT_S)
    assert log.read_text().count("configuration read again") == 1, log.read_text()


@check
def hints_can_be_pasted(lab):
    folder = os.path.join(lab.top, "two words")
    init(lab, folder)
    hint = lab.run("node", "list", "--dir", folder, code=3).stderr.splitlines()[1]
    assert hint == f"hint: myriad serve '{folder}'", hint
    os.chmod(folder, 0o755)
    assert f"chmod 0700 '{folder}'" in lab.run("doctor", folder, "-o", "json", code=1).stdout


@check
def init_says_whose_ranks_they_are(lab):
    document = json.loads(lab.run("init", os.path.join(lab.top, "whose"), "--user", "nobody",
                                  "-o", "json").stdout)
    assert document["unix_user"] == "nobody", document
    if os.geteuid() == 0:
        out = lab.run("init", os.path.join(lab.top, "roots")).stdout
        assert "submits no jobs" in out and "--user" in out, out


@check
def other_files_than_job_files_are_named(lab):
    for name, words in (("examples/h100-64.yaml", "a spec"),
                        ("examples/twin/crash-storm.yaml", "a scenario"),
                        (os.path.join(lab.folder, "myriad.yaml"), "a server's configuration")):
        error = lab.ask("submit", str(ROOT / name), code=2).stderr
        assert f"looks like {words}" in error and "job file" in error, error


@check
def explain_says_what_a_cluster_lacks(lab):
    job = str(lab.json("submit", str(JOB))["jobs"][0]["id"])
    why = "\n".join([row["says"] for row in lab.json("job", "explain", job)["why"]])
    assert "0 of 4 nodes may take jobs" in why and "4 never came" in why, why
    assert "waits:" not in why, why
    lab.ask("node", "drain", "gpu-[01-03]")
    why = "\n".join([row["says"] for row in lab.json("job", "explain", job)["why"]])
    assert "3 drained or being drained" in why and "1 never came" in why, why
    lab.ask("node", "resume", "gpu-[01-03]")
    lab.ask("job", "cancel", job)
    why = [row["says"] for row in lab.json("job", "explain", job)["why"]]
    assert "ended: cancelled by admin" in why, why


@check
def fast_worlds_count_all_that_ran(lab):
    """A thousand times as fast: what is decided between two looks at the world begins then, a time
    limit is not a quarter of an hour late, and output that went with a world is told as that."""
    folder = os.path.join(lab.top, "fast")
    init(lab, folder, "--world", "twin", "--speed", "1000")
    with open(os.path.join(folder, "myriad.yaml"), "a", encoding="utf-8") as file:
        file.write("faults: none\n")
    twin = Lab(lab.myriad, lab.top)
    twin.folder = folder
    twin.serve()
    job = "gpus: 8\ncommand: x\ntwin: {hours: 1.1111, step_s: 1}\n"
    for _ in range(2):
        time.sleep(1)  # nothing happens there meanwhile
        ran = twin.json("submit", "-", "--wait", text=job)["jobs"][0]
        assert ran["ended_ms"] - ran["started_ms"] >= 3999960, ran
    hours = twin.json("usage")["tenants"][0]["gpu_hours"]
    assert hours >= 2 * 8 * 1.1111, hours
    late = twin.json("submit", "-", "--wait", text=job + "time_limit: 10m\n", code=1)["jobs"][0]
    assert late["state"] == "cancelled" and late["step"] <= 605, late
    assert twin.ask("job", "logs", "0").stdout
    twin.stop()
    twin.serve()
    assert "not kept any more" in twin.ask("job", "logs", "0", code=1).stderr
    twin.stop()


@check
def agents_find_the_port_of_the_last_time(lab):
    folder = os.path.join(lab.top, "ports")
    init(lab, folder)
    ports = []
    for _ in range(2):
        server = subprocess.Popen([lab.myriad, "serve", folder], env=lab.environment,
                                  stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        lines = [server.stdout.readline(), server.stdout.readline()]
        ports.append(lines[1].split()[-1])
        server.send_signal(signal.SIGTERM)
        server.communicate(timeout=LIMIT_S)
    assert ports[0] == ports[1] != "0", ports
    # Somebody else has it: then it is another one.
    with socket.create_server(("127.0.0.1", int(ports[0]))):
        server = subprocess.Popen([lab.myriad, "serve", folder], env=lab.environment,
                                  stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        lines = [server.stdout.readline(), server.stdout.readline()]
        server.send_signal(signal.SIGTERM)
        server.communicate(timeout=LIMIT_S)
        assert lines[1].split()[-1] not in ("0", ports[0]), lines


if __name__ == "__main__":
    sys.exit(run_checks(checks))
