#!/usr/bin/env python3
"""Rooms that say `managed: true`: power strips and cooling units on the out-of-band network.

    tests/plan/strips.py MYRIAD

Counted from racks.csv, cables.csv and bom.csv, and compared with the same room without management:
- every rack in which something stands has a PDU for each of its feeds (two where none are named),
  each with one cable into `oob`, and no unit of the rack
- CDUs are as many as the facility needs, with one cable each
- the bill has them, and as many more access switches as their ports ask for
- all else is as it was: compute cables, servers, switches of the other networks
"""
import collections
import csv
import json
import pathlib
import subprocess
import sys
import tempfile

FAILED = []
LIMIT_S = 600
ROOM = ("servers: {servers}\nserver: h100-8gpu\nnetworks: {{compute: , oob: {{}}}}\n"
        "room: {{rows: 8, columns: 9, rack_kw: 20, managed: {managed}, place: {place}{more}}}\n"
        "{end}")
PAIR = ", power: [{name: a, rows: 1-8}, {name: b, rows: 1-8}]"
HALF = ", power: [{name: a, rows: 1-8}, {name: b, rows: 1-4}]"
LIQUID = "facility: {cooling: cold-plate}\n"
CASES = [(40, "shortest", "", ""), (64, "aligned", PAIR, ""), (30, "shortest", HALF, ""),
         (48, "aligned", "", LIQUID), (8, "shortest", "", LIQUID)]


def check(what, held):
    if not held:
        FAILED.append(what)


def rows_of(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def plan(myriad, folder, text):
    (folder / "spec.yaml").write_text(text)
    done = subprocess.run([myriad, "plan", "spec.yaml", "--out", "out", "-o", "json"], cwd=folder,
                          capture_output=True, text=True, timeout=LIMIT_S, check=False)
    if done.returncode not in (0, 1):
        sys.exit(f"{text!r}: {done.returncode} {done.stderr[:300]}")
    return json.loads(done.stdout), folder / "out"


def feeds_of(row, more):
    """Of a line of racks.csv, as the room's file has it."""
    return len([feed for feed in (row["feed_a"], row["feed_b"]) if feed]) if more else 2


def look_at(myriad, folder, case):
    servers, place, more, end = case
    text = ROOM.format(servers=servers, managed="true", place=place, more=more, end=end)
    plain, out = plan(myriad, folder, text.replace("managed: true", "managed: false"))
    before = collections.Counter(row["network"] for row in rows_of(out / "cables.csv"))
    check(f"{text!r}: strips without management", plain["room"]["pdus"] == 0)
    check(f"{text!r}: names of them",
          not any(row["item"].startswith(("pdu/", "cdu/")) for row in rows_of(out / "racks.csv")))
    answer, out = plan(myriad, folder, text)
    racks, cables = rows_of(out / "racks.csv"), rows_of(out / "cables.csv")
    strips, wanted, cdus = collections.Counter(), {}, 0
    for row in racks:
        if row["item"].startswith("pdu/"):
            strips[row["rack"]] += 1
            check(f"{text!r}: {row} takes room", row["units"] == "0" and row["watts"] == "0")
        elif row["item"].startswith("cdu/"):
            cdus += 1
        else:
            wanted[row["rack"]] = feeds_of(row, more)
    check(f"{text!r}: strips {strips}, {wanted} expected",
          strips == {rack: count for rack, count in wanted.items() if count})
    check(f"{text!r}: pdus", answer["room"]["pdus"] == sum(strips.values()))
    needed = answer["cooling"]["cdu"]["count"] if end else 0
    check(f"{text!r}: {cdus} CDUs, {needed} needed",
          cdus == answer["room"]["cdus"] and (not end or cdus == needed > 0))
    ends = collections.Counter(row["a_device"] for row in cables
                               if row["a_device"].startswith(("pdu/", "cdu/")))
    check(f"{text!r}: cables of strips", len(ends) == sum(strips.values()) + cdus
          and set(ends.values()) == {1})
    rack_of = {row["item"]: row["rack"] for row in racks}
    for row in cables:
        if row["a_device"] in ends:
            check(f"{text!r}: {row}", row["network"] == "oob" and row["layer"] == "host_leaf"
                  and row["a_rack"] == rack_of[row["a_device"]]
                  and row["b_device"].startswith("access/"))
    after = collections.Counter(row["network"] for row in cables)
    check(f"{text!r}: compute cables {before} {after}", before["compute"] == after["compute"])
    bill = {row["part"]: row for row in answer["bom"]}
    check(f"{text!r}: PDUs ordered", bill["RACK-PDU"]["quantity"] == sum(strips.values()))
    check(f"{text!r}: CDUs ordered", bill.get("CDU", {"quantity": 0})["quantity"] == cdus)
    wires = [row for row in answer["bom"] if row["system"] == "oob" and "cable" in row["name"]]
    check(f"{text!r}: cables ordered", sum(row["quantity"] for row in wires) == after["oob"])
    errors = [f["rule"] for f in answer["findings"] if f["rule"].startswith("physical-")]
    check(f"{text!r}: the checker {errors}", not errors)
    shown = subprocess.run([myriad, "design", "out/design.myr", "--device", "pdu/00001"],
                           cwd=folder, capture_output=True, text=True, timeout=LIMIT_S,
                           check=False)
    check(f"{text!r}: pdu/00001 {shown.stderr}", shown.returncode == 0 and "access/" in
          shown.stdout)


def grown(myriad, folder):
    """What stands keeps its strips, under their names."""
    for number, servers in enumerate((24, 40)):
        (folder / f"{number}.yaml").write_text(
            ROOM.format(servers=servers, managed="true", place="aligned", more="", end=""))
    done = subprocess.run([myriad, "plan", "grow", "0.yaml", "1.yaml", "--out", "grown", "-o",
                           "json"], cwd=folder, capture_output=True, text=True, timeout=LIMIT_S,
                          check=False)
    check(f"grown: {done.returncode} {done.stderr}", done.returncode == 0)
    if done.returncode == 0:
        names = [row["item"] for row in rows_of(folder / "grown" / "racks.csv")
                 if row["item"].startswith("pdu/")]
        check(f"grown: {len(names)} strips", len(set(names)) == len(names) >= 80)


def main():
    myriad = str(pathlib.Path(sys.argv[1]).resolve())
    with tempfile.TemporaryDirectory(prefix="myriad-strips-") as name:
        for case in CASES:
            look_at(myriad, pathlib.Path(name), case)
        grown(myriad, pathlib.Path(name))
    print(f"{len(CASES)} rooms")
    for line in FAILED[:20]:
        print(line)
    sys.exit(f"{len(FAILED)} failed" if FAILED else 0)


if __name__ == "__main__":
    main()
