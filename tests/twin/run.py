#!/usr/bin/env python3
"""The twin through the command: its contract for programs, replay, and the useful time of a long
job beside what goodput says of the same inputs.

    tests/twin/run.py MYRIAD
"""
import json
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
EXAMPLES = ROOT / "examples/twin"
KEYS = ("seed", "sim_days", "events", "gpu_utilisation", "ettr", "failures",
        "invariant_violations", "hash")
INNER = {"jobs": ("submitted", "done", "failed", "lost"), "wait_h": ("mean", "p50", "p99"),
         "recovery_s": ("p50", "p99")}


def ask(myriad, *words, codes=(0,)):
    result = subprocess.run([myriad, *map(str, words), "-o", "json"], capture_output=True,
                            text=True, check=False, stdin=subprocess.DEVNULL)
    if result.returncode not in codes:
        sys.exit(f"{words}: exit status {result.returncode}\n{result.stderr}{result.stdout}")
    return json.loads(result.stdout) if result.stdout else result.stderr


def contract(answer):
    """What the answer lacks."""
    lacks = [key for key in KEYS if key not in answer]
    lacks += [f"{outer}.{key}" for outer, keys in INNER.items() for key in keys
              if key not in answer.get(outer, {})]
    return lacks


def main():
    myriad = str(Path(sys.argv[1]).resolve())
    day = ask(myriad, "twin", "run", EXAMPLES / "day-10k.yaml", "--timing")
    llama = ask(myriad, "twin", "run", EXAMPLES / "llama3-54d.yaml")
    # Seeds whose job once waited for weeks beside an idle cluster, after one failed start.
    broken = [ask(myriad, "twin", "run", EXAMPLES / "llama3-54d.yaml", "--seed", seed)
              for seed in (12, 28)]
    goodput = ask(myriad, "goodput", "--gpus", 16384, "--rate", "llama3", "--interval", 1800,
                  "--stall", 30)
    common = next(row["goodput"] for row in goodput["cases"] if row["practice"] == "common")
    maintained = ask(myriad, "twin", "run", EXAMPLES / "maintenance.yaml")
    with tempfile.TemporaryDirectory(prefix="myriad-twin-") as folder:
        case = Path(folder) / "case.yaml"
        page = Path(folder) / "page.html"
        storm = ask(myriad, "twin", "run", EXAMPLES / "crash-storm.yaml", "--seed", 9, "--save",
                    case, "--report", page)
        again = ask(myriad, "twin", "replay", case)
        case.write_text(case.read_text().replace("seed: 9", "seed: 8"))
        other = ask(myriad, "twin", "replay", case, codes=(1,))
        # Plots are there twice, for a desk and for a phone.
        pictures = page.read_text().count("<svg") - page.read_text().count('<div class="phone">')
        bad = ask(myriad, "whatif", case, codes=(2,))
    checks = {
        f"a day has every key of the contract: {contract(day)}": not contract(day),
        "its wall time is there when asked for": day["timing"]["wall_s"] > 0,
        "all invariants hold": not any(run["invariant_violations"]
                                       for run in (day, llama, maintained, storm)),
        "no job is lost": not any(run["jobs"]["lost"] for run in (day, llama, maintained, storm)),
        "54 days see about 419 failures": 350 < llama["failures"] < 490,
        f"its useful time is that of goodput within 2 points: {llama['ettr']} and {common}":
            abs(llama["ettr"][0]["ettr"] - common) < 0.02,
        "it is as good where nodes of the gang broke together": all(
            run["ettr"][0]["ettr"] >= 0.83 for run in broken),
        "a saved case comes out the same": again["same"] and again["hash"] == storm["hash"],
        "another seed does not": not other["same"],
        "the page has its plots": pictures == 5,
        "what is no state is refused in one line":
            "a state as twin run --state" in bad and bad.count("\n") <= 2,
    }
    for what, holds in checks.items():
        print("ok" if holds else "NOT", what)
    sys.exit(not all(checks.values()))


if __name__ == "__main__":
    main()
