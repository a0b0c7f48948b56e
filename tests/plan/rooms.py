#!/usr/bin/env python3
"""Random rooms of many kinds: how far the shortest placement is above the lower bound.

    tests/plan/rooms.py MYRIAD [SEED [COUNT [KIND...]]]

Every kind draws its own pitches, aisles, drops, slack and limits of racks, odd numbers of rows and
columns, servers and switches. It fails where a plan is below the bound of pairs.py, which stops
where it shows 5 %; rooms above 5 % are listed with their spec, so that they can be planned again.
The bound is of the cables that came out: it is asked only in rooms where no cable is short enough
to be of copper, so that there is one cut alone. docs/measurements.md has the figures.
"""
import concurrent.futures
import csv
import json
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path

import pairs

SLOWEST_S = 600
GOAL = 1.05
COPPER_M = 5  # the longest cable of the catalogue that carries several links of a fabric
# kW, units and kg of one, from the catalogue: racks are drawn to hold one or more of them
SERVERS = {"h100-8gpu": (10.2, 8, 130), "h200-8gpu": (10.2, 8, 130), "b200-8gpu": (14.3, 10, 142),
           "h100-8gpu-2x200": (10.2, 8, 130), "b300-8gpu": (14.5, 10, 160)}
INFINIBAND, ETHERNET = ("mqm9790-ns2f", "mqm9700-ns2f"), ("sn5600", "eth-25t6")


def draw_rack(rng, server):
    """Limits of a rack that holds one to five servers, with little or much to spare."""
    kw, units, kg = SERVERS[server]
    per_rack = rng.choice((1, 1, 2, 2, 3, 4, 5))
    spare = rng.choice((0.3, 2, 4, 6, 9))
    return per_rack, {"rack_kw": round(per_rack * kw + spare, 1),
                      "rack_u": max(42, per_rack * units + rng.randint(2, 12)),
                      "rack_kg": rng.choice((1500, 2000, 4000)) + per_rack * kg}


def draw_hall(rng, per_rack, servers):
    """Rows and columns with so many racks that the servers fill a third to nine tenths of them."""
    racks = servers / per_rack / rng.uniform(0.35, 0.85) + 6
    rows = rng.randint(3, 22)
    columns = max(2, round(racks / rows) + 1)
    hall = {"rows": rows, "columns": columns, "place": "shortest",
            "pitch_m": {"row": rng.choice((0.6, 0.6, 0.7, 0.8)),
                        "column": rng.choice((1.2, 1.2, 1.8, 2.4))},
            "aisles": {"every": rng.choice((1, 2, 2, 3, 4)), "width_m": rng.choice((0.9, 1.2, 2))},
            "drop_m": rng.choice((1.5, 2, 2, 3)),
            "slack": {"percent": rng.choice((3, 5, 5, 10)), "m": rng.choice((0.5, 1, 2))}}
    return hall


def draw(rng, switches, server=None, most=400):
    server = server or rng.choice(("h100-8gpu", "h200-8gpu", "b200-8gpu"))
    servers = rng.choice((rng.randint(8, 64), rng.randint(33, 200), rng.randint(100, most),
                          32 * rng.randint(1, most // 32)))
    per_rack, rack = draw_rack(rng, server)
    room = {**draw_hall(rng, per_rack, servers), **rack}
    return {"servers": servers, "server": server, "room": room,
            "networks": {"compute": {"switch": rng.choice(switches)}}}


def three_tiers(rng):
    spec = draw(rng, INFINIBAND)
    spec["networks"]["compute"]["tiers"] = 3
    return spec


def two_planes(rng):
    twin = rng.random() < 0.5
    spec = draw(rng, ("sn5600",) if twin else ("mqm9790-ns2f", "sn5600"),
                "b300-8gpu" if twin else "h100-8gpu-2x200")
    spec["networks"]["compute"]["topology"] = "twin-planar" if twin else "dual-tor"
    return spec


def six_by_ten(rng):
    spec = draw(rng, INFINIBAND + ETHERNET, most=128)
    per_rack = int(spec["room"]["rack_kw"] / SERVERS[spec["server"]][0])
    spec["room"].update(rows=rng.choice((6, 10)))
    spec["room"]["columns"] = 60 // spec["room"]["rows"]
    spec["servers"] = rng.randint(12, max(14, min(45 * per_rack, 160)))
    return spec


def groups(rng):
    spec = draw(rng, INFINIBAND)
    one = max(4, spec["servers"] // rng.randint(2, 4))
    spec["groups"] = [{"name": "train", "servers": max(4, spec.pop("servers") - one),
                       "server": "h100-8gpu"},
                      {"name": "serve", "servers": one, "server": "h200-8gpu"}]
    del spec["server"]
    spec["room"]["rack_kw"] = max(spec["room"]["rack_kw"], 11)
    return spec


def crossings(rng):
    spec = draw(rng, INFINIBAND + ETHERNET)
    rows = spec["room"]["rows"]
    count = rng.randint(1, min(3, rows))
    spec["room"]["trays"] = {"cross_rows": sorted(rng.sample(range(1, rows + 1), count))}
    return spec


def more_networks(rng):
    spec = draw(rng, INFINIBAND, most=200)
    spec["networks"].update(storage={}, oob={})
    spec["storage"] = {"server": "flash-22x15-cx7", "capacity_tb": rng.randint(200, 900),
                       "copies": 2}
    spec["room"]["columns"] += 3
    spec["room"]["managed"] = rng.random() < 0.5
    return spec


def zones(rng):
    spec = draw(rng, INFINIBAND + ETHERNET)
    rows = spec["room"]["rows"]
    spec["room"]["zones"] = {"leaf_rows": f"{rows}-{max(1, rows - 3)}", "spine_column": "B"}
    return spec


def buildings(rng):
    spec = draw(rng, INFINIBAND)
    spec["room"]["buildings"] = [{"name": "east"}, {"name": "west"}]
    spec["room"]["distance_m"] = rng.choice((40, 120, 300))
    return spec


KINDS = {"infiniband": lambda rng: draw(rng, INFINIBAND), "roce": lambda rng: draw(rng, ETHERNET),
         "three tiers": three_tiers, "two planes": two_planes, "6 x 10": six_by_ten,
         "groups": groups, "crossings": crossings, "more networks": more_networks, "zones": zones,
         "buildings": buildings}


def over_of(myriad, folder, spec):
    """How far the plan is above the bound of pairs.py; None where it has none."""
    room = spec["room"]
    least = 2 * room["drop_m"] * (1 + room["slack"]["percent"] / 100) + room["slack"]["m"]
    if least <= COPPER_M:
        return None
    path = Path(tempfile.mkdtemp(dir=folder)) / "room.yaml"
    out = path.with_suffix("")
    path.write_text(json.dumps(spec))
    subprocess.run([myriad, "plan", str(path), "--out", str(out), "-o", "json"],
                   capture_output=True, timeout=SLOWEST_S, check=False)
    cables, racks = (list(csv.DictReader((out / name).read_text().splitlines()))
                     for name in ("cables.csv", "racks.csv"))
    longest = {}
    for row in cables:
        longest[row["cable"]] = max(longest.get(row["cable"], 0), float(row["route_m"]))
    total, slack = sum(longest.values()), room["slack"]
    stretch = 1 + slack["percent"] / 100
    fixed = len(longest) * (2 * room["drop_m"] * stretch + slack["m"])
    ways = pairs.ways_m(myriad, room, cables, racks, (total / GOAL - fixed) / stretch)
    if ways is None:
        return None
    return total / (fixed + stretch * ways) - 1


def look_at(myriad, folder, kind, number, spec):
    path = Path(folder) / f"{kind.replace(' ', '-')}-{number}.yaml"
    path.write_text(json.dumps(spec))
    done = subprocess.run([myriad, "plan", str(path), "-o", "json"], capture_output=True, text=True,
                          timeout=SLOWEST_S, check=False)
    if done.returncode == 2:
        return kind, number, None, done.stderr.splitlines()[0]
    if done.returncode not in (0, 1):
        return kind, number, -1, f"exit {done.returncode}: {done.stderr[:300]}"
    room = json.loads(done.stdout)["room"]
    if room["racks_mixed_power"]:
        return kind, number, None, "racks of mixed power"
    return kind, number, over_of(myriad, folder, spec), json.dumps(spec)


def said(over):
    mean, worst = sum(over) / max(1, len(over)), max(over, default=0)
    return (f"mean {100 * mean:.1f} %, worst {100 * worst:.1f} %, "
            f"{sum(one > GOAL - 1 for one in over)} above 5 %")


def main():
    myriad = sys.argv[1]
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 16
    count = int(sys.argv[3]) if len(sys.argv) > 3 else 2
    kinds = sys.argv[4:] or list(KINDS)
    with tempfile.TemporaryDirectory(prefix="myriad-rooms-") as folder, \
            concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        waiting = [pool.submit(look_at, myriad, folder, kind, i,
                               KINDS[kind](random.Random(f"{seed} {kind} {i}")))
                   for kind in kinds for i in range(count)]
        found = [future.result() for future in waiting]
    failed = 0
    for kind in kinds:
        over = sorted((over, i, text) for what, i, over, text in found
                      if what == kind and over is not None)
        failed += sum(one[0] < -0.0001 for one in over)
        print(f"{kind}: {len(over)} of {count} with a bound; above it "
              f"{said([one[0] for one in over])}", flush=True)
        for one in over:
            if one[0] > GOAL - 1:
                print(f"  {100 * one[0]:.1f} % {one[2]}")
    rest = [text for _, _, over, text in found if over is None]
    print(f"{len(rest)} without a bound", *sorted(set(text[-90:] for text in rest))[:4],
          sep="\n  ")
    sys.exit(f"{failed} below the bound, or failed" if failed else 0)


if __name__ == "__main__":
    main()
