#!/usr/bin/env python3
"""Sweeps: killed and gone on with, cut files, shards, bad files; results compared.

    tests/sim/sweep.py MYRIAD
"""
import csv
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from lib import TREE, Checks, call

SWEEP = """topology: fat-tree:k=8,gbps=100,delay=1us
workload: allreduce:{algorithm},{size},ranks={ranks}
knobs: {algorithm: [ring, halving], size: [1KB, 1MB], ranks: [16, 6]}
lb: [ecmp, spray]
seed: 0-3
"""
SLOW = """topology: fat-tree:k=16,gbps=100,delay=1us
workload: permutation:1MB
lb: [ecmp, adaptive]
seed: 0-39
"""
# What is wrong, and a part of the complaint.
BAD = {
    "": "the file is empty",
    "- 1\n": "a map of keys is expected",
    "topology: a\n": "'workload' is missing",
    "workload: a\n": "'design' or 'topology' is expected",
    "topology: a\ndesign: b\nworkload: c\n": "one of the two",
    "topology: a\nworkload: b\nsede: 1\n": "sede",
    "topology: a\nworkload: b\nseed: x\n": "seed",
    "topology: a\nworkload: b\nseed: 9-1\n": "seed",
    "topology: a\nworkload: b\nseed: [1, x]\n": "seed",
    "topology: a\nworkload: b\nlb: magic\n": "magic",
    "topology: a\nworkload: b\nlb: []\n": "'lb' has 0 values",
    "topology: a\nworkload: b\nefficiency: 2000\n": "efficiency",
    "topology: a\nworkload: 'b:{size}'\n": "'{size}' in 'b:{size}' is no knob",
    "topology: a\nworkload: 'b:{size'\n": "is no knob",
    "topology: a\nworkload: b\nknobs: {size: [1]}\n": "no setting has the knob '{size}'",
    "topology: a\nworkload: b\nknobs: {lb: [1]}\n": "cannot be called 'lb'",
    "topology: a\nworkload: b\nknobs: 5\n": "knobs",
    "topology: a\nworkload: b\nseed: 0-99999\nqueue_pairs: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]\n":
        "more than 1000000 points",
}


def rows_of(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def sweep(program, folder, *words, env=None):
    return subprocess.run([program, "sim", "sweep", *map(str, words)], cwd=folder, timeout=600,
                          capture_output=True, text=True, check=False,
                          env={**os.environ, **(env or {})})


def grid(check, program, folder):
    """Every combination once, in the order of the file, as 'sim' itself answers it."""
    (folder / "s.yaml").write_text(SWEEP)
    done = sweep(program, folder, "s.yaml", "--out", "one.csv", "--plot", "p.html", "-o", "json")
    check.equal("holes are a no", done.returncode, 1)
    found = json.loads(done.stdout)
    rows = rows_of(folder / "one.csv")
    check.equal("points", found["points"], 64)
    check.equal("rows", len(rows), 64)
    check.equal("without result", found["failed"], 16)
    check.true("in order", [int(row["point"]) for row in rows] == list(range(64)))
    check.true("the last list is fastest", [row["seed"] for row in rows[:5]] == list("01230"))
    check.true("settings that are not given are told", rows[0]["queue_pairs"] == "1"
               and rows[0]["pause"] == "0" and rows[0]["net"] == "compute")
    for row in rows[::7]:
        words = f"allreduce:{row['{algorithm}']},{row['{size}']},ranks={row['{ranks}']}"
        alone = call(program, "--topology", TREE, "--workload", words, "--lb", row["lb"],
                     "--seed", row["seed"], "-o", "json")
        if row["status"] == "ok":
            own = json.loads(alone.stdout)
            check.equal(f"{words}: its end", float(row["end_us"]), own["sim_time_us"])
            check.true(f"{words}: its digest", row["hash"] == own["hash"])
        else:
            check.true(f"{words}: its reason", row["status"] in alone.stderr)
    page = (folder / "p.html").read_text()
    check.true("a chart for the collective", page.count("<svg") == 1 and "all-reduce" in page
               and "halving, spray" in page)
    several = SWEEP + "jobs: ['permutation:1MB,ranks=16,first=16']\n"
    (folder / "jobs.yaml").write_text(several.replace("seed: 0-3", "seed: 0"))
    sweep(program, folder, "jobs.yaml", "--out", "jobs.csv")
    rows = rows_of(folder / "jobs.csv")
    check.true("a row a job", [row["job"] for row in rows[:4]] == ["0", "1", "0", "1"]
               and float(rows[0]["slowdown"]) >= 1)


def packets(check, program, folder):
    """Thresholds and controls of packets, each point as 'sim' itself answers it."""
    (folder / "packets.yaml").write_text(
        "topology: fat-tree:k=4\nworkload: incast:8:1,1MB\nmode: packet\n"
        "cc: [dcqcn, hpcc, timely]\nkmin: [20000, 100000]\nmtu: 1500\n")
    done = sweep(program, folder, "packets.yaml", "--out", "packets.csv")
    rows = rows_of(folder / "packets.csv")
    check.equal("what is not built is a no", done.returncode, 1)
    check.equal("points of packets", len(rows), 6)
    for row in rows:
        alone = call(program, "--topology", "fat-tree:k=4", "--workload", "incast:8:1,1MB",
                     "--mode", "packet", "--cc", row["cc"], "--kmin", row["kmin"], "--mtu",
                     row["mtu"], "-o", "json")
        if row["cc"] == "timely":
            check.true("its reason", "--cc timely is not built" in row["status"])
        else:
            check.true("its digest", row["hash"] == json.loads(alone.stdout)["hash"])
    check.true("thresholds matter to marks", rows[0]["hash"] != rows[1]["hash"])
    for line in ("mode: hybrid", "cc: swift", "kmin: 0", "mtu: 63", "buffer: 1", "pmax: 1001"):
        (folder / "bad.yaml").write_text("topology: fat-tree:k=4\nworkload: permutation:1MB\n"
                                         + line + "\n")
        done = sweep(program, folder, "bad.yaml", "--out", "bad.csv")
        check.true(f"{line}: exit {done.returncode}, {done.stderr!r}",
                   done.returncode == 2 and "bad.yaml:3:" in done.stderr)


def shards(check, program, folder):
    whole = (folder / "one.csv").read_bytes()
    for shard in (3, 1, 2):
        check.true("not before all are there", not (folder / "three.csv").exists())
        sweep(program, folder, "s.yaml", "--out", "three.csv", "--shard", f"{shard}/3")
    check.true("three shards give the same bytes", (folder / "three.csv").read_bytes() == whole)
    for task in (7, 5):
        sweep(program, folder, "s.yaml", "--out", "array.csv", env={
            "SLURM_ARRAY_TASK_ID": str(task), "SLURM_ARRAY_TASK_MIN": "5",
            "SLURM_ARRAY_TASK_STEP": "2", "SLURM_ARRAY_TASK_COUNT": "2"})
    check.true("so does a Slurm array", (folder / "array.csv").read_bytes() == whole)
    half = sweep(program, folder, "s.yaml", "--out", "rest.csv", "--shard", "1/2")
    check.true("half of it", "32 of 64" in half.stdout)
    sweep(program, folder, "s.yaml", "--out", "rest.csv")
    check.true("a run of all plays the rest", (folder / "rest.csv").read_bytes() == whole
               and len((folder / "rest.csv.part-1-of-1").read_text().splitlines()) == 33)


def cut(check, program, folder):
    """Whatever byte the journal ends with, the next run makes it whole."""
    whole, journal = (folder / "one.csv").read_bytes(), folder / "one.csv.part-1-of-1"
    text = journal.read_bytes()
    for length in (0, 5, len(text) // 3, len(text) - 1, len(text)):
        journal.write_bytes(text[:length])
        (folder / "one.csv").unlink()
        done = sweep(program, folder, "s.yaml", "--out", "one.csv")
        check.true(f"cut to {length}: {done.stderr}", (folder / "one.csv").read_bytes() == whole)
    journal.write_bytes(text[:200] + b"\0\xff" + text[200:])
    done = sweep(program, folder, "s.yaml", "--out", "one.csv")
    check.true(f"damaged: {done.stderr}", done.returncode == 2
               and done.stderr.startswith("myriad: one.csv.part-1-of-1:"))
    journal.write_bytes(text)
    (folder / "other.yaml").write_text(SWEEP.replace("0-3", "0-4"))
    done = sweep(program, folder, "other.yaml", "--out", "one.csv")
    check.true("of another sweep", done.returncode == 2 and "another sweep" in done.stderr)


def killed(check, program, folder):
    (folder / "slow.yaml").write_text(SLOW)
    sweep(program, folder, "slow.yaml", "--out", "calm.csv", "--workers", "1")
    journal = folder / "killed.csv.part-1-of-1"
    kills = 0
    for _ in range(4):
        before = journal.stat().st_size if journal.exists() else 0
        with subprocess.Popen([program, "sim", "sweep", "slow.yaml", "--out", "killed.csv"],
                              cwd=folder, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL) as run:
            until = time.monotonic() + 300
            while run.poll() is None and time.monotonic() < until:
                if journal.exists() and journal.stat().st_size > before + 1000:
                    run.send_signal(signal.SIGKILL)
                    kills += 1
                    break
                time.sleep(0.002)
            run.wait(300)
        lines = journal.read_text().count("\n")
        check.true("something was done", lines > 1)
    done = sweep(program, folder, "slow.yaml", "--out", "killed.csv", "--timing", "-o", "json")
    check.equal("goes on", done.returncode, 0)
    resumed = json.loads(done.stdout)["timing"]["resumed"]
    check.true(f"{kills} kills, {resumed} points not played again", kills > 0 and resumed > 0)
    points = [line.split(",")[0] for line in journal.read_text().splitlines()[1:]]
    check.true("no point twice", len(points) == len(set(points)) == 80)
    check.true("the same bytes as a calm run",
               (folder / "killed.csv").read_bytes() == (folder / "calm.csv").read_bytes())


def bad(check, program, folder):
    for number, (text, part) in enumerate(BAD.items()):
        name = f"bad-{number}.yaml"
        (folder / name).write_text(text)
        done = sweep(program, folder, name, "--out", "bad.csv")
        check.true(f"{text!r}: {done.returncode} {done.stderr}", done.returncode == 2
                   and not done.stdout and part in done.stderr
                   and done.stderr.startswith(f"myriad: {name}")
                   and done.stderr.count("\n") <= 2 and not (folder / "bad.csv").exists())
    for words, part in ((("--shard", "0/3"), "K/N"), (("--shard", "4/3"), "K/N"),
                        (("--shard", "1"), "K/N"), (("--out", "-"), "standard output"),
                        (("--out", "x.csv", "--shard", "1/2", "--plot", "p.svg"), "--plot")):
        done = sweep(program, folder, "s.yaml", *words)
        check.true(f"{words}: {done.stderr}", done.returncode == 2 and part in done.stderr)
    done = sweep(program, folder, "s.yaml", "--shard", "1/2")
    check.true("shards need a file", done.returncode == 2 and "--out" in done.stderr)
    done = sweep(program, folder, "slow.yaml", "--plot", "p.svg")
    check.true("nothing to draw", done.returncode == 2 and "collective" in done.stderr)


def compare(check, program, folder):
    def run(*words):
        return subprocess.run([program, "sim", "compare", *words, "-o", "json"], cwd=folder,
                              capture_output=True, text=True, timeout=600, check=False)
    check.equal("a result equals itself", run("one.csv", "one.csv").returncode, 0)
    rows = rows_of(folder / "one.csv")
    rows[0]["end_us"] = str(float(rows[0]["end_us"]) * 1.02)
    with open(folder / "moved.csv", "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, rows[0].keys())
        writer.writeheader()
        writer.writerows(rows)
    found = json.loads(run("one.csv", "moved.csv").stdout)
    check.true("two percent", found["beyond"] == 1 and len(found["rows"]) == 1
               and abs(found["rows"][0]["percent"] - 2) < 1e-3
               and found["rows"][0]["figure"] == "end_us")
    check.equal("beyond one percent", run("one.csv", "moved.csv", "--tolerance", "1%").returncode,
                1)
    check.equal("within three", run("one.csv", "moved.csv", "--tolerance", "0.03").returncode, 0)
    words = ("--topology", TREE, "--workload", "permutation:1MB", "--seed", "3")
    for name, policy in (("a", "ecmp"), ("b", "spray")):
        done = call(program, *words, "--lb", policy, "--fct", folder / f"{name}.csv", "-o", "json")
        (folder / f"{name}.json").write_text(done.stdout)
    answers = [json.loads((folder / f"{name}.json").read_text()) for name in "ab"]
    found = json.loads(run("a.json", "b.json").stdout)
    by_name = {(row["of"], row["figure"]): row for row in found["rows"]}
    row = by_name["the run", "fct p99 us"]
    check.true("percentiles of answers", row["a"] == answers[0]["fct_us"]["p99"]
               and row["b"] == answers[1]["fct_us"]["p99"])
    check.true("jobs of answers", by_name["permutation:1MB", "end_us"]["b"]
               == answers[1]["jobs"][0]["end_us"])
    found = json.loads(run("a.csv", "b.csv", "--rows", "500").stdout)
    by_name = {(row["of"], row["figure"]): row for row in found["rows"]}
    check.true("percentiles of flows are those of answers",
               abs(by_name["all flows", "fct p99 us"]["a"] - answers[0]["fct_us"]["p99"]) < 1e-5
               and abs(by_name["all flows", "fct mean us"]["b"] - answers[1]["fct_us"]["mean"])
               < 1e-5)
    flows = [row for row in found["rows"] if row["group"] == "flow"]
    slower = {row["from"]: float(row["end_us"]) for row in rows_of(folder / "a.csv")}
    check.true("each flow by its ends", flows and all(
        abs(row["a"] - slower[row["of"].split()[0]]) < 1e-5 for row in flows))
    lines = (folder / "b.csv").read_text().splitlines(keepends=True)
    (folder / "short.csv").write_text("".join(lines[:-1]))
    found = json.loads(run("b.csv", "short.csv").stdout)
    check.true("a flow that is missing", found["only_a"] == 1 and found["only_b"] == 0)
    for pair, part in ((("a.csv", "a.json"), "two of one kind"), (("none", "a.csv"), "none"),
                       (("s.yaml", "a.csv"), "s.yaml:1:1: "),
                       (("a.csv", "a.csv", "--tolerance", "x"), "--tolerance")):
        done = run(*pair)
        check.true(f"{pair}: {done.stderr}", done.returncode == 2 and part in done.stderr
                   and done.stderr.count("\n") <= 2 and not done.stdout)


def main():
    program, check = str(Path(sys.argv[1]).resolve()), Checks()
    os.environ.pop("SLURM_ARRAY_TASK_ID", None)
    with tempfile.TemporaryDirectory() as name:
        for test in (grid, packets, shards, cut, killed, bad, compare):
            test(check, program, Path(name))
    check.end()


if __name__ == "__main__":
    main()
