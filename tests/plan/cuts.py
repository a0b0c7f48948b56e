#!/usr/bin/env python3
"""Rooms in which some layers may be short enough for cables of several links: copper between
switches, which reaches five metres and carries two links where fibre carries one.

    tests/plan/cuts.py MYRIAD

- the metres are those of the cable list, also where hosts hang on a leaf in the middle of their own
  rack, and the shortest placement has no more of them than the aligned one
- it pulls a layer together where that needs fewer metres, by a tenth at the least
- no cage is of fibre whose two links end in one other cage within the reach of such copper
"""
import csv
import json
import os
import pathlib
import subprocess
import sys
import tempfile
from collections import Counter

SLOWEST_S = 600
FAILED = []
EVERY = int(os.environ.get("MYRIAD_EVERY", "1"))  # one in so many
SHORT = {"drop_m": 1.5, "slack": {"percent": 10, "m": 1}}
# kind of room, spec, whether the shortest placement has more links that share cables than aligned
ROOMS = [
    ("three tiers", {"servers": 83, "server": "b200-8gpu",
                     "networks": {"compute": {"switch": "mqm9790-ns2f", "tiers": 3}},
                     "room": {"rows": 15, "columns": 6, "pitch_m": {"row": 0.8, "column": 1.2},
                              "aisles": {"every": 2, "width_m": 2}, "rack_kw": 46.9, "rack_u": 42,
                              "rack_kg": 1926, **SHORT}}, True),
    ("two tiers that do not fit", {"servers": 64, "server": "h200-8gpu",
                                   "networks": {"compute": {"switch": "mqm9790-ns2f"}},
                                   "room": {"rows": 11, "columns": 10, "rack_kw": 12.2,
                                            "rack_u": 42, "rack_kg": 1630, **SHORT}}, False),
    ("cables that reach no rack", {"servers": 40, "server": "h100-8gpu",
                                   "networks": {"compute": {"switch": "mqm9790-ns2f"}},
                                   "room": {"rows": 8, "columns": 8, "rack_kw": 22}}, False),
    ("leaf within the rack", {"servers": 16, "server": "h100-8gpu",
                              "networks": {"compute": {"switch": "mqm9790-ns2f",
                                                       "topology": "middle-of-rack"}},
                              "room": {"rows": 6, "columns": 6, "rack_kw": 60}}, False),
]


def check(what, held):
    if not held:
        FAILED.append(what)


REACH_M = 5  # of copper between two cages


def shared_links(rows):
    """Links that share their cable with others."""
    of_cable = Counter(row["cable"] for row in rows)
    return sum(of_cable[row["cable"]] > 1 for row in rows)


def near_fibres(rows):
    """Pairs of cages between switches with two links, both of fibre and within reach of copper."""
    pairs, cages = {}, Counter()
    for row in rows:
        if row["layer"] != "host_leaf":
            ends = (row["a_device"], row["a_port"].split("/")[0], row["b_device"],
                    row["b_port"].split("/")[0])
            pairs.setdefault(ends, []).append(row)
            cages[ends[:2]] += 1
            cages[ends[2:]] += 1
    return [ends for ends, two in pairs.items()
            if len(two) == cages[ends[:2]] == cages[ends[2:]] == 2
            and all(row["medium"] != "copper" and float(row["route_m"]) <= REACH_M for row in two)]


def look_at(myriad, folder, kind, spec, shorter):
    totals, links = {}, {}
    for place in ("aligned", "shortest"):
        what = f"{kind}, {place}"
        path, out = folder / "spec.yaml", folder / "out"
        path.write_text(json.dumps({**spec, "room": {**spec["room"], "place": place}}))
        done = subprocess.run([myriad, "plan", str(path), "--out", str(out), "-o", "json"],
                              capture_output=True, text=True, timeout=SLOWEST_S, check=False)
        if done.returncode not in (0, 1):
            check(f"{what}: exit {done.returncode}: {done.stderr[:200]}", False)
            return
        room = json.loads(done.stdout)["room"]
        with open(out / "cables.csv", newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        longest = {}
        for row in rows:
            longest[row["cable"]] = max(longest.get(row["cable"], 0), float(row["route_m"]))
        totals[place] = room["cable_m"]
        links[place] = shared_links(rows)
        check(f"{what}: fibre within reach of copper {near_fibres(rows)[:3]}",
              not near_fibres(rows))
        check(f"{what}: cable_m {room['cable_m']}, {sum(longest.values()):.1f} by hand",
              abs(room["cable_m"] - sum(longest.values())) < 0.001 * room["cable_m"] + 1)
    check(f"{kind}: metres {totals}", totals["shortest"] <= totals["aligned"] * 1.0001)
    check(f"{kind}: links that share cables {links}",
          not shorter or links["shortest"] > links["aligned"])
    if shorter:
        check(f"{kind}: metres {totals}", totals["shortest"] <= totals["aligned"] * 0.9)
    print(f"{kind}: aligned {totals['aligned']:.0f} m, shortest {totals['shortest']:.0f} m")


def main():
    with tempfile.TemporaryDirectory(prefix="myriad-cuts-") as name:
        # Sanitizers do without the first: it takes longest, and plan/room-run draws such rooms.
        for kind, spec, shorter in ROOMS[EVERY > 1:]:
            look_at(sys.argv[1], pathlib.Path(name), kind, spec, shorter)
    for line in FAILED:
        print(line)
    sys.exit(f"{len(FAILED)} failed" if FAILED else 0)


if __name__ == "__main__":
    main()
