#!/usr/bin/env python3
"""Random small cases against an engine that knows no shortcuts: tests/sim/naive.py MYRIAD [COUNT
[SEED]]

Schedules are written down here once more, from what the algorithms are, and every rate is solved
from nothing at every event, in floating point; where that differs by a picosecond or more, once
more in exact fractions. Only the paths are the program's own (--paths). Each flow must end when it
does here.
"""
import csv
import math
import random
import subprocess
import sys
import tempfile
from collections import defaultdict
from fractions import Fraction
from pathlib import Path

GBPS = 100
CLOSE_PS = 1
# A channel that rose kept one that a short cut had made faster than it: off by 0.7 and 41 ns. And
# one ended exactly a sixteenth after a picosecond, which was the limit then: 2 ps in the end.
ONCE_WRONG = (1159, 1780, 1726)


class Tasks:
    """Sends with what they wait for."""

    def __init__(self):
        self.sends, self.after, self.behind = [], [], []

    def add(self, source, to, size, after, phase=0, hops=1, behind=None):
        """'behind': its bytes move after that one; its latency may pass before."""
        self.sends.append((source, to, size, phase, hops))
        self.behind.append(behind)
        self.after.append([one for one in after if one is not None])
        return len(self.sends) - 1


def up(value, parts):
    return -(-value // parts)


def ring(tasks, kind, ranks, size):
    steps = (2 if kind == "allreduce" else 1) * (len(ranks) - 1)
    last = [None] * len(ranks)
    for _ in range(steps):
        last = [tasks.add(ranks[i], ranks[(i + 1) % len(ranks)], up(size, len(ranks)),
                          [last[i - 1]], behind=last[i]) for i in range(len(ranks))]


def halving(tasks, kind, ranks, size):
    count, last, before = len(ranks), None, None
    down = [count >> (s + 1) for s in range(count.bit_length() - 1)]
    plan = {"allreduce": down + down[::-1], "reducescatter": down, "allgather": down[::-1]}[kind]
    for step, distance in enumerate(plan):
        now = [tasks.add(ranks[i], ranks[i ^ distance], up(size * distance, count),
                         [last[i ^ before]] if last else [], step,
                         behind=last[i] if last else None) for i in range(count)]
        last, before = now, distance


def trees(tasks, kind, ranks, size):
    """Every rank's piece down a tree of its own; steps over half of the list, a quarter, ..."""
    count, last, before = len(ranks), None, None
    far = [1 << k for k in range((count - 1).bit_length())]
    for step, distance in enumerate(far[::-1] if kind == "allgather" else far):
        pieces = len(range(distance, count, 2 * distance))
        now = [tasks.add(ranks[i], ranks[(i + distance) % count], up(size * pieces, count),
                         [last[i - before]] if last else [], step,
                         behind=last[i] if last else None) for i in range(count)]
        last, before = now, distance


def pairwise(tasks, ranks, size, window):
    count = len(ranks)
    for i in range(count):
        sent = []
        for shift in range(1, count):
            wait = [sent[-window]] if window and len(sent) >= window else []
            sent.append(tasks.add(ranks[i], ranks[(i + shift) % count], up(size, count), wait))


def chain(tasks, ranks, size, chunks):
    last = [None] * len(ranks)
    for c in range(chunks):
        got = None
        for i in range(len(ranks) - 1):
            part = size * (c + 1) // chunks - size * c // chunks
            got = last[i] = tasks.add(ranks[i], ranks[i + 1], part, [got], behind=last[i])


def draw(rng):
    """A job's words, and a maker of its tasks."""
    kind = rng.choice(["permutation", "alltoall", "ring", "halving", "chain", "tree"])
    count = rng.choice([4, 8, 16]) if kind == "halving" else rng.randint(2, 16)
    first = rng.randrange(0, 17 - count)
    ranks = list(range(first, first + count))
    size = rng.choice([1000, 12345, 100000, 1000003, 4000000])
    tail = f"{size},first={first},ranks={count}"
    if kind == "permutation":
        return f"permutation:{tail},seed={rng.randrange(99)}", None
    if kind == "alltoall":
        window = rng.choice([0, 0, 1, 3])
        return (f"alltoall:{tail},schedule=full" + (f",window={window}" if window else ""),
                lambda tasks: pairwise(tasks, ranks, size, window))
    if kind == "chain":
        chunks = rng.randint(1, 5)
        return (f"broadcast:ring,{tail},schedule=full,chunks={chunks}",
                lambda tasks: chain(tasks, ranks, size, chunks))
    what = rng.choice(["allgather", "reducescatter"] + ["allreduce"] * (kind != "tree"))
    maker = {"ring": ring, "halving": halving, "tree": trees}[kind]
    return (f"{what}:{kind},{tail},schedule=full",
            lambda tasks: maker(tasks, what, ranks, size))


def capacity(channel, leaves, half):
    if channel.startswith("pool/"):
        return GBPS * (half if int(channel.split("/")[1]) < leaves else half * half)
    return GBPS


def read(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def routes(rows):
    """By phase and pair: latency in ps, and how much of which channel a unit of rate takes."""
    known, total = {}, defaultdict(int)
    for row in rows:  # two jobs may have the same pair, and then have the same path
        total[row["phase"], row["from"], row["to"]] += int(row["permille"])
    for row in rows:
        key = int(row["phase"]), int(row["from"]), int(row["to"])
        latency = round(float(row["latency_us"]) * 1e6)
        _, uses = known.setdefault(key, (latency, defaultdict(Fraction)))
        for channel in row["path"].split():
            uses[channel] += Fraction(int(row["permille"]),
                                      total[row["phase"], row["from"], row["to"]])
    return known


def fair(moving, uses, most):
    """Raises everybody together until a channel is full, fixes its users, goes on."""
    rate, left = {}, dict(most)
    weight = defaultdict(int)
    for flow in moving:
        for channel, part in uses[flow].items():
            weight[channel] += part
    rising = set(moving)
    while rising:
        full = min((left[c] / w, c) for c, w in weight.items() if w > 1e-12)
        users = [flow for flow in rising if full[1] in uses[flow]]
        for flow in users:
            rate[flow] = full[0]
            rising.remove(flow)
            for channel, part in uses[flow].items():
                left[channel] -= full[0] * part
                weight[channel] -= part
        weight[full[1]] = 0
    return rate


def play(tasks, known, most, number):
    """Ends of all sends, in ps. Rates are bits a picosecond, numbers what 'number' makes."""
    count = len(tasks.sends)
    waits = [len(set(after)) for after in tasks.after]
    followers = defaultdict(set)
    for task, after in enumerate(tasks.after):
        for before in after:
            followers[before].add(task)
    uses = [{channel: number(part) for channel, part in known[phase, source, to][1].items()}
            for source, to, _, phase, _ in tasks.sends]
    most = {channel: number(Fraction(gbps, 1000)) for channel, gbps in most.items()}
    moves, bits, ends, now = {}, {}, [None] * count, 0

    def start(task):
        source, to, _, phase, hops = tasks.sends[task]
        moves[task] = now + known[phase, source, to][0] * hops

    for task in range(count):
        if waits[task] == 0:
            start(task)
    while moves or bits:
        rate = fair(list(bits), uses, most)
        # Transfers end at whole picoseconds, or 2/31 of one later: a part of one at a high
        # rate would else be many at a low rate later on, and nobody could tell what it is.
        ending = {task: now + math.ceil(bits[task] / rate[task] - number(Fraction(2, 31)))
                  for task in bits}
        free = [task for task in moves
                if tasks.behind[task] is None or ends[tasks.behind[task]] is not None]
        at = min([moves[task] for task in free] + list(ending.values()))
        for task in bits:
            bits[task] -= rate[task] * (at - now)
        now = at
        for task in [task for task, when in ending.items() if when <= now]:
            del bits[task]
            ends[task] = now
            for follower in followers[task]:
                waits[follower] -= 1
                if waits[follower] == 0:
                    start(follower)
        for task in [task for task, when in moves.items() if when <= now]:
            behind = tasks.behind[task]
            if behind is None or ends[behind] is not None:
                del moves[task]
                bits[task] = number(tasks.sends[task][2] * 8)
    return ends


def case(program, seed, folder):
    rng = random.Random(seed)
    half = 4
    lb = rng.choice(["ecmp", "ecmp", "spray", "planned"])
    delay = rng.choice(["0us", "1us", "300ns"])
    # Planned paths of one pair may differ between jobs, and only pairs are named.
    jobs = [draw(rng) for _ in range(1 if lb == "planned" else rng.choice([1, 1, 2, 3]))]
    words = [word for job, _ in jobs for word in ("--job", job)]
    files = {name: folder / f"{name}.csv" for name in ("fct", "paths", "flows")}
    command = [program, "sim", "--topology", f"fat-tree:k={2 * half},gbps=100,delay={delay}",
               "--lb", lb, "--seed", str(seed), *words, "-o", "json"]
    for name, path in files.items():
        command += [f"--{name}", path]
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                          timeout=600, check=False)
    if done.returncode:
        return f"{' '.join(map(str, command))}: exit {done.returncode}: {done.stderr}"
    rows = read(files["fct"])
    tasks, at = Tasks(), 0
    flows = [row for row in read(files["flows"]) if row["from"]]
    for _, maker in jobs:
        if maker:
            before = len(tasks.sends)
            maker(tasks)
            at += len(tasks.sends) - before
        else:  # drawn: which, only the program knows; as many flows as ranks, all at once
            ranks = int(jobs[jobs.index((_, maker))][0].split("ranks=")[1].split(",")[0])
            for row in flows[at:at + ranks]:
                tasks.add(int(row["from"]), int(row["to"]), int(row["bytes"]), [])
            at += ranks
    known = routes(read(files["paths"]))
    channels = {channel for _, uses in known.values() for channel in uses}
    most = {channel: capacity(channel, 2 * half * half, half) for channel in channels}
    for number in (float, Fraction):
        wrong = judge(tasks, play(tasks, known, most, number), rows)
        if not wrong:
            return None
    return f"seed {seed} ({lb}, {delay}, {' '.join(words)}): {wrong}"


def judge(tasks, ends, rows):
    """What is wrong with the program's rows, or None."""
    mine = sorted((source, to, size, end) for (source, to, size, _, _), end
                  in zip(tasks.sends, ends))
    theirs = sorted((int(row["from"]), int(row["to"]), int(row["bytes"]),
                     round(float(row["end_us"]) * 1e6)) for row in rows)
    if len(mine) != len(theirs):
        return f"{len(theirs)} flows, {len(mine)} are right"
    for own, other in zip(mine, theirs):
        if own[:3] != other[:3] or abs(own[3] - other[3]) > CLOSE_PS:
            return f"{other}, {own} is right"
    return None


def main():
    program = sys.argv[1]
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 60
    first = int(sys.argv[3]) if len(sys.argv) > 3 else 0
    seeds = [*range(first, first + count), *(() if len(sys.argv) > 2 else ONCE_WRONG)]
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        for seed in seeds:
            fault = case(program, seed, Path(folder))
            if fault:
                wrong += 1
                print(fault)
    print(f"{len(seeds)} cases, {wrong} wrong")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
