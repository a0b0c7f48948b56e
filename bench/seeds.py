"""seeds: a day of 10,240 GPUs from many seeds, on all cores; every invariant must hold in each.

    make bench NAME=seeds       SEEDS=100 bench/run seeds
"""
import concurrent.futures
import json
import os
import subprocess
import time

LONG = True
SCENARIO = "examples/twin/day-10k.yaml"


def run(bench):
    seeds = int(os.environ.get("SEEDS", "1000"))
    cores = os.cpu_count() or 1
    began = time.monotonic()
    broken, events = 0, 0
    with concurrent.futures.ThreadPoolExecutor(cores) as pool:
        for seed, answer in pool.map(lambda s: (s, play(bench, s)), range(1, seeds + 1)):
            if answer is None:
                bench.fail(f"seed-{seed}", "did not run")
                continue
            events += answer["events"]
            if answer["invariant_violations"]:
                broken += 1
                print(f"seed {seed}: {answer['first_violation']}", flush=True)
    took = time.monotonic() - began
    bench.figure("seeds", seeds, "seeds")
    bench.figure("seeds/broken", broken, "seeds", goal=0)
    bench.figure("seeds/events", events / 1e6, "M")
    bench.figure("seeds/time", took / 60, "min", goal=40 * seeds / 1000)


def play(bench, seed):
    command = [bench.program, "twin", "run", SCENARIO, "--seed", str(seed), "-o", "json"]
    result = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                            cwd=bench.root, check=False)
    return json.loads(result.stdout) if result.returncode in (0, 1) else None
