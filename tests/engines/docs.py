#!/usr/bin/env python3
"""Every command of a document about an engine, run on the real thing.

    tests/engines/docs.py MYRIAD slurm|etcd
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
from etcd_lab import Etcd, members_of  # noqa: E402
from slurm_lab import PATH, SKIP, Slurm, need  # noqa: E402


def run(myriad, document, **more):
    return subprocess.run([HERE.parent / "docs/commands.py", myriad, document],
                          env={**os.environ, **more}, check=False).returncode


def main():
    myriad, which = os.path.abspath(sys.argv[1]), sys.argv[2]
    folder = pathlib.Path(tempfile.mkdtemp(prefix="myriad-docs-lab-"))
    try:
        if which == "slurm":
            need()
            with Slurm(folder, 4, gpus=2) as slurm:
                return run(myriad, "docs/slurm.md", SLURM_CONF=str(slurm.conf), PATH=PATH)
        if not shutil.which("etcd"):
            print("skipped: etcd is not installed (scripts/deps test)")
            return SKIP
        with Etcd(folder) as etcd:
            return run(myriad, "docs/etcd.md", MEMBERS=members_of(etcd))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
