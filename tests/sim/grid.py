#!/usr/bin/env python3
"""Every collective by every algorithm on every kind of fabric: tests/sim/grid.py MYRIAD

None ends before its lower bound, and where theory is exact it ends then. Bounds and closed forms
are this file's own, from what the collectives are; nothing of the program's bounds is used. Times
are in us, rates in bytes per us.
"""
import csv
import math
import sys
import tempfile
from pathlib import Path

from lib import Checks, call, plan

NIC, LINK, SWITCH, SCALE_UP_LATENCY = 50000.0, 0.5, 0.6, 0.5  # 400 Gb/s; 100 m; a switch; NVLink
NS = 1e-3
SPEC = "name: grid\nservers: {servers}\nserver: {server}\nnetworks: {{compute: {{{words}}}}}\n"
CLOS = "switch: sn5600, length_m: 100"


def over(switches):
    """Latency of a way over so many switches."""
    return (switches + 1) * LINK + switches * SWITCH


class Fabric:
    """Hosts in 'groups' of equal latency: each level is the size of a block and the latency of the
    farthest pair in it. The last level holds everybody."""

    def __init__(self, name, levels, ranks, policies, spec=None, topology=None, nic=NIC, domain=1,
                 scale_up=0.0, cut=None):
        self.name, self.levels, self.ranks, self.policies = name, levels, ranks, policies
        self.spec, self.topology, self.nic = spec, topology, nic
        self.domain, self.scale_up, self.cut = domain, scale_up, cut
        self.design = None

    def where(self):
        return ("--topology", self.topology) if self.topology else ("--design", self.design)

    def shortest(self, a, b):
        """The least that news takes, whoever hands it on."""
        return self.latency(a, b)

    def local(self, ranks):
        local = min(self.domain, ranks)
        return local if local > 1 and ranks % local == 0 else 1


class Grouped(Fabric):
    """Latency by blocks of hosts, as in trees."""

    def latency(self, a, b):
        if self.domain > 1 and a // self.domain == b // self.domain:
            return SCALE_UP_LATENCY
        return next(latency for size, latency in self.levels if a // size == b // size)


class Rails(Fabric):
    """GPUs of equal place share a leaf; the others meet over a spine."""

    def latency(self, a, b):
        if a // self.domain == b // self.domain:
            return SCALE_UP_LATENCY
        return over(1) if a % self.domain == b % self.domain else over(3)

    def shortest(self, a, b):  # over to the rail inside the server
        return min(self.latency(a, b), SCALE_UP_LATENCY + over(1))


class Torus(Fabric):
    def latency(self, a, b):
        away, (wide, high) = 0, self.levels
        for x, y, size in ((a % wide, b % wide, wide), (a // wide, b // wide, high)):
            away += min((x - y) % size, (y - x) % size)
        return over(1 + away)


class AtLeast(Fabric):
    """Only the shortest way there can be is known."""

    def latency(self, _a, _b):
        return self.levels


def fabrics():
    def spec(servers, server, words):
        return SPEC.format(servers=servers, server=server, words=words)
    tree = "fat-tree:k=4,gbps=400,delay=0.5us"
    return [
        Grouped("one switch", [(99, over(1))], (2, 3, 7, 8), ("spray",),
                spec(8, "generic-1gpu", f"topology: clos, tiers: 1, {CLOS}")),
        Grouped("clos", [(2, 2 * LINK), (4, 4 * LINK), (99, 6 * LINK)], (2, 6, 16),
                ("spray", "ecmp"), topology=tree),
        Rails("rails", None, (8, 16, 32), ("spray", "planned"), spec(
            4, "h100-8gpu", f"topology: rail, tiers: 2, {CLOS}"), domain=8, scale_up=450000.0),
        Torus("torus", (4, 4), (4, 16), ("ecmp",),
              spec(16, "generic-1gpu", "topology: torus, dims: [4, 4], length_m: 100"),
              cut=(8, 8)),
        AtLeast("dragonfly", over(1), (3, 16), ("ecmp", "spray"), spec(
            24, "generic-1gpu", "topology: dragonfly, group_switches: 4, hosts_per_switch: 2, "
            "global_ports: 2, length_m: 100")),
        Grouped("nvl72", [(999, over(1))], (72, 144), ("spray",), spec(
            2, "gb200-nvl72", "switch: eth-102t4-128x800, topology: clos, tiers: 1, length_m: 100"),
                domain=72, scale_up=900000.0),
    ]


KINDS = {"allreduce": ("ring", "tree", "halving", "hier", "in-network"),
         "allgather": ("ring", "tree", "halving", "hier", "in-network"),
         "reducescatter": ("ring", "tree", "halving", "hier", "in-network"),
         "broadcast": ("ring", "tree"), "alltoall": ("pairwise",)}
SIZES = (1, 8000000)


def refused(kind, algorithm, ranks):
    """What cannot be: it must be refused, and nothing else may."""
    return algorithm == "halving" and ranks & (ranks - 1) != 0


def bound(fabric, kind, algorithm, ranks, size):
    """What nobody can beat: bytes that have to leave or enter a GPU, a domain and half of the
    fabric, and the way between the two that are farthest apart."""
    local = fabric.local(ranks)
    domains = ranks // local
    away = [fabric.shortest(0, rank) for rank in range(1, ranks)]
    mine, others = (ranks - 1) / ranks * size, (domains - 1) / domains * size
    network = algorithm == "in-network"
    gpu, domain = {"allreduce": (size if network else 2 * mine, size if network else 2 * others),
                   "allgather": (mine, others), "reducescatter": (mine, others),
                   "broadcast": (size, size), "alltoall": (mine, local * others)}[kind]
    found = [max(away), min(away) + gpu / (fabric.nic + (fabric.scale_up if local > 1 else 0))]
    if domains > 1:
        entry = min(fabric.latency(a, b) for a in range(local) for b in range(local, ranks))
        found.append(entry + domain / (local * fabric.nic))
    if fabric.cut and kind == "alltoall" and ranks == 2 * fabric.cut[0]:
        half, links = fabric.cut
        found.append(half * half * size / ranks / (links * fabric.nic))
    return max(found)


def up(size, parts):
    return -(-size // parts)


def ring_us(fabric, steps, ranks, piece):
    """Step by step: a rank hands on what it got; its bytes follow those it sent before."""
    ends = [0.0] * ranks
    for step in range(steps):
        ends = [max((ends[i - 1] if step else 0) + fabric.latency(i, (i + 1) % ranks), ends[i])
                + piece / fabric.nic for i in range(ranks)]
    return max(ends)


def depth(ranks):
    return max(1, math.ceil(math.log2(ranks)))


def doubling(fabric, kind, ranks, pieces):
    """Steps of doubling distance, each as long as its longest pair; 'pieces' by distance."""
    steps = [1 << k for k in range(depth(ranks))]
    total = 0.0
    for distance in steps:
        pairs = [(i, i ^ distance if ranks & (ranks - 1) == 0 else (i + distance) % ranks)
                 for i in range(ranks)]
        rate = [fabric.scale_up if fabric.domain > 1 and a // fabric.domain == b // fabric.domain
                else fabric.nic for a, b in pairs]
        total += max(fabric.latency(a, b) + pieces(distance) / one
                     for (a, b), one in zip(pairs, rate))
    return 2 * total if kind == "allreduce" else total


def chain_us(fabric, ranks, size, chunks):
    """A chunk goes on when it has come and the chunk before it has gone."""
    last = [0.0] * ranks
    for c in range(chunks):
        part, got = size * (c + 1) // chunks - size * c // chunks, 0.0
        for i in range(ranks - 1):
            inside = fabric.domain > 1 and i // fabric.domain == (i + 1) // fabric.domain
            got = max(got + fabric.latency(i, i + 1), last[i])
            got += part / (fabric.scale_up if inside else fabric.nic)
            last[i] = got
    return last[ranks - 2]


def phases(fabric, kind, algorithm, ranks, size):
    """hier and in-network, one phase after the other."""
    local = fabric.local(ranks)
    domains = ranks // local
    inside = SCALE_UP_LATENCY + (local - 1) * up(size, local) / fabric.scale_up if local > 1 else 0
    count = (2 if kind == "allreduce" else 1) if local > 1 else 0
    if domains == 1:
        return count * inside
    hops = {fabric.latency(i, (i + local) % ranks) for i in range(ranks)}
    if algorithm == "in-network":
        share = up(size, local)
        share = share if kind == "allreduce" else up(share * (domains - 1), domains)
        return count * inside + 2 * max(hops) + share / fabric.nic
    steps = (2 if kind == "allreduce" else 1) * (domains - 1)
    if len(hops) > 1:
        return None if local > 1 else ring_us(fabric, steps, ranks, up(size, ranks))
    return count * inside + steps * (hops.pop() + up(size, ranks) / fabric.nic)


def exact(fabric, case):
    """When it ends, where theory says it; else None."""
    kind, algorithm, ranks, size, form, policy, chunks = case
    if algorithm == "auto" or policy == "ecmp" or isinstance(fabric, (Torus, AtLeast)):
        return None  # hashed paths and long ways round share links
    local, full = fabric.local(ranks), form == "full"
    steps = (2 if kind == "allreduce" else 1) * (ranks - 1)
    equal = len({fabric.latency(i, (i + 1) % ranks) for i in range(ranks)}) == 1
    if kind == "broadcast" and algorithm == "ring":
        ways = [fabric.latency(i, i + 1) for i in range(ranks - 1)]
        rate = fabric.scale_up if local == ranks else fabric.nic
        return chain_us(fabric, ranks, size, chunks or 1) if full else sum(ways) + size / rate
    if algorithm == "ring":
        if local > 1 or not (full or equal):
            return None
        return ring_us(fabric, steps, ranks, up(size, ranks))
    if algorithm == "halving":
        return doubling(fabric, kind, ranks, lambda d: up(size * d, ranks))
    if algorithm == "tree" and kind in ("allgather", "reducescatter"):
        if isinstance(fabric, Rails) and local > 1:
            return None  # ways around the end of the list change rails
        if not equal or local > 1:
            return None
        return doubling(fabric, kind, ranks,
                        lambda d: up(size * len(range(d, ranks, 2 * d)), ranks))
    if algorithm == "tree":
        if full or not equal or local > 1 or ranks < 3:
            return None
        if kind == "broadcast":
            return (depth(ranks - 1) + 1 if ranks > 3 else 2) * over(1) + size / fabric.nic \
                if ranks > 3 else None
        return 2 * depth(ranks) * over(1) + 2 * size / fabric.nic if ranks & 1 == 0 else None
    if algorithm == "pairwise":
        ways = {tuple(sorted(fabric.latency(a, b) for b in range(ranks) if b != a))
                for a in range(ranks)}
        if size < 1000000 or not full or len(ways) > 1:
            return None  # ports stand idle until the far ones come
        inside = (local - 1) * up(size, ranks) / fabric.scale_up + SCALE_UP_LATENCY \
            if local > 1 else 0
        near = min((fabric.latency(0, i) for i in range(local, ranks)), default=0)
        outside = near + (ranks - local) * up(size, ranks) / fabric.nic if ranks > local else 0
        return max(inside, outside)
    if algorithm in ("hier", "in-network") and not full and not equal and local == 1:
        return None
    return phases(fabric, kind, algorithm, ranks, size)


def cases(fabric):
    for kind, algorithms in KINDS.items():
        for algorithm in algorithms + ("auto",) * (kind != "alltoall"):
            for ranks in fabric.ranks:
                for size in SIZES:
                    for policy in fabric.policies:
                        for form in ("full", "collapsed"):
                            if form == "full" and ranks > 72 and algorithm != "in-network":
                                continue  # hundreds of thousands of sends
                            yield kind, algorithm, ranks, size, form, policy, 0
                    if algorithm in ("ring", "tree") and kind == "broadcast" and ranks < 72:
                        yield kind, algorithm, ranks, size, "full", fabric.policies[0], 5


def words_of(case):
    kind, algorithm, ranks, size, form, _, chunks = case
    words = f"{kind}:{algorithm},{size},ranks={ranks},schedule={form}"
    return words + (f",chunks={chunks}" if chunks else "")


def play(program, folder, fabric, todo):
    """All cases as one sweep; rows by words and policy."""
    words = list(dict.fromkeys(words_of(case) for case in todo))
    where = f"topology: {fabric.topology}" if fabric.topology else f"design: {fabric.design}"
    (folder / "sweep.yaml").write_text(
        f"{where}\nlb: [{', '.join(fabric.policies)}]\nworkload:\n"
        + "".join(f"  - '{one}'\n" for one in words))
    done = call(program, "sweep", folder / "sweep.yaml", "--out", folder / "out.csv")
    if done.returncode > 1:
        sys.exit(f"{fabric.name}: exit {done.returncode}: {done.stderr}")
    with open(folder / "out.csv", newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    return {(words[int(row["point"]) % len(words)], row["lb"]): row for row in rows}


def check_one(check, fabric, case, row, quickest):
    kind, algorithm, ranks, size, form, policy, chunks = case
    name = f"{fabric.name}, {words_of(case)}, {policy}"
    check.true(f"{name}: {row['status']}", (row["status"] == "ok")
               != refused(kind, algorithm, ranks))
    if row["status"] != "ok":
        return
    got = float(row["end_us"])
    if algorithm != "in-network" and not chunks:
        quickest.setdefault((kind, ranks, size, form, policy), {})[algorithm] = got
    least = bound(fabric, kind, algorithm, ranks, size)
    check.true(f"{name}: {got}, no run ends before {least}", got >= least - NS)
    want = exact(fabric, case)
    if want is not None:
        # Nanosecond by nanosecond: pieces are whole bytes, and each end is a whole picosecond.
        check.equal(name, got, want, NS)
        check.exact += 1


def main():
    program, check = str(Path(sys.argv[1]).resolve()), Checks()
    check.exact = 0
    with tempfile.TemporaryDirectory() as top:
        for number, fabric in enumerate(fabrics()):
            folder = Path(top) / str(number)
            folder.mkdir()
            if fabric.spec:
                fabric.design = plan(program, folder, fabric.spec)
            quickest, todo = {}, list(cases(fabric))
            rows = play(program, folder, fabric, todo)
            for case in todo:
                check_one(check, fabric, case, rows[words_of(case), case[5]], quickest)
            for which, times in quickest.items():
                auto = times.pop("auto", None)
                if auto is not None:
                    check.equal(f"{fabric.name}: auto of {which} among {times}", auto,
                                min(times.values()), 0)
            print(f"{fabric.name}: {len(todo)} cases")
    print(f"{check.exact} ends known exactly")
    check.end()


if __name__ == "__main__":
    main()
