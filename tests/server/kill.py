#!/usr/bin/env python3
"""Kills everything that can be killed while real jobs run, and holds that nothing is lost.

    tests/server/kill.py MYRIAD AGENT DIE [--nodes N] [--kills N] [--seed N]

Jobs are plain processes that lock the GPUs they were given (a file each), so that a GPU given twice
shows whoever gave it. Kills: agents, ranks, their launchers, the server from outside, and the
server inside of its Nth write or sync (DIE is loaded before the C library). At the end every job
that was accepted is done, no rank is left, and no lock was ever taken twice.
"""
import argparse
import os
import pathlib
import random
import shutil
import signal
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from cluster import Cluster, Failed, wait_for  # noqa: E402

# What a rank does: takes a lock for its GPU, works a while, lets go. The node is told by the folder
# that its launcher was given.
RANK = """\
import fcntl, os, sys, time
base = {base!r}
gpu = os.environ["CUDA_VISIBLE_DEVICES"].split(",")[int(os.environ["LOCAL_RANK"])]
where = open(f"/proc/{{os.getppid()}}/cmdline").read().split("/agents/")[1].split("/")[0]
lock = open(f"{{base}}/locks/{{where}}.{{gpu}}", "a")
me = f"job {{os.environ['MYRIAD_JOB']}}.{{os.environ['MYRIAD_EPOCH']}} rank {{os.environ['RANK']}}"
try:
    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
except BlockingIOError:
    open(f"{{base}}/twice", "a").write(f"{{where}} GPU {{gpu}}: {{me}}\\n")
    sys.exit(3)
time.sleep({seconds})
"""


def job_text(folder, seconds, gpus, rng, number):
    script = folder / f"rank-{number}.py"
    script.write_text(RANK.format(base=str(folder), seconds=seconds))
    restart = rng.choice(["strict", "strict", "epoch"])
    # Epoch jobs may be placed again beside what is still ending on the nodes they left.
    return (f"name: j{number}\ngpus: {gpus}\nretries: 1000\nlease_s: 5\nrestart: {restart}\n"
            f"command: [/usr/bin/python3, {str(script)!r}]\nenv: {{FOLDER: {str(folder)!r}}}\n")


def shims(cluster):
    """Pids of launchers of this cluster's agents."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                words = (entry / "cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if len(words) > 2 and words[1] == b"shim" and str(cluster.folder).encode() in words[2]:
                found.append(int(entry.name))
    return found


def kill_one(cluster, rng, die):
    what = rng.choice(["agent", "agent", "rank", "rank", "launcher", "server", "write", "write"])
    if what == "agent":
        node = rng.choice(cluster.nodes)
        cluster.end_agent(node, signal.SIGKILL)
        time.sleep(rng.choice([0, 0, 0.3, 1]))
        cluster.start_agent(node)
    elif what in ("rank", "launcher"):
        found = cluster.ranks() if what == "rank" else shims(cluster)
        if found:
            try:
                os.kill(rng.choice(found), signal.SIGKILL)
            except ProcessLookupError:
                pass
    elif what == "server":
        cluster.end_server(signal.SIGKILL)
        time.sleep(rng.choice([0, 0.2, 1]))
        if not cluster.start_server():
            raise Failed("the server does not start again")
    else:
        # The server that runs now ends well; the next one dies in the middle of a write.
        cluster.end_server(signal.SIGKILL)
        at = rng.randrange(1, 60)
        if cluster.start_server(LD_PRELOAD=str(die), MYRIAD_TEST_DIE=str(at)):
            end = time.monotonic() + 5
            while cluster.server.poll() is None and time.monotonic() < end:
                try:
                    cluster.ask("/v1/tokens", {"user": "x", "role": "viewer"}, limit_s=5)
                except OSError:
                    break
        if cluster.server:
            cluster.end_server(signal.SIGKILL)
        if not cluster.start_server():
            raise Failed(f"the server does not start again after dying in write {at}")
    return what


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("myriad")
    parser.add_argument("agent")
    parser.add_argument("die")
    parser.add_argument("--nodes", type=int, default=4)
    parser.add_argument("--kills", type=int, default=12)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    print(f"seed {options.seed}, {options.nodes} nodes, {options.kills} kills")
    rng = random.Random(options.seed)
    folder = pathlib.Path(tempfile.mkdtemp(prefix="myriad-kill-"))
    (folder / "locks").mkdir()
    for name in ("", "locks"):
        os.chmod(folder / name, 0o777)
    nodes = [f"n{i:02d}" for i in range(options.nodes)]
    done = {}
    with Cluster(options.myriad, options.agent, folder, nodes) as cluster:
        cluster.configure(beat_ms=200)
        cluster.start()
        os.chmod(folder, 0o777)
        accepted = []
        for number in range(options.kills):
            if number % 2 == 0:
                gpus = rng.choice([1, 2, 8, 8, 16, 24])
                gpus = min(gpus, 8 * options.nodes // 2)
                text = job_text(folder, rng.choice([0.5, 1, 3]), gpus, rng, number)
                accepted.append(cluster.submit(text))
            time.sleep(rng.random())
            what = kill_one(cluster, rng, options.die)
            print(f"kill {number}: {what}", flush=True)

        def all_over():
            for job in accepted:
                if job not in done:
                    state = cluster.job(job)["state"]
                    if state in ("done", "failed", "cancelled"):
                        done[job] = state
            return len(done) == len(accepted)

        try:
            wait_for("every job over", all_over, 300)
        except Failed:
            for job in accepted:
                if job not in done:
                    print(cluster.get(f"/v1/jobs/{job}/explain"))
            print({n["name"]: n["state"] for n in cluster.get("/v1/nodes")["nodes"]})
            raise
        bad = {job: state for job, state in done.items() if state != "done"}
        if bad:
            for job in bad:
                print(cluster.job(job)["reason"])
            raise Failed(f"jobs that did not end well: {bad}")
        wait_for("no rank left", lambda: not cluster.ranks())
        cluster_busy = wait_for("no GPU kept",
                                lambda: cluster.get("/v1/cluster")["gpus_busy"] == 0, 60)
        assert cluster_busy
    twice = folder / "twice"
    if twice.exists():
        raise Failed("GPUs given twice:\n" + "".join(twice.open().readlines()[:10]))
    shutil.rmtree(folder, ignore_errors=True)
    print(f"{len(done)} jobs done, none lost")


if __name__ == "__main__":
    try:
        main()
    except Failed as problem:
        sys.exit(f"kill.py: {problem}")
