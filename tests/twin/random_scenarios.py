#!/usr/bin/env python3
"""Small clusters that nobody would build, with every trouble at once: all invariants must hold.

    tests/twin/random_scenarios.py MYRIAD [COUNT [FIRST]]

Scenario k is drawn from number k. Shapes, windows, leases and rates are far from those that the
examples use: a rule that holds only for usual numbers breaks here.
"""
import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path

# Broke an invariant once. 10052, 10526: an agent that refused a late start said "stopped" while a
# rank of the epoch before was still ending. 42272: a node was lost while an epoch job on it was
# being stopped, which then waited for it, and nobody repaired it.
FOUND = (10, 10052, 10526, 42272)


def group(rng, gpus, total):
    sizes = sorted({min(size, total) for size in (1, 2, 3, 5, gpus, 2 * gpus, total)})
    some = rng.sample(sizes, min(2, len(sizes)))
    return {"count": rng.randint(1, 30),
            "gpus": rng.choice([rng.choice(sizes), {size: rng.randint(1, 6) for size in some}]),
            "hours": round(rng.uniform(0.05, 5), 3),
            "interval_s": rng.choice([60, 77.7, 600, 1800]),
            "stall_s": rng.choice([0, 5, 30]),
            "restart": rng.choice(["strict", "epoch"]),
            "lease_s": rng.choice([30, 600, 1000]),
            "retries": rng.choice([0, 3, 1000]),
            "priority": rng.randint(-5, 5),
            "limit_s": rng.choice([0, 0, 3600]),
            "cancel_ppm": rng.choice([0, 0, 300000])}


def scenario(number):
    rng = random.Random(number)
    nodes, gpus = rng.choice([1, 2, 3, 5, 8, 16, 40]), rng.choice([1, 3, 4, 8])

    def maybe(odds, value):
        return value if rng.random() < odds else None

    parts = {
        "cluster": {"nodes": nodes, "gpus_per_node": gpus, "leaf_nodes": rng.choice([1, 2, 8])},
        "hours": rng.choice([3, 12, 24]),
        "policy": rng.choice(["fifo", "first-fit", "fair", "preempt"]),
        "jobs": [group(rng, gpus, nodes * gpus) for _ in range(rng.randint(1, 3))],
        "check_every": rng.choice([10, 100]),
        "faults": maybe(0.5, {"rate": rng.choice(["llama3", 500, 20000])}),
        "messages": maybe(0.6, {"lost_ppm": rng.randint(0, 300000),
                                "twice_ppm": rng.randint(0, 200000),
                                "late_ppm": rng.randint(0, 200000),
                                "late_s": rng.choice([1, 30, 290])}),
        "partitions": maybe(0.5, {"per_day": rng.choice([5, 60]), "nodes": rng.randint(1, nodes),
                                  "minutes": rng.choice([1, 10, 30])}),
        "crashes": maybe(0.5, {"per_day": rng.choice([5, 100]),
                               "seconds": rng.choice([1, 30, 900])}),
        "clock": maybe(0.3, {"per_day": 20, "seconds": 3600}),
        "drains": maybe(0.4, {"per_day": 20, "hours": rng.choice([0.1, 4])}),
        "control": maybe(0.6, {"start_window_s": rng.choice([1, 5, 300]),
                               "hang_s": rng.choice([10, 60, 600]),
                               "drain_permille": rng.choice([0, 100, 1000])}),
    }
    # Drawn behind the others, so that a number's cluster stays what it was.
    parts["tenants"] = tenants = rng.randint(1, 3)
    for key, value in (("holds", {"per_day": 30, "hours": rng.choice([0.2, 2])}),
                       ("weights", {"per_day": 30}),
                       ("levers", {"per_day": rng.choice([20, 200])}),
                       ("questions", {"per_day": rng.choice([20, 200])}),
                       ("symptoms", {"per_day": 20, "nodes": rng.randint(1, 3)})):
        parts[key] = maybe(0.4, value)
    for jobs in parts["jobs"]:
        jobs["tenant"] = rng.randrange(tenants)
        for key, value in (("fixed", True), ("after_ppm", 300000), ("late_s", 20),
                           ("held_ppm", 300000), ("date_ppm", 200000), ("least_percent", 50),
                           ("within", rng.choice(["leaf", "pod"])), ("leaf_max", rng.randint(1, 4)),
                           ("tp", rng.choice([2, 4, gpus]))):
            if rng.random() < 0.15:
                jobs[key] = value
        jobs["pp"] = rng.choice([1, 2]) if "tp" in jobs else 0
    return {key: value for key, value in parts.items() if value is not None}


def main():
    program = sys.argv[1]
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 60
    first = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    wrong, events = 0, 0
    with tempfile.TemporaryDirectory(prefix="myriad-twin-") as folder:
        path = Path(folder) / "scenario.yaml"
        for number in [*FOUND, *range(first, first + count)]:
            path.write_text(json.dumps(scenario(number)))  # JSON is YAML
            done = subprocess.run([program, "twin", "run", path, "--seed", str(number), "-o",
                                   "json"], capture_output=True, text=True, check=False)
            if done.returncode not in (0, 1):
                print(f"scenario {number}: status {done.returncode}: {done.stderr.strip()}")
                wrong += 1
                continue
            answer = json.loads(done.stdout)
            events += answer["events"]
            if answer["invariant_violations"]:
                print(f"scenario {number}: {answer['first_violation']}", flush=True)
                wrong += 1
    print(f"{len(FOUND) + count} scenarios, {events} events, {wrong} broken")
    sys.exit(1 if wrong or not events else 0)


if __name__ == "__main__":
    main()
