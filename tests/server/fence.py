#!/usr/bin/env python3
"""The program that takes a lost node's power away: a strict job starts elsewhere only behind it.

    tests/server/fence.py MYRIAD AGENT

Four nodes, three jobs of one node each. An agent is stopped, so that its node is lost and its ranks
run on. The first program fails, the second never ends, the third kills what runs there: only its
job is started again, and only after its old ranks are gone. Each run is a line of the audit.
"""
import argparse
import os
import pathlib
import signal
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from cluster import Cluster, Failed, wait_for  # noqa: E402

NODES = ["n0", "n1", "n2", "n3"]
PROGRAM = """#!/bin/sh
# The word it gets, then what the test wants of it.
echo "$#:$1" >> {folder}/called
case $(cat {folder}/mode) in
  fails) echo "asking the BMC" >&2; echo "no answer from $1's BMC" >&2; exit 3 ;;
  hangs) exec sleep 1000 ;;
  works) kill -9 $(cat {folder}/victims) && date +%s.%N > {folder}/off ;;
esac
"""


def check(holds, what):
    if not holds:
        raise Failed(what)


class Site:
    def __init__(self, cluster):
        self.cluster = cluster
        self.folder = cluster.folder

    def audit(self):
        return (self.cluster.home / "audit.log").read_text()

    def called(self):
        path = self.folder / "called"
        return path.read_text().split() if path.exists() else []

    def start_job(self):
        """A strict job of one node: its number, its node, the pids of its ranks."""
        before = set(self.cluster.ranks())
        job = self.cluster.submit(
            "name: held\nnodes: 1\nrestart: strict\nlease_s: 600\n"
            "command: \"echo $MYRIAD_EPOCH $(date +%s.%N) >> $FOLDER/began-$MYRIAD_JOB; "
            "exec sleep 100000\"\n"
            f"env: {{FOLDER: '{self.folder}/ranks'}}\n")
        wait_for("it runs", lambda: self.cluster.job(job)["state"] == "running")
        wait_for("its ranks speak", lambda: len(self.began(job)) == 8)
        return job, self.cluster.job(job)["node_names"][0], set(self.cluster.ranks()) - before

    def began(self, job):
        path = self.folder / f"ranks/began-{job}"
        return [line.split() for line in path.read_text().splitlines()] if path.exists() else []

    def lose(self, node, mode, victims):
        (self.folder / "mode").write_text(mode)
        (self.folder / "victims").write_text(" ".join(str(pid) for pid in victims))
        calls = len(self.called())
        self.cluster.agents[node].send_signal(signal.SIGSTOP)
        wait_for(f"the program for {node}", lambda: len(self.called()) > calls)
        check(self.called()[calls:] == [f"1:{node}"], f"called with {self.called()[calls:]}")

    def audited(self, node, words):
        return wait_for(f"the audit of {node}", lambda: [
            line for line in self.audit().splitlines()
            if f"fence {node}" in line and words in line])[0]


def alive(pids):
    return [pid for pid in pids if os.path.exists(f"/proc/{pid}")]


def run(cluster):
    site = Site(cluster)
    jobs = [site.start_job() for _ in range(3)]
    check(len({node for _, node, _ in jobs}) == 3, f"one node each: {jobs}")
    for (job, node, pids), mode, words in (
            (jobs[0], "fails", f"exit code 3: no answer from {node_of(jobs[0])}'s BMC"),
            (jobs[1], "hangs", "more than 2 s")):
        site.lose(node, mode, pids)
        print(site.audited(node, words))
    (job, node, pids) = jobs[2]
    site.lose(node, "works", [*pids, cluster.agents[node].pid])
    site.audited(node, "done in")
    wait_for("the job elsewhere", lambda: cluster.job(job)["state"] == "running" and
             cluster.job(job)["epoch"] > 1)
    wait_for("its ranks speak", lambda: len(site.began(job)) == 16)
    check(cluster.job(job)["node_names"] != [node], "it is where it was")
    check(not alive(pids), "old ranks are there")
    off = float((site.folder / "off").read_text())
    second = [float(when) for epoch, when in site.began(job) if epoch != "1"]
    check(min(second) > off, f"ranks began at {min(second)}, the node was off at {off}")
    cluster.agents.pop(node).wait(10)
    # Those whose nodes are not known to be off wait, and their ranks are alone.
    time.sleep(1)
    for job, node, pids in jobs[:2]:
        check(cluster.job(job)["state"] != "running" and len(site.began(job)) == 8,
              f"job {job} has a second copy: {cluster.job(job)}")
        check(len(alive(pids)) == len(pids), f"ranks of {node} are gone")
    check(len(site.called()) == 3, f"called again: {site.called()}")
    # They are heard again, and go on as if nothing had been.
    for _, node, _ in jobs[:2]:
        cluster.agents[node].send_signal(signal.SIGCONT)
    print("fence: failed, late and done; the strict job moved only when its node was off")


def node_of(job):
    return job[1]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("myriad")
    parser.add_argument("agent")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="myriad-fence-") as top:
        with Cluster(options.myriad, options.agent, top, NODES) as cluster:
            (cluster.folder / "ranks").mkdir()
            (cluster.folder / "ranks").chmod(0o777)
            program = cluster.folder / "off.sh"
            program.write_text(PROGRAM.format(folder=cluster.folder))
            program.chmod(0o755)
            cluster.configure(fence=str(program), fence_timeout_s=2, beat_ms=200)
            cluster.start()
            try:
                run(cluster)
            finally:
                for agent in cluster.agents.values():
                    agent.send_signal(signal.SIGCONT)


if __name__ == "__main__":
    main()
