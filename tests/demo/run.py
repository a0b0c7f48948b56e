#!/usr/bin/env python3
"""scripts/demo, as `make demo` runs it: every chapter must have its result.

    tests/demo/run.py MYRIAD
"""
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
PAGE_LINES = 100


def number(text, pattern):
    found = re.search(pattern, text)
    if not found:
        sys.exit(f"no '{pattern}' in:\n{text}")
    return float(found.group(1).replace(",", ""))


def main():
    with tempfile.TemporaryDirectory(prefix="myriad-demo-") as folder:
        done = subprocess.run([ROOT / "scripts/demo", folder], capture_output=True, text=True,
                              timeout=600, check=False,
                              env={**os.environ, "MYRIAD": str(Path(sys.argv[1]).resolve())})
    text = done.stdout
    if done.returncode != 0:
        sys.exit(f"exit status {done.returncode}\n{text}{done.stderr}")
    hashed, planned = (float(value) for value in re.findall(r"bus ([0-9.]+)", text))
    checks = {
        "the whole cluster is planned": number(text, r"([0-9,]+) GPUs") == 10240,
        "one bundle is named": "bundle-shifted: leaf/p3-g0-r5" in text,
        "six moves repair it": number(text, r"as labelled +([0-9]+) moves, 1 new") == 6,
        "planned paths are faster": planned > 1.3 * hashed,
        "a layout is picked": number(text, r"MFU +([0-9.]+) %") > 20,
        "all jobs are placed": number(text, r"jobs +([0-9,]+)") == 620,
        "it is one page": len(text.splitlines()) <= PAGE_LINES,
    }
    for what, holds in checks.items():
        print("ok" if holds else "NOT", what)
    sys.exit(not all(checks.values()))


if __name__ == "__main__":
    main()
