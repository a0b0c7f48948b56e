#!/usr/bin/env python3
"""The published reduce-scatter figures against bench/seed_table.py.

    tests/sim/published.py MYRIAD [RUNS]

Hashing collapses with scale and planning does not; every published stock point lies inside the
10-90 % band, with 20 runs and with RUNS (200), and on a fabric of other leaves: not by luck of the
draw.
"""
import sys
import tempfile
from pathlib import Path

from lib import ROOT, Checks

sys.path.insert(0, str(ROOT / "bench"))
import seed_table  # pylint: disable=wrong-import-position

MANY = int(sys.argv[2]) if len(sys.argv) > 2 else 200
OTHER = seed_table.SPEC.replace("servers: 256", "servers: 192").replace(": 64", ": 32")


def check_table(check, table):
    first = table[0]["planned"]
    for row in table:
        servers = row["servers"]
        check.true(f"{servers}: planned holds 84 % of 4 servers", row["planned"] >= 0.84 * first)
        check.true(f"{servers}: a planned link is filled to 95 %", row["load"] >= 0.95)
        check.equal(f"{servers}: planned against published", row["planned"], row["optimised"],
                    0.03 * row["optimised"])
        check.true(f"{servers}: published stock inside the band", row["inside"])
    check.true("stock collapses", table[-1]["middle"] < 0.25 * table[0]["middle"])
    check.true("so does hashing alone", table[-1]["hashed"][1] < 0.25 * table[0]["hashed"][1])


def check_many(check, program, design, name):
    for point in seed_table.published():
        servers = int(point["servers"])
        runs = seed_table.stock_runs(program, design, servers, MANY)
        below = sum(value < point["stock_gbytes_per_s"] for value in runs) / MANY
        print(f"{name}, {servers} servers: published above {below:.0%} of {MANY} runs")
        check.true(f"{name}, {servers}: inside 10-90 % of {MANY} runs", 0.1 <= below <= 0.9)


def main():
    program, check = Path(sys.argv[1]).resolve(), Checks()
    with tempfile.TemporaryDirectory() as folder:
        table = seed_table.make(program, Path(folder) / "table")
        other = seed_table.plan(program, Path(folder) / "other", OTHER)
        print(seed_table.markdown(table), end="")
        check_table(check, table)
        check_many(check, program, Path(folder) / "table/design/design.myr", "leaves of 64")
        check_many(check, program, other, "leaves of 32")
    check.end()


if __name__ == "__main__":
    main()
