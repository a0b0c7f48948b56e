"""fit: errors on published runs, scaling, choice among sweeps, search times."""
import csv
import json
import subprocess

RUNS = "tests/data/published-runs.csv"
SCALING = (("megatron-256-12288", "T032", "T039"), ("megascale-256-12288", "T040", "T047"),
           ("llama3-70b-bf16-64-2048", "T345", "T350"), ("llama3-70b-fp8-64-2048", "T351", "T356"))


def run(bench):
    errors(bench)
    left_out(bench)
    seed_run(bench)
    for gpus, limit in ((4096, 20.0), (16384, 50.0), (98304, 100.0)):
        search(bench, gpus, limit)
    hard_searches(bench)
    each_layout(bench)


def ask(bench, name, *words):
    """The program's JSON answer, or None."""
    result = subprocess.run([str(bench.program), "fit", *words, "-o", "json", "--timing"],
                            capture_output=True, text=True, check=False)
    if result.returncode != 0:
        bench.fail(name, (result.stderr.strip() or "failed").splitlines()[0])
        return None
    return json.loads(result.stdout)


def errors(bench):
    answer = ask(bench, "validate", "validate", RUNS)
    if not answer:
        return
    bench.figure("error/median", answer["median"], "%", goal=4.0)
    bench.figure("error/mean", answer["mean"], "%", goal=7.0)
    bench.figure("error/p90", answer["p90"], "%", goal=15.0)
    bench.figure("error/not-covered", 100 - answer["coverage"], "%", goal=5.0)
    bench.figure("error/interval-coverage", answer["interval_coverage"], "%")
    for family in answer["families"]:
        bench.figure(f"error/{family['family']}", family["median"], "%", goal=8.0)
    with open(RUNS, encoding="utf-8") as file:
        rows = {row["id"]: row for row in csv.DictReader(file)}
    told = {row["id"]: row for row in answer["rows"]}
    for name, first, last in SCALING:
        measured, predicted = (loss(rows, told, first, last, key)
                               for key in ("measured", "predicted"))
        bench.figure(f"scaling/{name}", abs(measured - predicted), "points of throughput",
                     ref="measured-loss", ref_value=measured)
    sweeps(bench, rows, told)


def loss(rows, told, first, last, key):
    """Throughput a GPU lost between two runs, in percent."""
    rate = [float(rows[i]["gbs"]) / float(rows[i]["gpus"]) / told[i][key] for i in (first, last)]
    return 100 * (1 - rate[1] / rate[0])


def sweeps(bench, rows, told):
    found = {}
    for key, row in rows.items():
        if row["source"] == "vTrain-multi":
            found.setdefault(row["model"], []).append((told[key]["measured"],
                                                       told[key]["predicted"]))
    for model, points in sorted(found.items()):
        pick = min(points, key=lambda point: point[1])
        bench.figure(f"sweep/{model}/regret", 100 * (pick[0] / min(points)[0] - 1), "%", goal=1.0)
        signs = [(a[0] - b[0]) * (a[1] - b[1]) for i, a in enumerate(points) for b in points[:i]]
        tau = (sum(s > 0 for s in signs) - sum(s < 0 for s in signs)) / len(signs)
        bench.figure(f"sweep/{model}/kendall-tau", tau, "")
        places = [(sum(b[0] < a[0] for b in points), sum(b[1] < a[1] for b in points))
                  for a in points]
        count = len(points)
        apart = sum((a - b) ** 2 for a, b in places)
        bench.figure(f"sweep/{model}/spearman-rho", 1 - 6 * apart / (count * (count ** 2 - 1)), "")


def left_out(bench):
    """Each family, tenth of the layouts and device predicted by constants fitted without it."""
    tool = bench.program.parent / "fit-constants"
    result = subprocess.run([str(tool), RUNS, "--leave-out"], capture_output=True, text=True,
                            check=False)
    if result.returncode != 0:
        bench.fail("left-out", "fit-constants failed")
        return
    for line in result.stderr.splitlines():
        words = line.split()
        if " median " in line:
            name = line.split(" n ")[0].strip().replace(" ", "-")
            goal = 8.0 if name == "left-out" else None
            if name.endswith("left-out") or name.startswith("without-"):
                bench.figure(name, float(words[words.index("median") + 1]), "%", goal=goal)
            if name.endswith("left-out"):
                bench.figure(f"{name}/mean", float(words[words.index("mean") + 1]), "%")
                bench.figure(f"{name}/p90", float(words[words.index("p90") + 1]), "%")
        elif line.startswith("interval coverage"):
            bench.figure("left-out/interval-coverage", float(words[-2]), "%")


def seed_run(bench):
    fixed = ("--model", "seed-130b", "--device", "h100", "--tp", "8", "--pp", "8", "--vp", "1",
             "--cp", "1", "--mbs", "1", "--zero", "1", "--recompute", "none", "--software",
             "Megatron-LM 2024", "--top", "1")
    small = ask(bench, "seed", *fixed, "--gpus", "1024", "--batch", "2048")
    large = ask(bench, "seed", *fixed, "--gpus", "2048", "--batch", "4096")
    if small and large:
        ratio = small["best"]["step_s"] / large["best"]["step_s"]
        bench.figure("seed/ratio-off", 100 * abs(ratio - 10.8004 / 10.9369), "points", goal=1.0)
        bench.figure("seed/step-1024", small["best"]["step_s"], "s", ref="measured",
                     ref_value=10.8004)


def search(bench, gpus, limit):
    answers = [ask(bench, f"search/{gpus}", "--model", "gpt3-175b", "--gpus", str(gpus),
                   "--device", "a100-80", "--batch", str(gpus)) for _ in range(5)]
    if all(answers):
        best = min(answers, key=lambda answer: answer["timing"]["search_ms"])
        bench.figure(f"search/{gpus}", best["timing"]["search_ms"], "ms", goal=limit)
        bench.figure(f"search/{gpus}/layouts", best["evaluated"], "")


# Those that take the longest of all shipped models: experts, tight memory, uneven layers.
HARD = [("grok-1", "a100-40", 8192), ("gpt-oss-120b", "b200", 8192),
        ("llama4-maverick", "b200", 8192), ("kimi-k2", "gb200", 1024),
        ("qwen3-235b-a22b", "h100", 8192), ("llama3-405b", "h100", 8192)]


def hard_searches(bench):
    for model, device, batch in HARD:
        name = f"search/4096/{model}-{device}"
        answers = [ask(bench, name, "--model", model, "--gpus", "4096", "--device", device,
                       "--batch", str(batch)) for _ in range(5)]
        if all(answers):
            best = min(answer["timing"]["search_ms"] for answer in answers)
            bench.figure(name, best, "ms", goal=20)


def each_layout(bench):
    """One by one, nothing left out: what a layout costs on the average."""
    answer = ask(bench, "exhaustive", "--model", "gpt3-175b", "--gpus", "128", "--device",
                 "a100-80", "--batch", "128", "--exhaustive", "--top", "1")
    if answer:
        each_us = answer["timing"]["search_ms"] * 1e3 / answer["evaluated"]
        bench.figure("exhaustive/layout", each_us, "us", goal=1)
        bench.figure("exhaustive/layouts", answer["evaluated"], "")
