#!/usr/bin/env python3
"""Growths that are none, and those that cannot be: one clear line, and nothing is written.

    tests/plan/growth_bad.py MYRIAD
"""
import os
import subprocess
import sys
import tempfile
from pathlib import Path

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def spec(servers=64, server="h100-8gpu", keys="switch: mqm9790-ns2f", more=""):
    return f"servers: {servers}\nserver: {server}\nnetworks:\n  compute: {{{keys}}}\n{more}"


# name, installed, larger, exit code, what the line says
TORUS = "topology: torus, switch: sn5600, nic_gbps: 400, hosts_per_switch: 8, dims: "
DRAGON = "topology: dragonfly, switch: sn5600, nic_gbps: 400, group_switches: 4, global_ports: "
CASES = [
    ("swapped", spec(128), spec(64), 2, "it has 64 servers, installed are 128"),
    ("fewer", spec(64), spec(63), 2, "it has 63 servers, installed are 64"),
    ("server", spec(64), spec(128, "h100-8gpu-2x200"), 2, "its servers are"),
    ("technology", spec(64), spec(128, keys="switch: mqm9790-ns2f, topology: clos"), 2,
     "its compute network is 'clos', installed is 'rail'"),
    ("switch", spec(64, keys="switch: sn5600, nic_gbps: 400"),
     spec(128, keys="switch: eth-25t6, nic_gbps: 400"), 2, "as leaf, installed"),
    ("speed", spec(64, keys="switch: sn5600, nic_gbps: 400"),
     spec(128, keys="switch: sn5600, nic_gbps: 200"), 2, "Gb/s"),
    ("planes", spec(64, keys="switch: sn5600, nic_gbps: 200, planes: 1"),
     spec(128, keys="switch: sn5600, nic_gbps: 200, planes: 2"), 2, "planes"),
    ("rails", spec(64), spec(128, keys="switch: mqm9790-ns2f, rails: 4"), 2, "rails"),
    ("network", spec(64, more="  oob:\n"), spec(128), 2, "no oob network"),
    ("managers", spec(64, keys="switch: mqm9790-ns2f, fabric_manager_ports: 4"), spec(128), 2,
     "fabric managers"),
    ("storage", spec(64, more="  storage:\nstorage: {capacity_tb: 900}\n"),
     spec(128, more="  storage:\nstorage: {capacity_tb: 100}\n"), 2, "storage servers"),
    ("currency", (EXAMPLES / "h100-64.yaml").read_text(),
     (EXAMPLES / "h100-128.yaml").read_text().replace("prices: cn-2024-05",
                                                      "prices: us-list"), 2, None),
    ("unplannable", spec(64), spec(128, keys="switch: no-such-switch"), 2, "no-such-switch"),
    ("broken", spec(64), "servers: [", 2, "large.yaml:"),
    ("missing", spec(64), None, 2, "large.yaml"),
    ("torus", spec(8, keys=TORUS + "[4, 4]"), spec(16, keys=TORUS + "[3, 8]"), 1,
     "torus does not hold the installed one"),
    ("groups", spec(8, keys=DRAGON + "2"), spec(16, keys=DRAGON + "3"), 1, "another shape"),
    ("gives-back", spec(64), spec(65, keys="switch: mqm9790-ns2f, oversubscription: 15"), 1,
     "gives no box back"),
]


def run(myriad, folder, *words):
    return subprocess.run([myriad, *words], capture_output=True, text=True, check=False,
                          cwd=folder, stdin=subprocess.DEVNULL, timeout=600)


def fault(result, code, says, folder):
    lines = result.stderr.splitlines()
    if result.returncode != code:
        return f"exit code {result.returncode}, {code} expected: {result.stderr[:300]}"
    if result.stdout or (folder / "out").exists():
        return "something was written"
    if not lines or len(lines) > 2 or not lines[0].startswith("myriad: "):
        return f"not one clear line: {result.stderr}"
    if len(lines) == 2 and not lines[1].startswith("hint: "):
        return f"not one clear line: {result.stderr}"
    return None if not says or says in lines[0] else f"'{says}' is not in: {lines[0]}"


def main():
    myriad, failed, count = os.path.abspath(sys.argv[1]), 0, 0
    with tempfile.TemporaryDirectory(prefix="myriad-grow-") as name:
        folder = Path(name)
        jobs = []
        for case, small, large, code, says in CASES:
            jobs.append((case, small, large, ["small.yaml", "large.yaml", "--out", "out"], code,
                         says))
        good = (spec(64), spec(128))
        jobs += [
            ("one-operand", *good, ["small.yaml"], 2, None),
            ("three-operands", *good, ["small.yaml", "large.yaml", "large.yaml"], 2, None),
            ("crews-without-out", *good, ["small.yaml", "large.yaml", "--crews", "2"], 2, "--out"),
            ("crews-word", *good, ["small.yaml", "large.yaml", "--out", "out", "--crews", "x"], 2,
             "crews"),
            ("a-day-without-crews", *good, ["small.yaml", "large.yaml", "--out", "out",
                                            "--cables-a-day", "5"], 2, "--crews"),
            ("a-folder", *good, ["small.yaml", ".", "--out", "out"], 2, None),
            ("no-design", *good, ["bad.myr", "large.yaml", "--out", "out"], 2, "bad.myr"),
        ]
        for case, small, large, words, code, says in jobs:
            (folder / "small.yaml").write_text(small)
            (folder / "bad.myr").write_text("nothing of a design\n")
            (folder / "large.yaml").unlink(missing_ok=True)
            if large is not None:
                (folder / "large.yaml").write_text(large)
            wrong = fault(run(myriad, folder, "plan", "grow", *words), code, says, folder)
            count += 1
            if wrong:
                failed += 1
                print(f"{case}: {wrong}")
    print(f"growth_bad: {count} cases, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
