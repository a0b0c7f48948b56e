#!/usr/bin/env python3
"""bench gpu through the command, on a driver that only keeps a clock: what it prints and writes.

    tests/gpu/command.py MYRIAD DRIVER_DIR            compares with tests/gpu/bench.txt
    tests/gpu/command.py MYRIAD DRIVER_DIR --rewrite  writes what comes out now; read the diff
"""
import difflib
import os
import subprocess
import sys
import tempfile
from pathlib import Path

KEPT = Path(__file__).resolve().parent / "bench.txt"
QUESTIONS = (["-o", "wide"], ["--device", "h100", "-o", "json"], ["--ms", "1", "-o", "csv"],
             ["--out", "kernels.csv"], ["--gpu", "7"], ["--device", "h1000"])


def ask(myriad, driver, words, folder):
    command = [myriad, "bench", "gpu", "--quick", "--library", driver, *words]
    environment = {key: value for key, value in os.environ.items()
                   if not key.startswith("MYRIAD_")}
    environment.update(LC_ALL="C.UTF-8", COLUMNS="120")
    result = subprocess.run(command, cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                            capture_output=True, text=True, timeout=300, check=False)
    said = f"== {' '.join(words)}\n{result.stdout}{result.stderr}{result.returncode}\n"
    return said.replace(driver, "DRIVER")


def main():
    myriad, driver = (os.path.abspath(word) for word in sys.argv[1:3])
    with tempfile.TemporaryDirectory(prefix="myriad-gpu-") as folder:
        now = "".join(ask(myriad, driver, words, folder) for words in QUESTIONS)
        now += "== kernels.csv\n" + (Path(folder) / "kernels.csv").read_text()
    if "--rewrite" in sys.argv:
        KEPT.write_text(now)
        return 0
    lines = list(difflib.unified_diff(KEPT.read_text().splitlines(), now.splitlines(), "kept",
                                      "now", lineterm=""))
    print("\n".join(lines[:40]) or f"{len(QUESTIONS)} questions, as before")
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
