#!/usr/bin/env python3
"""Several jobs at once, and storage bursts: tests/sim/jobs.py MYRIAD"""
import csv
import sys
import tempfile
from pathlib import Path

from lib import TREE, Checks, plan, sim

PS = 1e-6


def two_jobs(program, lb, seed):
    """Two rings of 64 hosts each, scattered over the same fabric, no host in common."""
    place = f"allreduce:ring,100MB,ranks=64,place=random,seed={seed}"
    return sim(program, "--topology", TREE, "--lb", lb, "--seed", seed, "--job", place,
               "--job", f"{place},first=64")["jobs"]


def scattered(check, program):
    worst = {}
    for lb in ("ecmp", "planned", "spray"):
        jobs = [job for seed in range(5) for job in two_jobs(program, lb, seed)]
        worst[lb] = max(job["slowdown"] for job in jobs)
        least = min(job["slowdown"] for job in jobs)
        check.true(f"{lb}: nobody is faster than alone", least > 0.999999)
        print(f"{lb}: slowdown up to {worst[lb]:.3f}")
    check.equal("planned together, jobs do not touch each other", worst["planned"], 1, 1e-6)
    check.equal("nor when sprayed", worst["spray"], 1, 1e-6)
    check.true("hashed apart, they do", worst["ecmp"] > 1.2)


def apart(check, program):
    """Jobs in different pods have nothing in common."""
    job = "allreduce:ring,100MB,ranks=16"
    jobs = sim(program, "--topology", TREE, "--lb", "ecmp", "--job", job,
               "--job", f"{job},first=16")["jobs"]
    for got in jobs:
        check.equal("a pod each: no slowdown", got["slowdown"], 1, 0)


def shared(check, program):
    """The same GPUs twice: each gets half, but for the latencies."""
    job = "allgather:ring,128MB,ranks=16"
    jobs = sim(program, "--topology", TREE, "--lb", "spray", "--job", job, "--job", job)["jobs"]
    for got in jobs:
        # The farthest piece meets 4 us one time more than the mean of its 15 hops.
        check.equal("half of the ports", got["end_us"], 2 * 15 / 16 * 128 * 80 + 38, PS * 10)


def storage(check, program):
    spec = """
name: storage
servers: 64
server: h100-8gpu
networks: {compute: {switch: sn5600}, storage: {switch: sn5600}}
storage: {servers: 4}
"""
    with tempfile.TemporaryDirectory() as folder:
        design = plan(program, folder, spec)
        for kind in ("checkpoint", "read"):
            words = ("--design", design, "--net", "storage", "--lb", "spray")
            small = sim(program, *words, "--workload", f"{kind}:1TB")
            large = sim(program, *words, "--workload", f"{kind}:2TB")
            check.true(f"{kind}: many flows", small["flows"] >= 64)
            # Three GPUs, the last of the fabric: four stripes share their NICs.
            few = sim(program, *words, "--workload", f"{kind}:1GB,first=509,ranks=3")
            check.equal(f"{kind}: a part of a node", few["flows"], 4, 0)
            check.true(f"{kind}: twice the bytes take twice as long",
                       1.9 < large["sim_time_us"] / small["sim_time_us"] <= 2.001)


PLANES = """
name: planes
servers: 32
server: b300-8gpu-4x200
networks: {compute: {switch: eth-102t4, nic_gbps: 200, planes: 4, tiers: 2}}
"""


def thousandths(check, program):
    """1024 parts of a message: some are less than a thousandth of it, and weigh nothing."""
    with tempfile.TemporaryDirectory() as folder:
        words = ("--design", plan(program, folder, PLANES), "--workload", "permutation:1MB",
                 "--lb", "spray", "--queue-pairs", 256)
        whole = sim(program, *words)["sim_time_us"]
        # A link of the first plane, whose first part has no weight: it holds the transfer then.
        slow = sim(program, *words, "--fault", "link/0:degrade=0.1@1us")["sim_time_us"]
        check.true("slower over a slow link", slow > whole)
        sim(program, *words, "--save", Path(folder) / "run", "--at", "5us")
        rest = sim(program, "resume", Path(folder) / "run")["sim_time_us"]
        check.equal("goes on from what was saved", rest, whole)


CAMPUS = """
name: campus
servers: 96
server: h100-8gpu
networks: {compute: {switch: sn5600, nic_gbps: 400, islands: 2, tiers: 3}}
room:
  rows: 4
  columns: 16
  rack: rack-42u-15kw
  buildings: [{name: north}, {name: south}]
  distance_m: 400
  place: shortest
  trays: {width_mm: 2400, height_mm: 200}
"""


def campus(check, program):
    """Two buildings joined by long links: what crosses pays for every metre of its cables."""
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        words = ("--design", plan(program, folder, CAMPUS))
        with open(folder / "out/cables.csv", newline="", encoding="utf-8") as file:
            cables = {int(row["link"]): row for row in csv.DictReader(file)}
        long = [row for row in cables.values() if row["a_rack"].split("/")[0]
                != row["b_rack"].split("/")[0]]
        check.true("cables cross", long and all(float(row["length_m"]) >= 400 for row in long))
        (folder / "flow.txt").write_text("1\n0 760 3 100 1000000 0\n")
        got = sim(program, *words, "--workload", f"file:{folder}/flow.txt,format=hpcc", "--lb",
                  "ecmp", "--paths", folder / "paths.csv")
        with open(folder / "paths.csv", newline="", encoding="utf-8") as file:
            path = next(csv.DictReader(file))["path"].split()
        metres = sum(float(cables[int(hop[5:-1])]["length_m"]) for hop in path)
        check.true("the way crosses", metres > 400)
        check.equal("a flow across", got["sim_time_us"], metres * 0.005 + (len(path) - 1) * 0.6
                    + 1e6 / 50000, 1e-3)
        inside = sim(program, *words, "--workload", "allreduce:hier,64MB,ranks=256", "--lb",
                     "planned")
        both = sim(program, *words, "--workload", "allreduce:hier,64MB", "--lb", "planned")
        check.true("a collective of both buildings pays for the distance",
                   both["sim_time_us"] > inside["sim_time_us"] + metres * 0.005)
        four = [f"allreduce:hier,64MB,ranks=192,first={192 * i}" for i in range(4)]
        jobs = sim(program, *words, "--lb", "planned",
                   *[word for job in four for word in ("--job", job)])["jobs"]
        for job in jobs:
            check.true(f"four planned jobs: {job['slowdown']}", job["slowdown"] <= 1.02)


def main():
    program, check = sys.argv[1], Checks()
    for test in (scattered, apart, shared, storage, thousandths, campus):
        test(check, program)
    check.end()


if __name__ == "__main__":
    main()
