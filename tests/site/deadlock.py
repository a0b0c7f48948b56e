#!/usr/bin/env python3
"""'route apply' on every topology with random failures: what it writes cannot deadlock, or it says
why it writes nothing. Tables and cables are read from files; the search for circles is its own.

usage: deadlock.py MYRIAD [FAILURES]
"""
import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path

import dependency

SPEC = "name: x\nservers: {}\nserver: {}\nnetworks:\n  compute: {{{}}}\n"
IB = {
    "rail": SPEC.format(40, "h100-8gpu", "switch: mqm9790-ns2f"),
    "rail-3": SPEC.format(96, "h100-8gpu", "switch: mqm9790-ns2f, tiers: 3"),
    "dense": SPEC.format(96, "h100-8gpu", "switch: mqm9790-ns2f, tiers: 3, fill: dense"),
    "rail-only": SPEC.format(70, "h100-8gpu", "switch: mqm9790-ns2f, topology: rail-only"),
    "clos": SPEC.format(24, "h100-8gpu", "switch: mqm9790-ns2f, topology: clos"),
    "islands": SPEC.format(64, "h100-8gpu", "switch: mqm9790-ns2f, topology: islands, islands: 2, "
                           "oversubscription: [1, 7]"),
    "torus": SPEC.format(8, "h100-8gpu", "switch: mqm9790, topology: torus, dims: [4, 4, 2], "
                         "trunk: 2"),
    "torus-2d": SPEC.format(9, "h100-8gpu", "switch: mqm9790, topology: torus, dims: [6, 6]"),
    "torus-3": SPEC.format(9, "h100-8gpu", "switch: mqm9790, topology: torus, dims: [3, 3]"),
    "dragonfly": SPEC.format(9, "h100-8gpu", "switch: mqm9790, topology: dragonfly, "
                             "group_switches: 4, hosts_per_switch: 2, global_ports: 2"),
    "dragonfly+": SPEC.format(8, "h100-8gpu", "switch: mqm9790, topology: dragonfly+, "
                              "group_switches: 4, hosts_per_switch: 4, global_ports: 4"),
}
ROCE = {
    "roce-rail": SPEC.format(40, "h100-8gpu", "switch: sn5600"),
    "roce-clos-3": SPEC.format(64, "h100-8gpu", "switch: sn5600, topology: clos, tiers: 3"),
    "roce-twin": SPEC.format(16, "b300-8gpu", "switch: sn5600, topology: twin-planar"),
    "roce-torus": SPEC.format(8, "h100-8gpu", "switch: sn5600, topology: torus, dims: [4, 4]"),
    "roce-dragonfly": SPEC.format(9, "h100-8gpu", "switch: sn5600, topology: dragonfly, "
                                  "group_switches: 4, hosts_per_switch: 2, global_ports: 2"),
}
TREES = {"rail", "rail-3", "dense", "rail-only", "clos", "islands", "roce-rail", "roce-clos-3",
         "roce-twin"}
FAILED = []


class Case:
    def __init__(self, myriad, folder, name, spec):
        self.myriad, self.folder, self.name = myriad, folder / name, name
        self.folder.mkdir()
        (self.folder / "x.yaml").write_text(spec)
        done = self.run("plan", "x.yaml", "--out", "out")
        if done.returncode:
            sys.exit(f"{name}: {done.stderr}")
        self.design = "out/design.myr"

    def run(self, *words):
        return subprocess.run([self.myriad, *words], cwd=self.folder, capture_output=True,
                              text=True, timeout=600, check=False)

    def failover(self):
        return self.run("route", "failover", self.design, "--all", "-o", "json").stdout

    def fail(self, text):
        FAILED.append(f"{self.name}: {text}")


def dead_words(draw, ends):
    """A few dead links between switches, and now and then a dead switch."""
    switches = sorted({a for a, _, _, _ in ends.values()} | {b for _, _, b, _ in ends.values()})
    words = draw.sample(sorted(ends), draw.randint(1, 6))
    return words + ([draw.choice(switches)] if draw.random() < 0.4 else [])


def check_tables(case, path, dead, names):
    """The file against the netlist without what is dead."""
    links, switches = names.all, names.switches
    fabric = dependency.Fabric(links, switches, names.ends(dead))
    found = dependency.tables((case.folder / path).read_text())

    def egress(switch, target):
        return found.get(switch, {}).get(target)
    lost, starts = 0, {peer[0] for peer in fabric.hosts.values()}
    for target in fabric.hosts:
        for switch in switches:
            lost += not fabric.walk((switch, 0), target, egress) and switch in starts
    for start in starts:
        for target in switches:
            fabric.walk((start, 0), target, egress)
    wrong = fabric.cycle()
    if wrong:
        case.fail(f"{dead}: {wrong} buffers wait for each other")
    return lost


def infiniband(case, failures):
    case.run("export", "ibnetdiscover", case.design, "--out", "fabric.topo")
    ends = dependency.switch_links(case.failover())
    names = dependency.Names(ends, (case.folder / "fabric.topo").read_text())
    answered = engines = 0
    for seed in range(failures + 1):
        draw = random.Random(f"{case.name} {seed}")
        dead = dead_words(draw, ends) if seed else []
        words = ["--dead", ",".join(dead)] if dead else []
        done = case.run("route", "apply", case.design, "--permutation", str(seed), *words,
                        "--out", "written", "-o", "json")
        if done.returncode == 1 and "deadlock" in done.stderr:
            continue
        if done.returncode:
            case.fail(f"{dead}: exit status {done.returncode}, {done.stderr}")
            continue
        answered += 1
        report = json.loads(done.stdout)
        if report["engine"] == "file":
            lost = check_tables(case, "written", dead, names)
            if lost and not dead and case.name != "rail-only":
                case.fail(f"intact, but {lost} ways are missing")
        elif "no_fallback" in report["engine"]:
            engines += 1
        else:
            case.fail(f"{dead}: engine {report['engine']}")
    return answered, engines


def hashed(case, failures):
    """RoCE: the ways of all connections, hop by hop, on one class."""
    ends = dependency.switch_links(case.failover())
    peers = {}
    for a, p, b, q in ends.values():
        peers[a, p], peers[b, q] = (b, q), (a, p)
    answered = 0
    for seed in range(failures + 1):
        draw = random.Random(f"{case.name} {seed}")
        dead = dead_words(draw, ends) if seed else []
        words = ["--dead", ",".join(dead)] if dead else []
        done = case.run("route", "apply", case.design, "--for", "roce", "--permutation", str(seed),
                        *words, "--out", "connections.csv", "-o", "json")
        if done.returncode == 1 and "deadlock" in done.stderr:
            continue
        if done.returncode:
            case.fail(f"{dead}: exit status {done.returncode}, {done.stderr}")
            continue
        answered += 1
        edges = dependency.Fabric({}, set())
        for path in json.loads(done.stdout)["paths"]:
            hops = [tuple(hop.rsplit(":", 1)) for hop in path["egress"][:-1]]
            for one, two in zip(hops, hops[1:]):
                if peers[one][0] != two[0]:
                    case.fail(f"{dead}: {path} jumps")
                edges.edges.setdefault(one, set()).add(two)
        if edges.cycle():
            case.fail(f"{dead}: the ways of the connections close a circle")
    return answered, 0


def main():
    myriad = str(Path(sys.argv[1]).resolve())
    failures = int(sys.argv[2]) if len(sys.argv) > 2 else 50
    with tempfile.TemporaryDirectory() as folder:
        for name, spec in {**IB, **ROCE}.items():
            case = Case(myriad, Path(folder), name, spec)
            check = hashed if name in ROCE else infiniband
            answered, engines = check(case, failures)
            print(f"{name}: {answered} of {failures + 1} answered, {engines} by engines",
                  flush=True)
            least = 1 + 0.9 * failures if name in TREES else 0 if name in ROCE else 1 + failures
            if answered < least:
                case.fail(f"{answered} of {failures + 1} answered, at least {least:.0f} wanted")
    for text in FAILED[:20]:
        print(text)
    sys.exit(1 if FAILED else 0)


main()
