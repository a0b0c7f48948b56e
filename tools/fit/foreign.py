#!/usr/bin/env python3
"""foreign.py MYRIAD RUNS.csv: how much wider intervals of trainers that no fit has seen must be.

RUNS.csv has runs that no constant was fitted to (tests/data/device-runs.csv). The width is the
least one that, added as an independent reason, has nine of ten of their rows inside. Printed beside
it is what it holds of each source when it comes from all other sources: that can be promised.
"""
import csv
import json
import math
import pathlib
import re
import subprocess
import sys

FITTED = pathlib.Path(__file__).resolve().parents[2] / "catalog/profiles/fitted.yaml"


def rows_of(program, path):
    text = FITTED.read_text()
    added = float(re.search(r"^  foreign: (\S+)", text, re.M)[1])
    lines = set(re.findall(r"^  - \[[^,]+, ([A-Za-z -]*[A-Za-z])", text, re.M))
    said = json.loads(subprocess.run([program, "fit", "validate", path, "-o", "json"], check=True,
                                     capture_output=True, text=True).stdout)
    with open(path, newline="") as file:
        table = {row["id"]: row for row in csv.DictReader(file)}
    for row in said["rows"]:
        own = table[row["id"]]
        if row["error"] is None or own["confidence"] not in ("high", "medium"):
            continue
        stack = row["assumed"].get("software") or own["software"]
        foreign = not any(stack.startswith(line) for line in lines)
        foreign = foreign or stack.startswith("NeMo AutoModel")
        off = abs(math.log(row["measured"] / row["predicted"]))
        width = math.log(row["interval"][1] / row["predicted"])
        width = math.sqrt(max(0, width * width - added * added * foreign))
        yield {"source": own["source"], "foreign": foreign, "off": off, "width": width}


def least(rows):
    needed = sorted(math.sqrt(max(0, r["off"] ** 2 - r["width"] ** 2)) for r in rows)
    return needed[math.ceil(0.9 * len(needed)) - 1]


def main():
    rows = list(rows_of(*sys.argv[1:3]))
    inside, widths = 0, []
    for source in sorted({r["source"] for r in rows}):
        foreign = least([r for r in rows if r["foreign"] and r["source"] != source])
        own = [(r["off"], math.hypot(r["width"], foreign * r["foreign"])) for r in rows
               if r["source"] == source]
        held = sum(off <= width for off, width in own)
        print(f"{source:36} {held:3} of {len(own):3}, by the others' {foreign:.3f}")
        inside += held
        widths += [width for _, width in own]
    middle = math.exp(sorted(widths)[len(widths) // 2]) - 1
    print(f"sources left out: {inside} of {len(rows)} inside, {100 * inside / len(rows):.1f} %; "
          f"median half-width {100 * middle:.0f} %")
    print(f"foreign: {least([r for r in rows if r['foreign']]):.4f}")


if __name__ == "__main__":
    main()
