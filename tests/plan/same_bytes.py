#!/usr/bin/env python3
"""Same spec, same bytes: two runs of one program, and programs built by two compilers."""
import hashlib
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
FILES = {"design.myr", "design.json", "bom.csv", "bom.xlsx", "cables.csv", "labels.csv",
         "topology.svg", "report.html"}
EXAMPLES = ["h100-64", "h100-64-corrected", "h100-10k", "nvl72-9k", "ascend-910b-1k"]
SKIPPED = 77


def digest(myriad, name, folder):
    spec = ROOT / "examples" / f"{name}.yaml"
    os.mkdir(folder)
    done = subprocess.run([os.path.abspath(myriad), "plan", str(spec), "-o", "json", "--out", "."],
                          capture_output=True, timeout=600, check=False, cwd=folder)
    if done.returncode != 0:
        raise SystemExit(f"{myriad} {name}: exit {done.returncode}: {done.stderr.decode()}")
    found = {"stdout": hashlib.sha256(done.stdout).hexdigest()}
    for entry in sorted(os.listdir(folder)):
        data = (pathlib.Path(folder) / entry).read_bytes()
        found[entry] = hashlib.sha256(data).hexdigest()
    if set(found) != FILES | {"stdout"}:
        raise SystemExit(f"{name}: files are {sorted(found)}")
    return found


def main():
    programs = [sys.argv[1], sys.argv[1]]
    other = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else None
    if other and other.exists():
        programs.append(str(other))
    failed = 0
    for name in EXAMPLES:
        with tempfile.TemporaryDirectory() as top:
            results = [digest(program, name, f"{top}/{i}") for i, program in enumerate(programs)]
        for result in results[1:]:
            for entry in result:
                if result[entry] != results[0][entry]:
                    print(f"FAIL {name} {entry}: bytes differ")
                    failed += 1
    print(f"{len(EXAMPLES)} examples, {len(programs)} runs each, {failed} differences")
    if failed:
        return 1
    if other and not other.exists():
        print("skipped: the program of the second compiler is not built (make test builds it)")
        return SKIPPED
    return 0


if __name__ == "__main__":
    sys.exit(main())
