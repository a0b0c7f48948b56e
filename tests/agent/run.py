#!/usr/bin/env python3
"""The agent as a controller sees it: real processes, real sockets, real signals.

    tests/agent/run.py MYRIAD-AGENT [TEST...]
"""
import os
import signal
import sys
import time
import traceback
from pathlib import Path

import harness
from harness import Agent, alive, until

PROGRAM = sys.argv[1]


def test_ranks_start_and_end():
    agent = Agent(PROGRAM).start()
    agent.order(1, 1, 'echo "rank $RANK of $WORLD_SIZE on $CUDA_VISIBLE_DEVICES"', gpus=0b1010)
    assert agent.controller.expect("started", 1)["code"] == 0
    ended = agent.controller.expect("exit", 1)
    assert (ended["code"], ended["signal"], ended.epoch) == (0, 0, 1), ended
    assert agent.fetch(1, 0) == b"rank 0 of 2 on 1,3\n"
    assert agent.fetch(1, 1) == b"rank 1 of 2 on 1,3\n"
    agent.order(2, 1, 'if [ "$RANK" = 5 ]; then echo fine; echo "ValueError: bad"; exit 3; fi; '
                'sleep 1000', first_rank=4)
    agent.controller.expect("started", 2)
    ended = agent.controller.expect("exit", 2)
    assert (ended["rank"], ended["code"], ended["signal"]) == (5, 3, 0), ended
    assert ended["line"] == b"ValueError: bad", ended
    agent.done()


def test_start_again_and_after_a_stop():
    agent = Agent(PROGRAM).start()
    agent.order(1, 2, "sleep 1000")
    agent.controller.expect("started", 1)
    ranks = agent.ranks(1, 2)
    agent.order(1, 2, "sleep 1000")
    assert agent.controller.expect("started", 1)["code"] == 0
    assert agent.ranks(1, 2) == ranks and all(map(alive, ranks))
    agent.order(1, 1, "sleep 1000")  # older: it never starts
    agent.controller.send("stop", epoch=2, job=1, grace_s=5)
    stopped = agent.controller.expect("stopped", 1, 2)
    assert stopped["code"] == 0 and not any(map(alive, ranks))
    agent.order(1, 2, "sleep 1000")
    agent.controller.expect("stopped", 1, 2)
    agent.order(1, 1, "sleep 1000")
    agent.controller.expect("stopped", 1, 1)
    agent.controller.send("stop", epoch=9, job=77, grace_s=0)  # unknown, and remembered
    agent.controller.expect("stopped", 77, 9)
    agent.kill()
    agent.start()
    agent.order(77, 9, "sleep 1000")
    agent.controller.expect("stopped", 77, 9)
    agent.order(1, 2, "sleep 1000")
    agent.controller.expect("stopped", 1, 2)
    agent.controller.quiet("started", 0.5)
    agent.done()


TESTS = {name: item for name, item in globals().items() if name.startswith("test_")}


def main():
    wanted = sys.argv[2:] or list(TESTS)
    failed = []
    for name in wanted:
        began = time.monotonic()
        try:
            TESTS[name]()
            print(f"ok    {name}  {time.monotonic() - began:.1f} s", flush=True)
        except BaseException:
            traceback.print_exc()
            print(f"FAIL  {name}", flush=True)
            failed.append(name)
            for agent in list(Agent.open):
                print((agent.folder / "agent.log").read_text())
                try:
                    agent.done()
                except AssertionError as error:
                    print(error)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
