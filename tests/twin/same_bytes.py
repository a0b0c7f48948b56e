#!/usr/bin/env python3
"""Two compilers, one world: tests/twin/same_bytes.py MYRIAD OTHER. Skipped without the other."""
import os
import subprocess
import sys
from pathlib import Path

SCENARIOS = Path(__file__).resolve().parents[2] / "examples" / "twin"
RUNS = [("crash-storm", seed) for seed in ("1", "2", "77")] + [("maintenance", "5")]


def answer(program, scenario, seed):
    return subprocess.run([program, "twin", "run", SCENARIOS / f"{scenario}.yaml", "--seed", seed,
                           "-o", "json"], capture_output=True, check=True).stdout


def main():
    program, other = sys.argv[1:3]
    if not os.access(other, os.X_OK):
        sys.exit(77)
    wrong, seen = 0, set()
    for scenario, seed in RUNS:
        first = answer(program, scenario, seed)
        seen.add(first)
        for name, again in (("the same", answer(program, scenario, seed)),
                            (other, answer(other, scenario, seed))):
            if again != first:
                print(f"{scenario}, seed {seed}: {name} gives another answer")
                wrong += 1
    if len(seen) != len(RUNS):
        print("different seeds give the same answer")
        wrong += 1
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
