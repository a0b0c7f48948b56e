#!/usr/bin/env python3
"""'route found' against a reckoning of its own: bandwidth as found, what each piece of the repair
wins alone, their order, and that the whole repair gives back what was planned.

Cables are point-to-point lists; a repair is replayed from the sentences for the crew.
usage: found.py MYRIAD
"""
import csv
import io
import json
import os
import random
import re
import subprocess
import sys
import tempfile
from pathlib import Path

SPEC = "name: x\nservers: {}\nserver: h100-8gpu\nnetworks:\n  compute: {{switch: mqm9790, {}}}\n"
FAILED = []
COUNT = 0


def check(what, good, shown=""):
    global COUNT
    COUNT += 1
    if not good:
        FAILED.append(f"{what} {shown}")


def read(text):
    """{(device, port): (device, port)}"""
    peers = {}
    for row in csv.DictReader(io.StringIO(text)):
        a, z = (row["A-Node Name"], row["A-Port"]), (row["Z-Node Name"], row["Z-Port"])
        peers[a], peers[z] = z, a
    return peers


def bandwidth(peers, flows):
    """Shortest ways, evenly: each flow by itself, in floating point. All links have one speed."""
    links = {}
    for (device, port), (other, _) in peers.items():
        if not device.startswith("node") and not other.startswith("node") and device != other:
            links.setdefault(device, []).append((port, other))
    hops, onward = {}, {}

    def distances(target):
        if target not in hops:
            found, edge = {target: 0}, [target]
            while edge:
                edge = [other for at in edge for _, other in links.get(at, ())
                        if other not in found and not found.update({other: found[at] + 1})]
            hops[target] = found
        return hops[target]

    def ways(at, target):
        if (at, target) not in onward:
            far = distances(target)
            onward[at, target] = [(port, other) for port, other in links.get(at, ())
                                  if far.get(other, 1e9) + 1 == far.get(at, -1)]
        return onward[at, target]
    load, starts = {}, []
    for source, target in flows:
        a, b = peers.get(source, ("node",))[0], peers.get(target, ("node",))[0]
        far = {} if b.startswith("node") else distances(b)
        starts.append((a, b) if a in far else None)
        wave = {a: 1.0} if a in far else {}
        while wave:
            later = {}
            for at, part in wave.items():
                for port, other in ways(at, b):
                    share = part / len(ways(at, b))
                    load[at, port] = load.get((at, port), 0) + share
                    later[other] = later.get(other, 0) + share
            wave = later
    total, lost = 0.0, 0
    for start in starts:
        if start is None:
            lost += 1
            continue
        highest, seen, edge = 1.0, set(), [start[0]]
        while edge:
            at = edge.pop()
            for port, other in ways(at, start[1]):
                highest = max(highest, load[at, port])
                if other not in seen:
                    seen.add(other)
                    edge.append(other)
        total += 400 / highest
    return total, lost


def end(text):
    device, port = text.split(" ")
    return device.replace("/", "-"), port


def replay(peers, sentence):
    """Does what the crew is told."""
    told = sentence.split(" (")[0].split(";")[0]
    one = re.search(r"((?:node|leaf|spine|core)/\S+) (\S+) (?:and|to) (.*)$", told)
    a, rest = end(f"{one.group(1)} {one.group(2)}"), one.group(3)
    b = end(rest if " " in rest else f"{one.group(1)} {rest}")  # a device is named once
    far_a, far_b = peers.pop(a, None), peers.pop(b, None)
    if sentence.startswith("exchange"):
        pairs = [(a, far_b), (b, far_a)]
    elif sentence.startswith("move"):
        pairs = [(b, far_a)]
    elif sentence.startswith("add"):
        pairs = [(a, b)]
    else:
        pairs = []
    for one, two in pairs:
        if two is not None:
            peers[one], peers[two] = two, one


def spoil(draw, peers):
    """Swaps of switch ends, of hosts' ends, and cables that are not there."""
    names = sorted(end for end in peers if not end[0].startswith("node"))
    for _ in range(draw.randint(1, 4)):
        a, b = draw.sample(names, 2)
        far_a, far_b = peers[a], peers[b]
        if far_a in (a, b) or far_a[0] == b[0] or far_b[0] == a[0]:
            continue
        peers[a], peers[far_b], peers[b], peers[far_a] = far_b, a, far_a, b
    for _ in range(draw.randint(0, 2)):
        a = draw.choice(sorted(end for end in peers if not end[0].startswith("node")))
        del peers[peers.pop(a)]


def listed(peers):
    text = "A-Node Name,A-Type,A-Port,Z-Node Name,Z-Type,Z-Port\n"
    for a, z in sorted(peers.items()):
        if a < z:
            kinds = ["Host" if end[0].startswith("node") else "Switch" for end in (a, z)]
            text += f"{a[0]},{kinds[0]},{a[1]},{z[0]},{kinds[1]},{z[1]}\n"
    return text


def case(myriad, folder, seed):
    draw = random.Random(seed)
    servers, words = draw.choice([(40, "rails: 8"), (36, "topology: clos"), (48, "tiers: 3")])

    def run(*arguments):
        return subprocess.run([myriad, *arguments], cwd=folder, capture_output=True, text=True,
                              timeout=300, check=False)
    (folder / "x.yaml").write_text(SPEC.format(servers, words))
    run("plan", "x.yaml", "--out", "out")
    planned = read(run("export", "p2p", "out/design.myr").stdout)
    shift = draw.randrange(1, servers)
    flows = [((f"node-{n:05}", f"nic{k}"), (f"node-{(n + shift) % servers:05}", f"nic{k}"))
             for n in range(servers) for k in range(0, 8, 2)]
    (folder / "flows.csv").write_text("from,to\n" + "".join(
        f"{a.replace('-', '/', 1)}:{p},{b.replace('-', '/', 1)}:{q}\n" for (a, p), (b, q) in flows))
    found = dict(planned)
    spoil(draw, found)
    (folder / "found.csv").write_text(listed(found))
    done = run("route", "found", "out/design.myr", "found.csv", "--flows", "flows.csv", "-o",
               "json")
    check(f"seed {seed}: exit status", done.returncode in (0, 1), done.stderr)
    if done.returncode not in (0, 1):
        return
    report = json.loads(done.stdout)

    def close(a, b):
        return abs(a - b) < 0.01
    for name, peers in (("planned", planned), ("found", found)):
        total, lost = bandwidth(peers, flows)
        check(f"seed {seed}: {name}", close(report[f"{name}_gbps"], total) and
              report[f"{name}_lost"] == lost, (report[f"{name}_gbps"], total, lost))
    state, before = dict(found), bandwidth(found, flows)[0]
    for piece in report["pieces"]:
        alone = dict(found)
        for sentence in piece["steps"]:
            replay(alone, sentence)
            replay(state, sentence)
        gain = bandwidth(alone, flows)[0] - before
        check(f"seed {seed}: gain", close(piece["gain_gbps"], gain), piece)
        check(f"seed {seed}: then", close(piece["gbps_after"], bandwidth(state, flows)[0]), piece)
    check(f"seed {seed}: repaired", state == planned, len(state))
    order = [piece["gain_gbps_per_move"] for piece in report["pieces"]]
    check(f"seed {seed}: order", all(a >= b - 0.001 for a, b in zip(order, order[1:])), order)
    wrong = report["found_gbps"] < report["planned_gbps"] - 0.001 or \
        report["found_lost"] > report["planned_lost"]
    check(f"seed {seed}: verdict", done.returncode == int(wrong), done.returncode)


def main():
    myriad = str(Path(sys.argv[1]).resolve())
    every = int(os.environ.get("MYRIAD_EVERY", "1"))  # sanitizers see one in so many
    for seed in range(0, 12, every):
        with tempfile.TemporaryDirectory(prefix="myriad-found-") as name:
            case(myriad, Path(name), seed)
    for line in FAILED[:10]:
        print("FAIL", str(line)[:600])
    print(f"{COUNT} checks, {len(FAILED)} failed")
    return 1 if FAILED else 0


if __name__ == "__main__":
    sys.exit(main())
