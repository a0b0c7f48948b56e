"""packet: packets against published simulations (HPCC's ns-3, htsim), and how fast they are.

Incasts and permutations of 1 MB on fat trees at 100 Gb/s, a microsecond a link. HTSIM=PATH, the
folder that holds htsim_roce, measures htsim beside it (Broadcom/csg-htsim, not in the tree).
"""
import json
import os
import random
import re
import statistics
import subprocess
from pathlib import Path

SEEDS = 20
# Mean and last completion, us: ns-3 of HPCC's authors, one run each; pfc: K x wire bytes / rate.
INCASTS = {("pfc", 8): (None, 693), ("pfc", 64): (None, 5460), ("hpcc", 8): (668.5, 759),
           ("hpcc", 64): (5411, 5798), ("dcqcn", 8): (1329, 1509), ("dcqcn", 64): (5062, 5605)}
# Mean and 99th percentile, us, of one draw of paths.
PERMUTATIONS = {"hpcc": (237.1, 476.1), "dcqcn": (461.5, 713.7)}
# 1,000 packets and as many acknowledgements of those who send to the same host, and six links.
IDEAL_SPRAY_US = (1064 + 64) * 0.08 + 6
# k, hosts, bytes, goal in millions of hops a second
SIZES = ((8, 128, 4 * 10**6, 10), (16, 1024, 10**6, 8), (40, 16000, 10**5, 5))


def run(bench):
    for (control, senders), (mean, last) in INCASTS.items():
        incast(bench, control, senders, mean, last)
    for control, (mean, p99) in PERMUTATIONS.items():
        permutations(bench, control, mean, p99)
    spray(bench)
    victims(bench)
    for k, hosts, size, goal in SIZES:
        speed(bench, k, hosts, size, goal)


def tree(k):
    return ["--topology", f"fat-tree:k={k},gbps=100,delay=1us", "--mode", "packet"]


def ask(bench, *words):
    done = subprocess.run([str(word) for word in (bench.program, "sim", *words, "-o", "json")],
                          capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def beside(bench, name, value, published, tolerance):
    """How far it is from the published figure, as a part of that; the goal is the tolerance."""
    bench.figure(name, round(value, 1), "us", ref="published", ref_value=published)
    bench.figure(f"{name}/off", abs(value / published - 1), "of it", goal=tolerance)


def incast(bench, control, senders, mean, last):
    """Means over seeds: who sends is drawn."""
    found = [ask(bench, *tree(8), "--cc", control, "--workload", f"incast:{senders}:1,1MB",
                 "--seed", seed)["fct_us"] for seed in range(SEEDS)]
    tolerance = 0.10 if control == "dcqcn" else 0.05
    name = f"incast/{control}-{senders}"
    if mean:
        beside(bench, f"{name}/mean", statistics.mean(f["mean"] for f in found), mean, tolerance)
    beside(bench, f"{name}/last", statistics.mean(f["max"] for f in found), last, tolerance)


def permutations(bench, control, mean, p99):
    found = [ask(bench, *tree(8), "--cc", control, "--workload", "permutation:1MB", "--seed",
                 seed)["fct_us"] for seed in range(SEEDS)]
    beside(bench, f"permutation/{control}/mean", statistics.mean(f["mean"] for f in found), mean,
           0.10)
    beside(bench, f"permutation/{control}/p99", statistics.mean(f["p99"] for f in found), p99, 0.25)


def spray(bench):
    found = ask(bench, *tree(8), "--cc", "pfc", "--lb", "spray", "--workload", "permutation:1MB")
    part = IDEAL_SPRAY_US / found["fct_us"]["max"]
    bench.figure("spray/below-ideal", 1 - part, "of the bytes on the wire", goal=0.05)


def victims(bench):
    """Eight senders of other pods to one host; one of them also sends to somebody idle. Buffers are
    small, so that pauses reach the senders while the victim sends."""
    for control, low, high in (("pfc", 0, 0.2), ("dcqcn", None, None), ("hpcc", 0.8, 1)):
        shares = [victim(bench, control, seed) for seed in range(5)]
        bench.figure(f"victim/{control}", round(statistics.mean(shares), 3), "of line rate")
        if high:
            bench.figure(f"victim/{control}/outside", sum(not low <= x <= high for x in shares),
                         f"of 5 from {low} to {high}", goal=0)


def victim(bench, control, seed):
    rng = random.Random(seed)
    senders = rng.sample(range(16, 128), 8)
    flows, fct = bench.folder / "flows.csv", bench.folder / "fct.csv"
    rows = [(sender, 0, 2 * 10**7) for sender in senders] + [(senders[0], 9, 8 * 10**6)]
    flows.write_text("id,after,from,to,bytes,compute_us,hops\n" + "".join(
        f"{i},,{a},{b},{size},,\n" for i, (a, b, size) in enumerate(rows)))
    ask(bench, *tree(8), "--cc", control, "--seed", seed, "--buffer", 2 * 10**6, "--workload",
        f"file:{flows}", "--fct", fct)
    last = fct.read_text().strip().splitlines()[-1].split(",")
    us = float(last[5]) - float(last[4])
    return 8 * 10**6 * (1.106 if control == "hpcc" else 1.064) * 8 / (us * 1e-6) / 100e9


def speed(bench, k, hosts, size, goal):
    """CPU seconds of the whole run, set-up and answer included; goals are lower limits here."""
    words = [*tree(k), "--cc", "hpcc", "--workload", f"permutation:{size}"]
    took = bench.time(f"speed/{hosts}", [bench.program, "sim", *words])
    hops = ask(bench, *words)["hops"]
    if not took:
        return
    bench.figure(f"speed/{hosts}/us-per-million-hops", took.cpu / hops * 1e12, "us",
                 goal=1e6 / goal)
    bench.figure(f"speed/{hosts}/hops", round(hops / took.cpu / 1e6, 2), "M/s")
    bench.figure(f"speed/{hosts}/memory", took.rss / 2**20, "MiB")
    if os.environ.get("HTSIM") and hosts <= 1024:
        htsim(bench, hosts, size, hops / took.cpu)


def htsim(bench, hosts, size, ours):
    """RoCE, a permutation drawn alike, lossless queues; hops are counted as ours: path lengths."""
    rng, to = random.Random(1), list(range(hosts))
    while any(a == b for a, b in enumerate(to)):
        rng.shuffle(to)
    matrix = bench.folder / "htsim.cm"
    matrix.write_text(f"Nodes {hosts}\nConnections {hosts}\n" + "".join(
        f"{a}->{b} id {a + 1} start 0 size {size}\n" for a, b in enumerate(to)))
    program = Path(os.environ["HTSIM"]) / "htsim_roce"
    begun = os.times().children_user
    done = subprocess.run(
        [program, "-o", "/dev/null", "-tm", matrix, "-nodes", str(hosts), "-conns", str(hosts),
         "-strat", "ecmp_host", "-paths", "256", "-q", "100", "-seed", "1", "-mtu", "1000",
         "-linkspeed", "100000", "-queue_type", "lossless_input", "-host_queue_type", "fair_prio",
         "-end", "1000000"], capture_output=True, text=True, check=True, timeout=600,
        cwd=bench.folder)
    cpu = os.times().children_user - begun
    ends = len(re.findall("finished at", done.stdout))
    k = round((hosts * 4) ** (1 / 3))
    half = k // 2
    links = sum(2 if a // half == b // half else 4 if a // half**2 == b // half**2 else 6
                for a, b in enumerate(to))
    hops = 2 * links * (size // 1000)
    bench.figure(f"speed/{hosts}/htsim-flows", ends, "ended")
    bench.figure(f"speed/{hosts}/htsim-hops", round(hops / cpu / 1e6, 3), "M/s")
    bench.figure(f"speed/{hosts}/beside-htsim", round(ours / (hops / cpu), 2), "times as fast")
