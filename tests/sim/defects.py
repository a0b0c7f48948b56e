#!/usr/bin/env python3
"""What was once wrong, with figures that are known from elsewhere: tests/sim/defects.py MYRIAD"""
import random
import sys
import tempfile
from pathlib import Path

from lib import ROOT, TREE, Checks, call, plan, sim, tree

FLAT = "fat-tree:k=8,gbps=100,delay=0us"
NODES = "name: nodes\nservers: 2\nserver: h100-8gpu\nnetworks: {compute: {switch: sn5600}}\n"


def barriers(check, program):
    """An all-to-all has no barrier after each shift: its fullest link is full to the end."""
    hashed = tree(program, "alltoall:1.28MB", "--lb", "ecmp", topology=FLAT)
    check.equal("all-to-all, hashed", hashed["sim_time_us"], 125.6, 1e-3)
    check.equal("its busiest link", hashed["bounds_us"]["bisection"], 125.6, 1e-3)
    planned = tree(program, "alltoall:1.28MB", "--lb", "planned", topology=FLAT)
    check.true("planning gains what the fullest link loses",
               1.2 < hashed["sim_time_us"] / planned["sim_time_us"] < 1.25)
    for lb in ("ecmp", "spray"):
        forms = [tree(program, f"alltoall:1.28MB,schedule={form}", "--lb", lb,
                      topology=FLAT)["sim_time_us"] for form in ("full", "collapsed")]
        check.equal(f"collapsed, {lb}", forms[1], forms[0], forms[0] * 1e-6)
    with tempfile.TemporaryDirectory() as folder:
        got = sim(program, "--design", plan(program, folder, NODES), "--workload", "alltoall:1GB",
                  "--lb", "spray")
        check.true(f"NVLink and NICs at once: {got['sim_time_us']}",
                   10000 <= got["sim_time_us"] < 10020)
    window = [tree(program, f"alltoall:1.28MB,window={n}", "--lb", "spray")["sim_time_us"]
              for n in (1, 4, 16)]
    check.true("a window of one waits for every latency", window[0] > window[1] > window[2])


def co_placed(check, program):
    """Latency and bytes of a ring take turns: a job beside it is met."""
    words = ("--topology", TREE, "--lb", "spray")
    for form in ("full", "collapsed"):
        jobs = sim(program, *words, "--job", f"allreduce:ring,12.8MB,schedule={form}",
                   "--job", "permutation:5MB")["jobs"]
        worst = max(job["slowdown"] for job in jobs)
        check.true(f"{form}: one of them is slowed down: {worst}", 1.2 < worst < 2)
    four = ["allreduce:ring,100MB,ranks=32,place=random,seed=7" + (f",first={32 * i}" if i else "")
            for i in range(4)]
    jobs = sim(program, "--topology", TREE, "--lb", "planned",
               *[word for job in four for word in ("--job", job)])["jobs"]
    for job in jobs:
        check.true(f"four planned jobs: {job['slowdown']}", job["slowdown"] <= 1.02)


def racks(check, program):
    """8 racks of NVL72: scale-up domains of 72 at 900 GB/s, a NIC of 400 Gb/s a GPU."""
    with tempfile.TemporaryDirectory() as folder:
        design = plan(program, folder, (ROOT / "examples/nvl72-9k.yaml").read_text())
        words = ("--design", design, "--lb", "spray", "--workload")
        bytes_us = 2 * 71 / 72 * 1e9 / 900e3 + 2 * 7 / 8 * 1e9 / 72 * 8 / 400e3
        serial = sim(program, *words, "allreduce:hier,1GB,ranks=576")["sim_time_us"]
        check.equal("hierarchical, serial", serial, 2680, 2680 * 0.02)
        check.true("no quicker than its bytes", serial > bytes_us)
        for form in ("full", "collapsed"):
            got = sim(program, *words, f"allreduce:hier,1GB,ranks=576,chunks=4,schedule={form}")
            check.true(f"in chunks, {form}: {got['sim_time_us']}", 2190 < got["sim_time_us"] < 2680)


def wire(check, program):
    for ranks in (2, 3, 16):
        for name in ("ring", "tree", "auto"):
            got = tree(program, f"broadcast:{name},16MB,ranks={ranks}", "--lb", "spray")
            check.true(f"broadcast {name} to {ranks} beats no wire: {got['sim_time_us']}",
                       got["sim_time_us"] >= 1280)
            check.true("its bound", got["jobs"][0]["bound_us"] >= 1280)
    # Seven ranks, a piece of a seventh each: 1, 2 and 3 of them, over 4, 2 and 1 ranks.
    for kind in ("allgather", "reducescatter"):
        got = tree(program, f"{kind}:tree,7MB,ranks=7", "--lb", "spray", topology=FLAT)
        check.equal(f"{kind} as trees", got["sim_time_us"], 6 * 80, 1e-3)
    got = tree(program, "allreduce:auto,1KB")
    check.true("auto says what it chose", got["jobs"][0]["algorithm"] in
               ("ring", "tree", "halving", "hier"))


def late(check, program):
    """Times that the clock cannot show are refused, in one line."""
    slow = "fat-tree:k=8,gbps=1,delay=1us"
    for topology, workload in (
            (slow, f"incast:127:1,{2**50}"), (slow, "allreduce:ring,100000000GB"),
            (slow, "allreduce:ring,100000000GB,schedule=collapsed"),
            ("fat-tree:k=8,gbps=100,delay=1000000s", "allreduce:ring,1MB"),
            ("fat-tree:k=8,gbps=100,delay=1000000s", "permutation:1MB"),
            ("fat-tree:k=8,gbps=100,delay=1000000s", "alltoall:1MB,schedule=collapsed")):
        done = call(program, "--topology", topology, "--workload", workload)
        lines = done.stderr.strip().splitlines()
        check.true(f"{workload} on {topology}: {done.returncode} {done.stderr}",
                   done.returncode == 2 and not done.stdout and len(lines) <= 2
                   and lines[0].startswith("myriad: "))


def all_nics(check, program):
    """Switches that reduce, 8 GPUs a node: every NIC carries an eighth."""
    spec = NODES.replace("servers: 2", "servers: 16")
    with tempfile.TemporaryDirectory() as folder:
        got = sim(program, "--design", plan(program, folder, spec), "--lb", "spray",
                  "--workload", "allreduce:in-network,1GB")
        want = 1e9 / 8 * 8 / 400e3 + 2 * 7 / 8 * 1e9 / 450e3
        check.equal("in-network", got["sim_time_us"], want, want * 0.01)


def cascade(check, program):
    """Host 0 sends to 64, whose port ten others fill, and to 4 in its own pod. The jam at 64
    reaches back over the core and the spine to host 0's NIC, where the flow to 4 stands too."""
    rows = [(0, 64, 4000000), (0, 4, 400000)] + [(70 + i, 64, 4000000) for i in range(10)]
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
        file.write(f"{len(rows)}\n" + "".join(f"{a} {b} 3 100 {size} 0\n" for a, b, size in rows))
        file.flush()
        with tempfile.NamedTemporaryFile("r", suffix=".csv") as fct:
            ends = []
            for pause in (0, 500, 1000):
                tree(program, f"file:{file.name},format=hpcc", "--lb", "ecmp", "--pause", pause,
                     "--fct", fct.name, topology=FLAT)
                lines = Path(fct.name).read_text(encoding="utf-8").splitlines()
                ends.append(float(lines[2].split(",")[5]))
    # Ideally ten elevenths of the NIC; with no congestion control no faster than the other.
    fair, stopped = 10 / 11, 1 / 11
    for end, rate in zip(ends, (fair, (fair + stopped) / 2, stopped)):
        check.equal("the victim at the sender's NIC", end, 32 / rate, 32 / rate * 1e-6)


def drift(check, program):
    """Shared fairly by all, the k-th smallest of n ends when it and those before it are through,
    and as much of every larger one: no rounding piles up over thousands of new rates."""
    rng = random.Random(5)
    sizes = [rng.randrange(1, 10**6) for _ in range(3000)]
    with tempfile.TemporaryDirectory() as folder:
        flows, fct = Path(folder) / "flow.txt", Path(folder) / "fct.csv"
        flows.write_text(f"{len(sizes)}\n" + "".join(
            f"{1 + i % 3} 0 3 100 {size} 0\n" for i, size in enumerate(sizes)))
        tree(program, f"file:{flows},format=hpcc", "--lb", "ecmp", "--fct", fct, topology=FLAT)
        ends = {int(row.split(",")[0]): float(row.split(",")[5])
                for row in fct.read_text().splitlines()[1:]}
    done, worst = 0, 0
    for rank, i in enumerate(sorted(range(len(sizes)), key=lambda i: sizes[i])):
        want = (done + sizes[i] * (len(sizes) - rank)) * 8 / 100e3
        done += sizes[i]
        worst = max(worst, abs(ends[i] - want))
    check.true(f"3,000 flows into one port are off by up to {worst} us", worst < 1e-5)


def main():
    program, check = sys.argv[1], Checks()
    for test in (barriers, co_placed, racks, wire, late, all_nics, cascade, drift):
        test(check, program)
    check.end()


if __name__ == "__main__":
    main()
