#!/usr/bin/env python3
"""Agents one version older than the server: they run jobs, are upgraded and downgraded under them.

    tests/server/older.py MYRIAD AGENT OLDER

OLDER is the agent with the messages of the version before (older.c). One node has it, one has it
behind a relay, one has today's. A job runs on all three; then each node's agent is replaced by the
other version, twice, while the job's processes run on. What an agent does not understand it does
not lose anything by.
"""
import argparse
import pathlib
import shutil
import signal
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from cluster import Cluster, Failed, wait_for  # noqa: E402

NODES = ["n0", "n1", "n2"]
SCRIPT = """\
echo "rank $RANK of $WORLD_SIZE on $NODE_RANK"
echo "$RANK $NODE_RANK ${{MYRIAD_ARRAY_INDEX:-none}}" > {folder}/seen/$MYRIAD_JOB.$RANK
{more}
"""


def need(truth, *words):
    if not truth:
        raise Failed(" ".join(str(word)[:600] for word in words))


class Site:
    def __init__(self, cluster, today, older):
        self.cluster, self.programs = cluster, {"today": str(today), "older": str(older)}
        _, self.port = cluster.start_relay("r0")
        self.runs = {}
        for node, age in zip(NODES, ("older", "today", "older")):
            self.start(node, age)
        self.well()

    def start(self, node, age):
        self.cluster.agent, self.runs[node] = self.programs[age], age
        self.cluster.start_agent(node, self.port if node == "n2" else None)

    def well(self):
        wait_for("all nodes healthy", lambda: self.cluster.healthy() == len(NODES))

    def submit(self, name, keys, more):
        folder = self.cluster.folder
        script = folder / f"{name}.sh"
        script.write_text(SCRIPT.format(folder=folder, more=more))
        return self.cluster.submit(f"name: {name}\n{keys}\ncommand: [sh, {str(script)!r}]\n"
                                   f"env: {{FOLDER: {str(folder)!r}}}\n")

    def state(self, job):
        return self.cluster.job(job)["state"]


def swap(site, job, ranks):
    """Every agent becomes the other version, killed in the middle of everything."""
    at = {}
    for node in NODES:
        site.cluster.end_agent(node, signal.SIGKILL)
        at[node] = (site.cluster.folder / f"{node}.log").stat().st_size
        site.start(node, "today" if site.runs[node] == "older" else "older")
        wait_for("it is back", lambda node=node: b"connected to" in
                 (site.cluster.folder / f"{node}.log").read_bytes()[at[node]:])
    site.well()
    found = site.cluster.job(job)
    need(found["state"] == "running" and found["epoch"] == 1, "the job has noticed:", found)
    need(sorted(site.cluster.ranks()) == ranks, "its processes have changed")
    print("swapped:", site.runs, flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("myriad", "agent", "older"):
        parser.add_argument(name)
    options = parser.parse_args()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="myriad-older-"))
    (folder / "seen").mkdir(mode=0o777)
    (folder / "seen").chmod(0o777)
    with Cluster(options.myriad, options.agent, folder, NODES) as cluster:
        need(cluster.start_server(), "the server does not start")
        site = Site(cluster, options.agent, options.older)
        held = site.submit("held", "nodes: 3\nlease_s: 600", "exec sleep 100000")
        wait_for("it runs", lambda: site.state(held) == "running")
        wait_for("its ranks wrote", lambda: len(list((folder / "seen").glob(f"{held}.*"))) == 24)
        ranks = wait_for("its ranks", lambda: sorted(cluster.ranks())
                         if len(cluster.ranks()) == 24 else None)
        places = {tuple(path.read_text().split()[:2])
                  for path in (folder / "seen").glob(f"{held}.*")}
        need(places == {(str(rank), str(rank // 8)) for rank in range(24)}, "ranks:", places)
        for _ in range(2):
            swap(site, held, ranks)
        for rank in (0, 8, 16):
            def written(rank=rank):
                status, answer = cluster.ask(f"/v1/jobs/{held}/logs?rank={rank}")
                return status == 200 and f"rank {rank} of 24" in answer["text"]
            wait_for(f"what rank {rank} wrote", written)  # when its node's agent is back
        cluster.post(f"/v1/jobs/{held}/cancel", {})
        wait_for("it ends", lambda: site.state(held) == "cancelled")
        # How ranks end is told by old agents too, for good and for bad.
        good = site.submit("good", "nodes: 3", "exit 0")
        bad = site.submit("bad", "gpus: 8\nretries: 0", "exit 7")
        wait_for("one is done", lambda: site.state(good) == "done")
        wait_for("one has failed", lambda: site.state(bad) == "failed")
        need("exit code 7" in cluster.job(bad)["reason"], cluster.job(bad))
        # A later field is not there for an older agent, and harms nobody.
        array = site.submit("array", "gpus: 8\narray: 0-2", "exit 0")
        for one in range(array, array + 3):
            wait_for("it is done", lambda one=one: site.state(one) == "done")
        seen = {path.read_text().split()[2] for one in range(array, array + 3)
                for path in (folder / "seen").glob(f"{one}.*")}
        need("none" in seen and len(seen) > 1, "indices:", seen)
        need(cluster.healthy() == len(NODES), "nodes were blamed")
    shutil.rmtree(folder, ignore_errors=True)
    print("nothing was lost between versions")


if __name__ == "__main__":
    try:
        main()
    except Failed as problem:
        sys.exit(f"older.py: {problem}")
