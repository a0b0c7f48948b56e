#!/usr/bin/env python3
"""Exports and miswired fabrics of small designs of every shape, held against what came out when
somebody last looked. Other tests say that an export is read back and that a repair is right; this,
that nothing in their words changes but on purpose.

    tests/site/drawn.py MYRIAD                 compares with tests/kept/site.txt
    MYRIAD_KEPT=write tests/site/drawn.py ...  writes it; read the diff

Kept are how each answer begins and a digest of the whole: every format of every design; then cable
lists with cables exchanged, moved, missing, turned or told twice, with `verify`, its lists, its
orders for two crews, `bind` and the routes over what was found; and the tables of `route apply`.
"""
import difflib
import hashlib
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
KEPT = ROOT / "tests" / "kept" / "site.txt"
SEED, DAMAGED, SHOWN = 20261117, 4, 6
DESIGNS = {
    "rail": "servers: 12\nserver: h100-8gpu\nnetworks:\n  compute: {switch: mqm9790-ns2f}\n"
            "  storage: {}\n  oob: {}\nroom: {rows: 4, columns: 6, rack_kw: 44}\n",
    "three-tiers": "servers: 16\nserver: h100-8gpu\nnetworks:\n  compute: {topology: clos, "
                   "switch: mqm9790-ns2f, tiers: 3, leaf_down: 8, leaf_up: 8}\n",
    "ethernet": "servers: 10\nserver: b200-8gpu\nnetworks:\n"
                "  compute: {switch: sn5600, leaf_down: 32, leaf_up: 32}\n",
    "two-leaves": "servers: 8\nserver: h100-8gpu-2x200\nnetworks:\n"
                  "  compute: {topology: dual-tor, switch: sn5600, leaf_down: 32, leaf_up: 16}\n",
    "dragonfly": "servers: 9\nserver: h100-8gpu\nnetworks:\n  compute: {topology: dragonfly, "
                 "switch: mqm9790-ns2f, hosts_per_switch: 6, group_switches: 4, global_ports: 3}\n",
    "torus": "servers: 12\nserver: generic-1gpu\nnetworks:\n"
             "  compute: {topology: torus, switch: z9864f-on, dims: [3, 2, 2]}\n",
}
# Rings of five: paths that could wait for each other in a circle.
ROUTED = {**DESIGNS, "rings": "servers: 20\nserver: generic-1gpu\nnetworks:\n"
                              "  compute: {topology: torus, switch: mqm9790-ns2f, dims: [5, 5]}\n"}
FORMATS = ("ibnetdiscover", "ibsim", "opensm", "partitions", "slurm", "slurm-block", "dot", "p2p",
           "netbox", "frr", "containerlab", "ansible", "nccl", "nccl-topo", "sonic-sn5600",
           "sonic-z9864f")


class Runs:
    """Commands in one folder, and what is kept of them."""

    def __init__(self, myriad, folder):
        self.myriad, self.folder, self.lines = myriad, folder, []

    def run(self, *words):
        return subprocess.run([self.myriad, *words], cwd=self.folder, capture_output=True,
                              stdin=subprocess.DEVNULL, timeout=300, check=False)

    def keep(self, *words, shown=0):
        """Runs a command; its messages, the first lines of its answer, and a digest of all."""
        result = self.run(*words)
        text = result.stdout.decode()
        self.lines.append(f"$ {' '.join(words)}: {result.returncode}, {len(text.splitlines())} "
                          f"lines, {hashlib.sha256(result.stdout).hexdigest()[:12]}")
        self.lines += ["  ! " + line for line in result.stderr.decode().splitlines()]
        self.lines += ["  " + line for line in text.splitlines()[:shown] if line.strip()]

    def keep_files(self, folder):
        for path in sorted(Path(self.folder, folder).rglob("*")):
            if path.is_file():
                # Files name each other from the root on, and the folder is another each time.
                found = path.read_bytes().replace(bytes(Path(self.folder).resolve()), b"FOLDER")
                self.lines.append(f"  {path.relative_to(self.folder)}: "
                                  f"{hashlib.sha256(found).hexdigest()[:12]}")


def damage(rng, cables, twice):
    """A few things that go wrong when cables are plugged; a cable is the six words of its row."""
    cables = [list(row) for row in cables]
    for _ in range(rng.randint(1, 8)):
        kind = rng.choice(("exchange", "exchange", "neighbours", "remove", "turn", "move"))
        a = rng.randrange(len(cables) - 1)
        b = a + 1 if kind == "neighbours" else rng.choice([i for i in range(len(cables)) if i != a])
        if kind in ("exchange", "neighbours"):
            cables[a][3:], cables[b][3:] = cables[b][3:], cables[a][3:]
        elif kind == "remove":
            del cables[a]
        elif kind == "turn":
            cables[a] = cables[a][3:] + cables[a][:3]
        else:  # where another one was
            cables[a][3:] = cables[b][3:]
            del cables[b]
    if twice:
        cables.append(cables[0][:3] + cables[1][3:])
    rng.shuffle(cables)
    return cables


def look(runs, rng, name):
    design = f"{name}/design.myr"
    runs.keep("plan", f"{name}.yaml", "--out", name)
    Path(runs.folder, "tenants.csv").write_text("tenant,nodes\nred,0-3\nblue,4-7\n")
    for form in FORMATS:
        more = ("--tenants", "tenants.csv") if form == "partitions" else ()
        runs.keep("export", form, design, "-o", "json", *more)
    for form in ("sonic-sn5600", "frr"):
        runs.keep("export", form, design, "-o", "json", "--tenants", "tenants.csv",
                  *(("--vrf",) if form != "frr" else ()))
    runs.keep("export", "p2p", design, "--net", "all")
    header, *rows = runs.run("export", "p2p", design).stdout.decode().splitlines()
    for number in range(DAMAGED):
        cables = damage(rng, [row.split(",") for row in rows], number == DAMAGED - 1)
        file = f"{name}-{number}.csv"
        Path(runs.folder, file).write_text("\n".join([header, *map(",".join, cables)]) + "\n")
        runs.keep("verify", design, file, "-o", "json", *(("--equivalent",) if number % 2 else ()))
        if number == DAMAGED - 1:
            break
        runs.keep("verify", "orders", design, file, "--out", f"{name}-orders-{number}", "--crews",
                  "2", "-o", "json")
        runs.keep_files(f"{name}-orders-{number}")
        runs.keep("verify", design, file, "--list", ("steps", "ports", "patterns")[number],
                  "-o", "csv", shown=SHOWN)
    for number in range(2):
        runs.keep("bind", design, f"{name}-{number}.csv", "-o", "json",
                  *(("--by-wiring",) if number else ()))
    runs.keep("verify", design, f"{name}-0.csv", "-o", "wide", shown=SHOWN)
    runs.keep("route", "found", design, f"{name}-0.csv", "--permutation", "1", "-o", "json")


def route(runs, name, ethernet):
    """What is given to subnet managers, or to senders, for some questions."""
    design = f"{name}/design.myr"
    Path(runs.folder, f"{name}-tables").mkdir()
    dead = ("--dead", "link/00000200") if name == "three-tiers" else ()
    if ethernet:
        asked = [("--for", "roce", "--hash", hash, "--seed", "3")
                 for hash in ("crc", "xor", "linux")]
    else:
        asked = [(), ("--policy", "static"), ("--axis", "all", *dead)]
    for number, more in enumerate(asked):
        flows = ("--permutation", "1") if number == 1 else ("--layout", "tp=1", "--pattern", "tree")
        runs.keep("route", "apply", design, *flows, *more, "--out", f"{name}-tables/{number}",
                  "-o", "json")
    runs.keep_files(f"{name}-tables")


def main():
    rng = random.Random(SEED)
    with tempfile.TemporaryDirectory(prefix="myriad-drawn-") as folder:
        runs = Runs(str(Path(sys.argv[1]).resolve()), folder)
        for name, text in DESIGNS.items():
            Path(folder, f"{name}.yaml").write_text(f"name: {name}\n{text}")
            look(runs, rng, name)
        for name, text in ROUTED.items():
            if name not in DESIGNS:
                Path(folder, f"{name}.yaml").write_text(f"name: {name}\n{text}")
                runs.keep("plan", f"{name}.yaml", "--out", name)
            route(runs, name, "mqm9790" not in text)
    if os.environ.get("MYRIAD_KEPT") == "write":
        KEPT.write_text("\n".join(runs.lines) + "\n")
    diff = list(difflib.unified_diff(KEPT.read_text().splitlines(), runs.lines, "kept", "now",
                                     lineterm="", n=8))
    print("\n".join(diff[:200]) or f"ok, {len(runs.lines)} lines")
    return 1 if diff else 0


if __name__ == "__main__":
    sys.exit(main())
