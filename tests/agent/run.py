#!/usr/bin/env python3
"""The agent as a controller sees it: real processes, real sockets, real signals.

    tests/agent/run.py MYRIAD-AGENT [--certs PROGRAM] [--nvml LIBRARY] [TEST...]
"""
import argparse
import os
import sys
import time
import traceback

import deaths
import harness
import node
import ranks

TESTS = {name: item for part in (ranks, deaths, node) for name, item in vars(part).items()
         if name.startswith("test_")}


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
    failed = []
    for name in names:
        began = time.monotonic()
        try:
            TESTS[name]()
            print(f"ok    {name}  {time.monotonic() - began:.1f} s", flush=True)
        except BaseException:
            traceback.print_exc()
            print(f"FAIL  {name}", flush=True)
            failed.append(name)
            for agent in list(harness.Agent.open):
                print((agent.folder / "agent.log").read_text())
                try:
                    agent.done()
                except AssertionError as error:
                    print(error)
    print(f"{len(names) - len(failed)} passed, {len(failed)} failed, seed {harness.SEED}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
