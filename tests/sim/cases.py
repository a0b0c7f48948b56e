#!/usr/bin/env python3
"""Closed forms as a list: tests/sim/cases.py MYRIAD [NAME...]

tests/data/sim/cases.csv has a row for each: the fabric (below), what runs, which figure of the
answer, the formula, and how near it must come: to the nanosecond (of a rate: 1e-6), or a part with
the reason why theory is not exact there. Formulas are in us and bytes: L is a link's latency, B
bytes per us of a NIC, MB 10^6 bytes. "figure@20" is the mean over 20 seeds.
"""
import csv
import sys
import tempfile
from pathlib import Path

from lib import ROOT, Checks, plan, sim

NAMES = {"L": 1.0, "B": 12500.0, "MB": 1e6, "__builtins__": {}}
SERVERS = "name: nodes\nservers: 16\nserver: h100-8gpu\nnetworks: {compute: {switch: sn5600, " \
          "topology: rail, tiers: 2}}\n"
WORDS = {"tree": "fat-tree:k=8,gbps=100,delay=1us", "flat": "fat-tree:k=8,gbps=100,delay=0us",
         "big": "fat-tree:k=16,gbps=100,delay=1us", "fast": "fat-tree:k=4,gbps=800,delay=0.2us",
         "slow": "fat-tree:k=4,gbps=1,delay=10us"}
SPECS = {
    "nodes": SERVERS,
    "cut": "name: cut\nservers: 16\nserver: generic-1gpu\nnetworks: {compute: {topology: clos, "
           "tiers: 2, switch: sn5600, leaf_down: 8, leaf_up: 4}}\n",
    "far": "name: far\nservers: 8\nserver: generic-1gpu\nnetworks: {compute: {topology: clos, "
           "tiers: 2, switch: sn5600, leaf_down: 4, leaf_up: 4, length_m: {host_leaf: 50, "
           "leaf_spine: 2000}}}\n",
    "racks": (ROOT / "examples/nvl72-9k.yaml").read_text(encoding="utf-8"),
}


def figure(found, path):
    for key in path.split("."):
        found = found[key]
    return found


def measure(program, where, row):
    path, _, seeds = row["figure"].partition("@")
    words = (*where, "--workload", row["workload"], *row["options"].split())
    if not seeds:
        return figure(sim(program, *words), path)
    count = int(seeds)
    return sum(figure(sim(program, *words, "--seed", seed), path) for seed in range(count)) / count


def main():
    program, check = str(Path(sys.argv[1]).resolve()), Checks()
    wanted, exact = sys.argv[2:], 0
    with open(ROOT / "tests/data/sim/cases.csv", newline="", encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if not wanted or row["case"] in wanted]
    with tempfile.TemporaryDirectory() as folder:
        where = {name: ("--topology", words) for name, words in WORDS.items()}
        for name in {row["fabric"] for row in rows} & SPECS.keys():
            (Path(folder) / name).mkdir()
            where[name] = ("--design", plan(program, Path(folder) / name, SPECS[name]))
        for row in rows:
            want = eval(row["formula"], NAMES)  # pylint: disable=eval-used
            got = measure(program, where[row["fabric"]], row)
            amount, unit = row["within"].split()
            slack = float(amount) * 1e-3 if unit == "ns" else float(amount) / 100 * want
            exact += unit == "ns"
            check.equal(row["case"], got, want, slack if unit != "ns" or got > 2 else 1e-6)
            check.true(f"{row['case']}: a reason where theory is not exact",
                       unit == "ns" or row["why"] or "rate" in row["figure"])
    print(f"{len(rows)} cases, {exact} of them exact")
    check.end()


if __name__ == "__main__":
    main()
