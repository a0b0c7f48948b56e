#!/usr/bin/env python3
"""What the twin's verbs say to people who give them wrong files, and to those who read them.

    tests/twin/words.py MYRIAD
"""
import os
import subprocess
import sys
import tempfile
from pathlib import Path

QUIET = """\
cluster: {nodes: 4}
hours: 2
jobs:
  - {count: 3, gpus: 8, hours: 0.2, arrive_h: [0, 0.1]}
"""
STORM = Path(__file__).resolve().parents[2] / "examples/twin/crash-storm.yaml"


def run(myriad, *words, **more):
    result = subprocess.run([myriad, *map(str, words)], capture_output=True, text=True,
                            check=False, stdin=subprocess.DEVNULL, timeout=300,
                            env={**os.environ, **more})
    return result.returncode, result.stdout, result.stderr


def refused(answer, words):
    status, out, told = answer
    return status == 2 and not out and words in told and told.count("\n") == 1


def main():
    myriad = str(Path(sys.argv[1]).resolve())
    with tempfile.TemporaryDirectory(prefix="myriad-twin-") as folder:
        os.chdir(folder)
        Path("s.yaml").write_text(QUIET)
        Path("empty.myr").write_text("")
        Path("sub").mkdir()
        os.symlink("s.yaml", "link.yaml")
        checks = {
            "a folder is no output": refused(
                run(myriad, "twin", "run", "s.yaml", "--save", "."), "--save: '.' is a folder"),
            "nor for a search": refused(
                run(myriad, "twin", "search", "s.yaml", "--save", "sub"), "'sub' is a folder"),
            "the input is no output": refused(
                run(myriad, "twin", "run", "s.yaml", "--save", "./s.yaml"), "is the input"),
            "nor by another name": refused(
                run(myriad, "twin", "run", "link.yaml", "--state", "s.yaml"), "is the input"),
            "two outputs are two files": refused(
                run(myriad, "twin", "run", "s.yaml", "--save", "new", "--report", "sub/../new"),
                "--save and --report: both are"),
            "nothing was written": Path("s.yaml").read_text() == QUIET
            and not Path("new").exists(),
            "an empty state is called empty": refused(
                run(myriad, "explain", "empty.myr", "job/0"), "empty, a state as twin run --state"),
            "text is no state": run(myriad, "whatif", "s.yaml") == (
                2, "", "myriad: s.yaml:1:1: looks like a scenario of the twin; a state as twin run "
                "--state writes it is expected\nhint: myriad twin run s.yaml\n"),
        }
        status, out, _ = run(myriad, "twin", "run", "s.yaml", "--state", "state.myr",
                             "--report", "page.html")
        checks["a run without faults speaks of none"] = (
            status == 0 and "back after" not in out and " 0 faults" not in out)
        _, out, _ = run(myriad, "explain", "state.myr", "job/0")
        checks["a done job has done all of its work"] = (
            "all of its work" in out and ", saved" not in out)
        status, _, told = run(myriad, "twin", "search", STORM, "--seeds", 1, "--tries", 1,
                              MYRIAD_TEST_PLANTED="1")
        checks["a planted bug is warned of, loudly"] = (
            status == 1 and told.startswith("myriad: WARNING: MYRIAD_TEST_PLANTED is set"))
        status, _, told = run(myriad, "twin", "search", "s.yaml", "--seeds", 1)
        checks["and without one nobody is warned"] = status == 0 and "WARNING" not in told
        os.chdir("/")
    for what, holds in checks.items():
        print("ok" if holds else "NOT", what)
    sys.exit(not all(checks.values()))


if __name__ == "__main__":
    main()
