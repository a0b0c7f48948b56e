#!/usr/bin/env python3
"""Files of other simulators give the times that are known: by hand, or from the same traffic in
words.

    tests/sim-files/known.py MYRIAD
"""
import csv
import json
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree
from pathlib import Path

MYRIAD = str(Path(sys.argv[1]).resolve())
K4 = ["--topology", "fat-tree:k=4,gbps=100,delay=1us"]
K8 = ["--topology", "fat-tree:k=8,gbps=100,delay=1us"]
FAILED = []


def sim(folder, *arguments):
    result = subprocess.run([MYRIAD, "sim", "-o", "json", *arguments], capture_output=True,
                            text=True, timeout=600, cwd=folder, stdin=subprocess.DEVNULL,
                            check=False)
    if result.returncode != 0:
        raise AssertionError(f"{arguments}: exit {result.returncode}: {result.stderr.strip()}")
    return json.loads(result.stdout)


def expect(name, got, wanted):
    if got != wanted:
        FAILED.append(f"{name}: {got!r}, expected {wanted!r}")


def put(folder, name, text):
    (folder / name).write_text(text)
    return f"file:{name}"


def ring_goal(ranks, size):
    """Each rank hands on what it got, 2(N-1) times."""
    lines = [f"num_ranks {ranks}"]
    for rank in range(ranks):
        lines.append(f"rank {rank} {{")
        for step in range(2 * (ranks - 1)):
            lines.append(f"s{step}: send {size}b to {(rank + 1) % ranks} tag {step}")
            lines.append(f"r{step}: recv {size}b from {(rank - 1) % ranks} tag {step}")
            if step:
                lines.append(f"s{step} requires r{step - 1}")
        lines.append("}")
    return "\n".join(lines) + "\n"


def goal(folder):
    file = put(folder, "ring.goal", ring_goal(4, 250000))
    # All on one leaf: each step is 20 us of bytes and 2 us of links, as in the collective.
    alone = sim(folder, *K8, "--workload", "allreduce:ring,1MB,ranks=4")["sim_time_us"]
    expect("goal ring, one leaf", sim(folder, *K8, "--workload", file)["sim_time_us"], 132)
    expect("ring in words", alone, 132)
    # Two a leaf: pieces meet a near and a far neighbour in turn, 3 x (22 + 24).
    expect("goal ring, two leaves", sim(folder, *K4, "--workload", file)["sim_time_us"], 138)
    order = put(folder, "order.goal", "num_ranks 2\nrank 0 {\na: calc 1000\nb: calc 5000\n"
                "c: calc 2000\nb requires a\nc irequires b\nd: send 125000b to 1\nd requires c\n}\n"
                "rank 1 {\nr: recv 125000b from 0\ne: calc 4000\ne requires r\n}\n")
    # a 1; c begins with b, so d begins at 3 and is there at 3 + 2 + 10; e ends at 19.
    expect("goal start dependency", sim(folder, *K8, "--workload", order)["sim_time_us"], 19)


def rows_of(folder, *arguments):
    found = sim(folder, *arguments, "--fct", "fct.csv")
    with open(folder / "fct.csv", newline="", encoding="utf-8") as file:
        return found, list(csv.DictReader(file))


def same_flows(folder):
    found, rows = rows_of(folder, *K8, "--workload", "incast:8:1,1MB,seed=3", "--seed", "5")
    text = f"{len(rows)}\n" + "".join(f"{row['from']} {row['to']} 3 100 {row['bytes']} 2.0\n"
                                      for row in rows) + "\ncommentary\n"
    same = sim(folder, *K8, "--workload", put(folder, "flow.txt", text), "--seed", "5")
    expect("hpcc incast, flows", len(rows), 8)
    for key in ("hash", "fct_us", "sim_time_us", "link_load"):
        expect(f"hpcc incast, {key}", same[key], found[key])
    found, rows = rows_of(folder, *K8, "--workload", "permutation:10MB,seed=4")
    text = f"Nodes 128\nConnections {len(rows)}\n" + "".join(
        f"{row['from']}->{row['to']} id {i + 1} start 0 size {row['bytes']}\n"
        for i, row in enumerate(rows))
    same = sim(folder, *K8, "--workload", put(folder, "perm.cm", text))
    expect("htsim permutation, flows", len(rows), 128)
    for key in ("hash", "fct_us", "sim_time_us", "link_load"):
        expect(f"htsim permutation, {key}", same[key], found[key])


def starts(folder):
    flows = put(folder, "late.txt", "2\n0 1 3 100 125000 2\n0 1 3 100 125000 2.0001\n")
    found = sim(folder, *K8, "--workload", flows)
    expect("hpcc starts", (found["sim_time_us"], found["fct_us"]["max"]), (112, 12))
    chain = put(folder, "chain.cm", "Nodes 128\nConnections 4\nTriggers 2\n"
                "0->1 id 1 start 0 size 125000 send_done_trigger 1\n"
                "1->2 id 2 trigger 1 size 125000 recv_done_trigger 2\n"
                "3->2 id 3 start 50000000 size 125000 send_done_trigger 2\n"
                "2->0 id 4 trigger 2 size 125000\n"
                "trigger id 1 oneshot\ntrigger id 2 barrier count 2\n")
    # 12, 24; the late one ends at 62, the barrier opens, 74.
    expect("htsim triggers", sim(folder, *K8, "--workload", chain)["sim_time_us"], 74)


def topologies(folder):
    topo = ("Nodes 128\nTiers 3\nPodsize 16\n\nTier 0\nDownlink_speed_Gbps 100\nRadix_Down 4\n"
            "Radix_Up 4\nDownlink_Latency_ns 1000\nQueue_Size_Up 10\n\nTier 1\n"
            "Downlink_speed_Gbps 100\nRadix_Down 4\nRadix_Up 4\nDownlink_Latency_ns 1000\n\n"
            "Tier 2\nDownlink_speed_Gbps 100\nRadix_Down 8\nDownlink_Latency_ns 1000\n")
    hpcc = ["208 80 384", " ".join(str(node) for node in range(128, 208))]
    hpcc += [f"{host} {128 + host // 4} 100Gbps 1000ns 0.000000" for host in range(128)]
    hpcc += [f"{128 + leaf} {160 + leaf // 4 * 4 + spine} 100Gbps 0.001ms 0"
             for leaf in range(32) for spine in range(4)]
    hpcc += [f"{160 + spine} {192 + spine % 4 * 4 + core} 100Gbps 1us 0"
             for spine in range(32) for core in range(4)]
    files = [put(folder, "k8.topo", topo), put(folder, "k8.txt", "\n".join(hpcc) + "\n")]
    for lb in ("ecmp", "spray"):
        arguments = ["--workload", "permutation:1MB", "--lb", lb, "--seed", "7"]
        wanted = sim(folder, *K8, *arguments)
        for file in files:
            expect(f"{file} {lb}", sim(folder, "--topology", file, *arguments)["hash"],
                   wanted["hash"])
    two = put(folder, "two.topo", "Nodes 32\nTiers 2\nPodsize 32\nTier 0\n"
              "Downlink_speed_Gbps 100\nRadix_Down 8\nRadix_Up 2\nDownlink_Latency_ns 1000\n"
              "Switch_Latency_ns 500\nOversubscribed 4\nTier 1\nDownlink_speed_Gbps 400\n"
              "Radix_Down 4\nDownlink_Latency_ns 3000\nSwitch_Latency_ns 500\n")
    flow = put(folder, "far.txt", "1\n0 31 3 1 125000 0\n")
    # 10 of bytes, 1 + 3 + 3 + 1 of links, three switches of 0.5.
    expect("delays by tier",
           sim(folder, "--topology", two, "--workload", flow)["sim_time_us"], 19.5)


def numbered_hosts(folder):
    """Hosts of a topology file may have any numbers; flows go by them, ranks by their order."""
    link = "100Gbps 1us 0"
    # Switch 0 is the only spine; leaf 5 has hosts 1, 3 and leaf 2 has hosts 4, 6.
    text = "7 3 6\n0 2 5\n" + "".join(
        f"{a} {b} {link}\n" for a, b in ((1, 5), (4, 2), (3, 5), (6, 2), (0, 2), (5, 0)))
    topology = ["--topology", put(folder, "numbers.txt", text)]
    for name, pair, wanted in (("near", "1 3", 12), ("near too", "6 4", 12), ("far", "1 4", 14)):
        flow = put(folder, "numbered-flow.txt", f"1\n{pair} 3 1 125000 0\n")
        expect(f"numbered hosts, {name}", sim(folder, *topology, "--workload", flow)["sim_time_us"],
               wanted)
    goal_text = ("num_ranks 4\nrank 0 {{\na: send 125000b to {0}\n}}\n"
                 "rank {0} {{\na: recv 125000b from 0\n}}\n")
    for rank, wanted in ((1, 12), (2, 14), (3, 14)):  # ranks are hosts 1, 3, 4, 6
        file = put(folder, "numbered.goal", goal_text.format(rank))
        expect(f"rank {rank} of numbered hosts",
               sim(folder, *topology, "--workload", file)["sim_time_us"], wanted)
    flow = put(folder, "numbered-flow.txt", "1\n1 5 3 1 125000 0\n")
    result = subprocess.run([MYRIAD, "sim", *topology, "--workload", flow], capture_output=True,
                            text=True, timeout=600, cwd=folder, check=False)
    expect("a flow to a switch", (result.returncode, result.stderr), (
        2, "myriad: numbered-flow.txt:2:1: node 5 is a switch of the topology, a host is "
        "expected\n"))


def endless(folder):
    """Two connections without end and one with, into one host, all of one size."""
    file = put(folder, "endless.cm", "Nodes 128\nConnections 3\n1->0 start 0 size 0\n"
               "2->0 start 0 size 0\n3->0 start 0 size 125000\n")
    found = sim(folder, *K8, "--workload", f"{file},endless=125KB")
    expect("connections without end", round(found["sim_time_us"], 3), 32)
    found = sim(folder, *K8, "--workload", f"{file},format=htsim,endless=125KB")
    expect("connections without end, format said", round(found["sim_time_us"], 3), 32)


def simai(folder):
    text = ("HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 8 ep: 1 pp: 1 ga: 1 "
            "all_gpus: 8 checkpoints: 0 checkpoint_initiates: 0\n1\n"
            "embedding_layer -1 556000 ALLREDUCE 8000000 1 NONE 0 1 NONE 0 1\n")
    found = sim(folder, *K8, "--workload", put(folder, "micro.txt", text))
    ring = sim(folder, *K8, "--workload",
               "allreduce:ring,8MB,ranks=8,schedule=collapsed")["sim_time_us"]
    expect("simai all-reduce", round(found["sim_time_us"] - ring, 6), 556.003)
    # Data parallel gradients run beside the backward computing of the layer before.
    layers = ("HYBRID_TRANSFORMER model_parallel_NPU_group: 2 all_gpus: 8\n2\n"
              "a -1 0 NONE 0 0 NONE 0 50000 NONE 0 0\n"
              "b -1 0 NONE 0 0 NONE 0 0 ALLREDUCE 400000 0\n")
    found = sim(folder, *K8, "--workload", put(folder, "beside.txt", layers), "--lb", "spray")
    # Rings of 4: 600 kB out of every rank in 48 us, six steps of 2 and 4 us; the 50 us are hidden.
    expect("simai gradients beside computing", found["sim_time_us"], 66)


def reports(folder):
    arguments = [*K8, "--workload", put(folder, "ring.goal", ring_goal(8, 100000)), "--report",
                 "r.html", "--heatmap", "h.svg", "--fct", "f.csv"]
    found = sim(folder, *arguments)
    first = [(folder / name).read_bytes() for name in ("r.html", "h.svg", "f.csv")]
    sim(folder, *arguments)
    expect("same bytes", first == [(folder / name).read_bytes()
                                   for name in ("r.html", "h.svg", "f.csv")], True)
    page = first[0].decode()
    expect("page without outside things", re.findall(r'(?:src|href)=|url\(|<script', page), [])
    for svg in [first[1].decode(), *re.findall(r"<svg.*?</svg>", page, re.S)]:
        ElementTree.fromstring(svg)
    cells = first[1].decode().count('class="cell t')
    expect("cells of the heat map", 0 < cells <= 400, True)
    with open(folder / "f.csv", newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    expect("rows of flows", len(rows), found["flows"])
    expect("last end", max(float(row["end_us"]) for row in rows), found["sim_time_us"])
    # A chain of 14 messages, with the receives between them.
    expect("steps of the critical path", re.findall(r"back: (\d+) step", page), ["27"])


with tempfile.TemporaryDirectory() as name:
    for test in (goal, same_flows, starts, topologies, numbered_hosts, endless, simai, reports):
        test(Path(name))
for line in FAILED:
    print(line)
print(f"{len(FAILED)} failed")
sys.exit(1 if FAILED else 0)
