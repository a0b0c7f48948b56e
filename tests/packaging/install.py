#!/usr/bin/env python3
"""`make install` into an empty root: everything is there, and works from there.

    tests/packaging/install.py BUILD-FOLDER
"""
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import tree


def files_of(folder):
    return {path.relative_to(folder): path.read_bytes()
            for path in sorted(Path(folder).rglob("*")) if path.is_file()}


def install(build, stage, prefix):
    tree.run("cmake", "--install", build, "--prefix", prefix, env={
        **tree.clean_environment(), "DESTDIR": str(stage)})


def no_paths(build, stage):
    """Nothing of the machine that built it is left in what is installed."""
    roots = [f"{path}/".encode() for path in (tree.ROOT, Path(build).resolve())]
    for name, data in files_of(stage).items():
        if any(root in data for root in roots):
            raise SystemExit(f"{name} holds the path of the source tree")


def main():
    build = sys.argv[1]
    with tempfile.TemporaryDirectory(prefix="myriad-install-") as folder:
        stage = Path(folder) / "root"
        install(build, stage, "/usr/local")
        checks = tree.Tree(stage, "/usr/local").check()
        no_paths(build, stage)
        outside = [path for path in stage.iterdir() if path.name != "usr"]
        if outside:
            raise SystemExit(f"outside of the prefix: {outside}")
        # Another prefix, the same bytes: nothing knows where it will lie.
        other = Path(folder) / "other"
        install(build, other, "/opt/myriad")
        if files_of(stage / "usr/local") != files_of(other / "opt/myriad"):
            raise SystemExit("the prefix changes what is installed")
        help_text = subprocess.run(["make", "-C", tree.ROOT, "--no-print-directory", "help"],
                                   capture_output=True, text=True, check=True).stdout
        if not re.search(r"^make install +\S", help_text, re.M):
            raise SystemExit("make help does not name install")
    print(f"{checks} checks hold")


if __name__ == "__main__":
    main()
