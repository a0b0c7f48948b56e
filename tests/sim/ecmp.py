#!/usr/bin/env python3
"""Permutations under per-flow hashing: the mean fair rate over seeds, and what else has a limit.

    tests/sim/ecmp.py MYRIAD

The reference is a Monte Carlo of our own with ideally random choices at every switch of the same
three-tier fat trees (max-min rates, 20, 6 and 2 draws): 0.477, 0.432 and 0.409 of line rate.
"""
import sys

from lib import Checks, tree

REFERENCE = {8: (128, 0.477, 20), 16: (1024, 0.432, 20), 32: (8192, 0.409, 20)}
SLACK = 0.02


def mean_rate(program, k, seeds, *words):
    rates = [tree(program, f"permutation:1MB,seed={seed}", "--seed", seed, "--lb", "ecmp", *words,
                  topology=f"fat-tree:k={k}")["rate"]["mean"] for seed in range(seeds)]
    return sum(rates) / len(rates)


def main():
    program, check = sys.argv[1], Checks()
    for k, (hosts, want, seeds) in REFERENCE.items():
        got = mean_rate(program, k, seeds)
        print(f"{hosts} hosts: mean rate {got:.4f} over {seeds} seeds, reference {want}")
        check.equal(f"{hosts} hosts", got, want, want * SLACK)
    for k in (8, 16):
        polarised = mean_rate(program, k, 5, "--polarised")
        print(f"k={k}, one seed for all switches: {polarised:.4f}")
        check.true("one seed for all switches is far worse", polarised < 0.75 * REFERENCE[k][1])
        for lb in ("spray", "planned"):
            got = tree(program, "permutation:1MB", "--lb", lb, topology=f"fat-tree:k={k}")
            check.equal(f"{lb}, k={k}: nobody is slowed down", got["rate"]["min"], 1, 1e-6)
    check.end()


if __name__ == "__main__":
    main()
