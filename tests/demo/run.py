#!/usr/bin/env python3
"""scripts/demo, as `make demo` runs it: what stands behind a printed command is exactly what this
command prints, and every chapter has its result.

    tests/demo/run.py MYRIAD
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
WIDTH = 80


def run(command, folder, myriad):
    environment = {**os.environ, "COLUMNS": str(WIDTH),
                   "PATH": f"{Path(myriad).parent}:{os.environ['PATH']}"}
    return subprocess.run(command, cwd=folder, env=environment, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, stdin=subprocess.DEVNULL,
                          check=False)


def fresh(folder, name):
    path = Path(folder) / name
    path.mkdir()
    shutil.copytree(ROOT / "examples", path / "examples")
    return path


def number(text, pattern):
    found = re.search(pattern, text)
    if not found:
        sys.exit(f"no '{pattern}' in:\n{text}")
    return float(found.group(1).replace(",", ""))


def typed(text):
    """The printed commands, each with what is printed behind it."""
    for part in re.split(r"^\$ ", text, flags=re.M)[1:]:
        command, _, rest = part.partition("\n")
        yield command, re.split(r"^# ", rest, flags=re.M)[0].strip("\n")


def main():
    myriad = str(Path(sys.argv[1]).resolve())
    with tempfile.TemporaryDirectory(prefix="myriad-demo-") as folder:
        done = run([ROOT / "scripts/demo", myriad], fresh(folder, "shown"), myriad)
        text = done.stdout
        if done.returncode != 0:
            sys.exit(f"exit status {done.returncode}\n{text}")
        again = fresh(folder, "typed")
        differ, so_far = [], ""
        for command, shown in typed(text):
            if run(["bash", "-c", so_far + command], again, myriad).stdout.strip("\n") != shown:
                differ.append(command)
            so_far += f"{command}\n" if command.startswith("export ") else ""
    commands = [command for command, _ in typed(text)]
    hashed, planned = (float(value) for value in re.findall(r"bus ([0-9.]+)", text))
    # A command is one line, as it is pasted; so is the one that is proposed next.
    wide = [line for line in text.splitlines()
            if len(line) > WIDTH and not line.startswith(("$", "#", "next:", "  myriad "))]
    checks = {
        f"typed, every command prints the same: {differ}": not differ,
        "nothing is filtered": not any(re.search(r"[|]|2>|sed|grep|cut", command)
                                       for command in commands),
        "the whole cluster is planned": number(text, r"([0-9,]+) GPUs") == 10240,
        "one bundle is named": "leaf/p3-g0-r5" in text and "bundle-shifted" in text,
        "planned paths are faster": planned > 1.3 * hashed,
        "a layout is picked": number(text, r"MFU +([0-9.]+) %") > 20,
        "all jobs are placed": number(text, r"jobs +([0-9,]+)") == 620,
        "a storm of faults breaks no invariant": "invariants   all held" in text,
        f"it fits {WIDTH} columns: {wide[:3]}": not wide,
    }
    for what, holds in checks.items():
        print("ok" if holds else "NOT", what)
    sys.exit(not all(checks.values()))


if __name__ == "__main__":
    main()
