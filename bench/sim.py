"""sim: the fluid simulator: big collectives, a whole training step, cost by number of flows."""

STEP = "step:llama3-405b,tp=8,pp=16,micro_batch=1,global_batch=3136,tflops=400"


def run(bench):
    ring = [bench.program, "sim", "--topology", "fat-tree:k=42,gbps=400,delay=1us", "--workload",
            "allreduce:ring,1GB,ranks=16384", "--lb", "ecmp"]
    bench.time("16k/ring-1gb", ring, 1.0)
    large_step(bench)
    curve(bench)


def large_step(bench):
    """100,352 GPUs, tensor, pipeline and data parallel, 405 billion parameters."""
    out = bench.folder / "100k"
    if not bench.try_once("100k/step", [bench.program, "plan", "examples/h100-100k.yaml", "--out",
                                        out]):
        return
    design = out / "design.myr"
    took = bench.time("100k/step", [bench.program, "sim", "--design", design, "--workload", STEP,
                                    "--lb", "planned"], 10.0, rounds=2)
    if took:
        bench.figure("100k/step-memory", took.rss / 2**30, "GiB", goal=8.0)
    bench.time("100k/contention", [bench.program, "sim", "contention", "--design", design, "--lb",
                                   "ecmp", "--out", out / "contention.json"], 10.0, rounds=1)


def curve(bench):
    """Permutations of k^3/4 hosts: time for each flow."""
    for k in (8, 16, 32, 64):
        hosts = k**3 // 4
        command = [bench.program, "sim", "--topology", f"fat-tree:k={k}", "--workload",
                   "permutation:1MB", "--lb", "ecmp"]
        took = bench.time(f"permutation/{hosts}", command, rounds=3 if k < 64 else 1)
        if took:
            bench.figure(f"permutation/{hosts}/cpu-per-flow", took.cpu / hosts * 1e6, "us")
