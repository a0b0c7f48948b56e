#!/usr/bin/env python3
"""Less bandwidth never costs more: drawn specs of all topologies and makes, each at several ratios.

    tests/random/ratios.py MYRIAD [--seed N] [--count N] [--keep DIR]

From a lower ratio to a higher one neither switches nor cables rise, nor, where every line has a
price, the cost (in a room not compared: its lengths of cables, and with them copper, hang on where
things stand); what was planned at the lower one is not refused at the higher one. A spec where
something rises all the same needs a finding that explains it (EXPLAINS), and at most two of a
hundred may have that.
"""
import argparse
import collections
import concurrent.futures
import json
import os
import random
import re
import subprocess
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True
import plans  # noqa: E402

TIMEOUT_S = 600
EXCEPTIONS = 0.02
PLANNED_SHARE = 0.6
# A finding of the higher ratio that says why something of it is more.
EXPLAINS = ("ratio-below-asked",)
RATIOS = (1, 1.1, 1.2, 1.25, 1.33, 1.5, 1.6, 1.7, 2, 2.2, 2.5, 3, 3.3, 3.5, 4, 5, 5.5, 6, 7, 8)


def draw(rng, topology):
    """(tree of a spec, which entries of 'oversubscription' the ratio is)."""
    server, servers, keys = plans.compute(rng, "rail" if topology == "access" else topology)
    keys.pop("oversubscription", None)
    if server == "h100-8gpu" and rng.random() < 0.15:
        server = "h20-8gpu"  # the same cards
    if rng.random() < 0.9:
        for key in ("leaf_down", "leaf_up"):
            keys.pop(key, None)
    entries = (0,)
    if topology == "islands":
        entries = rng.choice(((1,), (1,), (0, 1), (0,)))
    elif topology not in ("torus", "dragonfly", "dragonfly+") and keys.get("tiers") != 2 and \
            rng.random() < 0.2:
        entries = rng.choice(((1,), (0, 1)))
    lines = [f"servers: {servers}", f"server: {server}", "prices: market-2026"]
    nets = {"compute": keys}
    if server != "generic-1gpu" and (topology == "access" or rng.random() < 0.15):
        nets["service"], nets["oob"] = {}, {}
    if server != "generic-1gpu" and rng.random() < 0.1:
        nets["storage"] = plans.some(rng, 0.5, fill=("regular", "dense"))
    if rng.random() < 0.1:
        lines.append("room: {rows: 40, columns: 60, rack_kw: 150, rack_kg: 3000, rack_u: 52}")
    return lines, nets, entries


def spec(lines, nets, entries, ratio):
    own = dict(nets)
    both = [ratio if entry in entries else 1 for entry in (0, 1)]
    for name in {"compute", "storage"} & set(own):
        own[name] = dict(own[name], oversubscription=both[0] if both[1] == 1 else both)
    text = lines + ["networks:"]
    text += [f"  {name}: {plans.flow_map(keys)}" for name, keys in own.items()]
    return "\n".join(text) + "\n"


def plan(myriad, path, text):
    path.write_text(text)
    done = subprocess.run([myriad, "plan", path, "-o", "json"], capture_output=True, text=True,
                          timeout=TIMEOUT_S, stdin=subprocess.DEVNULL, check=False)
    if done.returncode not in (0, 1):
        return None, done.stderr.split("\n")[0].split(": ", 2)[-1]
    answer = json.loads(done.stdout)
    if any(f["severity"] == "error" and not f["accepted"] for f in answer["findings"]):
        rules = {f["rule"] for f in answer["findings"] if f["severity"] == "error"}
        return None, "found wanting: " + ", ".join(sorted(rules))
    return answer, None


def figures(answer):
    networks = [row for row in answer["networks"].values() if row]
    totals = answer["totals"]
    cost = None if totals["unpriced_lines"] or answer["room"] else totals["cost"]
    return {"switches": sum(row["switches"]["total"] for row in networks),
            "cables": sum(row["cables"]["total"] for row in networks), "cost": cost}


def look_at(myriad, path, drawn):
    """'planned' or 'refused', and what rises: (what, lower ratio, higher ratio, explained)."""
    *spec_of, ratios = drawn
    rises, before, priced = [], None, 0
    for ratio in ratios:
        answer, refusal = plan(myriad, path, spec(*spec_of, ratio))
        if answer is None:
            if before:
                rises.append((f"refused: {refusal}", before[0], ratio, False))
            continue
        here = figures(answer)
        priced += here["cost"] is not None
        explained = any(f["rule"] in EXPLAINS for f in answer["findings"])
        for what, figure in here.items():
            if before and None not in (figure, before[1][what]) and figure > before[1][what]:
                rises.append((f"{what} {before[1][what]} -> {figure}", before[0], ratio, explained))
        before = ratio, here
    return ("planned" if before else "refused"), rises, priced


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("myriad")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--steps", type=int, default=5, help="ratios of a spec")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--keep", help="write the specs where something rises into this folder")
    args = parser.parse_args()
    myriad, rng = os.path.abspath(args.myriad), random.Random(args.seed)
    counts, kinds, wrong, explained = collections.Counter(), collections.Counter(), [], []
    with tempfile.TemporaryDirectory(prefix="myriad-ratios-") as folder:
        work = []
        for number in range(args.count):
            topology = plans.TOPOLOGIES[number % len(plans.TOPOLOGIES)]
            path = Path(folder) / f"{args.seed}-{number}.yaml"
            ratios = sorted(rng.sample(RATIOS, args.steps))
            work.append((topology, path, (*draw(rng, topology), ratios)))
        with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
            answers = pool.map(lambda row: look_at(myriad, row[1], row[2]), work)
            for (topology, path, drawn), (verdict, rises, priced) in zip(work, answers):
                counts[verdict] += 1
                counts["prices"] += priced
                if not rises:
                    continue
                *spec_of, _ = drawn
                what, low, high, _ = rises[0]
                text = f"{path.stem} {topology} {what}, {low}:1 -> {high}:1\n" + \
                    spec(*spec_of, high)
                (explained if all(row[3] for row in rises) else wrong).append(text)
                kinds[topology, re.sub(r"[\d.]+", "N", what)] += 1
                if args.keep:
                    Path(args.keep, path.name).write_text(spec(*spec_of, high))
    for title, texts in ("without a reason", wrong), ("with a reason", explained):
        for text in texts:
            print(f"{title}: {text}")
    for (topology, what), times in kinds.most_common():
        print(f"{topology}: {times} times {what}")
    print(f"ratios, seed {args.seed}: {args.count} specs, {dict(counts)}; {len(wrong)} rise "
          f"without a reason, {len(explained)} with one")
    sys.exit(1 if wrong or len(explained) > EXCEPTIONS * args.count
             or counts["planned"] < PLANNED_SHARE * args.count else 0)


if __name__ == "__main__":
    main()
