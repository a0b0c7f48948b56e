"""starve: does anybody starve on shapes that nobody named?

bench_starve draws the shapes (its head says what, and what counts as broken) and plays each under
the queue's policies beside FIFO, first-fit and first-fit with ageing. The seed is new each time and
printed; MYRIAD_STARVE_SEED gives one, MYRIAD_STARVE_SHAPES their number (200).
"""
import os
import re
import statistics
import subprocess
import time

SHAPES = 200
POLICIES = ("fair", "preempt")


def run(bench):
    seed = int(os.environ.get("MYRIAD_STARVE_SEED", time.time_ns() % 1000000))
    count = int(os.environ.get("MYRIAD_STARVE_SHAPES", SHAPES))
    print(f"seed {seed}: MYRIAD_STARVE_SEED={seed} draws the same {count} shapes", flush=True)
    program = bench.program.parent / "bench_starve"
    done = subprocess.run([program, str(seed), "0", str(count)], capture_output=True, text=True,
                          timeout=3600, check=False)
    rows = [row_of(line) for line in done.stdout.splitlines()]
    if done.returncode != 0 or len(rows) != count:
        bench.fail("starve", f"{len(rows)} of {count} shapes were played")
        return
    for kind in ("class", "gang", "beaten=fair", "beaten=preempt"):
        broken = [row for row in rows if any(v.startswith(kind) for v in row["broken"])]
        bench.figure(f"starve/{kind.replace('=', '-')}", len(broken), "shapes", 0)
    for policy in POLICIES:
        for at, name in enumerate(("mean", "mean-without-gangs")):
            means = [row["waits"][policy][at] for row in rows]
            bench.figure(f"starve/{policy}/{name}", statistics.mean(means), "h", None)
        worst = max(rows, key=lambda row, p=policy: row["waits"][p][2])
        bench.figure(f"starve/{policy}/longest", worst["waits"][policy][2], "h", None)
        print(f"the longest wait under {policy}: {worst['text']}")
    for row in rows:
        if row["broken"]:
            print(f"broken: {row['text']}")


def row_of(line):
    """A line of the program: what was drawn, the waits by policy, what was broken."""
    _, waits, broken = re.split(r" \|", line)
    found = {}
    for word in waits.split():
        name, numbers = word.split("=")
        found[name] = tuple(float(number) for number in numbers.split("/"))
    return {"text": line, "waits": found, "broken": broken.split()}
