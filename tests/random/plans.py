#!/usr/bin/env python3
"""Plans specs as people write them, of every topology: each comes out sound, or is refused well.

    tests/random/plans.py MYRIAD [--seed N] [--count N] [--keep DIR] [--flows SHARE]

Servers, switches and speeds are drawn so that most pairs exist; sizes go from one server to several
thousand. Of all specs at least 70 % must be planned, of every topology an equal share is drawn.
A plan fails when the program dies, when its own counts differ ('structure'), or when the physical
checker finds something that cannot be plugged together. For a share of the small ones the bisection
is computed again from the cable list, by a maximum flow of this script's own (flows.py).
Failures are printed by kind, each with its smallest spec.
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

import flows

TIMEOUT_S = 600
PLANNED_SHARE = 0.7

NDR = ("mqm9790-ns2f", "mqm9700-ns2f")
ETH_800 = ("sn5600", "sn5610", "sn5640", "dcs-7060x6-64pe", "z9864f-on", "qfx5240-64od",
           "eth-102t4-128x800")
ETH_400 = ("eth-25t6", "eth-12t8-32x400", "sn5400", "sn4700", "eth-modular-576x400")
HDR = ("qm8790", "mqm8700-hs2f")
ETH_200 = ("eth-12t8-64x200",)
XDR = ("q3400", "q3200", "q3450-ld")
ETH_1600 = ("eth-102t4", "sn6600-ld", "sn6810-ld")
# server: switches that its compute cards can meet
SERVERS = {
    "h100-8gpu": NDR + ETH_800 + ETH_400, "dgx-h100": NDR + ETH_800, "h200-8gpu": NDR + ETH_800,
    "h800-8gpu": NDR + ETH_400, "b200-8gpu": NDR + ETH_800, "dgx-b200": NDR + ETH_800,
    "gb200-nvl72": NDR + ETH_800, "generic-1gpu": NDR + ETH_800 + ETH_400,
    "mi300x-8gpu": ETH_800 + ETH_400, "cloudmatrix-384": ETH_800,
    "a100-8gpu": HDR + ETH_200, "ascend-910b-8npu": ETH_200,
    "h100-8gpu-2x200": NDR + ETH_800, "b300-8gpu": ETH_800, "b300-8gpu-xdr": XDR + ETH_1600,
    "gb300-nvl72": XDR + ETH_1600, "b300-8gpu-4x200": ("eth-102t4",),
}
DUAL = {"h100-8gpu-2x200": NDR + ETH_800, "b300-8gpu": ETH_800}
TOPOLOGIES = ("rail", "clos", "rail-only", "middle-of-rack", "dragonfly", "dragonfly+", "torus",
              "access", "twin-planar", "dual-tor", "islands")
RATIOS = ("1", "1", "1.5", "2", "3", "[1, 2]", "[1, 4]", "[1, 7]", "[1.5, 2]", "[2, 3, 1]", "0.5")
LENGTHS = ("2", "3", "10", "30", "50", "100", "{host_leaf: 2, leaf_spine: 30}",
           "{host_leaf: 5, leaf_spine: 40, spine_core: 90}")


def size(rng, most=4000):
    """Small ones as often as large ones."""
    return max(1, min(most, int(2 ** rng.uniform(0, 12.5)) + rng.choice((-1, 0, 0, 1))))


def some(rng, share, **keys):
    """Each key with this probability, its value drawn."""
    return {key: rng.choice(values) for key, values in keys.items() if rng.random() < share}


def compute(rng, topology):
    """server, servers, and the keys of the compute network."""
    choice = DUAL if topology in ("twin-planar", "dual-tor") else SERVERS
    if topology == "twin-planar":
        choice = {"b300-8gpu": ETH_800}
    server = rng.choice(sorted(choice))
    if topology not in ("twin-planar", "dual-tor") and rng.random() < 0.3:
        server = "h100-8gpu"
    servers = size(rng)
    if server in ("gb200-nvl72", "gb300-nvl72", "cloudmatrix-384"):
        servers = rng.randint(1, 12)
    if topology == "torus":
        servers = min(servers, 600)
    keys = {"topology": topology}
    if rng.random() < 0.85:
        keys["switch"] = rng.choice(choice[server])
    keys.update(some(rng, 0.2, length_m=LENGTHS, extra_nodes=range(1, 20)))
    keys.update(some(rng, 0.1, fabric_manager_ports=range(1, 9)))
    clos = topology in ("rail", "clos", "rail-only", "middle-of-rack", "twin-planar", "dual-tor",
                        "islands")
    if clos:
        keys.update(some(rng, 0.3, oversubscription=RATIOS, fill=("regular", "dense")))
        keys.update(some(rng, 0.08, tiers=(2, 3), uplink_gbps=(200, 400, 800),
                         spine_switch=choice[server]))
    if server == "b300-8gpu-4x200" and clos:
        keys["planes"] = 4
    elif server == "b300-8gpu" and topology in ("rail", "clos", "rail-only"):
        keys["planes"] = 2
    elif clos and rng.random() < 0.05:
        keys["planes"] = rng.choice((2, 3, 4))
    if topology == "islands":
        keys["islands"] = rng.choice((1, 2, 2, 2, 3, 4, 6, 8))
        keys.setdefault("oversubscription", rng.choice(("[1, 2]", "[1, 4]", "[1, 7]")))
    if topology == "dragonfly":
        keys.update(some(rng, 0.3, hosts_per_switch=range(2, 17), group_switches=range(2, 17),
                         global_ports=range(2, 17)))
    if topology == "dragonfly+":
        keys.update(some(rng, 0.3, hosts_per_switch=range(2, 17), group_switches=range(4, 17),
                         global_ports=range(4, 17)))
    if topology == "torus":
        sides = rng.randint(2, 3)
        keys["dims"] = [rng.randint(2, 12 if sides == 2 else 6) for _ in range(sides)]
        keys.update(some(rng, 0.3, trunk=range(1, 5)))
    keys.update(some(rng, 0.04, nic_ports=range(1, 9), nic_gbps=(100, 200, 400),
                     rails=(1, 2, 4, 8), leaf_down=range(4, 65), leaf_up=range(4, 33)))
    return server, servers, keys


def flow_map(keys):
    return "{" + ", ".join(f"{key}: {value}" for key, value in keys.items()) + "}"


def spec(rng, topology):
    """The text of a spec. Access networks are for service and out of band."""
    if topology == "access":
        server, servers, keys = compute(rng, "rail")
    else:
        server, servers, keys = compute(rng, topology)
    lines = [f"servers: {servers}", f"server: {server}", "networks:",
             f"  compute: {flow_map(keys)}"]
    if rng.random() < 0.25 and server != "generic-1gpu":
        more = some(rng, 0.3, extra_nodes=range(1, 20), fill=("regular", "dense"),
                    oversubscription=RATIOS, length_m=LENGTHS)
        more.update(some(rng, 0.5, switch=SERVERS["h100-8gpu"]))
        lines.append(f"  storage: {flow_map(more)}")
    for name in ("service", "oob"):
        if (topology == "access" or rng.random() < 0.15) and server != "generic-1gpu":
            more = some(rng, 0.3, extra_nodes=range(1, 20), homes=(1, 2), aggregation=range(2, 9),
                        length_m=("5", "10", "30"))
            more["topology"] = "access"
            lines.append(f"  {name}: {flow_map(more)}")
    if rng.random() < 0.15:
        capacity_tb, copies = rng.randint(100, 5000), rng.randint(1, 3)
        storage = rng.choice(("flash-22x15-cx7", "flash-22x15-cx7", "flash-22x15"))
        lines.append(f"storage: {{server: {storage}, capacity_tb: {capacity_tb}, "
                     f"copies: {copies}}}")
    return "\n".join(lines) + "\n"


def run(command):
    return subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_S,
                          stdin=subprocess.DEVNULL, check=False)


ISLANDS = re.compile(r"'islands' is \d+, (\d+)(?: or \d+)? is expected")


def ask(myriad, path):
    """The answer; islands that cannot be built are asked for once more as the refusal has them."""
    result = run([myriad, "plan", path, "-o", "json"])
    other = ISLANDS.search(result.stderr)
    if not other:
        return result
    path.write_text(re.sub(r"islands: \d+", f"islands: {other[1]}", path.read_text()))
    again = run([myriad, "plan", path, "-o", "json"])
    if ISLANDS.search(again.stderr):
        again.returncode = -1  # what was expected is refused as well
    return again


def judge(myriad, path, with_flow):
    """('planned' or 'refused', what) or ('failed', kind)."""
    try:
        result = ask(myriad, path)
    except subprocess.TimeoutExpired:
        return "failed", f"still running after {TIMEOUT_S} s"
    if result.returncode == 2:
        good = re.fullmatch(rf"myriad: {re.escape(str(path))}:\d+:\d+: (.*)\n(hint: .*\n)?",
                            result.stderr)
        if good and not result.stdout:
            return "refused", re.sub(r"[\d.,]+", "N", good[1])
        return "failed", f"refused in a wrong form: {result.stderr}"
    if result.returncode not in (0, 1):
        return "failed", f"exit code {result.returncode}: {result.stderr[:300]}"
    plan = json.loads(result.stdout)
    for finding in plan["findings"]:
        if finding["rule"] == "structure" or finding["rule"].startswith("physical-"):
            text = re.sub(r"\d[\d,.]*", "N", finding["message"])
            return "failed", f"{finding['rule']}: {text}"
    if result.returncode == 1:
        rules = {f["rule"] for f in plan["findings"] if f["severity"] == "error"}
        return "refused", "found wanting: " + ", ".join(sorted(rules))
    wrong = flows.differences(myriad, path, plan) if with_flow else None
    return ("failed", f"bisection: {wrong}") if wrong else ("planned", "")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("myriad")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=495)
    parser.add_argument("--flows", type=float, default=0.2, help="share whose bisection is redone")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--keep", help="write the specs that fail into this folder")
    parser.add_argument("--refused", action="store_true", help="list why specs were refused")
    args = parser.parse_args()
    myriad, rng = os.path.abspath(args.myriad), random.Random(args.seed)
    counts = {name: collections.Counter() for name in TOPOLOGIES}
    failures, refusals = {}, collections.Counter()
    with tempfile.TemporaryDirectory(prefix="myriad-plans-") as folder:
        work = []
        for number in range(args.count):
            topology = TOPOLOGIES[number % len(TOPOLOGIES)]
            path = Path(folder) / f"{args.seed}-{number}.yaml"
            path.write_text(spec(rng, topology))
            small = int(re.search(r"servers: (\d+)", path.read_text())[1]) <= 48
            work.append((topology, path, small and rng.random() < args.flows))
        with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
            answers = pool.map(lambda row: judge(myriad, row[1], row[2]), work)
            for (topology, path, _), (verdict, what) in zip(work, answers):
                counts[topology][verdict] += 1
                if verdict == "refused":
                    refusals[what] += 1
                if verdict == "failed":
                    failures.setdefault(what, []).append(path.read_text())
                    if args.keep:
                        Path(args.keep, path.name).write_text(path.read_text())
    for what, specs in sorted(failures.items(), key=lambda row: -len(row[1])):
        print(f"--seed {args.seed}, {len(specs)} times: {what}\n{min(specs, key=len)}")
    for what, times in refusals.most_common() if args.refused else []:
        print(f"refused {times} times: {what}")
    for name, row in counts.items():
        print(f"{name:15} {row['planned']:5} planned {row['refused']:5} refused "
              f"{row['failed']:5} failed")
    planned = sum(row["planned"] for row in counts.values())
    print(f"{args.count} specs: {planned} planned ({100 * planned / args.count:.0f} %), "
          f"{sum(refusals.values())} refused, {sum(map(len, failures.values()))} failed")
    sys.exit(1 if failures or planned < PLANNED_SHARE * args.count else 0)


if __name__ == "__main__":
    main()
