#!/usr/bin/env python3
"""The command against a real server, as its users type it.

    tests/server/client.py MYRIAD [CHECK...]

Starts `myriad serve` in a new folder on ports that are free, asks by every verb, and looks at what
comes out, at exit statuses, and at what must not happen: a wrong token, a role that is too low, no
server, names that nothing has, a server of another authority, one that ends while it is asked.
"""
import contextlib
import json
import os
import pty
import re
import select
import socket
import subprocess
import sys
import threading
import urllib.request
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "answers"))
import schema as schemas  # noqa: E402
from lab import LIMIT_S, ROOT, Lab, run_checks, token_file
from lab_nodes import Nodes, until, with_agents

JOB = ROOT / "examples" / "jobs" / "hello.yaml"
checks = []


def check(function):
    checks.append(function)
    return function


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
def a_job_that_waits_is_explained_as_of_now(lab):
    """Nothing happens on this cluster: its state stands still, and time does not."""
    job = str(lab.json("submit", str(JOB))["jobs"][0]["id"])
    other = str(lab.json("submit", str(JOB))["jobs"][0]["id"])
    assert "8 GPUs, not placed yet" in lab.ask("job", "show", job).stdout
    time.sleep(1.1)
    before = next(row for row in lab.json("queue")["queue"] if str(row["id"]) == job)
    why = {}
    for row in lab.json("job", "explain", job)["why"]:
        what, _, text = row["says"].partition(": ")
        why.setdefault(what, text)
    after = next(row for row in lab.json("queue")["queue"] if str(row["id"]) == job)
    said = re.fullmatch(r"(?:(\d+) min )?(\d+) s ago|(\d+) min ago", why["submitted"])
    assert said, why
    seconds = 60 * int(said[1] or said[3] or 0) + int(said[2] or 0)
    assert 1 <= int(before["waited_s"]) <= seconds <= after["waited_s"], (before, why, after)
    assert before["reason"].endswith("lost or never seen"), before
    assert re.fullmatch(r"gpu-0\d in use|.*gpu-01 .*gpu-0\d.* in use.*", why["would start"]), why
    for row in lab.json("job", "explain", other)["why"]:
        assert not re.search(r"\bnode \d", row["says"]), row  # nodes have names here
    for id in (job, other):
        lab.ask("job", "cancel", id)
    assert "8 GPUs, never placed" in lab.ask("job", "show", job).stdout


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
    # Nobody has come yet: it shows all the same, and is taken back.
    assert node["state"] == "drained" and node["boot"] == 0, node
    assert [row["name"] for row in lab.json("node", "list", "--state", "drained")["nodes"]] == [
        "gpu-01"]
    resumed = lab.json("node", "resume", "gpu-01")["nodes"][0]
    assert resumed["reason"] == "" and resumed["state"] == "unknown", resumed
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
        lab.run("top", "--server", f"https://localhost:{port}", "--ca", ca, *token)
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


def sockets_of(process):
    folder = f"/proc/{process.pid}/fd"
    count = 0
    for name in os.listdir(folder):
        with contextlib.suppress(OSError):
            count += os.readlink(os.path.join(folder, name)).startswith("socket:")
    return count


@check
def who_watched_and_went_is_noticed(lab):
    """On a cluster where nothing happens as well."""
    before = sockets_of(lab.server)
    for _ in range(8):
        lab.ask("top")
    begun = time.monotonic()
    while sockets_of(lab.server) > before:
        assert time.monotonic() - begun < LIMIT_S, sockets_of(lab.server)
        time.sleep(0.5)


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


@check
def held_jobs_wait_and_the_top_one_goes_first(lab):
    job = "name: kept\ngpus: 8\ncommand: 'true'\n"
    first, second = (lab.json("submit", "-", text=job)["jobs"][0]["id"] for _ in range(2))
    for _ in range(2):  # said twice it is the same
        assert lab.json("job", "hold", str(first))["jobs"][0]["held"] is True
    assert "a person" in lab.ask("job", "explain", str(first)).stdout
    assert "held" in lab.ask("job", "show", str(first)).stdout
    waits = {row["id"]: row["reason"] for row in lab.json("queue")["queue"]}
    assert waits[first] == "a person holds it" != waits[second], waits
    assert lab.json("job", "release", str(first))["jobs"][0]["held"] is False
    top = lab.json("job", "top", str(second))["jobs"][0]
    waiting = lab.json("job", "list", "--state", "queued")["jobs"]
    assert all(row["priority"] < top["priority"] for row in waiting if row["id"] != second), waiting
    again = lab.json("job", "top", str(second))["jobs"][0]["priority"]
    assert again == top["priority"], (again, top)
    for number in (first, second):
        lab.ask("job", "cancel", str(number))
        for verb in ("hold", "release", "top"):
            lab.ask("job", verb, str(number), code=1)
    lab.ask("job", "hold", "4711", code=2)
    user = token_file(lab, "mia", "user", "--unix-user", "nobody")
    url = Path(lab.folder, "server.url").read_text().strip()
    theirs = str(lab.json("submit", "-", text=job)["jobs"][0]["id"])
    lab.run("job", "hold", theirs, "--server", url, "--token-file", user, code=1)
    lab.run("job", "top", theirs, "--server", url, "--token-file", user, code=1)
    held = lab.json("submit", "-", text=job + "hold: true\n")["jobs"][0]
    assert lab.json("job", "show", str(held["id"]))["jobs"][0]["held"] is True
    for number in (theirs, str(held["id"])):
        lab.ask("job", "cancel", number)


@check
def who_waits_for_long_is_told_once(lab):
    """On a simulated cluster whose days pass in seconds; the look is once a real minute."""
    other = Lab(lab.myriad, lab.top)
    other.folder = os.path.join(lab.top, "hungry")
    lab.run("init", other.folder, "--nodes", "s[1-2]", "--world", "twin", "--speed", "10000",
            "--http", "127.0.0.1:0")
    path = Path(other.folder, "myriad.yaml")
    path.write_text(path.read_text() + "starve_h: 1\nfaults: none\n")
    other.serve()
    try:
        long = "name: long\nnodes: 2\ncommand: x\ntwin: {hours: 9000}\n"
        waits = "name: waits\nnodes: 1\ncommand: x\n"
        for text in (long, waits, waits + "hold: true\n"):
            other.ask("submit", "-", text=text)
        request = urllib.request.Request(
            Path(other.folder, "server.url").read_text().strip().rstrip("/") + "/v1/events?after=0",
            headers={"Authorization": "Bearer " + Path(other.folder, "admin.token").read_text()
                     .strip()})
        with urllib.request.urlopen(request, timeout=LIMIT_S) as stream:
            seen = []
            while len(seen) < 2 and (line := stream.readline()):
                if b"waited_s" in line:
                    event = json.loads(line.removeprefix(b"data: "))
                    assert event["waited_s"] >= 3600, event
                    other.ask("job", "release", "2")  # the next that is told is that one
                    seen.append(event["id"])
            assert seen == [1, 2], seen
    finally:
        other.stop()


@check
def layouts_and_sizes_reach_the_agents(lab):
    """The order of ranks follows the layout, and an elastic job starts with what there is."""
    other, agent = with_agents(lab, "shapes", "m[1-4]", 1, "--nodes-per-leaf", "2")
    if not other:
        return
    other.serve()
    nodes = Nodes(other, agent, [f"m{i}" for i in range(1, 5)], 1)
    try:
        # Pipelines first: the data-parallel groups, which send most, are ranks 0 and 2, 1 and 3.
        leaves = {}
        for name, layout in (("pairs", "pp=2,order=tp-cp-ep-pp-dp"), ("plain", "pp=2")):
            job = f"name: {name}\ngpus: 4\ncommand: sleep 60\nlayout: '{layout}'\n"
            number = str(other.json("submit", "-", text=job)["jobs"][0]["id"])
            ranks = until(name, lambda at=number: other.json(
                "job", "show", at)["jobs"][0]["ranks"])
            leaves[name] = [(int(rank["node"][1:]) - 1) // 2 for rank in ranks]
            other.ask("job", "cancel", number)
        assert leaves["pairs"][0] == leaves["pairs"][2] != leaves["pairs"][1], leaves
        assert leaves["pairs"][1] == leaves["pairs"][3], leaves
        assert leaves["plain"][0] == leaves["plain"][1] != leaves["plain"][2], leaves
        small = "name: small\ngpus: 1\ncommand: sleep 60\n"
        small = str(other.json("submit", "-", text=small)["jobs"][0]["id"])
        until("small", lambda: other.json("job", "show", small)["jobs"][0]["nodes"])
        wide = ("name: wide\ngpus: 4\ngpus_min: 2\n"
                "command: echo rank $RANK of $WORLD_SIZE; sleep 2\n")
        wide = other.json("submit", "-", "--wait", text=wide)["jobs"][0]
        assert wide["state"] == "done" and wide["gpus"] == 4 and wide["gpus_min"] == 2, wide
        out = other.ask("job", "logs", str(wide["id"]), "--rank", "2").stdout
        assert out == "rank 2 of 3\n", out
        other.ask("job", "cancel", small)
    finally:
        nodes.stop()
        other.stop()


@check
def ranks_write_and_are_followed(lab):
    """With real agents, where the program of the agent is built beside this one."""
    other, agent = with_agents(lab, "real", "n[1-2]", 2)
    if not other:
        return
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
        # What an earlier start wrote is still there, and a prolog's failure has words.
        twice = ("name: twice\ngpus: 1\nretries: 5\n"
                 "command: 'echo start $MYRIAD_EPOCH; [ $MYRIAD_EPOCH -ge 2 ]'\n")
        shown = other.json("submit", "-", "--wait", text=twice)["jobs"][0]
        assert shown["state"] == "done" and shown["epoch"] == 2, shown
        for epoch in ("1", "2"):
            out = other.ask("job", "logs", str(shown["id"]), "--epoch", epoch).stdout
            assert out == f"start {epoch}\n", (epoch, out)
        other.ask("job", "logs", str(shown["id"]), "--epoch", "3", code=2)
        mute = "name: mute\ngpus: 1\nretries: 0\nprolog: exit 5\ncommand: 'true'\n"
        result = other.ask("submit", "-", "--wait", "-o", "json", code=1, text=mute)
        reason = json.loads(result.stdout)["jobs"][0]["reason"]
        assert "prolog failed: exit code 5, and it wrote nothing" in reason, reason
        number = str(other.json("submit", "-", text=job)["jobs"][0]["id"])
        lines, begun = [], time.monotonic()
        while not lines and time.monotonic() - begun < LIMIT_S:
            with contextlib.suppress(AssertionError):  # it has not started yet
                document = other.json("job", "logs", number, "--rank", "1")
                lines = document["lines"]
        assert lines == [{"text": "rank 1 of 4"}] and document["bytes"] == 12, document
        rules = json.loads((ROOT / "docs" / "schema" / "myriad.job.logs.json").read_text())
        assert not list(schemas.validate(document, rules)), document
        rules = json.loads((ROOT / "docs" / "schema" / "myriad.job.show.json").read_text())
        assert not list(schemas.validate(other.json("job", "show", number), rules))
        table = other.ask("node", "list", "-o", "csv").stdout
        assert f"[{number}]" in table, table
    finally:
        nodes.stop()
        other.stop()


if __name__ == "__main__":
    sys.exit(run_checks(checks))
