#!/usr/bin/env python3
"""A set of files appears whole or not at all: full disk, wrong names, Ctrl-C at any moment.

    tests/plan/files.py MYRIAD

The folder holds a set of older files and one that is none of ours. Whatever happens, the set is
then all old or all new, the foreign file is untouched, and no file has a temporary name. The
moments of the signals are drawn from a seed; what is asserted holds at every moment.
"""
import os
import random
import resource
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SEED = 20261115
SPEC = ROOT / "examples/h100-10k.yaml"
PLAN = ["design.myr", "design.json", "bom.csv", "bom.xlsx", "cables.csv", "labels.csv",
        "topology.svg", "report.html"]


def read_all(folder):
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*"))
            if p.is_file()}


def call(command, before=None, **more):
    return subprocess.run(command, capture_output=True, timeout=120, check=False,
                          preexec_fn=before, **more)


class Case:
    """A command that writes a set into a folder, and what it writes when nothing disturbs it."""

    def __init__(self, name, command, folder):
        self.name, self.command, self.folder = name, command, folder
        started = time.monotonic()
        done = call(command)
        self.seconds = time.monotonic() - started
        assert done.returncode == 0, done.stderr
        self.new = read_all(folder)
        self.old = {key: b"old " + key.encode() for key in self.new}
        self.old["notes.txt"] = b"not ours"
        self.new["notes.txt"] = b"not ours"

    def age(self):
        for key, text in self.old.items():
            (self.folder / key).write_bytes(text)

    def judge(self, what, states):
        found = read_all(self.folder)
        for state in states:
            if found == getattr(self, state):
                return 0
        strange = sorted(key for key in found.keys() | self.old.keys()
                         if found.get(key) not in (self.old.get(key), ))
        print(f"{self.name}: {what}: neither {' nor '.join(states)}: {strange[:10]}")
        for key in found.keys() - self.old.keys():
            (self.folder / key).unlink()
        return 1


def full_disk(case, size):
    """The largest file does not fit; the error is one line and the exit status 3."""
    case.age()

    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

    # Python ignores the signal that the limit sends beside the error; the child keeps that.
    done = call(case.command, before=limit, restore_signals=False)
    failed = case.judge(f"{size} bytes at most", ["old"])
    lines = done.stderr.decode().splitlines()
    if done.returncode != 3 or not any("File too large" in line for line in lines):
        print(f"{case.name}: {size} bytes: exit {done.returncode}: {lines}")
        failed += 1
    return failed


def folder_in_the_way(case):
    case.age()
    names = sorted(key for key in case.new if "/" not in key and key != "notes.txt")
    last = case.folder / names[-1]
    last.unlink()
    last.mkdir()
    done = call(case.command)
    last.rmdir()
    last.write_bytes(case.old[last.name])
    failed = case.judge(f"{last.name} is a folder", ["old"])
    if done.returncode != 2 or b"a folder has this name" not in done.stderr:
        print(f"{case.name}: exit {done.returncode}: {done.stderr!r}")
        failed += 1
    return failed


def interrupted(case, rng, rounds):
    failed, seen = 0, {"old": 0, "new": 0}
    for _ in range(rounds):
        case.age()
        number = rng.choice([signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
        child = subprocess.Popen(case.command, stdout=subprocess.DEVNULL,
                                 stderr=subprocess.DEVNULL)
        time.sleep(rng.random() * case.seconds * 1.2)
        child.send_signal(number)
        child.wait(timeout=120)
        failed += case.judge(f"{number.name}, exit {child.returncode}", ["old", "new"])
        seen["new" if read_all(case.folder) == case.new else "old"] += 1
    print(f"{case.name}: {rounds} signals, {seen['old']} before and {seen['new']} after the set")
    return failed


def main():
    myriad = os.path.abspath(sys.argv[1])
    rng = random.Random(SEED)
    failed = 0
    with tempfile.TemporaryDirectory(prefix="myriad-files-") as name:
        top = Path(name)
        cases = [Case("plan", [myriad, "plan", SPEC, "--out", top / "plan"], top / "plan")]
        assert sorted(cases[0].new) == sorted([*PLAN, "notes.txt"])
        design = top / "design.myr"
        design.write_bytes(cases[0].new["design.myr"])
        cases.append(Case("netbox", [myriad, "export", "netbox", design, "--net", "all", "--out",
                                     top / "netbox"], top / "netbox"))
        for case in cases:
            sizes = sorted(len(text) for text in case.new.values())
            for size in (0, sizes[len(sizes) // 2], sizes[-1] - 1):
                failed += full_disk(case, size)
            failed += folder_in_the_way(case)
            failed += interrupted(case, rng, 25)
    print(f"seed {SEED}, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
