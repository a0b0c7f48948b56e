#!/usr/bin/env python3
"""Fabrics of other simulators with several planes, servers and speeds, and Chakra's traces: times
that are known by hand, and files that cannot be right.

    tests/sim-files/planes.py MYRIAD
"""
import csv
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import et

MYRIAD = str(Path(sys.argv[1]).resolve())
FAILED = []
COUNT = [0]
TREE = "fat-tree:k=8,gbps=100,delay=1us"
LINK = "100Gbps 1us 0"


def call(folder, *words):
    return subprocess.run([MYRIAD, "sim", *words], capture_output=True, text=True, timeout=600,
                          cwd=folder, stdin=subprocess.DEVNULL, check=False)


def expect(name, got, wanted):
    COUNT[0] += 1
    near = isinstance(wanted, float) and isinstance(got, (int, float)) and abs(got - wanted) < 1e-6
    if got != wanted and not near:
        FAILED.append(f"{name}: {got!r}, expected {wanted!r}")


def sim(folder, *words):
    done = call(folder, "-o", "json", *words)
    if done.returncode:
        FAILED.append(f"{words}: exit {done.returncode}: {done.stderr.strip()}")
        return {"sim_time_us": None, "fabric": {}, "flows": None}
    return json.loads(done.stdout)


def refused(name, folder, begins, says, *words):
    COUNT[0] += 1
    done = call(folder, *words)
    first = (done.stderr.splitlines() or [""])[0]
    if done.returncode != 2 or done.stdout or not first.startswith(f"myriad: {begins}") \
            or says not in first or done.stderr.count("\n") > 2:
        FAILED.append(f"{name}: exit {done.returncode}: {done.stderr.strip()!r}, {begins!r} and "
                      f"{says!r} are expected")


def ends(folder, topology, rows):
    """Ends of flows between nodes of the file, in us."""
    (folder / "flow.txt").write_text(f"{len(rows)}\n" + "".join(
        f"{a} {b} 3 100 {size} 0\n" for a, b, size in rows))
    sim(folder, "--topology", f"file:{topology}", "--workload", "file:flow.txt,format=hpcc",
        "--fct", "fct.csv", "--lb", "ecmp")
    with open(folder / "fct.csv", newline="", encoding="utf-8") as file:
        return [float(row["end_us"]) for row in csv.DictReader(file)]


def graph(nodes, switches, wires, link=LINK):
    wires = [wire if len(wire) == 3 else (*wire, link) for wire in wires]
    return (f"{nodes} {len(switches)} {len(wires)}\n{' '.join(map(str, switches))}\n"
            + "".join(f"{a} {b} {words}\n" for a, b, words in wires))


DUAL = [(0, 4), (0, 5), (1, 4), (1, 5), (2, 6), (2, 7), (3, 6), (3, 7)]


def planes(folder):
    """Four hosts, two leaves for each two of them: half of every message goes over each."""
    shared = DUAL + [(leaf, 8) for leaf in (4, 5, 6, 7)]
    (folder / "shared.txt").write_text(graph(9, (4, 5, 6, 7, 8), shared))
    found = ends(folder, "shared.txt", [(0, 1, 2500000), (2, 3, 2500000)])
    expect("both links to a neighbour", found, [102.0, 102.0])
    expect("both links across", ends(folder, "shared.txt", [(0, 2, 2500000)]), [104.0])
    expect("two on one receiver", ends(folder, "shared.txt", [(0, 3, 2500000), (2, 3, 2500000)]),
           [202.0, 200.0])  # the near one has the port for 2 us
    apart = DUAL + [(4, 8), (6, 8), (5, 9), (7, 9)]
    (folder / "apart.txt").write_text(graph(10, (4, 5, 6, 7, 8, 9), apart))
    expect("planes with spines of their own", ends(folder, "apart.txt", [(0, 2, 2500000)]), [104.0])
    got = sim(folder, "--topology", "file:apart.txt", "--workload", "permutation:1MB")["fabric"]
    expect("switches as in the file", (got.get("leaf"), got.get("spine")), (4, 2))
    topology = ("--workload", "permutation:1MB", "--topology", "file:bad.txt")
    for name, wires, says in (
            ("one leaf twice", [(0, 4), (0, 4), (1, 4), (1, 5), *DUAL[4:]], "lead to one leaf"),
            ("crossed pairs", [(0, 4), (0, 5), (1, 4), (1, 6), (2, 5), (2, 6), (3, 6), (3, 7)],
             "must share the other"),
            ("two rates", [(0, 4, "200Gbps 1us 0"), *DUAL[1:]], "two rates or delays"),
            ("uneven uplinks", DUAL + [(4, 8), (4, 8), (5, 8), (6, 8), (6, 8), (7, 8), (7, 8)],
             "different links upwards"),
            ("three links", [(host, leaf) for host in range(4) for leaf in (4, 5, 6)],
             "not with 3")):
        (folder / "bad.txt").write_text(graph(9, (4, 5, 6, 7, 8), wires))
        refused(name, folder, "bad.txt:", says, *topology)


def speeds(folder):
    """htsim's tiers at three speeds: what the slowest leaves."""
    tiers = [f"Tier {i}\nDownlink_speed_Gbps {speed}\nDownlink_Latency_ns 1000\n{radix}"
             for i, (speed, radix) in enumerate((
                 (100, "Radix_Down 2\nRadix_Up 2\n"), (200, "Radix_Down 2\nRadix_Up 2\n"),
                 (50, "Radix_Down 4\n")))]
    (folder / "three.topo").write_text("Nodes 16\nTiers 3\nPodsize 4\n" + "".join(tiers))
    for first, latency, rate in ((0, 2, 100), (1, 4, 100), (3, 6, 50)):
        got = sim(folder, "--topology", "file:three.topo", "--workload",
                  f"incast:1:1,1MB,first={first},ranks=2", "--lb", "ecmp")
        expect(f"from host {first}", got["sim_time_us"], latency + 8000.0 / rate)


def rail_file(swap=(), gpus=8, switches="8 9 10 11 12 13 14"):
    """Four servers of two GPUs, scale-up switches 8 to 11, leaves 12 and 13, a spine."""
    wires = [(gpu, 8 + gpu // 2, "800Gbps 25ns 0") for gpu in range(gpus)]
    wires += [(gpu, 12 + (gpu + (gpu in swap)) % 2, LINK) for gpu in range(gpus)]
    wires += [(12, 14, LINK)] * 4 + [(13, 14, LINK)] * 4
    return (f"15 2 4 3 {len(wires)} H100\n{switches}\n"
            + "".join(f"{a} {b} {words}\n" for a, b, words in wires))


def servers(folder):
    (folder / "rails").write_text(rail_file())
    found = ends(folder, "rails", [(0, 1, 1000000)])
    expect("inside a server", found, [10.05])
    expect("on a rail", ends(folder, "rails", [(0, 6, 1000000)]), [82.0])
    expect("to another rail", ends(folder, "rails", [(0, 7, 1000000)]), [84.0])
    got = sim(folder, "--topology", "file:rails", "--workload", "allreduce:hier,8MB", "--lb",
              "spray")
    expect("hierarchical", got["sim_time_us"], 2 * (0.05 + 40) + 6 * (2 + 80.0))
    names = {3: 7, 7: 3}  # another order of the numbers: the same fabric
    text = rail_file().splitlines()
    moved = [text[0], text[1]] + [" ".join([str(names.get(int(line.split()[0]),
                                                          int(line.split()[0])))]
                                           + line.split()[1:]) for line in text[2:]]
    (folder / "moved").write_text("\n".join(moved) + "\n")
    expect("by the file's numbers", ends(folder, "moved", [(2, 7, 1000000)]), [10.05])
    leaf = rail_file().replace("\n1 13 ", "\n1 12 ").replace("\n3 13 ", "\n3 12 ") \
        .replace("\n4 12 ", "\n4 13 ").replace("\n6 12 ", "\n6 13 ")
    (folder / "leaves").write_text(leaf)
    expect("servers on a leaf", ends(folder, "leaves", [(0, 3, 1000000)]), [82.0])
    expect("across", ends(folder, "leaves", [(0, 5, 1000000)]), [84.0])
    topology = ("--workload", "permutation:1MB", "--topology", "file:bad,format=simai")
    bad = {
        "empty": ("", "1:1", "the file is empty"),
        "size": (rail_file().replace("15 2 ", "15 65 "), "1:4", "the GPUs of a server"),
        "uneven": (rail_file().replace("15 2 ", "15 4 "), "1:1", "another number of GPUs"),
        "mixed rails": (rail_file(swap=(3, 4)), "1:1", "on one leaf, or each on the leaf"),
        "inside joins a leaf": (rail_file().replace("0 8 800Gbps", "12 8 800Gbps"), "3:",
                                "join GPUs and nothing else"),
        "speeds inside": (rail_file().replace("0 8 800Gbps", "0 8 400Gbps"), "1:1",
                          "its links inside the server"),
        "short": (rail_file().replace("24 H100", "25 H100"), "27:1", "after 24 of 25 links"),
        "promise": ("200000 8 1 1 2000000 H100\n", "1:", "too short"),
        "switch twice": (rail_file(switches="8 9 10 11 12 13 13"), "2:", "is there already"),
    }
    for name, (text, place, says) in bad.items():
        (folder / "bad").write_text(text)
        refused(name, folder, f"bad:{place}", says, *topology)


def put(folder, name, *ranks):
    for old in folder.glob(f"{name}.*.et"):
        old.unlink()
    for rank, nodes in enumerate(ranks):
        (folder / f"{name}.{rank}.et").write_bytes(et.trace(*nodes))
    return ("--topology", TREE, "--lb", "spray", "--workload", f"file:{name}.0.et")


def chakra(folder):
    words = put(folder, "pair",
                [et.node(0, et.COMPUTE, duration=5), et.send(1, 1, 125000, [0])],
                [et.receive(7, 0, 125000), et.node(8, et.COMPUTE, [7], duration=4)])
    expect("compute, send, compute", sim(folder, *words)["sim_time_us"], 5 + 2 + 10 + 4)
    for kind, size, same in ((et.ALL_REDUCE, 1000000, "allreduce:ring,1MB"),
                             (et.ALL_GATHER, 250000, "allgather:ring,1MB"),
                             (et.REDUCE_SCATTER, 1000000, "reducescatter:ring,1MB"),
                             (et.ALL_TO_ALL, 1000000, "alltoall:1MB"),
                             (et.BROADCAST, 1000000, "broadcast:ring,1MB")):
        alone = sim(folder, *words[:-1], f"{same},ranks=4,schedule=collapsed")["sim_time_us"]
        four = put(folder, "four", *[[et.collective(0, kind, size)]] * 4)
        expect(f"collective {kind}", sim(folder, *four)["sim_time_us"], alone)
        one = [*four[:-1], "file:four.0.et,ranks=4"]
        expect(f"collective {kind}, one file", sim(folder, *one)["sim_time_us"], alone)
    late = [[et.node(0, et.COMPUTE, duration=10 * rank),
             et.collective(1, et.ALL_REDUCE, 1000000, [0], pg_name="ab"[rank // 2]),
             et.collective(2, et.BARRIER, 0, [1])] for rank in range(4)]
    pair = sim(folder, *words[:-1], "allreduce:ring,1MB,ranks=2")["sim_time_us"]
    got = sim(folder, *put(folder, "groups", *late))["sim_time_us"]
    expect("groups begin with their last rank", got, 30 + pair)
    kinds = [et.node(i, et.COLLECTIVE, comm_type=(0, kind), comm_size=(8 << (kind in (15, 17)),
                                                                       kind))
             for i, kind in enumerate((7, 9, 11, 13, 15, 17))]
    expect("numbers of every type", sim(folder, *put(folder, "types", kinds, kinds))["flows"], 12)
    work = [[et.node(0, et.COMPUTE, num_ops=4 * 10**9)]] * 2
    words = put(folder, "ops", *work)
    expect("operations by speed",
           sim(folder, *words[:-1], f"{words[-1]},tflops=400")["sim_time_us"], 10)
    calls = [[et.node(0, et.COMPUTE, duration=5), et.node(1, et.COMPUTE, callers=[0], duration=7)]]
    words = put(folder, "calls", *calls * 2)
    expect("callers are not waited for", sim(folder, *words)["sim_time_us"], 7)
    expect("unless that is said", sim(folder, *words[:-1], f"{words[-1]},deps=both")
           ["sim_time_us"], 12)


def chakra_bad(folder):
    compute = [et.node(0, et.COMPUTE, duration=5)]
    cases = {
        "operations": ([[et.node(0, et.COMPUTE, num_ops=5)]] * 2, "x.0.et:2:", "no duration"),
        "unknown node": ([[et.node(0, et.COMPUTE, [9])], compute], "x.0.et:2:", "waits for node 9"),
        "twice": ([compute * 2, compute], "x.0.et:3:", "node 0 is there already"),
        "circle": ([[et.node(0, et.COMPUTE, [1]), et.node(1, et.COMPUTE, [0])], compute],
                   "x.0.et:", "never start"),
        "lone send": ([[et.send(0, 1, 5)], compute], "x.0.et:2:", "no receive on rank 1"),
        "lone receive": ([compute, [et.receive(0, 0, 5)]], "x.1.et:2:", "no send on rank 0"),
        "short receive": ([[et.send(0, 1, 5)], [et.receive(0, 0, 4)]], "x.1.et:2:",
                          "4 bytes meets the send of 5"),
        "to nobody": ([[et.send(0, 2, 5)], compute], "x.0.et:2:", "sends to rank 2"),
        "to itself": ([[et.send(0, 0, 5)], compute], "x.0.et:2:", "sends to rank 0"),
        "no size": ([[et.node(0, et.SEND, comm_dst=1)], compute], "x.0.et:2:", "no 'comm_size'"),
        "no receiver": ([[et.node(0, et.SEND, comm_size=1)], compute], "x.0.et:2:",
                        "no 'comm_dst'"),
        "kind": ([[et.collective(0, 1, 5)]] * 2, "x.0.et:2:", "REDUCE is not supported"),
        "unknown kind": ([[et.collective(0, 77, 5)]] * 2, "x.0.et:2:", "'comm_type'"),
        "dimensions": ([[et.collective(0, 0, 5, involved_dim=[1, 0])]] * 2, "x.0.et:2:",
                       "involved_dim"),
        "sizes": ([[et.collective(0, 0, 5)], [et.collective(0, 0, 6)]], "x.1.et:2:",
                  "ALL_REDUCE of 6 bytes here"),
        "too few": ([[et.collective(0, 0, 5), et.collective(1, 0, 5)], [et.collective(0, 0, 5)]],
                    "x.0.et:3:", "1 of the 2 ranks"),
        "negative": ([[et.collective(0, 0, (3, 17))]] * 2, "x.0.et:2:", "'comm_size' must be"),
        "text": ([[et.collective(0, 0, "5")]] * 2, "x.0.et:2:", "'comm_size' must be"),
        "huge": ([[et.collective(0, 0, 1 << 51)]] * 2, "x.0.et:2:", "larger than 2^50"),
        "type": ([[et.node(0, 9)]] * 2, "x.0.et:2:", "unknown type"),
        "alone": ([compute], "x.0.et:", "there must be 2"),
    }
    for name, (ranks, begins, says) in cases.items():
        refused(name, folder, begins, says, *put(folder, "x", *ranks))
    words = put(folder, "x", compute, compute)
    whole = (folder / "x.0.et").read_bytes()
    for name, data, says in (("cut", whole[:-1], "longer than the file"), ("empty", b"", "empty"),
                             ("text", b"hello, world\n", "not a Chakra trace"),
                             ("long number", b"\xff" * 12, "more than ten bytes")):
        (folder / "x.0.et").write_bytes(data)
        refused(name, folder, "x.0.et:", says, *words)
    (folder / "x.1.et").rename(folder / "y.et")
    refused("one of many", folder, "y.et: ", "one rank", *words[:-1], "file:y.et")
    refused("ranks", folder, "--workload: ", "'ranks' must be", *words[:-1], "file:y.et,ranks=1")
    refused("speed", folder, "--workload: ", "'tflops' must be", *words[:-1], "file:y.et,tflops=0")
    refused("order", folder, "--workload: ", "'deps' must be", *words[:-1], "file:y.et,deps=no")
    (folder / "a.goal").write_text("num_ranks 1\n")
    refused("not for others", folder, "--workload: ", "is for Chakra", *words[:-1],
            "file:a.goal,ranks=4")


def main():
    for test in (planes, speeds, servers, chakra, chakra_bad):
        with tempfile.TemporaryDirectory() as folder:
            test(Path(folder))
    print("\n".join(FAILED))
    print(f"{COUNT[0]} cases, {len(FAILED)} failed")
    return 1 if FAILED else 0


if __name__ == "__main__":
    sys.exit(main())
