"""What the simulator's tests have in common: running it, and comparing."""
import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
TREE = "fat-tree:k=8,gbps=100,delay=1us"
TIMEOUT_S = 600


class Checks:
    """Counts what was compared; prints what differs."""

    def __init__(self):
        self.done = self.failed = 0

    def equal(self, what, got, want, slack=0.0):
        self.done += 1
        if abs(got - want) > slack:
            self.failed += 1
            print(f"{what}: {got}, {want} is right (slack {slack})")

    def true(self, what, holds):
        self.done += 1
        if not holds:
            self.failed += 1
            print(f"{what}: does not hold")

    def end(self):
        print(f"{self.done} checks, {self.failed} failed")
        sys.exit(1 if self.failed else 0)


def call(program, *words):
    return subprocess.run([program, "sim", *map(str, words)], capture_output=True, text=True,
                          timeout=TIMEOUT_S, check=False)


def sim(program, *words):
    """The result as a dictionary; the test ends when the program fails."""
    done = call(program, *words, "-o", "json")
    if done.returncode:
        sys.exit(f"sim {' '.join(map(str, words))}: exit {done.returncode}: {done.stderr}")
    return json.loads(done.stdout)


def tree(program, workload, *words, topology=TREE):
    return sim(program, "--topology", topology, "--workload", workload, *words)


def plan(program, folder, spec):
    """Plans a spec; returns the path of its design."""
    folder = Path(folder)
    (folder / "spec.yaml").write_text(spec)
    subprocess.run([program, "plan", folder / "spec.yaml", "--out", folder / "out"], check=True,
                   capture_output=True, timeout=TIMEOUT_S)
    return folder / "out" / "design.myr"
