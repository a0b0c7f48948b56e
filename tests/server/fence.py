#!/usr/bin/env python3
"""The program that takes a lost node's power away: a strict job starts elsewhere only behind it.

    tests/server/fence.py MYRIAD AGENT

Four nodes, three jobs of one node each. Their agents are stopped, so that their nodes are lost and
their ranks run on. For the first the program kills what runs there, for the second it fails, for
the third it never ends: only the first job is started again, and only after its old ranks are
gone. Each run is a line of the audit. Mostly sleeps: a server that has just begun waits two minutes
before it takes a node for lost, and half a minute later on.
"""
import argparse
import os
import pathlib
import signal
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from cluster import LIMIT_S, Cluster, Failed, wait_for  # noqa: E402

LOST_S = 300
NODES = ["n0", "n1", "n2", "n3"]
PROGRAM = """#!/bin/sh
# The word it gets, then what the test wants of it.
echo "$#:$1" >> {folder}/called
case $(cat {folder}/mode-$1) in
  fails) echo "asking the BMC" >&2; echo "no answer from $1's BMC" >&2; exit 3 ;;
  hangs) exec sleep 1000 ;;
  works)  # a launcher whose first rank is gone may end the others before we come to them
    for pid in $(cat {folder}/victims-$1); do kill -9 "$pid" 2>/dev/null; done
    date +%s.%N > {folder}/off-$1 ;;
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
        pids = wait_for("nothing but its ranks", lambda: self.sleepers(before))
        return job, self.cluster.job(job)["node_names"][0], pids

    def sleepers(self, before):
        """Eight of them: what a shell ran before it became the rank's program is gone soon."""
        pids = set(self.cluster.ranks()) - before
        try:
            words = [pathlib.Path(f"/proc/{pid}/cmdline").read_bytes() for pid in pids]
        except OSError:
            return None
        return pids if len(pids) == 8 and all(b"sleep" in word for word in words) else None

    def began(self, job):
        path = self.folder / f"ranks/began-{job}"
        return [line.split() for line in path.read_text().splitlines()] if path.exists() else []

    def lose(self, node, mode, victims, wait=True):
        (self.folder / f"mode-{node}").write_text(mode)
        (self.folder / f"victims-{node}").write_text(" ".join(str(pid) for pid in victims))
        self.cluster.agents[node].send_signal(signal.SIGSTOP)
        if wait:
            wait_for(f"the program for {node}", lambda: f"1:{node}" in self.called(), LOST_S)

    def audited(self, node, words):
        return wait_for(f"the audit of {node}", lambda: [
            line for line in self.audit().splitlines()
            if f"fence {node}" in line and words in line], LOST_S)[0]


def alive(pids):
    return [pid for pid in pids if os.path.exists(f"/proc/{pid}")]


def run(cluster):
    site = Site(cluster)
    jobs = [site.start_job() for _ in range(3)]
    check(len({node for _, node, _ in jobs}) == 3, f"one node each: {jobs}")
    job, node, pids = jobs[0]
    site.lose(node, "works", [*pids, cluster.agents[node].pid])
    print(site.audited(node, "done in"))
    wait_for("the job elsewhere", lambda: cluster.job(job)["state"] == "running" and
             cluster.job(job)["epoch"] > 1)
    wait_for("its ranks speak", lambda: len(site.began(job)) == 16)
    check(cluster.job(job)["node_names"] != [node], "it is where it was")
    check(not alive(pids), "old ranks are there")
    off = float((site.folder / f"off-{node}").read_text())
    second = [float(when) for epoch, when in site.began(job) if epoch != "1"]
    check(min(second) > off, f"ranks began at {min(second)}, the node was off at {off}")
    cluster.agents.pop(node).wait(LIMIT_S)
    # Those whose nodes are not known to be off wait, and their ranks are alone.
    for (_, node, pids), mode in zip(jobs[1:], ("fails", "hangs")):
        site.lose(node, mode, pids, wait=False)
    print(site.audited(jobs[1][1], f"exit code 3: no answer from {jobs[1][1]}'s BMC"))
    print(site.audited(jobs[2][1], "more than 2 s"))
    time.sleep(1)
    for job, node, pids in jobs[1:]:
        check(cluster.job(job)["state"] != "running" and len(site.began(job)) == 8,
              f"job {job} has a second copy: {cluster.job(job)}")
        check(len(alive(pids)) == len(pids), f"ranks of {node} are gone")
    check(sorted(site.called()) == sorted(f"1:{node}" for _, node, _ in jobs),
          f"called as {site.called()}")
    print("fence: done, failed and late; a strict job moves only when its node is off")


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
