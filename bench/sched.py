"""sched: CPU time of decisions on 100k GPUs, 95 % full and churned; the best of three runs."""
import json
import subprocess

ROUNDS = 3


def run(bench):
    answers = []
    for _ in range(ROUNDS):
        result = subprocess.run([str(bench.program), "sched", "bench", "-o", "json"],
                                capture_output=True, text=True, check=False, timeout=300)
        if result.returncode != 0:
            bench.fail("bench", (result.stderr.strip() or "failed").splitlines()[0])
            return
        answers.append(json.loads(result.stdout))

    def best(*keys):
        values = []
        for answer in answers:
            for key in keys:
                answer = answer[key]
            values.append(answer)
        return min(values)

    bench.figure("fill", answers[0]["fill_percent"], "%")
    bench.figure("all/p50", best("all", "p50"), "us", goal=100.0)
    bench.figure("all/p99", best("all", "p99"), "us", goal=1000.0)
    for size in answers[0]["latency_us"]:
        for share, goal in (("p50", 100.0), ("p99", 1000.0), ("max", None)):
            bench.figure(f"nodes-{size}/{share}", best("latency_us", size, share), "us", goal=goal)
    for layout, sizes in answers[0]["latency_us_with_layout"].items():
        for size in sizes:
            for share, goal in (("p50", 100.0), ("p99", 1000.0)):
                bench.figure(f"ranks-{layout.replace(' ', '-')}-{size}/{share}",
                             best("latency_us_with_layout", layout, size, share), "us", goal=goal)
    for layout, sizes in answers[0]["latency_us_scattered"].items():
        for size in sizes:
            bench.figure(f"scattered-{layout.replace(' ', '-')}-{size}/p99",
                         best("latency_us_scattered", layout, size, "p99"), "us", goal=1000.0)
    large = answers[0]["large_us"]["gang_nodes"]
    bench.figure(f"nodes-{large}/max", best("large_us", "max"), "us", goal=5000.0)
    rate = max(answer["decisions_per_s"] for answer in answers)
    bench.figure("decision", 1e6 / rate, "us", goal=100.0)
    print(f"sched/decisions {rate:,.0f} a second, goal 10,000")
    bench.figure("node-change/p99", best("node_change_us", "p99"), "us", goal=10.0)
    bench.figure("defrag-1024/max", best("defrag_us", "max") / 1000, "ms", goal=50.0)
    bench.figure("defrag-1024/moved-above-least",
                 100 * (answers[0]["defrag_gpus_moved"] / answers[0]["defrag_gpus_least"] - 1), "%")
