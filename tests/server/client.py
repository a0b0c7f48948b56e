#!/usr/bin/env python3
"""The command against a real server, as its users type it.

    tests/server/client.py MYRIAD

Starts `myriad serve` in a new folder on ports that are free, asks by every verb, and looks at what
comes out, at exit statuses, and at what must not happen: a wrong token, a role that is too low, no
server, names that nothing has, a server of another authority, one that ends while it is asked.
"""
import contextlib
import json
import os
import pty
import pwd
import re
import select
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
JOB = ROOT / "examples" / "jobs" / "hello.yaml"
LIMIT_S = 120
checks = []


def check(function):
    checks.append(function)
    return function


class Lab:
    """A folder with a server in it, and the words that reach it."""

    def __init__(self, myriad, top):
        self.myriad, self.top = myriad, top
        self.folder = os.path.join(top, "lab")
        self.server = None
        self.environment = {key: value for key, value in os.environ.items()
                            if not key.startswith("MYRIAD_")}
        self.environment.update(LC_ALL="C.UTF-8", COLUMNS="100")

    def run(self, *words, code=0, text=None, **more):
        """Runs the command; `code` is the exit status that is right."""
        environment = {**self.environment, **more}
        result = subprocess.run([self.myriad, *words], env=environment, cwd=self.top, text=True,
                                input=text, capture_output=True, timeout=LIMIT_S, check=False,
                                **({} if text is not None else {"stdin": None}))
        assert result.returncode == code, \
            f"{words}: exit status {result.returncode}, {code} is right: {result.stderr}"
        if code >= 2 or (code == 1 and not result.stdout):
            lines = result.stderr.splitlines()
            assert lines and lines[0].startswith("myriad: "), f"{words}: {result.stderr!r}"
            assert len(lines) <= 2 and (len(lines) == 1 or lines[1].startswith("hint: ")), lines
            assert not result.stdout, f"{words} fails and prints {result.stdout!r}"
        return result

    def ask(self, *words, **more):
        return self.run(*words, "--dir", self.folder, **more)

    def json(self, *words, **more):
        return json.loads(self.ask(*words, "-o", "json", **more).stdout)

    def serve(self, folder=None):
        folder = folder or self.folder
        self.server = subprocess.Popen([self.myriad, "serve", folder], env=self.environment,
                                       stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                       stderr=subprocess.DEVNULL, text=True)
        line = self.server.stdout.readline()
        assert line.startswith("serving "), line
        return line.split()[1].rstrip("/")

    def stop(self):
        if self.server:
            self.server.send_signal(signal.SIGTERM)
            self.server.communicate(timeout=LIMIT_S)
            assert self.server.returncode == 0, self.server.returncode
            self.server = None


def init(lab, folder, *more):
    lab.run("init", folder, "--nodes", "gpu-[01-04]", "--http", "127.0.0.1:0", "--agents",
            "127.0.0.1:0", "--user", "nobody", *more)


def token_file(lab, name, role, *more):
    token = lab.json("token", "new", "--user", name, "--role", role, *more)["tokens"][0]["token"]
    path = os.path.join(lab.top, f"{name}.token")
    Path(path).write_text(token + "\n")
    return path


@check
def every_reading_verb_answers_in_every_format(lab):
    job = str(lab.json("submit", str(JOB))["jobs"][0]["id"])
    for words in (["job", "list"], ["job", "show", job], ["job", "explain", job], ["node", "list"],
                  ["node", "show", "gpu-03"], ["queue"], ["usage"], ["top"]):
        for form in ("table", "wide", "json", "yaml", "csv"):
            out = lab.ask(*words, "-o", form).stdout
            assert out.strip(), f"{words} -o {form} prints nothing"
            if form == "json":
                assert json.loads(out)["schema"] == "myriad." + ".".join(
                    word for word in words if word not in (job, "gpu-03"))


@check
def a_job_goes_from_the_file_to_its_end(lab):
    job = lab.json("submit", str(JOB))["jobs"][0]
    assert job["state"] == "queued" and job["gpus"] == 8 and job["user"] == "admin"
    shown = lab.json("job", "show", str(job["id"]))["jobs"][0]
    assert shown["file"] == JOB.read_text()
    assert any(row["id"] == job["id"] for row in lab.json("queue")["queue"])
    cancelled = lab.json("job", "cancel", str(job["id"]))["jobs"][0]
    assert cancelled["state"] == "cancelled" and cancelled["reason"] == "cancelled by admin"
    assert all(row["id"] != job["id"] for row in lab.json("job", "list")["jobs"])
    ended = lab.json("job", "list", "--state", "cancelled")["jobs"]
    assert any(row["id"] == job["id"] for row in ended)
    assert any(row["id"] == job["id"] for row in lab.json("job", "list", "--all")["jobs"])


@check
def a_job_file_comes_by_standard_input_too(lab):
    job = lab.json("submit", "-", text="name: piped\ngpus: 1\ncommand: 'true'\n")["jobs"][0]
    assert job["name"] == "piped"


@check
def bad_job_files_name_the_line(lab):
    bad = os.path.join(lab.top, "bad.yaml")
    Path(bad).write_text("name: x\ngpus: many\ncommand: 'true'\n")
    result = lab.ask("submit", bad, code=2)
    assert f"{bad}:2:7: " in result.stderr, result.stderr
    Path(bad).write_text("name: x\ngpus: 8\n")
    assert "command" in lab.ask("submit", bad, code=2).stderr
    Path(bad).write_text("name: x\ngpus: 800\ncommand: 'true'\n")
    assert "800" in lab.ask("submit", bad, code=2).stderr
    lab.ask("submit", os.path.join(lab.top, "no-such-file"), code=2)


@check
def a_layout_gives_size_and_words(lab):
    layout = os.path.join(lab.top, "layout.yaml")
    lab.run("fit", "--model", "llama3-8b", "--gpus", "16", "--device", "h100", "--batch", "32",
            "--layout-out", layout)
    train = str(ROOT / "examples" / "jobs" / "train.yaml")
    job = lab.json("submit", train, "--layout", layout)["jobs"][0]
    shown = lab.json("job", "show", str(job["id"]))["jobs"][0]
    assert shown["gpus"] == 16, shown
    words = re.search(r"MYRIAD_LAYOUT: (.*)", shown["file"])[1].strip('"')
    assert re.match(r"(\w+=[^,]+,)*\w+=[^,]+$", words), words
    assert "NCCL_DEBUG" in shown["file"] and "retries: 20" in shown["file"]
    # The words are a layout again, for every verb that takes one.
    lab.run("plan", str(ROOT / "examples" / "h100-64.yaml"), "--out", "planned")
    lab.run("path", "planned/design.myr", "--nodes", "0,1", "--layout", words)
    assert "16 GPUs" in lab.ask("submit", str(JOB), "--layout", layout, code=2).stderr


@check
def waiting_ends_with_the_job(lab):
    job = {}

    def cancel():
        while "id" not in job:
            for row in lab.json("job", "list")["jobs"]:
                if row["name"] == "waited-for":
                    job["id"] = row["id"]
        lab.ask("job", "cancel", str(job["id"]))
    other = threading.Thread(target=cancel)
    other.start()
    result = lab.ask("submit", "-", "--wait", "-o", "json", code=1,
                     text="name: waited-for\ngpus: 1\ncommand: 'true'\n")
    other.join()
    assert json.loads(result.stdout)["jobs"][0]["state"] == "cancelled"


@check
def nodes_are_drained_and_given_back(lab):
    node = lab.json("node", "drain", "gpu-01", "--reason", 'fan "3" is loud')["nodes"][0]
    assert node["reason"] == 'admin: fan "3" is loud', node
    assert lab.json("node", "resume", "gpu-01")["nodes"][0]["reason"] == ""
    assert lab.json("node", "revoke", "gpu-04")["nodes"][0]["revoked"] is True
    assert len(lab.json("node", "list")["nodes"]) == 4
    assert lab.json("node", "list", "--state", "repair")["nodes"] == []


@check
def names_that_nothing_has_are_refused(lab):
    for words in (["job", "show", "4711"], ["job", "cancel", "4711"], ["job", "explain", "4711"],
                  ["job", "logs", "4711"], ["job", "show", "1/2"], ["node", "show", "x y"],
                  ["node", "drain", "nowhere"], ["node", "resume", "nowhere"],
                  ["node", "revoke", "nowhere"], ["enrol", "nowhere"],
                  ["inject", "nowhere", "crash"]):
        assert "no " in lab.ask(*words, code=2).stderr


@check
def output_and_faults_need_nodes(lab):
    job = str(lab.json("submit", str(JOB))["jobs"][0]["id"])
    assert "nobody has its output" in lab.ask("job", "logs", job, code=3).stderr
    lab.ask("job", "cancel", job)
    assert "nobody has its output" in lab.ask("job", "logs", job, "--follow", code=3).stderr
    assert "ranks 0 to 7" in lab.ask("job", "logs", job, "--rank", "8", code=2).stderr
    assert "simulated" in lab.ask("inject", "gpu-01", "crash", code=1).stderr


@check
def roles_are_kept(lab):
    viewer = token_file(lab, "vera", "viewer")
    user = token_file(lab, "ulla", "user", "--unix-user", "nobody")
    operator = token_file(lab, "olga", "operator", "--unix-user", "nobody")
    asking = ["--dir", lab.folder, "--token-file"]
    lab.run("node", "list", *asking, viewer)
    for words, file in ((["submit", str(JOB)], viewer), (["node", "drain", "gpu-01"], user),
                        (["node", "resume", "gpu-01"], user), (["enrol"], operator),
                        (["token", "new", "--user", "x"], operator),
                        (["node", "revoke", "gpu-01"], operator)):
        assert "role" in lab.run(*words, *asking, file, code=1).stderr
    mine = json.loads(lab.run("submit", str(JOB), *asking, user, "-o", "json").stdout)
    yours = str(lab.json("submit", str(JOB))["jobs"][0]["id"])
    assert "admin's" in lab.run("job", "cancel", yours, *asking, user, code=1).stderr
    lab.run("job", "cancel", str(mine["jobs"][0]["id"]), *asking, user)
    lab.run("job", "cancel", yours, *asking, operator)
    assert "root" in lab.ask("token", "new", "--user", "x", "--unix-user", "root", code=1).stderr
    assert "--user" in lab.ask("token", "new", code=2).stderr


@check
def a_wrong_token_is_told_so(lab):
    wrong = os.path.join(lab.top, "wrong.token")
    Path(wrong).write_text("0123456789\n")
    result = lab.run("node", "list", "--dir", lab.folder, "--token-file", wrong, code=1)
    assert "--token-file" in result.stderr
    url = Path(lab.folder, "server.url").read_text().strip()
    lab.run("node", "list", "--server", url, code=1)
    Path(wrong).write_text("two words\n")
    assert "one word" in lab.run("queue", "--server", url, "--token-file", wrong, code=2).stderr
    lab.run("queue", "--server", url, "--token-file", os.path.join(lab.top, "none"), code=2)


@check
def variables_stand_for_the_common_options(lab):
    url = Path(lab.folder, "server.url").read_text().strip()
    token = os.path.join(lab.folder, "admin.token")
    lab.run("node", "list", MYRIAD_SERVER=url, MYRIAD_TOKEN_FILE=token)
    lab.run("job", "list", MYRIAD_DIR=lab.folder)
    lab.run("job", "list", "--dir", lab.folder, MYRIAD_SERVER="", MYRIAD_TOKEN_FILE="")
    # What is given beats the folder.
    lab.run("job", "list", "--dir", lab.folder, "--server", "http://127.0.0.1:1", code=3)


@check
def nobody_there_is_said_with_the_remedy(lab):
    with socket.socket() as bound:  # taken, and nobody listens
        bound.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{bound.getsockname()[1]}"
        for words in (["job", "list"], ["queue"], ["top"], ["submit", str(JOB)]):
            said = lab.run(*words, "--server", url, code=3).stderr
            assert said == f"myriad: {url}: nobody answers there\nhint: myriad serve DIR\n", said
    lab.run("job", "list", "--server", "nonsense", code=2)
    assert "in the open" in lab.run("queue", "--server", "http://192.0.2.1:1", code=2).stderr
    lab.run("job", "list", "--dir", os.path.join(lab.top, "no-folder"), code=2)


def answer_lines(connection, text):
    connection.recv(65536)
    connection.sendall(text)
    connection.close()


@check
def an_answer_that_is_lost_is_asked_for_again_and_the_job_is_one(lab):
    """Between the command and the server stands one that loses the first answer."""
    host, port = Path(lab.folder, "server.url").read_text().strip("/\n").split("//")[1].split(":")
    keys = []
    with socket.create_server(("127.0.0.1", 0)) as listener:
        def carry():
            for count in range(3):
                connection, _ = listener.accept()
                request = connection.recv(65536)
                while b"\r\n\r\n" not in request or request.startswith(b"POST") and \
                        len(request.split(b"\r\n\r\n", 1)[1]) < int(
                            re.search(rb"Content-Length: (\d+)", request)[1]):
                    request += connection.recv(65536)
                keys.extend(re.findall(rb"Idempotency-Key: (\w+)", request))
                with socket.create_connection((host, int(port))) as server:
                    server.sendall(request)
                    answer = b""
                    while piece := server.recv(65536):
                        answer += piece
                if count > 0:
                    connection.sendall(answer)
                connection.close()
        carrier = threading.Thread(target=carry)
        carrier.start()
        before = len(lab.json("job", "list", "--all")["jobs"])
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        lab.run("submit", str(JOB), "--server", url, "--token-file",
                os.path.join(lab.folder, "admin.token"))
        carrier.join()
    assert len(keys) == 2 and keys[0] == keys[1], keys
    assert len(lab.json("job", "list", "--all")["jobs"]) == before + 1


@check
def what_is_no_answer_is_an_error_of_the_environment(lab):
    good = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s"
    for text in (b"", b"HTTP/1.1 200 OK\r\nContent-Length: 90\r\n\r\n{", b"220 mail ready\r\n\r\n",
                 good % (9, b"not JSON!"), good % (2, b"{}"), good % (2, b"[]"),
                 good % (11, b'{"jobs":[1]'), good % (12, b'{"jobs":[1]}'),
                 b"HTTP/1.1 500 Oops\r\n\r\n", b"HTTP/1.1 302 There\r\nLocation: /\r\n\r\n",
                 b'HTTP/1.1 503 No\r\n\r\n{"error":"two\\nlines\\u001b[31m"}'):
        with socket.create_server(("127.0.0.1", 0)) as listener:
            other = threading.Thread(target=lambda: answer_lines(listener.accept()[0], text))
            other.start()
            url = f"http://127.0.0.1:{listener.getsockname()[1]}"
            result = lab.run("job", "list", "--server", url, code=3)
            other.join()
        assert "\x1b" not in result.stderr


@check
def beyond_this_machine_it_is_tls_and_whom_to_believe_is_checked(lab):
    far = os.path.join(lab.top, "far")
    lab.run("init", far, "--nodes", "a,b", "--http", "0.0.0.0:0", "--agents", "127.0.0.1:0")
    other = Lab(lab.myriad, lab.top)
    other.folder = far
    port = other.serve().rsplit(":", 1)[1]
    try:
        token = ["--token-file", os.path.join(far, "admin.token")]
        ca = os.path.join(far, "ca.pem")
        lab.run("node", "list", "--server", f"https://127.0.0.1:{port}", "--ca", ca, *token)
        lab.run("node", "list", "--server", f"https://localhost:{port}", "--ca", ca, *token)
        foreign = os.path.join(lab.folder, "ca.pem")
        for words in (["--server", f"https://127.0.0.1:{port}", "--ca", foreign],
                      ["--server", f"https://127.0.0.1:{port}"],
                      ["--server", f"https://127.0.0.2:{port}", "--ca", ca]):
            assert "not believed" in lab.run("node", "list", *words, *token, code=3).stderr
        lab.run("node", "list", "--server", f"http://127.0.0.1:{port}", *token, code=3)
        assert "https://" in lab.run("doctor", far).stdout
        lab.run("backup", far, os.path.join(lab.top, "far-kept"))
    finally:
        other.stop()


@check
def no_secret_is_in_the_list_of_processes(lab):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        secret = Path(lab.folder, "admin.token").read_text().strip()
        client = subprocess.Popen([lab.myriad, "job", "list", "--server", url, "--token-file",
                                   os.path.join(lab.folder, "admin.token")], stdout=-3, stderr=-3,
                                  env=lab.environment)
        connection, _ = listener.accept()
        assert secret.encode() in connection.recv(65536)
        for name in ("cmdline", "environ"):
            assert secret.encode() not in Path(f"/proc/{client.pid}/{name}").read_bytes()
        connection.close()
        client.wait(LIMIT_S)


@check
def the_folder_is_backed_up_while_it_runs_and_put_back(lab):
    kept, again = os.path.join(lab.top, "kept"), os.path.join(lab.top, "again")
    marked = lab.json("submit", "-", text="name: marked\ngpus: 1\ncommand: 'true'\n")["jobs"][0]
    # More than the server copies in one turn, and more of it meanwhile.
    large = "name: large\ngpus: 1\ncommand: 'true'\n" + "# padding\n" * 4000
    for _ in range(12):
        lab.ask("submit", "-", text=large)
    other = threading.Thread(target=lambda: [lab.ask("submit", "-", text=large) for _ in range(6)])
    other.start()
    copied = json.loads(lab.run("backup", lab.folder, kept, "-o", "json").stdout)["copies"][0]
    other.join()
    assert copied["live"] is True and copied["keys"] > 12 and copied["bytes"] > 12 * len(large)
    assert not os.path.exists(os.path.join(lab.folder, "backup.tmp"))
    for name in os.listdir(kept):
        assert os.stat(os.path.join(kept, name)).st_mode & 0o077 == 0, name
    assert "not empty" in lab.run("backup", lab.folder, kept, code=2).stderr
    assert "not empty" in lab.run("restore", kept, kept, code=2).stderr
    assert "lives there" in lab.run("restore", lab.folder, again, code=2).stderr
    assert "missing" in lab.run("restore", lab.top, again, code=2).stderr
    assert not os.path.exists(again)
    viewer = token_file(lab, "vic", "viewer")
    assert "administrator" in lab.run("backup", lab.folder, again, "--admin-token", viewer,
                                      code=1).stderr
    assert not os.path.exists(again)
    lab.run("restore", kept, again)
    other = Lab(lab.myriad, lab.top)
    other.folder = again
    other.serve()
    try:
        shown = other.json("job", "show", str(marked["id"]))["jobs"][0]
        assert shown["name"] == "marked" and shown["state"] == "queued"
        assert sum(row["name"] == "large" for row in other.json("job", "list")["jobs"]) >= 12
    finally:
        other.stop()
    # Without a server it is copied from the file.
    copied = json.loads(lab.run("backup", again, kept + "2", "-o", "json").stdout)["copies"][0]
    assert copied["live"] is False and copied["keys"] > 2
    damaged = os.path.join(kept + "2", "state.db")
    Path(damaged).write_bytes(b"no store at all" * 100)
    lab.run("restore", kept + "2", again + "2", code=2)
    assert not os.path.exists(again + "2")


@check
def a_server_that_was_killed_is_backed_up_from_its_file(lab):
    other = Lab(lab.myriad, lab.top)
    other.folder = os.path.join(lab.top, "killed")
    init(lab, other.folder)
    other.serve()
    other.ask("submit", "-", text="name: survives\ngpus: 1\ncommand: 'true'\n")
    other.server.kill()
    other.server.communicate(timeout=LIMIT_S)
    other.server = None
    assert os.path.exists(os.path.join(other.folder, "server.url"))
    assert "did not end well" in lab.run("doctor", other.folder).stdout
    kept = os.path.join(lab.top, "killed-kept")
    copied = json.loads(lab.run("backup", other.folder, kept, "-o", "json").stdout)["copies"][0]
    assert copied["live"] is False
    other.folder = os.path.join(lab.top, "killed-again")
    lab.run("restore", kept, other.folder)
    other.serve()
    try:
        assert [row["name"] for row in other.json("job", "list")["jobs"]] == ["survives"]
    finally:
        other.stop()


@check
def a_store_of_version_one_is_read(lab):
    old = os.path.join(lab.top, "old")
    init(lab, old)
    for name in ("state.db", "myriad.yaml"):
        shutil.copy(ROOT / "tests" / "server" / "store-v1" / name, os.path.join(old, name))
        os.chmod(os.path.join(old, name), 0o600)
    token = ["--token-file", str(ROOT / "tests" / "server" / "store-v1" / "viewer.token")]
    other = Lab(lab.myriad, lab.top)
    other.folder = old
    assert "version 1" in lab.run("doctor", old).stdout
    other.serve()
    try:
        jobs = {row["name"]: row for row in other.json("job", "list", "--all", *token)["jobs"]}
        assert jobs["kept"]["state"] == "queued" and jobs["kept"]["gpus"] == 16, jobs
        assert jobs["kept"]["tenant"] == "research" and jobs["kept"]["priority"] == 5, jobs
        assert jobs["cancelled"]["state"] == "cancelled", jobs
        node = other.json("node", "show", "gpu-03", *token)["nodes"][0]
        assert node["reason"] == "admin: kept reason", node
        assert other.json("node", "show", "gpu-04", *token)["nodes"][0]["revoked"] is True
        assert "role" in other.ask("node", "drain", "gpu-01", *token, code=1).stderr
    finally:
        other.stop()
    # One from the future is refused, and stays as it is.
    with contextlib.closing(sqlite3.connect(os.path.join(old, "state.db"))) as store:
        store.execute("PRAGMA user_version=99")
    result = lab.run("serve", old, code=2)
    assert "version 99" in result.stderr, result.stderr
    with contextlib.closing(sqlite3.connect(os.path.join(old, "state.db"))) as store:
        assert store.execute("PRAGMA user_version").fetchone() == (99,)


@check
def the_sixth_version_of_addresses_works_too(lab):
    try:
        with socket.create_server(("::1", 0), family=socket.AF_INET6):
            pass
    except OSError:
        print("      there is no ::1 on this machine")
        return
    other = Lab(lab.myriad, lab.top)
    other.folder = os.path.join(lab.top, "six")
    lab.run("init", other.folder, "--nodes", "a", "--http", "[::1]:0", "--agents", "127.0.0.1:0")
    url = other.serve()
    try:
        assert url.startswith("http://[::1]:"), url
        other.ask("node", "list")
        lab.run("queue", "--server", url, "--token-file", os.path.join(other.folder, "admin.token"))
    finally:
        other.stop()


@check
def the_doctor_sees_what_is_wrong(lab):
    sick = os.path.join(lab.top, "sick")
    init(lab, sick)
    assert json.loads(lab.run("doctor", sick, "-o", "json").stdout)["bad"] == 0
    assert json.loads(lab.run("doctor", "-o", "json").stdout)["bad"] == 0

    def verdicts(code):
        rows = json.loads(lab.run("doctor", sick, "-o", "json", code=code).stdout)["checks"]
        return {row["check"]: row for row in rows if row["verdict"] != "ok"}
    os.chmod(os.path.join(sick, "ca-key.pem"), 0o644)
    assert "ca-key.pem" in verdicts(1)["rights"]["says"]
    os.chmod(os.path.join(sick, "ca-key.pem"), 0o600)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        config = Path(sick, "myriad.yaml")
        text = config.read_text()
        config.write_text(text.replace("http: \"127.0.0.1:0\"",
                                       f"http: \"127.0.0.1:{taken.getsockname()[1]}\""))
        assert "in use" in verdicts(1)["http"]["says"]
        config.write_text(text)
    config.write_text(text.replace("gpu-[01-04]", "gpu-[000001-200000]"))
    assert "200256" in verdicts(1)["open files"]["says"]
    config.write_text("nonsense: 1\n")
    assert "nonsense" in verdicts(1)["configuration"]["says"]
    config.write_text(text)
    Path(sick, "server.pem").write_text("nothing")
    assert "server.pem" in verdicts(1)["certificate"]["says"]
    shutil.copy(os.path.join(sick, "ca.pem"), os.path.join(sick, "server.pem"))
    Path(sick, "state.db").write_bytes(b"no store at all" * 100)
    assert "state.db" in verdicts(1)["store"]["says"]
    Path(sick, "server.url").write_text("http://127.0.0.1:1/\n")
    os.remove(os.path.join(sick, "state.db"))
    assert "did not end well" in verdicts(1)["server"]["says"]


@check
def top_draws_on_a_terminal_until_q(lab):
    child, terminal = pty.fork()
    if child == 0:
        os.execve(lab.myriad, [lab.myriad, "top", "--dir", lab.folder],
                  {**lab.environment, "TERM": "xterm"})
    seen, begun = b"", time.monotonic()
    while b"q ends" not in seen and time.monotonic() - begun < LIMIT_S:
        if select.select([terminal], [], [], 1)[0]:
            seen += os.read(terminal, 65536)
    os.write(terminal, b"q")
    with contextlib.suppress(OSError):
        while piece := os.read(terminal, 65536):
            seen += piece
    _, status = os.waitpid(child, 0)
    os.close(terminal)
    assert status == 0 and b"\x1b[?1049h" in seen and b"\x1b[?1049l" in seen
    assert b"cluster" in seen and b"unknown 4" in seen


@check
def agent_hands_its_words_on(lab):
    folder = os.path.join(lab.top, "bin")
    os.mkdir(folder)
    agent = os.path.join(folder, "myriad-agent")
    Path(agent).write_text("#!/bin/sh\nfor word in \"$@\"; do echo \"<$word>\"; done\nexit 7\n")
    os.chmod(agent, 0o755)
    path = {"PATH": folder + ":" + os.environ["PATH"]}
    beside = os.path.join(os.path.dirname(lab.myriad), "myriad-agent")
    if not os.path.exists(beside):
        out = subprocess.run([lab.myriad, "agent", "--state", "a b", "--", "-o"], text=True,
                             env={**lab.environment, **path}, capture_output=True, check=False)
        assert out.returncode == 7 and out.stdout == "<--state>\n<a b>\n<-->\n<-o>\n", out
        assert "myriad-agent" in lab.run("agent", "x", code=3, PATH="/nonexistent").stderr
    assert "myriad-agent" in lab.run("agent", "--help").stdout


class Nodes:
    """Two agents with made-up GPUs; they end with their process groups."""

    def __init__(self, lab, agent):
        self.lab, self.agents = lab, []
        port = lab.server.stdout.readline().split()[-1]
        pretend = os.path.join(lab.top, "pretend.yaml")
        Path(pretend).write_text("gpus: 2\n")
        for name in ("n1", "n2"):
            token = os.path.join(lab.top, f"{name}.enrol")
            Path(token).write_text(lab.json("enrol", name)["tokens"][0]["token"])
            os.chmod(token, 0o600)
            sockets = os.path.join(lab.top, f"{name}.sockets")
            os.mkdir(sockets)
            self.agents.append(subprocess.Popen(
                [agent, "--server", f"127.0.0.1:{port}", "--name", name, "--state",
                 os.path.join(lab.top, f"{name}.state"), "--sockets", sockets, "--token-file",
                 token, "--pretend", pretend], stdout=-3, stderr=-3, env=lab.environment))
        begun = time.monotonic()
        while len(lab.json("node", "list", "--state", "healthy")["nodes"]) < 2:
            assert time.monotonic() - begun < LIMIT_S, lab.ask("node", "list").stdout
            time.sleep(0.2)

    def stop(self):
        for agent in self.agents:
            agent.terminate()
        for agent in self.agents:
            agent.wait(LIMIT_S)


@check
def ranks_write_and_are_followed(lab):
    """With real agents, where the program of the agent is built beside this one."""
    agent = os.path.join(os.path.dirname(lab.myriad), "myriad-agent")
    if not os.path.exists(agent):
        print(f"      {agent} is not there: nothing of ranks is looked at")
        return
    other = Lab(lab.myriad, lab.top)
    other.folder = os.path.join(lab.top, "real")
    user = "nobody" if os.geteuid() == 0 else pwd.getpwuid(os.geteuid()).pw_name
    os.chmod(lab.top, 0o755)
    lab.run("init", other.folder, "--nodes", "n[1-2]", "--gpus-per-node", "2", "--http",
            "127.0.0.1:0", "--agents", "127.0.0.1:0", "--user", user, "--pretend")
    other.serve()
    nodes = Nodes(other, agent)
    try:
        job = "name: spoken\ngpus: 4\ncommand: echo rank $RANK of $WORLD_SIZE; sleep 4\n"
        number = str(other.json("submit", "-", text=job)["jobs"][0]["id"])
        out = other.ask("job", "logs", number, "--rank", "3", "--follow").stdout
        assert out == "rank 3 of 4\n", out
        shown = other.json("submit", "-", "--wait", text=job)["jobs"][0]
        assert shown["state"] == "done" and shown["epoch"] == 1, shown
        bad = "name: fails\ngpus: 1\nretries: 0\ncommand: exit 3\n"
        result = other.ask("submit", "-", "--wait", "-o", "json", code=1, text=bad)
        assert json.loads(result.stdout)["jobs"][0]["state"] == "failed"
        number = str(other.json("submit", "-", text=job)["jobs"][0]["id"])
        lines, begun = [], time.monotonic()
        while not lines and time.monotonic() - begun < LIMIT_S:
            with contextlib.suppress(AssertionError):  # it has not started yet
                document = other.json("job", "logs", number, "--rank", "1")
                lines = document["lines"]
        assert lines == [{"text": "rank 1 of 4"}] and document["bytes"] == 12, document
        table = other.ask("node", "list", "-o", "csv").stdout
        assert f"[{number}]" in table, table
    finally:
        nodes.stop()
        other.stop()


@check
def the_server_says_where_it_is_while_it_runs(lab):
    lab.stop()
    assert not os.path.exists(os.path.join(lab.folder, "server.url"))
    assert "no server runs" in lab.ask("job", "list", code=3).stderr
    lab.serve()
    lab.ask("job", "list")


def main():
    myriad = os.path.abspath(sys.argv[1])
    wanted = sys.argv[2:]
    failed = 0
    with tempfile.TemporaryDirectory(prefix="myriad-client-") as top:
        lab = Lab(myriad, top)
        init(lab, lab.folder)
        lab.serve()
        try:
            for function in checks:
                if wanted and function.__name__ not in wanted:
                    continue
                try:
                    function(lab)
                    print(f"ok    {function.__name__}")
                except AssertionError as fault:
                    failed += 1
                    print(f"FAIL  {function.__name__}: {fault}")
        finally:
            lab.stop()
    print(f"{len(checks)} checks, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
