#!/usr/bin/env python3
"""Packets over links: closed forms of single flows, incasts and rings, and what is counted.

    tests/sim/packets.py MYRIAD [CASES [SEED]]

Drawn fabrics, sizes, packets and headers. Times are to the picosecond where nothing else is on the
way; counts of packets and hops are those of the paths, which the program writes.
"""
import csv
import random
import sys
import tempfile
from pathlib import Path

from lib import TREE, Checks, call, sim, tree

LOSSLESS = ("dcqcn", "dcqcn-cx", "hpcc", "pfc")
NOT_BUILT = ("timely", "ib", "gse", "nscc")


class Draw:
    """A fabric and packets, as options; times in picoseconds."""

    def __init__(self, rng):
        self.k = rng.choice((4, 6, 8))
        self.gbps = rng.choice((25, 40, 50, 100, 200, 400, 800))
        self.delay_ns = rng.choice((0, 100, 500, 1000, 5000))
        self.mtu = rng.choice((64, 256, 1000, 1500, 4096, 9000))
        self.header = rng.choice((1, 40, 64, 80))
        self.topology = f"fat-tree:k={self.k},gbps={self.gbps},delay={self.delay_ns}ns"
        self.words = ("--topology", self.topology, "--mode", "packet", "--mtu", self.mtu,
                      "--header", self.header)

    def packets(self, size):
        """Bytes on the wire of each packet of a message."""
        whole, rest = divmod(size, self.mtu)
        return [self.mtu + self.header] * whole + ([rest + self.header] if rest else [])

    def time(self, wire):
        return wire * 8000 // self.gbps

    def alone(self, size, links):
        """When the last byte is there: each packet leaves a link when it and those before have."""
        left = [0] * links
        for wire in self.packets(size):
            at = 0
            for link in range(links):
                left[link] = max(left[link], at) + self.time(wire)
                at = left[link] + self.delay_ns * 1000
        return at


def ps(us):
    return round(us * 1e6)


def with_paths(program, folder, *words):
    """The answer, and the number of links of each flow."""
    paths = Path(folder) / "paths.csv"
    found = sim(program, *words, "--paths", paths)
    with open(paths, newline="") as file:
        return found, [len(row["path"].split()) for row in csv.DictReader(file)]


def single(check, program, rng, folder):
    draw, size = Draw(rng), rng.choice((1, 999, 10**4, 10**5 + 7, 10**6))
    for control in ("pfc", "dcqcn", "dcqcn-cx"):
        found, links = with_paths(program, folder, *draw.words, "--cc", control, "--seed",
                                  rng.randrange(99), "--workload", f"incast:1:1,{size}")
        check.equal(f"one flow of {size} by {control} on {draw.topology}, {draw.mtu}",
                    ps(found["sim_time_us"]), draw.alone(size, links[0]))


def incast(check, program, rng, folder):
    """Without loss the receiver's link is never idle from the first packet to the last."""
    draw, size = Draw(rng), rng.randrange(10**4, 2 * 10**5)
    senders = rng.randrange(2, draw.k**3 // 4)
    control = rng.choice(LOSSLESS)
    found, links = with_paths(program, folder, *draw.words, "--cc", control, "--workload",
                              f"incast:{senders}:1,{size}")
    what = f"incast {senders}:1 of {size} by {control} on {draw.topology}, {draw.mtu}"
    packets = draw.packets(size)
    check.equal(f"{what}: packets", found["packets"], senders * len(packets))
    check.equal(f"{what}: hops", found["hops"] <= sum(2 * len(packets) * n for n in links), True)
    check.equal(f"{what}: drops", found["drops"], 0)
    least = sum(map(draw.time, packets)) * senders
    check.true(f"{what}: not before all of it can be there", ps(found["sim_time_us"]) >= least)
    if control == "pfc":
        latency = max(links) * (draw.delay_ns * 1000 + draw.time(max(packets)))
        check.true(f"{what}: the last link is never idle",
                   ps(found["sim_time_us"]) <= least + latency)


def ring(check, program, rng, folder):
    """Of GPUs under one leaf: each step costs a piece alone, and acknowledgements at most."""
    del folder
    draw = Draw(rng)
    ranks = draw.k // 2
    size = rng.randrange(1, 40) * 1000 * ranks
    found = sim(program, *draw.words, "--cc", "pfc", "--workload",
                f"allreduce:ring,{size},ranks={ranks},schedule=full")
    steps = 2 * (ranks - 1)
    piece = size // ranks
    least = steps * draw.alone(piece, 2)
    acks = steps * (len(draw.packets(piece)) + 2) * draw.time(64)
    got = ps(found["sim_time_us"])
    check.true(f"ring of {ranks} x {size} on {draw.topology}, {draw.mtu}: {got} from {least} to "
               f"{least + acks}", least <= got <= least + acks)


def same(check, program, rng, folder):
    """Twice the same; other seeds are other draws; paths from a file are those that were taken."""
    words = ("permutation:100KB", "--mode", "packet", "--cc", rng.choice(LOSSLESS))
    first = tree(program, *words)
    check.true("twice the same", first == tree(program, *words))
    check.true("another seed, another run",
               first["hash"] != tree(program, *words, "--seed", 7)["hash"])
    flows, paths = Path(folder) / "flows.csv", Path(folder) / "paths.csv"
    tree(program, *words, "--flows", flows, "--paths", paths)
    again = tree(program, f"file:{flows}", *words[1:], "--routes", paths)
    check.true("flows and paths from files", again["fct_us"] == first["fct_us"])


def sprayed(check, program, rng, folder):
    """Packets in turn over all ways: a permutation is as fast as one flow beside its own
    acknowledgements, and every way is used."""
    draw, control = Draw(rng), rng.choice(("pfc", "dcqcn"))
    size = draw.mtu * 400
    found, links = with_paths(program, folder, *draw.words, "--cc", control, "--lb", "spray",
                              "--workload", f"permutation:{size}", "--seed", rng.randrange(99))
    packets = draw.packets(size)
    acks = draw.time(64) * len(packets)
    best = draw.alone(size, max(links)) + acks
    check.true(f"sprayed {size} by {control} on {draw.topology}, {draw.mtu}: "
               f"{ps(found['sim_time_us'])} is within 5 % of {best}",
               ps(found["sim_time_us"]) <= best * 1.05)
    check.equal("packets sprayed", found["packets"], draw.k**3 // 4 * len(packets))
    done = call(program, *draw.words, "--cc", "hpcc", "--lb", "spray", "--workload",
                "permutation:1MB")
    check.true("hpcc is not sprayed", done.returncode == 2 and "--lb spray" in done.stderr)


def thresholds(check, program, rng, folder):
    """Higher thresholds never mark more of one incast; a smaller buffer never pauses less."""
    del folder
    words = ("incast:32:1,200KB", "--mode", "packet", "--cc", "pfc", "--seed", rng.randrange(99))
    kmin, kmax = rng.randrange(10**4, 10**5), rng.randrange(2 * 10**5, 10**6)
    low = tree(program, *words, "--kmin", kmin, "--kmax", kmax)
    high = tree(program, *words, "--kmin", kmin * 2, "--kmax", kmax * 2)
    check.true("higher thresholds, fewer marks", 0 < high["ecn_marks"] < low["ecn_marks"])
    check.true("marks alone hold nobody back", high["hash"] == low["hash"])
    small = tree(program, *words, "--buffer", rng.randrange(10**6, 2 * 10**6))
    check.true("a small buffer pauses", small["pfc_pauses"] > low["pfc_pauses"])
    check.equal("and loses nothing", small["packets"], low["packets"])


def refused(check, program):
    packet = ("--topology", TREE, "--workload", "permutation:1MB", "--mode", "packet")
    cases = [((*packet, "--cc", name), f"--cc {name} is not built yet") for name in NOT_BUILT]
    cases += [
        ((*packet, "--cc", "swift"), "swift"), ((*packet, "--cc", ""), "--cc"),
        ((*packet, "--mtu", "63"), "--mtu"), ((*packet, "--mtu", "9217"), "--mtu"),
        ((*packet, "--mtu", "x"), "--mtu"), ((*packet, "--header", "1025"), "--header"),
        ((*packet, "--kmin", "0"), "--kmin"), ((*packet, "--kmin", "400000"), "--kmin 400000"),
        ((*packet, "--kmax", "100000"), "--kmax 100000"), ((*packet, "--kmax", "1"), "--kmax"),
        ((*packet, "--pmax", "1001"), "--pmax"), ((*packet, "--pmax", "0"), "--pmax"),
        ((*packet, "--buffer", "9999"), "--buffer"), ((*packet, "--buffer", "1GB"), "--buffer"),
        ((*packet, "--buffer", "100000"), "less than twice what pauses need"),
        ((*packet, "--threads", "0"), "--threads"), ((*packet, "--threads", "2"), "one thread"),
        ((*packet[:4], "--kmin", "1000"), "--mode"), ((*packet[:4], "--buffer", "99999"), "--mode"),
        ((*packet, "--fault", "link/3:down@1us"), "--fault does not go with --mode packet"),
        ((*packet, "--save", "run.state", "--at", "1us"), "--save does not go with --mode packet"),
        ((*packet, "--efficiency", "900"), "--efficiency does not go with --mode packet"),
        ((*packet, "--sharing-loss", "9"), "--sharing-loss does not go with --mode packet"),
        ((*packet, "--pause", "9"), "--pause does not go with --mode packet"),
        ((*packet[:4], "--mode", "hybrid"), "hybrid"),
        ((*packet[:4], "--cc", "hpcc"), "--mode"),
        ((*packet[:4], "--mode", "fluid", "--cc", "hpcc"), "--cc says nothing without --mode"),
        ((*packet[:4], "--mode", "fluid", "--mtu", "1000"), "--mtu says nothing without"),
        ((*packet[:2], "--workload", "allreduce:ring,1MB,schedule=collapsed", "--mode", "packet"),
         "give schedule=full"),
    ]
    for words, part in cases:
        done = call(program, *words)
        check.true(f"{words[4:]}: exit {done.returncode}, {done.stderr!r}",
                   done.returncode == 2 and part in done.stderr and not done.stdout)


def main():
    program = sys.argv[1]
    cases = int(sys.argv[2]) if len(sys.argv) > 2 else 12
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else 20261119
    print(f"seed {seed}, {cases} cases")
    rng, check = random.Random(seed), Checks()
    refused(check, program)
    with tempfile.TemporaryDirectory() as folder:
        for case in range(cases):
            rarer = (same, sprayed, thresholds) if case % 4 == 0 else ()
            for test in (single, incast, ring, *rarer):
                test(check, program, rng, folder)
    check.end()


main()
