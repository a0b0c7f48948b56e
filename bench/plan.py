"""plan: from a spec to a design, in memory and on disk."""


def run(bench):
    small = compute(bench, "10k", "h100-10k.yaml")
    large = compute(bench, "100k", "h100-100k.yaml", goal=1.0)
    huge = compute(bench, "1m", "gpu-1m.yaml", goal=15.0, rounds=2)
    for name, took in (("10k", small), ("100k", large), ("1m", huge)):
        if took:
            bench.figure(f"{name}/memory", took.rss / 2**20, "MiB")
    write_files(bench, "10k", "h100-10k.yaml")
    write_files(bench, "100k", "h100-100k.yaml", goal=5.0)
    compute(bench, "100k-room", "campus-2x50k.yaml", goal=2.0)
    write_files(bench, "100k-room", "campus-2x50k.yaml", goal=8.0)


def compute(bench, name, example, goal=None, rounds=3):
    """The whole design computed and summed up, nothing written."""
    command = [bench.program, "plan", f"examples/{example}", "-o", "json"]
    return bench.time(f"{name}/compute", command, goal, rounds=rounds)


def write_files(bench, name, example, goal=None):
    """All files of the design, beside a plain write of as many bytes."""
    out = bench.folder / name
    command = [bench.program, "plan", f"examples/{example}", "--out", out]
    if not bench.try_once(f"{name}/files", command):
        return
    size = sum(file.stat().st_size for file in out.iterdir())
    bench.figure(f"{name}/size", size / 2**20, "MiB")
    bench.time(f"{name}/files", command, goal, ref="write", ref_size=size)
    open_design(bench, name, out / "design.myr")


def open_design(bench, name, path):
    """What every later stage does first, and what the design takes in memory."""
    helper = [bench.program.parent / "bench_design", path]
    bench.time(f"{name}/open", helper)
    found = bench.ask(f"{name}/bytes-per-cable", helper)
    if found:
        bench.figure(f"{name}/bytes-per-cable", float(found["bytes_per_cable"]), "B", goal=64.0)
