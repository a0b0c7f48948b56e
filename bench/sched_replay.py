"""sched_replay: published traces of jobs through the queue.

MYRIAD_TRACES names a folder with philly_jobs.csv[.xz] (submit_s, duration_s, num_gpus, vc) and
acme_cluster_summary.csv (see tools/sched/summary_trace.py); without it the group says so and ends.
The policies and their constants are the same everywhere.
"""
import json
import lzma
import os
import subprocess
import sys
from pathlib import Path

COPIES = 5
# Nodes of 8 GPUs, and jobs drawn: enough for several days.
CLUSTERS = {"Seren": (286, 20000), "Kalos": (302, 20000), "Helios": (802, 60000),
            "PAI": (96, 40000), "Philly": (96, 20000)}
LOADS = (0.6, 0.7, 0.85)
SEEDS = (1, 2, 3)
GOALS = {"fair": {"mean": 0.25, "p99": 5, "multi": 1.5, "multi-max": 48, "span": 1.10},
         "preempt": {"mean": 0.10, "p99": 2, "lost": 1.0}}


def run(bench):
    folder = os.environ.get("MYRIAD_TRACES")
    if not folder or not Path(folder).is_dir():
        print("sched_replay skipped: MYRIAD_TRACES names no folder with traces", flush=True)
        return
    philly = unpacked(bench, Path(folder), "philly_jobs.csv")
    if philly:
        philly_on_768(bench, philly)
    summary = Path(folder) / "acme_cluster_summary.csv"
    if summary.exists():
        for cluster, (nodes, jobs) in CLUSTERS.items():
            for load in LOADS:
                drawn_from_summary(bench, summary, cluster, nodes, jobs, load)


def unpacked(bench, folder, name):
    """The trace, or a copy without its xz."""
    if (folder / name).exists():
        return folder / name
    packed = folder / f"{name}.xz"
    if not packed.exists():
        print(f"sched_replay skipped: {folder} has no {name}", flush=True)
        return None
    (bench.folder / name).write_bytes(lzma.open(packed).read())
    return bench.folder / name


def replay(bench, trace, nodes, policy, *more):
    command = [bench.program, "sched", "replay", trace, "--nodes", nodes, "--policy", policy,
               "-o", "json", "--timing", *more]
    result = subprocess.run([str(part) for part in command], capture_output=True, text=True,
                            timeout=300, check=False)
    if result.returncode != 0:
        bench.fail(f"{policy}", result.stderr.strip().splitlines()[0])
        return None
    return json.loads(result.stdout)


def figures(bench, name, results, goals):
    """Means over the results, beside the goals."""
    def mean(pick):
        return sum(pick(r) for r in results) / len(results)
    rows = {"mean": ("h", lambda r: r["wait_h"]["mean"]),
            "p99": ("h", lambda r: r["wait_h"]["p99"]),
            "max": ("h", lambda r: r["wait_h"]["max"]),
            "multi": ("h", lambda r: r["wait_h_multinode"]["mean"]),
            "multi-max": ("h", lambda r: r["wait_h_multinode"]["max"]),
            "span": ("x", lambda r: r["leaf_span"]),
            "lost": ("%", lambda r: r["lost_gpu_hours_percent"]),
            "wall": ("s", lambda r: r["timing"]["replay_s"])}
    for key, (unit, pick) in rows.items():
        bench.figure(f"{name}/{key}", mean(pick), unit, goals.get(key))


def philly_on_768(bench, trace):
    for policy in ("fifo", "first-fit", "fair", "preempt"):
        goals = dict(GOALS.get(policy, {}), wall=1.0)
        result = replay(bench, trace, 96, policy)
        if result:
            figures(bench, f"philly/{policy}", [result], goals)
        if policy in GOALS:
            copies = [replay(bench, trace, 96, policy, "--jitter", 900, "--seed", seed + 1)
                      for seed in range(COPIES)]
            if all(copies):
                figures(bench, f"philly-jitter/{policy}", copies, GOALS[policy])


def drawn_from_summary(bench, summary, cluster, nodes, jobs, load):
    """Half of the traces with the rhythm of days, half Poisson's."""
    tool = bench.root / "tools/sched/summary_trace.py"
    traces = []
    for seed in SEEDS:
        for arrivals in ("day", "poisson"):
            traces.append(bench.folder / f"{cluster}-{arrivals}-{load}-{seed}.csv")
            command = [sys.executable, tool, summary, "--cluster", cluster, "--gpus", nodes * 8,
                       "--load", load, "--jobs", jobs, "--arrivals", arrivals, "--seed", seed]
            with open(traces[-1], "w", encoding="utf-8") as file:
                subprocess.run([str(part) for part in command], stdout=file, check=True)
    for policy, goals in GOALS.items():
        results = [replay(bench, trace, nodes, policy) for trace in traces]
        if all(results):
            figures(bench, f"{cluster.lower()}-{load}/{policy}", results, goals)
