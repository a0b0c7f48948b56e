#!/usr/bin/env python3
"""`make deb`, and its packages installed into an empty root and run there.

    tests/packaging/deb.py [BUILD]

Built without optimisation and debug information and hardly compressed, which is all the same to
what a package holds; so is where its objects come from: those of the build folder BUILD are not
compiled again (cc).
"""
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import tree

SKIPPED = 77
TOOLS = ("dpkg-buildpackage", "dh", "lintian", "dpkg-deb", "cmake", "ninja", "scdoc", "git")
CHEAP = {"DEB_CFLAGS_STRIP": "-g",
         "DPKG_DEB_COMPRESSOR_TYPE": "gzip", "DPKG_DEB_COMPRESSOR_LEVEL": "1"}


def cheaply():
    options = "noopt nocheck noautodbgsym"
    if len(sys.argv) < 2:
        return {**CHEAP, "DEB_BUILD_OPTIONS": options + " unity"}
    return {**CHEAP, "DEB_BUILD_OPTIONS": options, "CC": str(Path(__file__).with_name("cc")),
            "MYRIAD_BUILT": os.path.abspath(sys.argv[1])}


def libraries(program):
    """The shared libraries of a program, with the loader."""
    for line in tree.run("ldd", program).splitlines():
        for word in line.split():
            if word.startswith("/"):
                yield Path(word)


def run_inside(stage):
    """In a root that holds nothing but the package and the libraries that it depends on."""
    program = stage / "usr/bin/myriad"
    for library in libraries(program):
        target = stage / str(library).lstrip("/")
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(library.resolve(), target)
    inside = ["chroot", stage] if os.getuid() == 0 else ["unshare", "-r", "chroot", stage]
    probe = subprocess.run([*inside, "/usr/bin/myriad", "--version"], capture_output=True,
                           text=True, check=False)
    if probe.returncode != 0 and "Operation not permitted" in probe.stderr:
        print("not run in a root of its own: chroot is not permitted here")
        return
    text = tree.run(*inside, "/usr/bin/myriad", "plan",
                    "/usr/share/doc/myriad/examples/h100-64.yaml", "--out", "/out")
    if "512" not in text or not (stage / "out/design.myr").exists():
        raise SystemExit(f"planned in its own root, it prints\n{text}")


def main():
    missing = [tool for tool in TOOLS if not shutil.which(tool)]
    if missing:
        print(f"skipped: {', '.join(missing)} not found (scripts/deps test)")
        return SKIPPED
    if not (tree.ROOT / ".git").exists():
        print("skipped: not a checkout; scripts/deb packages what git knows")
        return SKIPPED
    with tempfile.TemporaryDirectory(prefix="myriad-deb-") as folder:
        out, stage = Path(folder) / "deb", Path(folder) / "root"
        said = tree.run(tree.ROOT / "scripts/deb", out,
                        env={**os.environ, **cheaply()})
        print(said.strip())
        packages = sorted(out.glob("*.deb"))
        names = [path.name.split("_")[0] for path in packages]
        if [name for name in names if not name.endswith("-dbgsym")] != [
                "libmyriad-ccl0", "libmyriad-dev", "myriad-nccl", "myriad"]:
            raise SystemExit(f"packages: {names}")
        for path in packages:
            tree.run("dpkg-deb", "-x", path, stage)
        checks = tree.Tree(stage, "/usr", zsh="vendor-completions").check()
        if os.getuid() == 0:
            installed = Path(folder) / "installed"
            (installed / "var/lib/dpkg").mkdir(parents=True)
            for name in ("status", "available"):
                (installed / "var/lib/dpkg" / name).touch()
            tree.run("dpkg", f"--root={installed}", "--force-depends", "--install", *packages)
            listed = tree.run("dpkg", f"--root={installed}", "--get-selections")
            for name in ("myriad", "libmyriad-dev", "libmyriad-ccl0", "myriad-nccl"):
                if not any(line.split() == [name, "install"] or line.startswith(f"{name}:")
                           for line in listed.splitlines()):
                    raise SystemExit(f"dpkg does not know {name}:\n{listed}")
        run_inside(stage)
    print(f"{checks} checks hold")
    return 0


if __name__ == "__main__":
    sys.exit(main())
