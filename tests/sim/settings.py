#!/usr/bin/env python3
"""Every setting is in the answer that it shaped; -o is rendered in every format or refused.

    tests/sim/settings.py MYRIAD
"""
import csv
import io
import json
import sys

from lib import TREE, Checks, call, sim, tree

SETTINGS = {
    "lb": ("planned", "ecmp"), "seed": (5, 0), "polarised": (True, False),
    "queue_pairs": (4, 1), "efficiency": (950, 1000), "sharing_loss": (200, 0),
    "pause": (500, 0), "message_overhead": ("2us", None), "net": ("compute", "compute"),
    "slow": (["node/00003:0.5"], []), "fault": (["link/3:degrade=0.5@1us"], []),
}


def flag(name, value):
    option = "--" + name.replace("_", "-")
    if isinstance(value, list):
        return [word for item in value for word in (option, item)]
    return [option] if value is True else [option, value]


def echoes(check, program):
    plain = tree(program, "permutation:1MB")
    for name, (given, absent) in SETTINGS.items():
        check.true(f"{name} by default", plain["question"]["options"][name] == absent)
        got = tree(program, "permutation:1MB", *flag(name, given))
        check.true(f"{name} as given", got["question"]["options"][name] == given)
    packets = tree(program, "permutation:1MB", "--mode", "packet", "--cc", "hpcc", "--mtu", 1500)
    for name, value in (("mode", "packet"), ("cc", "hpcc"), ("mtu", 1500)):
        check.true(f"{name} as given", packets["question"]["options"][name] == value)
    check.true("and as they were", packets["control"]["mtu_bytes"] == 1500)
    people = call(program, "--topology", TREE, "--workload", "permutation:1MB", "--pause", 500,
                  "--slow", "node/00003:0.5", "--fault", "link/3:degrade=0.5@1us").stdout
    for words in ("pause 50.0 %", "efficiency 100.0 %", "ecmp, seed 0", "1 queue pair",
                  "node/00003:0.5", "link/3:degrade=0.5@1us", "128 GPUs"):
        check.true(f"people read {words!r}", words in " ".join(people.split()))


def percentiles(check, program):
    """A collective's rounds weigh as much as they have flows."""
    got = tree(program, "allgather:halving,1MB,schedule=collapsed")
    check.equal("flows counted", got["fct_us"]["flows"], got["flows"])
    check.true("p50 <= mean <= p99 <= max", got["fct_us"]["p50"] <= got["fct_us"]["mean"]
               <= got["fct_us"]["p99"] <= got["fct_us"]["max"])
    check.equal("p99 of seven equal rounds is the longest", got["fct_us"]["p99"],
                got["fct_us"]["max"])


def formats(check, program):
    words = ("--topology", TREE, "--job", "permutation:1MB", "--job", "allreduce:1MB")
    first = call(program, *words, "-o", "json").stdout
    check.true("the same bytes twice", first == call(program, *words, "-o", "json").stdout)
    found = json.loads(first)
    check.true("schema", found["schema"] == "myriad.sim" and found["version"] == 1)
    check.true("no timing unless asked", "timing" not in found)
    check.true("timing", "wall_s" in sim(program, *words, "--timing")["timing"])
    rows = list(csv.DictReader(io.StringIO(call(program, *words, "-o", "csv").stdout)))
    check.true("csv lists the jobs", [row["workload"] for row in rows] ==
               ["permutation:1MB", "allreduce:1MB"])
    blocks = call(program, *words, "-o", "yaml").stdout
    check.true("yaml in blocks", "schema: myriad.sim\n" in blocks)
    for line in call(program, *words).stdout.splitlines():
        pasted = line.startswith("  myriad ") # a command stays whole
        check.true(f"80 columns: {line}", pasted or len(line) <= 80)
    bad = call(program, *words, "--report", "-")
    check.true("no page on standard output", bad.returncode == 2 and not bad.stdout)
    piped = call(program, "--topology", TREE, "--job", "file:-", "--job", "permutation:1MB")
    check.true("standard input once", piped.returncode == 2 and "standard input" in piped.stderr)


def main():
    program, check = sys.argv[1], Checks()
    echoes(check, program)
    percentiles(check, program)
    formats(check, program)
    check.end()


if __name__ == "__main__":
    main()
