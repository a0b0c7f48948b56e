#!/usr/bin/env python3
"""Two compilers, one answer: tests/sim/same_bytes.py MYRIAD OTHER. Skipped without the other."""
import os
import sys
import tempfile

from lib import TREE, Checks, sim, tree

RUNS = [
    ("permutation:1MB", "--lb", "ecmp"),
    ("permutation:1MB,seed=3", "--lb", "planned"),
    ("permutation:1MB", "--lb", "flowlet", "--seed", "7"),
    ("permutation:3MB", "--lb", "adaptive", "--queue-pairs", "3"),
    ("permutation:1MB", "--lb", "spray", "--fault", "link/200:down@20us,reroute=30us"),
    ("permutation:1MB", "--lb", "ecmp", "--fault", "link/200:flap@20us,down=9us,period=30us"),
    ("incast:64:1,1MB", "--lb", "ecmp"),
    ("alltoall:10MB,ranks=64", "--lb", "ecmp"),
    ("alltoall:1.28MB,ranks=96,schedule=full", "--lb", "ecmp", "--sharing-loss", "200"),
    ("incast:64:1,1MB", "--lb", "ecmp", "--pause", "700"),
    ("allreduce:tree,1GB", "--lb", "ecmp"),
    ("allreduce:auto,1KB", "--lb", "planned", "--slow", "node/00003:0.7"),
    ("step:llama3-8b,tp=1,pp=8,micro_batch=1,global_batch=64", "--lb", "ecmp"),
]


def result(program, words):
    return tree(program, *words)


def resumed(check, program, other):
    """What one has saved the other goes on with, to the same end."""
    words = ("--topology", TREE, "--workload", "permutation:1MB", "--lb", "ecmp")
    with tempfile.TemporaryDirectory(prefix="myriad-same-") as folder:
        state = f"{folder}/state"
        for one, two in ((program, other), (other, program)):
            whole = sim(one, *words, "--save", state, "--at", "60us")
            rest = sim(two, "resume", state)
            check.true("resumed by the other", all(rest[key] == whole[key] for key in whole
                                                   if key not in ("question", "schema")))


def main():
    program, other = sys.argv[1:3]
    if not os.access(other, os.X_OK):
        sys.exit(77)
    check = Checks()
    for words in RUNS:
        first = result(program, words)
        check.true(f"{words}: twice the same", result(program, words) == first)
        check.true(f"{words}: {other} gives the same", result(other, words) == first)
    resumed(check, program, other)
    check.end()


if __name__ == "__main__":
    main()
