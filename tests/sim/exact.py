#!/usr/bin/env python3
"""Limits that have a closed form, to the picosecond: tests/sim/exact.py MYRIAD

128 hosts at 100 Gb/s, 1 us a link, no switch latency: 2 us inside a leaf of 4 hosts, 4 us inside a
pod of 16, 6 us across. 1 MB takes 80 us. Times are in us; a picosecond is 1e-6.
"""
import sys
import tempfile

from lib import Checks, plan, sim, tree

PS = 1e-6
MB_US = 80.0


def single_flow(check, program):
    got = tree(program, "incast:1:1,1MB,ranks=2", "--lb", "ecmp")
    check.equal("one flow inside a leaf", got["sim_time_us"], 2 + MB_US)
    check.equal("its mean", got["fct_us"]["mean"], 2 + MB_US)
    check.equal("its rate", got["rate"]["mean"], 1)
    got = tree(program, "incast:1:1,1MB,first=3,ranks=2", "--lb", "ecmp")
    check.equal("one flow inside a pod", got["sim_time_us"], 4 + MB_US)
    got = tree(program, "incast:1:1,1MB,first=15,ranks=2", "--lb", "ecmp")
    check.equal("one flow across pods", got["sim_time_us"], 6 + MB_US)
    got = tree(program, "incast:1:1,1,first=15,ranks=2", "--lb", "ecmp")
    check.equal("one byte", got["sim_time_us"], 6 + 8e-5)


def incast(check, program):
    for senders in (2, 8, 64, 127):
        got = tree(program, f"incast:{senders}:1,1MB", "--lb", "spray", "--seed", senders)
        # The nearest start first and the last one waits for all bytes: the receiver is never idle.
        least, most = 2 + senders * MB_US, 6 + senders * MB_US
        check.true(f"incast {senders}:1 ends between {least} and {most}, not {got['sim_time_us']}",
                   least - PS <= got["sim_time_us"] <= most + 64 * PS)
    got = tree(program, "incast:3:1,1MB,ranks=4", "--lb", "ecmp")
    check.equal("incast inside a leaf", got["sim_time_us"], 2 + 3 * MB_US, PS)


def pauses(check, program):
    """Hosts 0 to 3 share a leaf. Three send to host 3; host 0 also sends to host 1, and is the
    victim: a fair third goes to the crowd, two thirds are its own until pauses take them."""
    for pause, victim in ((0, 2 / 3), (500, 1 / 2), (1000, 1 / 3)):
        with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
            file.write("4\n0 3 3 100 1000000 0\n1 3 3 100 1000000 0\n2 3 3 100 1000000 0\n"
                       "0 1 3 100 300000 0\n")
            file.flush()
            got = tree(program, f"file:{file.name},format=hpcc", "--lb", "ecmp", "--pause", pause)
        # The crowd is never faster than a third; the victim ends first.
        check.equal(f"pause {pause}: the crowd", got["fct_us"]["max"], 2 + 3 * MB_US, 1e-3)
        shortest = 4 * got["fct_us"]["mean"] - 3 * got["fct_us"]["max"]
        check.equal(f"pause {pause}: the victim", shortest, 2 + 0.3 * MB_US / victim, 1e-2)


def hop(source, to):
    """Latency between two hosts, in us."""
    return 2 if source // 4 == to // 4 else 4 if source // 16 == to // 16 else 6


def ring_us(ranks, steps, piece_us):
    """Step by step: a rank sends on what it got, and its bytes follow those it sent before."""
    ends = [0.0] * ranks
    for step in range(steps):
        ends = [max((ends[i - 1] if step else 0) + hop(i, (i + 1) % ranks), ends[i]) + piece_us
                for i in range(ranks)]
    return max(ends)


def rings(check, program):
    """Neighbours in number: 3 of 4 hops stay in a leaf, 3 of 16 in a pod; what a piece meets on
    its way counts, which is the mean but for the last round."""
    for ranks, latency in ((4, 2), (16, 2.5), (128, 2.625)):
        for lb in ("spray", "planned"):
            mean = 2 * (ranks - 1) / ranks * 128 * MB_US + 2 * (ranks - 1) * latency
            words = f"allreduce:ring,128MB,ranks={ranks}"
            got = tree(program, f"{words},schedule=collapsed", "--lb", lb)
            check.equal(f"ring of {ranks}, {lb}, collapsed", got["sim_time_us"], mean, PS)
            got = tree(program, f"allreduce:ring,128MB,ranks={ranks}", "--lb", lb)
            want = ring_us(ranks, 2 * (ranks - 1), 128 / ranks * MB_US)
            check.true("both forms agree", abs(want - mean) < 2 * 6)
            check.equal(f"ring of {ranks}, {lb}", got["sim_time_us"], want, PS)
            check.equal("its bus bandwidth", got["collective"]["busbw_gbytes_per_s"],
                        128e6 * 2 * (ranks - 1) / ranks / want / 1e3, 1e-5)
    for kind in ("reducescatter", "allgather"):
        got = tree(program, f"{kind}:ring,128MB,ranks=128", "--lb", "spray")
        check.equal(kind, got["sim_time_us"], ring_us(128, 127, MB_US), PS)


def trees(check, program):
    for ranks, depth, latency in ((4, 2, 2), (16, 4, 4), (128, 7, 6)):
        got = tree(program, f"allreduce:tree,128MB,ranks={ranks}", "--lb", "spray")
        want = 2 * 128 * MB_US + 2 * depth * latency
        check.equal(f"tree of {ranks}", got["sim_time_us"], want, PS)


def halving(check, program):
    for ranks in (4, 16, 128):
        got = tree(program, f"allreduce:halving,128MB,ranks={ranks}", "--lb", "spray")
        latency, distance = 0, ranks // 2
        while distance:
            latency += 2 * (6 if distance >= 16 else 4 if distance >= 4 else 2)
            distance //= 2
        want = 2 * (ranks - 1) / ranks * 128 * MB_US + latency
        check.equal(f"halving of {ranks}", got["sim_time_us"], want, PS * ranks)


def automatic(check, program):
    """No algorithm by name is quicker than the one that is chosen, whatever the paths."""
    for lb in ("ecmp", "planned", "spray"):
        for size in ("1KB", "1MB", "1GB"):
            times = {name: tree(program, f"allreduce:{name},{size}", "--lb", lb)["sim_time_us"]
                     for name in ("ring", "tree", "halving", "hier", "auto")}
            check.equal(f"chosen for {size}, {lb}", times.pop("auto"), min(times.values()), 0)


def all_to_all(check, program):
    for ranks in (4, 16, 128):
        got = tree(program, f"alltoall:128MB,ranks={ranks}", "--lb", "spray")
        # No barrier after each shift: from the first byte of a neighbour the ports are busy.
        want = (ranks - 1) / ranks * 128 * MB_US + 2
        check.equal(f"all-to-all of {ranks}", got["sim_time_us"], want, PS * ranks)


def in_network(check, program):
    got = tree(program, "allreduce:in-network,128MB,ranks=128", "--lb", "spray")
    check.equal("in-network", got["sim_time_us"], 128 * MB_US + 2 * 6, PS)


def both_sizes(program, design, workload, *words):
    """What one more time the bytes costs: latency falls out of the difference."""
    got = [sim(program, "--design", design, "--workload", workload % size, *words)["sim_time_us"]
           for size in (128, 256)]
    return got[1] - got[0]


def cut(check, program):
    """Two leaves of 8 hosts with 4 uplinks: 8 * 8 pairs cross the cut each way, 16 a link."""
    spec = """
name: cut
servers: 16
server: generic-1gpu
networks: {compute: {topology: clos, tiers: 2, switch: sn5600, leaf_down: 8, leaf_up: 4}}
"""
    with tempfile.TemporaryDirectory() as folder:
        design = plan(program, folder, spec)
        per_pair = 128 / 16 * MB_US / 4  # 400 Gb/s
        for lb in ("spray", "planned"):
            got = both_sizes(program, design, "alltoall:%dMB", "--lb", lb)
            check.equal(f"oversubscribed cut, {lb}", got, per_pair * 16, 1e-4)
        got = both_sizes(program, design, "allreduce:ring,%dMB", "--lb", "spray")
        check.equal("a ring crosses the cut once each way", got, 2 * 15 / 16 * 128 * MB_US / 4,
                    PS * 10)


def nodes(check, program):
    """Servers of 8 GPUs: rings as 8 channels, hierarchical, and inside a server."""
    spec = "name: nodes\nservers: 16\nserver: h100-8gpu\nnetworks: {compute: {switch: sn5600}}\n"
    with tempfile.TemporaryDirectory() as folder:
        design = plan(program, folder, spec)
        ranks, servers, nic_us = 128, 16, MB_US / 4
        got = both_sizes(program, design, "allreduce:ring,%dMB,schedule=collapsed", "--lb",
                         "planned")
        steps = 2 * (ranks - 1) / ranks
        check.equal("ring of 8 channels", got, steps * 128 * nic_us / 8, 1e-4)
        got = both_sizes(program, design, "allreduce:hier,%dMB", "--lb", "planned")
        scale_up_us = 8.0 / 3.6  # 1 MB at 3,600 Gb/s
        want = 2 * 7 / 8 * 128 * scale_up_us + 2 * (servers - 1) / servers * 128 / 8 * nic_us
        check.equal("hierarchical", got, want, 1e-4)
        got = both_sizes(program, design, "allreduce:ring,%dMB,ranks=8", "--lb", "planned")
        check.equal("inside a server", got, 2 * 7 / 8 * 128 * scale_up_us, 1e-4)


def main():
    program, check = sys.argv[1], Checks()
    for test in (single_flow, incast, pauses, rings, trees, halving, automatic, all_to_all,
                 in_network, cut, nodes):
        test(check, program)
    check.end()


if __name__ == "__main__":
    main()
