#!/usr/bin/env python3
"""Rooms in which some layers may be short enough for cables of several links: copper between
switches, which reaches five metres and carries two links where fibre carries one.

    tests/plan/cuts.py MYRIAD

- the metres are those of the cable list, also where hosts hang on a leaf in the middle of their own
  rack, and the shortest placement has no more of them than the aligned one
- it pulls a layer together where that needs fewer metres, by a tenth at the least
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
# kind of room, spec, whether the shortest placement has layers of several links, unlike aligned
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


def links_by_layer(rows):
    """Layer: the most links in one of its cables."""
    of_cable = Counter(row["cable"] for row in rows)
    most = Counter()
    for row in rows:
        most[row["layer"]] = max(most[row["layer"]], of_cable[row["cable"]])
    return most


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
        links[place] = links_by_layer(rows)
        check(f"{what}: cable_m {room['cable_m']}, {sum(longest.values()):.1f} by hand",
              abs(room["cable_m"] - sum(longest.values())) < 0.001 * room["cable_m"] + 1)
    check(f"{kind}: metres {totals}", totals["shortest"] <= totals["aligned"] * 1.0001)
    more = any(links["shortest"][layer] > links["aligned"][layer] for layer in links["aligned"])
    check(f"{kind}: links in a cable {links}", more == shorter)
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
