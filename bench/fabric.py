"""fabric: a design ready for paths, one lookup, and plans of whole jobs beside hashing."""
import json
import subprocess


def run(bench):
    for name, example, goals in (("128", "h100-128.yaml", {}),
                                 ("10k", "h100-10k.yaml", {"plan_ms": 100.0, "ring_ms": 100.0,
                                                           "hurt_ms": 100.0}),
                                 ("100k", "h100-100k.yaml", {"ready_s": 5.0, "rss_mib": 1024.0,
                                                             "lookup_ns": 200.0})):
        out = bench.folder / name
        if bench.try_once(f"{name}/design", [bench.program, "plan", f"examples/{example}",
                                             "--out", out]):
            figures(bench, name, out / "design.myr", goals)
    beside_hashing(bench, "128", bench.folder / "128/design.myr", "tp=8,pp=4")
    beside_hashing(bench, "10k", bench.folder / "10k/design.myr", "tp=8,pp=8")


def figures(bench, name, design, goals):
    """What the helper times inside one process; the best of three runs of it."""
    units = {"ready_s": "s", "rss_mib": "MiB", "lookup_ns": "ns", "plan_ms": "ms",
             "ring_ms": "ms", "hurt_ms": "ms", "change_us": "us"}
    best = {}
    for _ in range(3):
        found = bench.ask(f"{name}/figures", [bench.program.parent / "bench_fabric", design])
        for key in found or ():
            best[key] = min(float(found[key]), best.get(key, float("inf")))
    for key, value in best.items():
        short = key.rsplit("_", 1)[0]
        bench.figure(f"{name}/{short}", value, units[key], goals.get(key))


def beside_hashing(bench, name, design, layout):
    """Pipeline rings of a 3D-parallel job: load and share under each policy."""
    command = [bench.program, "route", design, "--layout", layout, "--axis", "pp", "-o", "json"]
    result = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                            timeout=600, check=False)
    if result.returncode != 0:
        bench.fail(f"{name}/policies", result.stderr.strip())
        return
    for row in json.loads(result.stdout)["policies"]:
        bench.figure(f"{name}/max-load/{row['policy']}", row["max_link_load"], "x line rate")
        bench.figure(f"{name}/share/{row['policy']}", row["share_of_ideal"], "of ideal")
