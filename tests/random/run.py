#!/usr/bin/env python3
"""Plans specs that nobody would write: every one is refused in one line, or holds together.

    tests/random/run.py MYRIAD [--seed N] [--count N] [--keep DIR]

Specs are made from a seed: a few servers, one or more networks, keys with values that are possible
one by one. A plan must not have the finding 'structure', by which the checker says that it counted
something else than was planned, nor one of the physical checker. A failure prints the spec.
"""
import argparse
import concurrent.futures
import json
import os
import random
import re
import subprocess
import sys
import tempfile
from pathlib import Path

TIMEOUT_S = 600
SERVER_COUNTS = (1, 2, 3, 4, 5, 7, 8, 12, 16, 24, 31, 32, 33, 48, 64)
SERVERS = ("h100-8gpu", "generic-1gpu", "b300-8gpu", "h100-8gpu-2x200", "b300-8gpu-4x200",
           "a100-8gpu", "ascend-910b-8npu", "b300-8gpu-xdr", "gb200-nvl72", "mi300x-8gpu")
SWITCHES = ("mqm9790-ns2f", "sn5600", "q3400", "eth-102t4", "qm8790", "eth-12t8-32x400",
            "eth-12t8-128x100", "eth-25t6", "eth-modular-576x400", "eth-12t8-64x200")
TOPOLOGIES = ("rail", "clos", "rail-only", "middle-of-rack", "dragonfly", "dragonfly+", "torus",
              "access", "twin-planar", "dual-tor", "islands")
NICS = ("cx7-200g-qsfp112", "cx6-200g", "cx7-2x200g", "cx8-2x400g", "cx7-400g-osfp", "eth-2x25g",
        "bmc-1g", "eth-2x100g")
SPEEDS = (100, 200, 400, 800)
RATIOS = ("1", "2", "1.5", "[1, 2]", "[2, 3]", "[1.5, 1, 1]", "[1, 7]", "0.5", "3.3")
LENGTHS = ("2", "30", "{host_leaf: 1, leaf_spine: 20}", "400")

# key, how often it is given, its values.
KEYS = (
    ("topology", 0.8, TOPOLOGIES), ("switch", 0.6, SWITCHES), ("spine_switch", 0.1, SWITCHES),
    ("core_switch", 0.1, SWITCHES), ("nic_ports", 0.2, range(1, 9)), ("nic_gbps", 0.3, SPEEDS),
    ("uplink_gbps", 0.2, SPEEDS), ("tiers", 0.3, range(1, 4)), ("planes", 0.15, (1, 2, 4)),
    ("rails", 0.2, (1, 2, 4, 8)), ("oversubscription", 0.4, RATIOS),
    ("fill", 0.4, ("regular", "dense")), ("extra_nodes", 0.3, range(21)),
    ("fabric_manager_ports", 0.3, range(10)), ("leaf_down", 0.4, range(1, 17)),
    ("leaf_up", 0.4, range(1, 13)), ("pod_leaves", 0.2, range(1, 17)),
    ("islands", 0.2, range(1, 7)), ("length_m", 0.2, LENGTHS),
    ("hosts_per_switch", 0.3, range(1, 13)), ("trunk", 0.2, range(1, 4)),
    ("group_switches", 0.3, range(1, 9)), ("global_ports", 0.3, range(1, 9)),
    ("homes", 0.2, (1, 2)), ("aggregation", 0.2, range(1, 9)),
)


def network(rng):
    keys = {key: rng.choice(values) for key, share, values in KEYS if rng.random() < share}
    if keys.get("topology") == "torus":
        keys["dims"] = [rng.randint(2, 4) for _ in range(rng.randint(2, 3))]
    if rng.random() < 0.2:
        keys["pin"] = f"{{nic: {rng.choice(NICS)}}}"
    return "{" + ", ".join(f"{key}: {value}" for key, value in keys.items()) + "}"


def spec(rng):
    lines = [f"servers: {rng.choice(SERVER_COUNTS)}", f"server: {rng.choice(SERVERS)}", "networks:"]
    lines.append(f"  compute: {network(rng)}")
    lines += [f"  {name}: {network(rng)}" for name in ("storage", "service", "oob")
              if rng.random() < 0.2]
    if rng.random() < 0.2:
        capacity_tb, copies = rng.randint(1, 900), rng.randint(1, 3)
        lines.append(f"storage: {{capacity_tb: {capacity_tb}, copies: {copies}}}")
    return "\n".join(lines) + "\n"


def fault(myriad, path):
    """What is wrong with the answer, None when nothing is, or '' when the spec was refused."""
    try:
        result = subprocess.run([myriad, "plan", path, "-o", "json"], capture_output=True,
                                text=True, timeout=TIMEOUT_S, stdin=subprocess.DEVNULL, check=False)
    except subprocess.TimeoutExpired:
        return f"still running after {TIMEOUT_S} s"
    if result.returncode == 2:
        good = re.fullmatch(rf"myriad: {re.escape(str(path))}:\d+:\d+: .*\n(hint: .*\n)?",
                            result.stderr)
        return "" if good and not result.stdout else f"refused in a wrong form: {result.stderr}"
    if result.returncode not in (0, 1):
        return f"exit code {result.returncode}: {result.stderr[:2000]}"
    for finding in json.loads(result.stdout)["findings"]:
        if finding["rule"] == "structure" or finding["rule"].startswith("physical-"):
            return f"{finding['where']}: {finding['message']}"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("myriad")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=400)
    parser.add_argument("--keep", help="write the specs that fail into this folder")
    args = parser.parse_args()
    myriad, rng = os.path.abspath(args.myriad), random.Random(args.seed)
    failed = refused = 0
    with tempfile.TemporaryDirectory(prefix="myriad-random-") as folder:
        paths = []
        for number in range(args.count):
            paths.append(Path(folder) / f"{args.seed}-{number}.yaml")
            paths[-1].write_text(spec(rng))
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            for path, wrong in zip(paths, pool.map(lambda path: fault(myriad, path), paths)):
                refused += wrong == ""
                if wrong:
                    failed += 1
                    print(f"--seed {args.seed}, spec {path.stem}: {wrong}\n{path.read_text()}")
                    if args.keep:
                        Path(args.keep, path.name).write_text(path.read_text())
    planned = args.count - refused - failed
    print(f"{args.count} specs: {planned} planned, {refused} refused, {failed} failed")
    sys.exit(1 if failed or planned * 10 < args.count else 0)


if __name__ == "__main__":
    main()
