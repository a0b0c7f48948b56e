#!/usr/bin/env python3
"""Each key of a job file changes the Job, is refused by name, or is named as not heeded.

    tests/kubernetes/keys.py MYRIAD

The keys are those of docs/server.md. Needs no Kubernetes.
"""
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
BASE = {"gpus": 16, "command": "true"}
VALUES = {
    "name": "other", "tenant": "research", "priority": 7, "gpus": 32, "nodes": 4,
    "gpus_per_node": 4, "command": "false", "directory": "/data", "env": {"A": "b"},
    "image": "lab/y:2", "layout": "tp=8", "checkpoint": "/saved", "retries": 9, "service": True,
    "gpus_min": 2, "within": "leaf", "leaf_max": 1, "hold": True,
    "restart": "epoch", "lease_s": 60, "time_limit": "2h", "prolog": "p", "epilog": "e",
    "progress": {"pattern": "batch ([0-9]+)"}, "after": 0, "array": "0-9", "twin": {"hours": 2}}
REFUSED = {"service", "prolog", "epilog", "after", "array", "gpus_per_node"}
NAMED = {"lease_s", "progress", "twin", "gpus_min", "within", "leaf_max", "hold"}


def documented():
    """The keys of the table under 'The job file'."""
    text = (ROOT / "docs/server.md").read_text(encoding="utf-8")
    table = re.search(r"## The job file\n.*?\n(\| key .*?)\n\n", text, re.S).group(1)
    return {key for row in table.splitlines()[2:] if row.startswith("|")
            for key in re.findall(r"`(\w+)`", row.split("|")[1])}


def job_of(myriad, folder, file):
    path = os.path.join(folder, "job.json")
    with open(path, "w", encoding="utf-8") as out:
        json.dump(file, out)
    return subprocess.run([myriad, "kubernetes", "job", path, "--image", "lab/x:1",
                           "--gpus-per-node", "8"], capture_output=True, text=True, check=False)


def main():
    myriad = os.path.abspath(sys.argv[1])
    assert documented() == set(VALUES), documented() ^ set(VALUES)
    became = {}
    with tempfile.TemporaryDirectory() as folder:
        plain = job_of(myriad, folder, BASE)
        assert plain.returncode == 0 and not plain.stderr, plain
        for key, value in VALUES.items():
            file = {**BASE, key: value}
            if key in ("nodes", "gpus_per_node"):
                file = {"nodes": 4, "command": "true", key: value}
            done = job_of(myriad, folder, file)
            named = re.search(rf"not heeded on Kubernetes: .*\b{key}\b", done.stderr) is not None
            if done.returncode:
                assert done.returncode == 2 and f"'{key}'" in done.stderr and not done.stdout, done
                assert len([line for line in done.stderr.splitlines()
                            if not line.startswith("hint:")]) == 1, done.stderr
                became[key] = "refused"
            else:
                heeded = json.loads(done.stdout) != json.loads(plain.stdout)
                assert heeded != named, (key, "is heeded" if heeded else "is neither", done.stderr)
                became[key] = "heeded" if heeded else "named"
        all_at_once = job_of(myriad, folder, {**BASE, **{key: VALUES[key] for key in NAMED}})
        assert len(all_at_once.stderr.splitlines()) == 1, all_at_once.stderr
        assert all(key in all_at_once.stderr for key in NAMED), all_at_once.stderr
    assert {key for key, how in became.items() if how == "refused"} == REFUSED, became
    assert {key for key, how in became.items() if how == "named"} == NAMED, became
    print("ok")


if __name__ == "__main__":
    main()
