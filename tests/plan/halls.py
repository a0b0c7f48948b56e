#!/usr/bin/env python3
"""Halls that are not like the others, read from the files that a crew gets.

    tests/plan/halls.py MYRIAD

One row, one column, 6 x 10, wide aisles, few rows to cross at, other pitches, several buildings of
their own sizes, storage and management networks, managed PDUs, groups: in each of them, both ways
of placing,
- no rack carries more watts, units or kilograms than it may, everything stands in one rack
- every cable is as long as the way along the trays, with drops and slack, and ordered in a length
  that is sold and long enough
- every leg of every cable is pulled once and tested once, with the ends of the cable list
- in a hall of one line the fullest tray carries the cables that cross it
- the shortest placement is not longer than the aligned one; what does not fit is one line that
  says what would
"""
import csv
import json
import math
import os
import pathlib
import re
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict

ROOT = pathlib.Path(__file__).resolve().parents[2]
FAILED = []
SLOWEST_S = 600
EVERY = int(os.environ.get("MYRIAD_EVERY", "1"))  # one in so many
SOLD = (0.5, 1, 1.5, 2, 2.5, 3, 4, 5, 7, 10, 15, 20, 30, 40, 50, 60, 70, 80, 90, 100)


def check(what, held):
    if not held:
        FAILED.append(what)


def weights():
    """Kilograms by part, from the catalogue's own text."""
    found, part = {}, None
    for path in sorted((ROOT / "catalog").glob("*.yaml")):
        for line in path.read_text().splitlines():
            name, kg = re.match(r"  ([\w.+-]+):$", line), re.match(r"    weight_kg: ([\d.]+)", line)
            part = name[1] if name else part
            if kg:
                found[part] = float(kg[1])
    return found


class Hall:
    """A room as the spec says it, with its ways."""

    def __init__(self, keys):
        self.keys = keys
        self.pitch = keys.get("pitch_m", {"row": 0.6, "column": 1.2})
        self.aisles = keys.get("aisles", {"every": 2, "width_m": 1.2})
        self.slack = keys.get("slack", {"percent": 5, "m": 1})
        self.drop = keys.get("drop_m", 2)
        self.cross = keys.get("trays", {}).get("cross_rows")

    def place(self, name):
        building, _, rack = name.rpartition("/")
        letters = rack.rstrip("0123456789")
        column = 0
        for letter in letters:
            column = column * 26 + ord(letter) - ord("A") + 1
        return building, column - 1, int(rack[len(letters):]) - 1

    def x(self, column):
        every = self.aisles["every"]
        return (column * self.pitch["column"]
                + (column // every * self.aisles["width_m"] if every else 0))

    def rows_m(self, one, other):
        if not self.cross:
            return abs(one - other) * self.pitch["row"]
        return self.pitch["row"] * min(abs(one - (c - 1)) + abs(other - (c - 1))
                                       for c in self.cross)

    def distance(self, one, other):
        for pair in self.keys.get("distances", []):
            if {pair["from"], pair["to"]} == {one, other}:
                return pair["m"]
        return self.keys.get("distance_m", 0)

    def way_m(self, a, b):
        (ha, ca, ra), (hb, cb, rb) = self.place(a), self.place(b)
        if ha != hb:
            return (self.x(ca) + self.rows_m(ra, 0) + self.distance(ha, hb)
                    + self.x(cb) + self.rows_m(rb, 0))
        if ca == cb:
            return abs(ra - rb) * self.pitch["row"]
        return abs(self.x(ca) - self.x(cb)) + self.rows_m(ra, rb)

    def route_m(self, a, b):
        way = self.way_m(a, b) + 2 * self.drop
        return way * (1 + self.slack["percent"] / 100) + self.slack["m"]


def rows_of(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def check_racks(what, keys, racks, kg_of):
    watts, kg, taken, where = Counter(), Counter(), defaultdict(set), Counter()
    for row in racks:
        watts[row["rack"]] += int(row["watts"])
        kg[row["rack"]] += kg_of.get(row["part"], 0)
        where[row["item"]] += 1
        for unit in range(int(row["u"]), int(row["u"]) + int(row["units"])):
            check(f"{what}: unit {unit} of {row['rack']}",
                  unit not in taken[row["rack"]] and 1 <= unit <= keys.get("rack_u", 42))
            taken[row["rack"]].add(unit)
    for rack in watts:
        check(f"{what}: {rack} draws {watts[rack]} W", watts[rack] <= keys["rack_kw"] * 1000 + 1)
        check(f"{what}: {rack} weighs {kg[rack]} kg", kg[rack] <= keys.get("rack_kg", 1500) + 0.5)
    for item, times in where.items():
        check(f"{what}: {item} stands in {times} racks", times == 1)
    return where


def check_cables(what, hall, cables, where):
    longest, total = {}, 0
    for row in cables:
        way = hall.route_m(row["a_rack"], row["b_rack"])
        longest[row["cable"]] = max(longest.get(row["cable"], 0), way)
        for end in ("a", "b"):
            check(f"{what}: {row[end + '_device']} has no place", where[row[end + "_device"]])
    for row in cables:
        route = float(row["route_m"])
        check(f"{what}: cable {row['cable']} {route} m, by hand {longest[row['cable']]:.3f}",
              abs(route - longest[row["cable"]]) < 0.0151)
        if row["part"]:
            length = float(row["length_m"])
            check(f"{what}: cable {row['cable']} of {length} m for {route}",
                  length >= route - 0.01 and (length in SOLD or length > 100))
    total = sum(longest.values())
    return total


def check_sheets(what, out, cables):
    """Every leg of every cable is pulled once and tested once, and no other."""
    ends = ("cable", "a_device", "a_port", "b_device", "b_port")
    wanted = Counter(tuple(row[key] for key in ends) for row in cables)
    for kind in ("pull", "test"):
        seen = Counter()
        for path in sorted((out / "sheets").glob(f"*-{kind}.csv")):
            seen.update(tuple(row[key] for key in ends) for row in rows_of(path)
                        if kind == "test" or row["action"] == "pull")
        off = (seen - wanted) + (wanted - seen)
        check(f"{what}: {kind} sheets differ in {sum(off.values())} ends: {list(off)[:2]}", not off)


def check_trays(what, hall, keys, cables, answer):
    """One line of racks: what crosses between two of them lies in the tray there."""
    if keys["rows"] != 1 and keys["columns"] != 1:
        return
    axis = 1 if keys["rows"] == 1 else 2
    crossing, seen = Counter(), set()
    for row in cables:
        if row["cable"] in seen:
            continue
        seen.add(row["cable"])
        size = 8 if row["medium"] == "copper" else 3
        low, high = sorted((hall.place(row["a_rack"])[axis], hall.place(row["b_rack"])[axis]))
        for gap in range(low, high):
            crossing[gap] += math.pi / 4 * size * size
    if len(seen) == len(cables):  # a splitter's legs may part
        worst = max(crossing.values(), default=0) / (300 * 100)
        check(f"{what}: tray {answer['room']['tray_fill']}, by hand {worst:.4f}",
              abs(answer["room"]["tray_fill"] - worst) <= 0.002 + 0.01 * worst)


BASE = {"servers": 24, "server": "h100-8gpu", "networks": {"compute": {"switch": "mqm9790-ns2f"}}}
MORE = {"networks": {"compute": {"switch": "mqm9790-ns2f"}, "storage": {}, "oob": {}},
        "storage": {"server": "flash-22x15-cx7", "capacity_tb": 400, "copies": 2}}
HALLS = [
    ("6 x 10", {**BASE, "servers": 50}, {"rows": 6, "columns": 10, "rack_kw": 22}),
    ("one row", BASE, {"rows": 1, "columns": 40, "rack_kw": 15}),
    ("one column", BASE, {"rows": 40, "columns": 1, "rack_kw": 15}),
    ("one row, wide aisles", BASE, {"rows": 1, "columns": 20, "rack_kw": 44, "rack_u": 48,
                                    "aisles": {"every": 3, "width_m": 2.4}}),
    ("few crossings", {**BASE, **MORE, "servers": 40},
     {"rows": 8, "columns": 6, "rack_kw": 22, "trays": {"cross_rows": [1, 8]}}),
    ("other pitches", {**BASE, **MORE},
     {"rows": 5, "columns": 9, "rack_kw": 33, "rack_u": 48, "pitch_m": {"row": 0.75, "column": 2.5},
      "aisles": {"every": 4, "width_m": 0.9}, "drop_m": 1.5, "slack": {"percent": 3, "m": 0.5}}),
    ("managed", {**BASE, **MORE}, {"rows": 6, "columns": 8, "rack_kw": 22, "managed": True}),
    ("light racks", BASE, {"rows": 6, "columns": 10, "rack_kw": 60, "rack_kg": 420}),
    ("two planes", {"servers": 57, "server": "h100-8gpu-2x200", "networks": {"compute": {
        "switch": "mqm9790-ns2f", "topology": "dual-tor"}}},
     {"rows": 19, "columns": 5, "rack_kw": 12.2, "rack_kg": 2130,
      "pitch_m": {"row": 0.8, "column": 1.2}, "aisles": {"every": 2, "width_m": 2}}),
    ("three buildings", {**BASE, "servers": 200,
                         "networks": {"compute": {"switch": "mqm9790-ns2f", "tiers": 3}}},
     {"rows": 8, "columns": 9, "rack_kw": 22, "buildings": [
         {"name": "north"}, {"name": "south", "rows": 6, "columns": 12}, {"name": "west"}],
      "distances": [{"from": "north", "to": "south", "m": 80}, {"from": "north", "to": "west",
                                                                "m": 150},
                    {"from": "south", "to": "west", "m": 60}]}),
    ("groups", {"groups": [{"name": "train", "servers": 20, "server": "h100-8gpu"},
                           {"name": "serve", "servers": 12, "server": "h200-8gpu"}],
                "networks": {"compute": {"switch": "mqm9790-ns2f"}}},
     {"rows": 6, "columns": 10, "rack_kw": 15}),
]
# too small: what the one line has to say
SMALL = [
    ({**BASE}, {"rows": 2, "columns": 5, "rack_kw": 15}, "more racks"),
    ({**BASE}, {"rows": 1, "columns": 24, "rack_kw": 10.5}, "more racks"),
    ({**BASE}, {"rows": 6, "columns": 6, "rack_kw": 9}, "does not fit a rack"),
    ({**BASE}, {"rows": 6, "columns": 6, "rack_kw": 15, "rack_u": 7}, "does not fit a rack"),
    ({**BASE}, {"rows": 6, "columns": 6, "rack_kw": 15, "rack_kg": 100}, "does not fit a rack"),
]


def run(myriad, spec, folder, files):
    path = folder / "spec.yaml"
    path.write_text(json.dumps(spec))
    command = [myriad, "plan", str(path), "-o", "json"]
    out = folder / "out"
    if files:
        command += ["--out", str(out), "--crews", "2"]
    return subprocess.run(command, capture_output=True, text=True, timeout=SLOWEST_S,
                          check=False), out


def look_at(myriad, folder, name, base, keys, kg_of):
    totals = []
    for place in ("shortest", "aligned"):
        what = f"{name}, {place}"
        done, out = run(myriad, {**base, "room": {**keys, "place": place}}, folder, True)
        check(f"{what}: exit {done.returncode}: {done.stderr[:300]}", done.returncode in (0, 1))
        if done.returncode not in (0, 1):
            continue
        answer = json.loads(done.stdout)
        hall = Hall(keys)
        racks, cables = rows_of(out / "racks.csv"), rows_of(out / "cables.csv")
        where = check_racks(what, keys, racks, kg_of)
        total = check_cables(what, hall, cables, where)
        check(f"{what}: cable_m {answer['room']['cable_m']}, by hand {total:.1f}",
              abs(answer["room"]["cable_m"] - total) < 0.001 * total + 1)
        check_sheets(what, out, cables)
        check_trays(what, hall, keys, cables, answer)
        totals.append(total)
        print(f"{what}: {total:.0f} m")
        for path in sorted((out / "sheets").glob("*")):
            path.unlink()
    check(f"{name}: shortest and aligned {totals}", totals == sorted(totals))


def empty_building(myriad, folder):
    """One that is too small for the only pod stays empty: whichever is named first, all is near."""
    small, large = "{name: b1, rows: 4, columns: 1}", "{name: b2, rows: 4, columns: 3}"
    for halls in (f"{small}, {large}", f"{large}, {small}"):
        (folder / "two.yaml").write_text(
            "servers: 16\nnetworks: {compute: {topology: rail}}\naccept: [unpriced]\n"
            f"room: {{rack_kw: 30, place: shortest, distance_m: 300, buildings: [{halls}]}}\n")
        done = subprocess.run([myriad, "plan", "two.yaml", "--out", "two", "-o", "json"],
                              cwd=folder, capture_output=True, text=True, check=False)
        check(f"{halls}: exit {done.returncode}, {done.stderr!r}", done.returncode == 0)
        if done.returncode == 0:
            used = {row["rack"].split("/")[0] for row in rows_of(folder / "two" / "racks.csv")}
            check(f"{halls}: things stand in {used}", used == {"b2"})


def main():
    myriad, kg_of = sys.argv[1], weights()
    check("weights in the catalogue", kg_of.get("h100-8gpu", 0) > 50)
    with tempfile.TemporaryDirectory(prefix="myriad-halls-") as name:
        folder = pathlib.Path(name)
        empty_building(myriad, folder)
        for hall, base, keys in HALLS[::EVERY]:
            look_at(myriad, folder, hall, base, keys, kg_of)
        for base, keys, says in SMALL:
            done, _ = run(myriad, {**base, "room": {**keys, "place": "shortest"}}, folder, False)
            lines = [x for x in done.stderr.splitlines() if not x.startswith("hint: ")]
            check(f"{keys}: exit {done.returncode}, {done.stderr!r}",
                  done.returncode == 2 and len(lines) == 1 and says in lines[0]
                  and "hint: " in done.stderr)
    for line in FAILED[:20]:
        print(line)
    sys.exit(f"{len(FAILED)} failed" if FAILED else 0)


if __name__ == "__main__":
    main()
