#!/usr/bin/env python3
"""Every mistake that has a name, planted alone and among 1,000 random swaps.

    tests/verify/patterns.py MYRIAD

Alone, the mistake must be the only pattern and explain every wrong port. Among random errors it
must still be named in its place. Hosts that have each other's cables are renamed: no port of theirs
is wrong, and no plug is moved.
"""
import random
import sys
import tempfile

sys.dont_write_bytecode = True
from wiring import Checks, Wiring, plan

SEED = 20240612
SWAPS = 1000


def ports_of(wiring, device):
    return sorted((port for port in wiring.plan if port[0] == device),
                  key=lambda port: [int(n) if n.isdigit() else n for n in split(port[1])])


def split(name):
    """'17/2' and 'nic3' in an order that counts."""
    digits = name.lstrip("abcdefghijklmnopqrstuvwxyz")
    return [name[:len(name) - len(digits)] or "0", *digits.split("/")]


def rotate(ports, shift):
    return {port: ports[(i + shift) % len(ports)] for i, port in enumerate(ports)}


def exchange(wiring, one, other):
    """All plugs of two devices change places, port by port."""
    targets = {}
    for a, b in zip(ports_of(wiring, one), ports_of(wiring, other)):
        assert a[1] == b[1]
        targets[a], targets[b] = b, a
    return targets


def rotate_devices(wiring, devices, shift):
    targets = {}
    for i, device in enumerate(devices):
        to = devices[(i + shift) % len(devices)]
        for port in ports_of(wiring, device):
            targets[port] = (to, port[1])
    return targets


def cases(wiring):
    """(kind, what must be in 'where', {port: port it goes to})"""
    leaf, spine = "leaf-p0-g0-r3", "spine-p0-1"
    # The rail group behind the first one is in the same pod, or in the next.
    second = "p0-g1" if ("leaf-p0-g1-r6", "1/1") in wiring.plan else "p1-g0"
    other = f"leaf-{second}-r6"
    yield ("cage-halves-swapped", ["leaf/p0-g0-r3 5/1 and 5/2"],
           rotate([(leaf, "5/1"), (leaf, "5/2")], 1))
    yield ("cage-halves-swapped", ["leaf/p0-g0-r3 20/1 and 20/2"],
           rotate([(leaf, "20/1"), (leaf, "20/2")], 1))
    down = ports_of(wiring, leaf)[4:20]
    yield "bundle-shifted", ["leaf/p0-g0-r3 ", " by 1"], rotate(down, 1)
    yield "bundle-shifted", ["leaf/p0-g0-r3 ", " by -1"], rotate(down, -1)
    yield "bundle-shifted", ["leaf/p0-g0-r3 ", " by 2"], rotate(down, 2)
    yield ("bundle-reversed", ["leaf/p0-g0-r3 3/1 to 10/2"], dict(zip(down, reversed(down))))
    yield ("leaf-pair-exchanged", ["leaf/p0-g0-r3", f"leaf/{second}-r6"],
           exchange(wiring, leaf, other))
    yield ("leaf-pair-exchanged", ["leaf/p0-g0-r3", "leaf/p0-g0-r4"],
           exchange(wiring, leaf, "leaf-p0-g0-r4"))
    yield "devices-exchanged", ["spine/p0-1", "spine/p0-2"], exchange(wiring, spine,
                                                                     "spine-p0-2")
    yield "devices-exchanged", ["node/00003", "node/00040"], exchange(wiring, "node-00003",
                                                                     "node-00040")
    nics = [port for port in ports_of(wiring, "node-00017") if port[1].startswith("nic")]
    yield "rails-permuted", ["node/00017 nic0 nic1"], rotate(nics, 3)
    yield "rails-permuted", ["node/00017 nic2 nic5"], rotate([nics[2], nics[5]], 1)
    group = [f"node-{i:05}" for i in range(32)]
    yield "rack-rotated", ["node/00000", "32 devices"], rotate_devices(wiring, group, 1)
    yield "rack-rotated", ["node/00004", "5 devices"], rotate_devices(wiring, group[4:9], 1)
    rails = [f"leaf-{second}-r{i}" for i in range(8)]
    yield "rack-rotated", [f"leaf/{second}-r0", "8 devices"], rotate_devices(wiring, rails, 1)


def storage_cases():
    leaf = "leaf-storage-p0-1"
    yield ("splitter-legs-crossed", ["leaf/storage-p0-1 4/2/1 and 4/2/2"],
           rotate([(leaf, "4/2/1"), (leaf, "4/2/2")], 1))
    yield ("cage-halves-swapped", ["leaf/storage-p0-1 7/1/1 and 7/2/1"],
           {**rotate([(leaf, "7/1/1"), (leaf, "7/2/1")], 1),
            **rotate([(leaf, "7/1/2"), (leaf, "7/2/2")], 1)})


def planted(myriad, design, net, targets, swaps, folder):
    wiring = Wiring(myriad, design, net)
    assert all(port in wiring.plan for port in targets)
    wiring.permute(targets)
    rng = random.Random(SEED)
    # A mistake of few cables is another one when one of them is swapped again.
    few = len(targets) < 20
    numbers = [number for number, cable in enumerate(wiring.cables)
               if not few or not targets.keys() & set(cable)]
    for _ in range(swaps):
        wiring.swap(*rng.sample(numbers, 2))
    return wiring, wiring.verify(wiring.write_p2p(f"{folder}/built.csv"), codes=(1,))


def is_named(result, kind, words):
    return any(pattern["kind"] == kind and all(word in pattern["where"] for word in words)
               for pattern in result["patterns"])


def check_alone(checks, myriad, design, net, case, folder):
    kind, words, targets = case
    wiring, result = planted(myriad, design, net, targets, 0, folder)
    what = f"{kind} {' '.join(words)}"
    checks.true(f"{what} is not named: {result['patterns'][:3]}", is_named(result, kind, words))
    checks.same(f"{what}: patterns", len(result["patterns"]), 1)
    hosts = {port[0] for port in targets} if "node/" in words[0] and "rails" not in kind else ()
    truth = {state: 0 for state in ("wrong", "missing", "extra")} if hosts else \
        {"wrong": sum(p["ports"] for p in result["patterns"])}
    checks.same(f"{what}: states", {state: result["ports"][state] for state in truth}, truth)
    ports = sum(device in hosts for pair in wiring.planned for device, _ in pair)
    checks.true(f"{what}: ports explained",
                not hosts or sum(p["ports"] for p in result["patterns"]) == 2 * ports)
    checks.same(f"{what}: renamed", {row["called"].replace("/", "-", 1)
                                     for row in result["identity"]["renamed"]
                                     if row["called"].startswith("node")}, set(hosts))
    # The two heads of a cage's splitters are two plugs, whatever their legs: one exchange.
    heads = kind == "cage-halves-swapped" and any(port.count("/") == 2 for _, port in targets)
    checks.same(f"{what}: moves", result["repair"]["moves"],
                0 if hosts else 1 if heads else wiring.moves()[0])


def check_among(checks, myriad, design, net, case, swaps, folder):
    kind, words, targets = case
    _, result = planted(myriad, design, net, targets, swaps, folder)
    checks.true(f"{kind} {' '.join(words)} is not named among {swaps} swaps: "
                f"{result['patterns'][:3]}", is_named(result, kind, words))


def main():
    myriad = sys.argv[1]
    checks = Checks()
    with tempfile.TemporaryDirectory(prefix="myriad-verify-") as folder:
        small = plan(myriad, folder, "h100-64")
        for case in cases(Wiring(myriad, small)):
            check_alone(checks, myriad, small, "compute", case, folder)
        for case in storage_cases():
            check_alone(checks, myriad, small, "storage", case, folder)
            check_among(checks, myriad, small, "storage", case, 20, folder)
        large = plan(myriad, folder, "h100-10k")
        for case in cases(Wiring(myriad, large)):
            check_among(checks, myriad, large, "compute", case, SWAPS, folder)
    checks.end()


if __name__ == "__main__":
    main()
