#!/usr/bin/env python3
"""Halls as people build them: what is out of band finds cables everywhere, and what is near is of
copper.

    tests/random/halls.py MYRIAD [--seed N] [--large N] [--near N]

- large halls, 512 to 12,544 servers at 15 to 145 kW a rack: no link of the out-of-band network is
  without parts
- near halls, of leaves in the middle of their racks and of others: a cage of a leaf whose links are
  all within the reach of copper has copper
"""
import argparse
import collections
import csv
import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path

TIMEOUT_S = 600
REACH_M = 5  # of copper between a twin-port cage of 800G and two cards of 400G


def run(myriad, folder, spec, *more):
    path = folder / "spec.yaml"
    path.write_text(json.dumps(spec))
    done = subprocess.run([myriad, "plan", path, "-o", "json", *more], capture_output=True,
                          text=True, timeout=TIMEOUT_S, stdin=subprocess.DEVNULL, check=False)
    return json.loads(done.stdout) if done.returncode in (0, 1) else done.stderr


def large_hall(rng):
    servers = round(2 ** rng.uniform(9, 13.615))
    kw = rng.choice((15, 20, 25, 33, 45, 60, 80, 100, 145))
    room = {"rows": rng.choice((10, 20, 30, 40, 60, 100)), "rack_kw": kw,
            "rack_u": rng.choice((42, 48, 52)), "place": rng.choice(("aligned", "shortest"))}
    if rng.random() < 0.3:
        room["managed"] = True
    switch = rng.choice(("sn5600", "mqm9790")) if servers < 6000 else "sn5600"
    nets = {"compute": {"switch": switch}, "oob": {}}
    if rng.random() < 0.3:
        nets["service"] = {}
    makes = ("h100-8gpu", "h200-8gpu", "mi300x-8gpu") if switch == "sn5600" else ("h100-8gpu",)
    return {"servers": servers, "server": rng.choice(makes), "networks": nets, "room": room}


def near_hall(rng):
    compute = {"switch": "mqm9790-ns2f", "topology": rng.choice(("middle-of-rack",) * 3 +
                                                                ("rail", "clos"))}
    if rng.random() < 0.3:
        compute["leaf_down"] = 8 * rng.randint(1, 4)
    if rng.random() < 0.2:
        compute["oversubscription"] = rng.choice((1.5, 2, 3))
    room = {"rows": rng.randint(4, 16), "rack_kw": rng.choice((12, 22, 33, 45, 60, 90, 140)),
            "rack_u": rng.choice((42, 48, 52)), "place": rng.choice(("aligned", "shortest")),
            "drop_m": rng.choice((0.3, 0.5, 1, 1.5)),
            "pitch_m": {"row": rng.choice((0.6, 0.8)), "column": rng.choice((1.2, 1.8))}}
    return {"servers": rng.randint(1, 160), "server": "h100-8gpu", "networks": {"compute": compute},
            "room": room}


def far_cages(path):
    """Cages of leaves with fibre in them though all of their links are near."""
    cages = collections.defaultdict(list)
    with open(path, newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if row["network"] == "compute" and row["layer"] == "host_leaf":
                cages[row["b_device"], row["b_port"].split("/")[0]].append(row)
    return [cage for cage, rows in cages.items()
            if all(float(row["route_m"]) <= REACH_M for row in rows)
            and any(row["medium"] != "copper" for row in rows)]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("myriad")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--large", type=int, default=4)
    parser.add_argument("--near", type=int, default=20)
    args = parser.parse_args()
    rng = random.Random(args.seed)
    failed, counts = [], collections.Counter()
    with tempfile.TemporaryDirectory(prefix="myriad-halls-") as name:
        folder = Path(name)
        for number in range(args.large):
            spec = large_hall(rng)
            answer = run(args.myriad, folder, spec)
            if isinstance(answer, str):
                failed.append(f"large {number} is refused: {answer}\n{json.dumps(spec)}")
                continue
            counts["large"] += 1
            bare = [f["message"] for f in answer["findings"]
                    if f["rule"] == "no-optics" and f["where"].startswith("oob")]
            if bare:
                failed.append(f"large {number}: {bare[0]}\n{json.dumps(spec)}")
        for number in range(args.near):
            spec = near_hall(rng)
            out = folder / "out"
            answer = run(args.myriad, folder, spec, "--out", out)
            if isinstance(answer, str):
                counts["refused"] += 1
                continue
            counts["near"] += 1
            counts["copper"] += answer["networks"]["compute"]["copper_cables"] > 0
            wrong = [f["rule"] for f in answer["findings"] if f["severity"] == "error"]
            far = far_cages(out / "cables.csv")
            if far or wrong:
                failed.append(f"near {number}: {len(far)} cages {far[:2]} {wrong}\n"
                              f"{json.dumps(spec)}")
    for line in failed:
        print(line)
    print(f"halls, seed {args.seed}: {dict(counts)}, {len(failed)} failed")
    sys.exit(1 if failed or counts["near"] < args.near / 2 else 0)


if __name__ == "__main__":
    main()
