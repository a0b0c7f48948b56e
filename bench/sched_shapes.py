"""sched_shapes: policies against first-fit, on shapes of traces that no public one has.

tools/sched/shapes.py draws them. MYRIAD_TRACES may name a folder with philly_jobs.csv[.xz] and
itp/cluster01.csv to cluster10.csv (job_id, submission_time, duration, num_gpu); what is there is
replayed too, and all clusters of ITP together. At the end stands a table: for each group of traces
the range of the ratio to first-fit.
"""
import csv
import json
import lzma
import os
import statistics
import subprocess
import sys
from pathlib import Path

SEEDS = (1, 2, 3, 4, 5)
SHAPES = ("half", "burst", "odd", "equal", "giant")
# Nodes of 8 GPUs, and nodes a leaf, that give a load of 0.62 to 0.77.
ITP = {"cluster02": (16, 4), "cluster03": (28, 4), "cluster04": (80, 8), "cluster06": (16, 4),
       "cluster07": (44, 8)}
ITP_ALL = (192, 16)
MANY_JOBS = 2000
GOALS = {"fair": {"mean": 1.15, "gpu-hours": 1.0, "multi-max": 1.0, "span": 1.0, "drain": 1.0},
         "preempt": {"mean": 1.0, "p99": 1.0}}
FIGURES = {"mean": lambda r: r["wait_h"]["mean"],
           "p99": lambda r: r["wait_h"]["p99"],
           "gpu-hours": lambda r: r["wait_gpu_hours"],
           "multi-max": lambda r: r["wait_h_multinode"]["max"],
           "span": lambda r: r["leaf_span"]}


def run(bench):
    sys.path.insert(0, str(bench.root / "tools/sched"))
    import shapes
    table = {}
    folder = Path(os.environ.get("MYRIAD_TRACES", "/nonexistent"))
    philly = unpacked(bench, folder / "philly_jobs.csv")
    if philly:
        compare(bench, table, "philly", philly, 96, 8)
    for name, (nodes, leaf) in ITP.items():
        if (folder / "itp" / f"{name}.csv").exists():
            compare(bench, table, f"itp-{name}", folder / "itp" / f"{name}.csv", nodes, leaf)
    together = itp_together(bench, folder / "itp")
    if together:
        compare(bench, table, "itp-all", together, *ITP_ALL)
    for shape in SHAPES:
        for seed in SEEDS:
            trace = bench.folder / f"{shape}-{seed}.csv"
            trace.write_text(shapes.trace(shape, seed), encoding="utf-8")
            compare(bench, table, f"{shape}-{seed}", trace, 64, 8)
    summarise(bench, table)


def unpacked(bench, path):
    """The trace, or a copy without its xz; None when there is none."""
    packed = path.with_name(path.name + ".xz")
    if path.exists() or not packed.exists():
        return path if path.exists() else None
    copy = bench.folder / path.name
    copy.write_bytes(lzma.open(packed).read())
    return copy


def itp_together(bench, folder):
    """The jobs of all ten clusters as one trace; None unless all are there."""
    rows = []
    for i in range(1, 11):
        path = folder / f"cluster{i:02d}.csv"
        if not path.exists():
            return None
        with open(path, newline="", encoding="utf-8") as file:
            rows += [(int(r["submission_time"]), int(r["duration"]), int(r["num_gpu"]), r["job_id"])
                     for r in csv.DictReader(file)]
    trace = bench.folder / "itp-all.csv"
    trace.write_text("submission_time,duration,num_gpu,job_id\n" + "".join(
        ",".join(map(str, row)) + "\n" for row in sorted(rows)), encoding="utf-8")
    return trace


def replay(bench, trace, nodes, leaf, policy):
    command = [bench.program, "sched", "replay", trace, "--nodes", nodes, "--leaf-nodes", leaf,
               "--policy", policy, "-o", "json"]
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True,
                          timeout=300, check=False)
    if done.returncode != 0:
        bench.fail(policy, done.stderr.strip().splitlines()[0])
        return None
    return json.loads(done.stdout)


def compare(bench, table, name, trace, nodes, leaf):
    plain = {policy: replay(bench, trace, nodes, leaf, policy) for policy in ("fifo", "first-fit")}
    base = plain["first-fit"]
    for policy, goals in GOALS.items():
        result = replay(bench, trace, nodes, leaf, policy)
        if not result or not all(plain.values()):
            continue
        row = {key: pick(result) / pick(base) for key, pick in FIGURES.items() if pick(base) > 0}
        for key, ratio in row.items():
            few = key == "p99" and result["jobs"] <= MANY_JOBS
            bench.figure(f"{name}/{policy}/{key}", ratio, "x", None if few else goals.get(key))
        bench.figure(f"{name}/{policy}/half-max", result["gang_half_max_h"], "h", None)
        bench.figure(f"{name}/{policy}/drain", result["drain_idle_percent"], "%",
                     goals.get("drain"))
        row["beaten"] = any(other["wait_h"]["mean"] < result["wait_h"]["mean"] and
                            other["wait_h"]["max"] < result["wait_h"]["max"]
                            for other in plain.values())
        row["name"] = name
        table.setdefault((policy, name.split("-")[0]), []).append(row)


def summarise(bench, table):
    """Prints a row for each group and policy, and what the goals say of all together."""
    print("| trace | policy | " + " | ".join(FIGURES) + " |")
    for (policy, group), rows in sorted(table.items()):
        cells = []
        for key in FIGURES:
            ratios = [row[key] for row in rows if key in row]
            low, high = f"{min(ratios):.2f}", f"{max(ratios):.2f}"
            cells.append(low if low == high else f"{low}-{high}")
        print(f"| {group} | {policy} | " + " | ".join(cells) + " |", flush=True)
    for policy in GOALS:
        means = [row["mean"] for (of, group), rows in table.items() for row in rows
                 if of == policy and group != "half" and "mean" in row]
        beaten = [row["name"] for (of, group), rows in table.items() for row in rows
                  if of == policy and group != "half" and row["beaten"]]
        bench.figure(f"all/{policy}/median-mean", statistics.median(means), "x", 1.0)
        bench.figure(f"all/{policy}/beaten", len(beaten), "traces", 0)
        print(f"{policy} is beaten in mean and longest wait on: {' '.join(beaten) or 'none'}")
