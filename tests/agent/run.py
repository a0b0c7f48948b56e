#!/usr/bin/env python3
"""The agent as a controller sees it: real processes, real sockets, real signals.

    tests/agent/run.py MYRIAD-AGENT [--certs PROGRAM] [--nvml LIBRARY] [TEST...]

Several tests run side by side, a process each: most of their time they wait, for leases to run out
and for ranks to end. One alone runs in this process.
"""
import argparse
import concurrent.futures
import os
import subprocess
import sys
import time
import traceback

import deaths
import harness
import node
import ranks

TESTS = {name: item for part in (ranks, deaths, node) for name, item in vars(part).items()
         if name.startswith("test_")}
BESIDE = 4  # few enough that what is timed, such as a lease, holds on one busy core


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("tests", nargs="*")
    parser.add_argument("--part", choices=("ranks", "deaths", "node"))
    parser.add_argument("--certs")
    parser.add_argument("--nvml")
    parser.add_argument("--any-memory", action="store_true", help="a sanitizer takes its own")
    harness.OPTIONS = options = parser.parse_intermixed_args()
    options.program = os.path.abspath(options.program)
    names = options.tests or [name for name, item in TESTS.items()
                              if options.part in (None, item.__module__)]
    if len(names) == 1:
        return alone(names[0])
    with concurrent.futures.ThreadPoolExecutor(BESIDE) as pool:
        failed = sum(pool.map(in_a_process, names))
    print(f"{len(names) - failed} passed, {failed} failed, seed {harness.SEED}")
    return 1 if failed else 0


def alone(name):
    """0 when the test holds; leaves nothing behind either way."""
    began = time.monotonic()
    try:
        TESTS[name]()
    except BaseException:
        traceback.print_exc(file=sys.stdout)
        print(f"FAIL  {name}", flush=True)
        for agent in list(harness.Agent.open):
            print((agent.folder / "agent.log").read_text())
            try:
                agent.done()
            except AssertionError as error:
                print(error)
        return 1
    print(f"ok    {name}  {time.monotonic() - began:.1f} s", flush=True)
    return 0


def in_a_process(name):
    """Whether the test fails, run by this program with the same options and its name alone."""
    words = [word for at, word in enumerate(sys.argv[1:], 1)
             if word not in TESTS and word != "--part" and sys.argv[at - 1] != "--part"]
    done = subprocess.run([sys.executable, sys.argv[0], *words, name], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, check=False)
    sys.stdout.write(done.stdout.decode(errors="replace"))
    sys.stdout.flush()
    return done.returncode != 0


if __name__ == "__main__":
    sys.exit(main())
