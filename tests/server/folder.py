#!/usr/bin/env python3
"""A server's folder: found, copied while it runs and after a kill, put back, looked at.

    tests/server/folder.py MYRIAD [CHECK...]
"""
import contextlib
import json
import os
import shutil
import socket
import sqlite3
import subprocess
import sys
import tarfile
import threading
from pathlib import Path

from lab import LIMIT_S, ROOT, Lab, init, run_checks, token_file

checks = []


def check(function):
    checks.append(function)
    return function


def expect_counts(copied, folder):
    """What is told of a copy is what lies in its folder."""
    with contextlib.closing(sqlite3.connect(os.path.join(folder, "state.db"))) as store:
        keys = store.execute("SELECT count(*) FROM kv").fetchone()[0]
    sizes = [os.path.getsize(os.path.join(folder, name)) for name in os.listdir(folder)]
    assert copied["keys"] == keys and copied["files"] == len(sizes), (copied, keys, sizes)
    assert copied["bytes"] == sum(sizes), (copied, sizes)


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
    expect_counts(copied, kept)
    assert not os.path.exists(os.path.join(lab.folder, "backup.tmp"))
    for name in os.listdir(kept):
        assert os.stat(os.path.join(kept, name)).st_mode & 0o077 == 0, name
    # The next one may begin as soon as one is over.
    copied = json.loads(lab.run("backup", lab.folder, kept + "1", "-o", "json").stdout)["copies"][0]
    expect_counts(copied, kept + "1")
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
    expect_counts(copied, kept + "2")
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
def the_server_says_where_it_is_while_it_runs(lab):
    lab.stop()
    assert not os.path.exists(os.path.join(lab.folder, "server.url"))
    assert "no server runs" in lab.ask("job", "list", code=3).stderr
    lab.serve()
    lab.ask("job", "list")


@check
def one_address_has_one_server(lab):
    """Who comes second is refused, by either of its doors; one that ended leaves no trace."""
    lab.stop()
    other = os.path.join(lab.top, "other")
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    for folder in (lab.folder, other):
        if folder == other:
            init(lab, other)
        config = Path(folder, "myriad.yaml")
        lines = [f"http: 127.0.0.1:{port}" if line.startswith("http:") else line
                 for line in config.read_text().splitlines()]
        config.write_text("\n".join(lines) + "\n")
    lab.serve()
    # What a start has opened before it failed goes with the process (serve.c).
    said = lab.run("serve", other, code=3, ASAN_OPTIONS="detect_leaks=0").stderr
    assert f"127.0.0.1 port {port}" in said and "in use" in said, said
    lab.ask("job", "list")
    lab.stop()
    lab.serve(other)  # its connections may still linger in the kernel
    lab.stop()
    lab.serve()


@check
def a_name_that_is_not_this_machines_is_refused(lab):
    """A page of another site whose name leads here asks by that name."""
    lab.ask("job", "list")
    url = Path(lab.folder, "server.url").read_text().strip().rstrip("/")
    host, port = url.split("//")[1].split(":")

    def status(name):
        head = f"Host: {name}\r\n" if name is not None else ""
        version = "1.1" if name is not None else "1.0"
        with socket.create_connection((host, int(port)), timeout=LIMIT_S) as line:
            line.sendall(f"GET /healthz HTTP/{version}\r\n{head}Connection: close\r\n\r\n"
                         .encode())
            return int(line.recv(4096).split()[1])
    for name in ("localhost", "LOCALHOST:80", f"127.0.0.1:{port}", "127.8.8.8", "[::1]:4680", None):
        assert status(name) == 200, name
    for name in ("evil.example", "127.0.0.1.evil.example", "localhost.evil.example", "127.evil",
                 "10.0.0.1", "[::2]", "[::1", "x" * 300, "localhost@evil.example"):
        assert status(name) == 403, name


@check
def a_report_of_a_fault_holds_no_secret(lab):
    """Planted in the configuration, in a job's variables, in tokens: none of them travels."""
    lab.ask("submit", "-", text="gpus: 1\ncommand: 'true'\nenv: {API_KEY: planted-in-a-job}\n")
    with open(os.path.join(lab.folder, "myriad.yaml"), "a", encoding="utf-8") as config:
        config.write("# password: planted-in-a-comment\n")
    admin = Path(lab.folder, "admin.token").read_text().strip()
    shutil.copytree(ROOT / "scripts", os.path.join(lab.top, "tree", "scripts"))
    said = subprocess.run([os.path.join(lab.top, "tree", "scripts", "bug-report"), lab.folder],
                          env={**lab.environment, "MYRIAD": lab.myriad}, text=True, check=True,
                          capture_output=True, timeout=LIMIT_S).stdout
    with tarfile.open(os.path.join(lab.top, "tree", "out", "bug-report.tar.gz")) as bundle:
        files = {os.path.basename(item.name): bundle.extractfile(item).read().decode()
                 for item in bundle if item.isfile()}
    assert files["version.txt"].startswith("myriad "), files["version.txt"]
    assert "gpu-[01-04]" in files["myriad.yaml"], files["myriad.yaml"]
    assert len(json.loads(files["nodes.json"])["nodes"]) == 4, files["nodes.json"]
    assert len(json.loads(files["jobs.json"])["jobs"]) > 0 and "doctor.json" in said, said
    for secret in (admin, "planted-in-a-job", "planted-in-a-comment", "PRIVATE KEY"):
        assert not any(secret in text for text in files.values()), secret
    bad = subprocess.run([ROOT / "scripts/bug-report", lab.top], env=lab.environment, text=True,
                         capture_output=True, timeout=LIMIT_S, check=False)
    assert bad.returncode == 2 and "myriad.yaml is missing" in bad.stderr, bad


if __name__ == "__main__":
    sys.exit(run_checks(checks))
