#!/usr/bin/env python3
"""What the program prints, compared with what it printed when somebody last looked.

    tests/golden/run.py MYRIAD [NAME...]            compares; NAME may be a pattern such as 'fit-*'
    tests/golden/run.py MYRIAD --rewrite [NAME...]  writes what comes out now; read the diff

A case is NAME.cmd: lines of a shell script in which `myriad` is the program, run in an empty folder
where examples/ and data/ (tests/data) are at hand. NAME.out, NAME.err and NAME.code are its standard
output, standard error and exit code; a missing .out or .err means empty, a missing .code means 0.
Output must not depend on time, machine or compiler; lines of progress, which a busy machine has and
a quiet one has not, are left out of standard error, and of the output of a case that puts both
together (2>&1). Where the build has tests/leaks_at_exit.so, the
program must have given back all memory at its end too.
"""
import concurrent.futures
import difflib
import fnmatch
import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
EXAMPLES = HERE.parent.parent / "examples"
DATA = HERE.parent / "data"
TIMEOUT_S = 600
DIFF_LINES_MAX = 40
ENDINGS = ("out", "err", "code")
PROGRESS = re.compile(r"^[a-z][a-z ]*  +\d+ %  [\d,]+/[\d,]+(  .*)?\n", re.M)
EMPTY = {"out": "", "err": "", "code": "0\n"}


def run(case, myriad):
    """What the case gives now, by ending, and what was not given back ('leaks')."""
    with (tempfile.TemporaryDirectory(prefix="myriad-golden-") as folder,
          tempfile.NamedTemporaryFile(prefix="myriad-leaks-") as leaks):
        os.symlink(EXAMPLES, os.path.join(folder, "examples"))
        os.symlink(DATA, os.path.join(folder, "data"))
        command = shlex.quote(myriad)
        watch = Path(myriad).parent.parent / "tests" / "leaks_at_exit.so"
        if watch.exists():
            command = (f"LD_PRELOAD={shlex.quote(str(watch))} "
                       f"LEAKS_AT_EXIT={shlex.quote(leaks.name)} {command}")
        script = f"myriad() {{ {command} \"$@\"; }}\n" + case.read_text()
        environment = {key: value for key, value in os.environ.items()
                       if not key.startswith("MYRIAD_")}
        environment.update(LC_ALL="C.UTF-8", COLUMNS="80")
        if not watch.exists():  # a sanitizer's search for leaks takes a third of a start
            environment["ASAN_OPTIONS"] = environment.get("ASAN_OPTIONS", "") + ":detect_leaks=0"
        result = subprocess.run(["bash", "-u", "-c", script], cwd=folder, env=environment,
                                stdin=subprocess.DEVNULL, capture_output=True, timeout=TIMEOUT_S,
                                check=False)
        lost = leaks.read().decode()
    out, err = result.stdout.decode(), PROGRESS.sub("", result.stderr.decode())
    return {"out": PROGRESS.sub("", out) if "2>&1" in script else out, "err": err,
            "code": f"{result.returncode}\n", "leaks": lost}


def kept(case, ending):
    path = case.with_suffix("." + ending)
    return path.read_text() if path.exists() else EMPTY[ending]


def compare(case, found):
    """Lines that say what differs; none when all is as it was."""
    for ending in ENDINGS:
        before, now = kept(case, ending), found[ending]
        if before != now:
            name = f"{case.stem}.{ending}"
            lines = list(difflib.unified_diff(before.splitlines(), now.splitlines(), name,
                                              name + " now", lineterm=""))
            yield from lines[:DIFF_LINES_MAX]
            if len(lines) > DIFF_LINES_MAX:
                yield f"... and {len(lines) - DIFF_LINES_MAX} more lines"
    for line in sorted(set(found["leaks"].splitlines())):
        yield f"{case.stem}: memory is lost: {line}"


def rewrite(case, found):
    for ending in ENDINGS:
        path = case.with_suffix("." + ending)
        if found[ending] == EMPTY[ending]:
            path.unlink(missing_ok=True)
        elif kept(case, ending) != found[ending]:
            path.write_text(found[ending])


def main():
    words = [word for word in sys.argv[1:] if word != "--rewrite"]
    if not words:
        sys.exit(__doc__)
    myriad, wanted = os.path.abspath(words[0]), words[1:] or ["*"]
    if not os.path.isfile(myriad) or not os.access(myriad, os.X_OK):
        sys.exit(f"{words[0]}: no program is there, and --rewrite would keep what a shell says of it")
    cases = [case for case in sorted(HERE.glob("*.cmd"))
             if any(fnmatch.fnmatch(case.stem, pattern) for pattern in wanted)]
    if "--rewrite" not in sys.argv:
        cases = cases[::int(os.environ.get("MYRIAD_EVERY", "1"))]  # sanitizers see one in so many
    stray = [path.name for ending in ENDINGS for path in HERE.glob("*." + ending)
             if not path.with_suffix(".cmd").exists()]
    failed = len(stray)
    for name in stray:
        print(f"{name}: there is no such case")
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for case, found in zip(cases, pool.map(lambda case: run(case, myriad), cases)):
            if "--rewrite" in sys.argv:
                rewrite(case, found)
                continue
            lines = list(compare(case, found))
            failed += bool(lines)
            print("\n".join(lines), end="\n" if lines else "")
    print(f"{len(cases)} cases, {failed} failed")
    if failed:
        print("if the new output is right: tests/golden/run.py MYRIAD --rewrite, and read the diff")
    sys.exit(1 if failed or not cases else 0)


if __name__ == "__main__":
    main()
