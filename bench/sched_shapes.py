"""sched_shapes: policies against first-fit, on shapes of traces that no public one has.

tools/sched/shapes.py draws them. MYRIAD_TRACES may name a folder with philly_jobs.csv[.xz] and
itp/cluster02.csv and so on (job_id, submission_time, duration, num_gpu).
"""
import json
import os
import subprocess
import sys
from pathlib import Path

SEEDS = (1, 2, 3, 4, 5)
SHAPES = ("half", "burst", "odd", "equal", "giant")
# Nodes of 8 GPUs, and nodes a leaf, that give a load of 0.62 to 0.77.
ITP = {"cluster02": (16, 4), "cluster03": (28, 4), "cluster04": (80, 8), "cluster06": (16, 4),
       "cluster07": (44, 8)}
GOALS = {"fair": {"mean": 1.15, "gpu-hours": 1.0, "multi-max": 1.0, "span": 1.0, "drain": 1.0},
         "preempt": {"mean": 1.0}}


def run(bench):
    sys.path.insert(0, str(bench.root / "tools/sched"))
    import shapes
    for shape in SHAPES:
        for seed in SEEDS:
            trace = bench.folder / f"{shape}-{seed}.csv"
            trace.write_text(shapes.trace(shape, seed), encoding="utf-8")
            compare(bench, f"{shape}-{seed}", trace, 64, 8)
    folder = Path(os.environ.get("MYRIAD_TRACES", "/nonexistent"))
    if (folder / "philly_jobs.csv").exists():
        compare(bench, "philly", folder / "philly_jobs.csv", 96, 8)
    for name, (nodes, leaf) in ITP.items():
        if (folder / "itp" / f"{name}.csv").exists():
            compare(bench, name, folder / "itp" / f"{name}.csv", nodes, leaf)


def replay(bench, trace, nodes, leaf, policy):
    command = [bench.program, "sched", "replay", trace, "--nodes", nodes, "--leaf-nodes", leaf,
               "--policy", policy, "-o", "json"]
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True,
                          timeout=300, check=False)
    if done.returncode != 0:
        bench.fail(policy, done.stderr.strip().splitlines()[0])
        return None
    return json.loads(done.stdout)


def compare(bench, name, trace, nodes, leaf):
    base = replay(bench, trace, nodes, leaf, "first-fit")
    for policy, goals in GOALS.items():
        result = replay(bench, trace, nodes, leaf, policy)
        if not base or not result:
            continue
        rows = {"mean": lambda r: r["wait_h"]["mean"],
                "p99": lambda r: r["wait_h"]["p99"],
                "gpu-hours": lambda r: r["wait_gpu_hours"],
                "multi-max": lambda r: r["wait_h_multinode"]["max"],
                "span": lambda r: r["leaf_span"]}
        for key, pick in rows.items():
            if pick(base) > 0:
                bench.figure(f"{name}/{policy}/{key}", pick(result) / pick(base), "x",
                             goals.get(key))
        bench.figure(f"{name}/{policy}/half-max", result["gang_half_max_h"], "h", None)
        bench.figure(f"{name}/{policy}/drain", result["drain_idle_percent"], "%",
                     goals.get("drain"))
