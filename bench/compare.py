#!/usr/bin/env python3
"""Is a new program as fast as an old one? Runs both in turn and compares medians of CPU time.

    bench/compare.py OLD NEW [--rounds 9] [--limit 1.05] [--only plan,sim]
    make bench NAME=compare [MYRIAD_BENCH_BEFORE=COMMIT] [MYRIAD_BENCH_ROUNDS=9]

OLD and NEW are programs, such as the one of the commit before a change, built beside; `make bench`
builds that commit itself, in build/before. Each round runs every command once with the one and once
with the other, so that whatever else the machine does meets both alike; user CPU time of the whole
process counts, which a busy machine hardly moves. Each program works on files that it wrote itself.
The exit status is 1 when a median is above the limit. The other groups of `make bench` say how
fast; this says whether it got slower.
"""
import argparse
import io
import os
import random
import statistics
import subprocess
import sys
import tarfile
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BEFORE = "36ed410"  # the last commit before the present round of work
LIMIT = 1.05
ROUNDS = 9
AT_LEAST_S = 0.4  # short commands are repeated until they can be compared
PLAN = ["plan", "examples/h100-100k.yaml", "--out", "{folder}/100k"]
DESIGN = "{folder}/100k/design.myr"
# name, command; words in braces are replaced.
COMMANDS = [
    ("plan", PLAN),
    ("verify", ["verify", DESIGN, "--from", "p2p", "{folder}/p2p.csv"]),
    ("sched", ["sched", "replay", "{trace}", "--nodes", "96", "--policy", "fair"]),
    ("fit", ["fit", "--model", "llama3-405b", "--gpus", "16384", "--device", "h100", "--batch",
             "2048", "--top", "3"]),
    ("fit-moe", ["fit", "--model", "qwen3-235b-a22b", "--gpus", "4096", "--device", "h100",
                 "--batch", "8192", "--top", "3"]),
    ("sim", ["sim", "--topology", "fat-tree:k=32", "--workload", "permutation:1MB", "--lb",
             "ecmp"]),
    ("sim-step", ["sim", "--design", DESIGN, "--workload",
                  "step:llama3-405b,tp=8,pp=16,micro_batch=1,global_batch=3136,tflops=400",
                  "--lb", "planned"]),
]


class Fault(Exception):
    """One of the programs fails, or cannot be made; the message is one line or more."""


def cpu_of(command):
    """User CPU seconds of one run; the program must not fail."""
    with tempfile.TemporaryFile() as said:
        child = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=said,
                                 stderr=subprocess.STDOUT)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode != 0:
            said.seek(0)
            words = said.read().decode(errors="replace").strip()[-500:]
            raise Fault(f"{' '.join(command)}: exit status {child.returncode}\n{words}")
    return usage.ru_utime


def trace(path, jobs=20000):
    """Jobs of a busy cluster from a fixed seed: submit_s, duration_s, num_gpus, vc."""
    rng, now = random.Random(1), 0.0
    with open(path, "w", encoding="utf-8") as file:
        file.write("submit_s,duration_s,num_gpus,vc\n")
        for _ in range(jobs):
            now += rng.expovariate(1 / 45)
            gpus = rng.choice((1, 1, 1, 2, 4, 8, 8, 16, 32, 64))
            file.write(f"{now:.0f},{60 + rng.expovariate(1 / 5000):.0f},{gpus},"
                       f"vc{rng.randrange(6)}\n")


class Program:
    """One of the two, and the folder with its files."""

    def __init__(self, path, folder, jobs):
        self.path = str(Path(path).resolve())
        self.words = {"folder": str(folder), "trace": str(jobs)}
        folder.mkdir()
        cpu_of(self.command(PLAN))
        cpu_of(self.command(["export", "p2p", DESIGN, "--out", "{folder}/p2p.csv"]))

    def command(self, words):
        return [self.path, *(word.format(**self.words) for word in words)]


def measure(programs, words, rounds):
    """CPU seconds of each program, a round each, taken in turn."""
    commands = [program.command(words) for program in programs]
    repeats = max(1, min(50, round(AT_LEAST_S / max(cpu_of(commands[0]), 0.001))))
    samples = [[], []]
    for turn in range(rounds):
        order = (0, 1) if turn % 2 == 0 else (1, 0)
        for which in order:
            samples[which].append(sum(cpu_of(commands[which]) for _ in range(repeats)) / repeats)
    return samples


def pair(folder, old, new):
    """Both programs, each with its files below the folder."""
    jobs = folder / "jobs.csv"
    trace(jobs)
    return [Program(path, folder / name, jobs) for path, name in ((old, "old"), (new, "new"))]


def medians(programs, words, rounds):
    """(old, new) CPU seconds of one command."""
    return tuple(statistics.median(row) for row in measure(programs, words, rounds))


def build(commit, folder):
    """The program of a commit, built in a folder that is kept: the next run finds it there."""
    listed = subprocess.run(["git", "-C", ROOT, "rev-parse", "--verify", "--quiet",
                             f"{commit}^{{commit}}"], capture_output=True, text=True, check=False)
    name = listed.stdout.strip()
    if listed.returncode != 0:
        raise Fault(f"commit {commit} is not in this clone; name another by MYRIAD_BENCH_BEFORE")
    place = folder / name[:12]
    program = place / "build/bin/myriad"
    if program.exists():
        return program
    packed = subprocess.run(["git", "-C", ROOT, "archive", name], capture_output=True, check=True)
    with tarfile.open(fileobj=io.BytesIO(packed.stdout)) as archive:
        archive.extractall(place / "source")
    print(f"compare: building commit {name[:12]} in {place.relative_to(ROOT)}", file=sys.stderr,
          flush=True)
    for command in (["cmake", "-G", "Ninja", "-S", place / "source", "-B", place / "build",
                     "-DCMAKE_BUILD_TYPE=Release", "-DMYRIAD_TESTS=OFF", "-DMYRIAD_WERROR=OFF"],
                    ["ninja", "-C", place / "build", "--quiet", "myriad"]):
        made = subprocess.run(command, capture_output=True, text=True, check=False)
        if made.returncode != 0:
            raise Fault((made.stderr.strip() or made.stdout.strip()).splitlines()[-1])
    return program


def run(bench):
    """The group of `make bench`: this tree's program beside that of the commit before."""
    rounds = int(os.environ.get("MYRIAD_BENCH_ROUNDS", ROUNDS))
    try:
        old = build(os.environ.get("MYRIAD_BENCH_BEFORE", BEFORE), ROOT / "build/before")
        programs = pair(bench.folder, old, bench.program)
    except Fault as fault:
        bench.fail("before", str(fault).splitlines()[0])
        return
    for name, words in COMMANDS:
        try:
            before, now = medians(programs, words, rounds)
        except Fault as fault:
            bench.fail(name, str(fault).splitlines()[-1])
            continue
        bench.figure(name, now, "s", LIMIT * before, "before", before)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--limit", type=float, default=LIMIT)
    parser.add_argument("--only", default="", help="names with commas")
    args = parser.parse_args()
    only = args.only.split(",") if args.only else [name for name, _ in COMMANDS]
    worst, start = 0.0, time.monotonic()
    with tempfile.TemporaryDirectory(prefix="myriad-compare-") as folder:
        programs = pair(Path(folder), args.old, args.new)
        print(f"{'command':<10} {'old s':>9} {'new s':>9} {'ratio':>6}  rounds {args.rounds}")
        for name, words in COMMANDS:
            if name not in only:
                continue
            old, new = medians(programs, words, args.rounds)
            ratio = new / old
            worst = max(worst, ratio)
            slow = f"  above {args.limit}" if ratio > args.limit else ""
            print(f"{name:<10} {old:>9.4f} {new:>9.4f} {ratio:>6.3f}{slow}", flush=True)
    print(f"worst {worst:.3f}, limit {args.limit}, {time.monotonic() - start:.0f} s")
    sys.exit(worst > args.limit)


if __name__ == "__main__":
    try:
        main()
    except Fault as fault:
        sys.exit(str(fault))
