#!/usr/bin/env python3
"""What goes wrong between a server and a real etcd: one clear line each, and back by itself.

    tests/engines/etcd_troubles.py MYRIAD AGENT --case NAME

Three members with TLS that ask for certificates, and a server whose unit starts it again when it
ends. Cases: 'credentials' (a certificate of another authority while it leads, and when it starts;
members that ask for a password), 'expired' (its own certificate, then the members'), 'hangs' (all
three stopped), 'version' (something that does not have the calls of etcd 3.4: a stand-in, as there
is no other release here). A job that runs meanwhile is never touched.
"""
import argparse
import http.server
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from etcd_lab import Etcd, Papers, members_of  # noqa: E402
from slurm_lab import SKIP  # noqa: E402
from cluster import LIMIT_S, Cluster, Failed, wait_for  # noqa: E402

STALE = 3  # its exit status when another may lead
SILENT_S = 8  # further attempts that fail, and the end of the lease: nothing more is said


def check(holds, what):
    if not holds:
        raise Failed(what)


class Unit(Cluster):
    """A server that is started again when it ends, as its unit does."""

    def __init__(self, myriad, agent, folder, etcd, papers):
        self.own = folder / "own"  # what it shows; tests put other papers there
        self.own.mkdir()
        self.papers = papers
        self.show(papers, "person")
        super().__init__(myriad, agent, folder, ["a"], options=(
            "--gpus-per-node", "8", "--etcd", members_of(etcd), "--etcd-ca", papers.path("ca.crt"),
            "--etcd-certificate", self.own / "crt", "--etcd-key",
            papers.path("person.key")))
        self.log_path, self.starts = folder / "server.log", 0

    def show(self, papers, name):
        """Another certificate in place of the one that is there, in one step: the key stays."""
        shutil.copy(papers.path(f"{name}.crt"), self.own / "new")
        os.replace(self.own / "new", self.own / "crt")

    def keep_up(self):
        if self.server and self.server.poll() is not None:
            check(self.server.returncode == STALE, f"it ended with {self.server.returncode}")
            self.server = None
        if not self.server:
            with open(self.log_path, "ab") as log:
                self.server = subprocess.Popen([self.myriad, "serve", self.home],
                                               stdout=subprocess.DEVNULL, stderr=log)
            self.starts += 1

    def serves(self):
        """It answers, and takes what is to be kept."""
        self.keep_up()
        path = self.home / "server.url"
        if not path.exists():
            return False
        self.url = path.read_text().strip()
        try:
            status, answer = self.ask("/v1/jobs", b"name: t\ngpus: 1\ncommand: 'true'\n",
                                      limit_s=20)
        except OSError:
            return False
        return status == 200 and answer

    def errors(self, since=0):
        return [line for line in self.log_path.read_text()[since:].splitlines()
                if " error " in line]

    def end_server(self, how=signal.SIGTERM):
        if self.server and self.server.poll() is None:
            self.server.send_signal(how)
            self.server.wait(LIMIT_S)
        self.server = None


def begin(unit):
    wait_for("it serves", unit.serves)
    config = (unit.home / "myriad.yaml").read_text()
    port = next(line for line in config.splitlines() if line.startswith("agents:"))
    unit.agents_port = int(port.strip('"').rpartition(":")[2])
    unit.start_agent("a")
    wait_for("its node is healthy", lambda: unit.healthy() == 1)
    job = unit.submit(f"name: long\ngpus: 4\ncommand: sleep 600\nenv: {{F: {unit.folder}}}\n")
    wait_for("a job runs", lambda: unit.job(job)["state"] == "running")
    return job


def trouble(unit, name, make, mend, words):
    """One line of it, with these words; and jobs are taken again after it."""
    since = len(unit.log_path.read_text())
    make()
    line = wait_for(f"a line on: {name}", lambda: (unit.keep_up(), unit.errors(since))[1])[0]
    check(words in line, f"{name}: '{words}' is not in: {line}")
    end = time.monotonic() + SILENT_S
    while time.monotonic() < end:
        unit.keep_up()
        time.sleep(0.2)
    check(len(unit.errors(since)) == 1, f"{name}: more than one line: {unit.errors(since)}")
    mend()
    wait_for(f"jobs are taken after: {name}", unit.serves)
    late = [text for text in unit.errors(since)[1:] if "lease has run out" not in text
            and "another server leads" not in text]
    check(not late, f"{name}: more lines: {late}")
    print(f"{name}: {line}; back by itself")


def same(unit, job):
    """It was never touched."""
    wait_for("its node is healthy", lambda: unit.healthy() == 1)
    state = unit.job(job)
    check(state["state"] == "running" and state["epoch"] == 1, f"{state}")


def credentials(unit, etcd):
    other = Papers(unit.folder / "stranger")
    other.sign("stranger", key=unit.papers.path("person.key"))
    job = begin(unit)
    trouble(unit, "a stranger's certificate", lambda: unit.show(other, "stranger"),
            lambda: unit.show(unit.papers, "person"), "our certificate is not accepted")
    same(unit, job)
    unit.end_server()

    def begin_as_stranger():
        unit.show(other, "stranger")
        unit.keep_up()
    starts = unit.starts
    trouble(unit, "a stranger's certificate from the start", begin_as_stranger,
            lambda: unit.show(unit.papers, "person"), "our certificate is not accepted")
    check(unit.starts == starts + 1, "it did not wait")
    same(unit, job)

    def ask_for_passwords():
        for path, body in (("role/add", {"name": "root"}),
                           ("user/add", {"name": "root", "password": "lab"}),
                           ("user/grant", {"user": "root", "role": "root"}), ("enable", {})):
            etcd.call(0, f"auth/{path}", body)

    def ask_for_none():
        token = etcd.call(0, "auth/authenticate", {"name": "root", "password": "lab"})["token"]
        etcd.call(0, "auth/disable", {}, token=token)
    trouble(unit, "a password is asked for", ask_for_passwords, ask_for_none, "not allowed: ")
    same(unit, job)


def expired(unit, _):
    job = begin(unit)
    unit.papers.sign("late", days=-1, key=unit.papers.path("person.key"))
    trouble(unit, "its certificate has expired", lambda: unit.show(unit.papers, "late"),
            lambda: unit.show(unit.papers, "person"), "our certificate is not accepted")
    same(unit, job)

    def members_show(days):
        """They read it anew for every connection; in one step, with the key that they have."""
        unit.papers.sign("next", days=days, key=unit.papers.path("member.key"))
        os.replace(unit.papers.path("next.crt"), unit.papers.path("member.crt"))
    trouble(unit, "the members' certificates have expired", lambda: members_show(-1),
            lambda: members_show(30), "certificate has expired")
    same(unit, job)


def hangs(unit, etcd):
    job = begin(unit)

    def send(what):
        for process in etcd.processes:
            process.send_signal(what)
    trouble(unit, "all members hang", lambda: send(signal.SIGSTOP), lambda: send(signal.SIGCONT),
            "no answer within 1 s")
    same(unit, job)


def version(unit, etcd):
    """The calls of 3.4 are under /v3; releases before it answer 404 there."""
    job = begin(unit)
    unit.end_server()

    class Older(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            self.send_error(404)

        def log_message(self, *_):
            pass
    other = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Older)
    threading.Thread(target=other.serve_forever, daemon=True).start()
    path = unit.home / "myriad.yaml"
    config = path.read_text()
    path.write_text(config.replace(etcd.clients[0], f"http://127.0.0.1:{other.server_port}"))
    since = len(unit.log_path.read_text())
    unit.keep_up()
    line = wait_for("a line on it", lambda: (unit.keep_up(), unit.errors(since))[1])[0]
    check("etcd 3.4 or later is expected" in line, line)
    unit.end_server(signal.SIGKILL)  # it waits, and says so once
    check(len(unit.errors(since)) == 1, f"{unit.errors(since)}")
    other.shutdown()
    other.server_close()
    path.write_text(config)
    wait_for("jobs are taken", unit.serves)
    same(unit, job)
    print(f"another version: {line}; back with the right one")


CASES = {"credentials": credentials, "expired": expired, "hangs": hangs, "version": version}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("myriad")
    parser.add_argument("agent")
    parser.add_argument("--case", action="append", choices=sorted(CASES))
    words = parser.parse_args()
    if not shutil.which("etcd"):
        print("skipped: etcd is not installed (scripts/deps test)")
        return SKIP
    for name in words.case or CASES:
        folder = pathlib.Path(tempfile.mkdtemp(prefix="myriad-etcd-"))
        papers = Papers(folder / "papers")
        for person in ("member", "friend", "person"):
            papers.sign(person)
        unit = None
        try:
            with Etcd(folder, papers=papers) as etcd:
                with Unit(words.myriad, words.agent, folder, etcd, papers) as unit:
                    CASES[name](unit, etcd)
        except Failed as fault:
            print(f"failed: {fault}", file=sys.stderr)
            print(unit.log_path.read_text()[-3000:] if unit else "", file=sys.stderr)
            return 1
        finally:
            if not os.environ.get("KEEP"):
                shutil.rmtree(folder, ignore_errors=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
