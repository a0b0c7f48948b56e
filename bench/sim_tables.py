#!/usr/bin/env python3
"""sim_tables: what a dead link costs a 10k-GPU job, and what two jobs cost each other.

    bench/run sim_tables                    figures
    bench/sim_tables.py MYRIAD FOLDER       the same as tables
"""
import json
import subprocess
import sys
from pathlib import Path

LONG = True
STEP = "step:llama3-70b,tp=8,pp=4,micro_batch=1,global_batch=2560,tflops=400"
REPAIRS = (("local repair", "50us"), ("remote repair", "1ms"), ("fast convergence", "50ms"),
           ("convergence", "1s"), ("slow convergence", "10s"))
ROOT = Path(__file__).resolve().parent.parent


def sim(program, *words):
    done = subprocess.run([str(word) for word in (program, "sim", *words, "-o", "json")],
                          capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def uplinks(program, design):
    """Links between leaves and spines: behind those of the hosts, a few spread over them."""
    done = subprocess.run([program, "design", design, "-o", "json"], capture_output=True, text=True,
                          check=True)
    hosts = json.loads(done.stdout)["networks"]["compute"]["host_ports"]
    return [hosts + hosts * i // 8 for i in range(8)]


def failures(program, design, gpus, links):
    """The worst of several links, dead while gradients move; against the step without."""
    free = sim(program, "--design", design, "--workload", STEP, "--lb", "spray")["sim_time_us"]
    at = f"{free * 0.985:.0f}us"
    for name, repair in REPAIRS:
        ends = [sim(program, "--design", design, "--workload", STEP, "--lb", "spray", "--fault",
                    f"link/{link}:down@{at},reroute={repair}")["sim_time_us"] for link in links]
        lost_s = (max(ends) - free) / 1e6
        yield name, repair, free / 1e6, lost_s, lost_s * gpus


def jobs(program, lb):
    """Two rings of 64 hosts scattered over a fat tree of 128, ten placements."""
    slow = []
    for seed in range(10):
        job = f"allreduce:ring,1GB,ranks=64,place=random,seed={seed}"
        slow += [one["slowdown"] for one in sim(
            program, "--topology", "fat-tree:k=8,gbps=100,delay=1us", "--lb", lb, "--seed", seed,
            "--job", job, "--job", f"{job},first=64")["jobs"]]
    return sum(slow) / len(slow), max(slow)


def prepare(program, folder):
    subprocess.run([program, "plan", ROOT / "examples/h100-10k.yaml", "--out", folder],
                   capture_output=True, check=True)
    return folder / "design.myr"


def run(bench):
    design = prepare(bench.program, bench.folder / "10k")
    for name, _, _, lost_s, gpu_s in failures(bench.program, design, 10240,
                                              uplinks(bench.program, design)):
        bench.figure(f"failure/{name.replace(' ', '-')}", lost_s * 1e3, "ms")
        bench.figure(f"failure/{name.replace(' ', '-')}/gpu-time", gpu_s, "GPU s")
    for lb in ("ecmp", "planned", "spray"):
        mean, worst = jobs(bench.program, lb)
        bench.figure(f"jobs/{lb}/mean", mean, "x")
        bench.figure(f"jobs/{lb}/worst", worst, "x")


def main():
    program, folder = Path(sys.argv[1]).resolve(), Path(sys.argv[2])
    design = prepare(program, folder)
    print("| repair | paths avoid the link after | step s | longer by s | GPU seconds |")
    print("|---|---|---|---|---|")
    for name, repair, free, lost_s, gpu_s in failures(program, design, 10240,
                                                      uplinks(program, design)):
        print(f"| {name} | {repair} | {free:.3f} | {lost_s:.4f} | {gpu_s:,.1f} |")
    print("\n| policy | mean slowdown | worst |\n|---|---|---|")
    for lb in ("ecmp", "adaptive", "flowlet", "planned", "spray"):
        mean, worst = jobs(program, lb)
        print(f"| {lb} | {mean:.3f} | {worst:.3f} |")


if __name__ == "__main__":
    main()
