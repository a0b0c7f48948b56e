#!/usr/bin/env python3
"""The published reduce-scatter figures against bench/seed_table.py: tests/sim/published.py MYRIAD

What holds is checked: hashing collapses with scale and planning does not. That every published
stock point lies inside the 10-90 % band does not hold (docs/measurements.md says which and by how
much); here they must lie inside the range of the seeds, and four of six inside the band.
"""
import sys
import tempfile
from pathlib import Path

from lib import ROOT, Checks

sys.path.insert(0, str(ROOT / "bench"))
import seed_table  # pylint: disable=wrong-import-position


def main():
    program, check = Path(sys.argv[1]).resolve(), Checks()
    with tempfile.TemporaryDirectory() as folder:
        table = seed_table.make(program, Path(folder))
    print(seed_table.markdown(table), end="")
    first = table[0]["planned"]
    for row in table:
        servers = row["servers"]
        check.true(f"{servers}: planned holds 84 % of 4 servers", row["planned"] >= 0.84 * first)
        check.true(f"{servers}: a planned link is filled to 95 %", row["load"] >= 0.95)
        check.equal(f"{servers}: planned against published", row["planned"], row["optimised"],
                    0.03 * row["optimised"])
        check.true(f"{servers}: published stock inside the range of the seeds",
                   row["least"] <= row["published"] <= row["most"])
    check.true("four of six inside the band", sum(row["inside"] for row in table) >= 4)
    check.true("hashing collapses", table[-1]["middle"] < 0.25 * table[0]["middle"])
    check.end()


if __name__ == "__main__":
    main()
