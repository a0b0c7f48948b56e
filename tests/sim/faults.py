#!/usr/bin/env python3
"""What breaks, and what it costs: tests/sim/faults.py MYRIAD"""
import sys

from lib import TREE, Checks, call, tree

PS = 1e-6


def uplink(program):
    """A link between switches that one flow from GPU 0 to GPU 127 uses: found by cutting it."""
    for link in range(128, 384):
        done = call(program, "--topology", TREE, "--workload", FLOW, "--lb", "ecmp",
                    "--fault", f"link/{link}:degrade=0.5@0us", "-o", "json")
        if done.returncode == 0 and '"sim_time_us": 166' in done.stdout:
            return link
    sys.exit("no uplink found")


FLOW = "incast:1:1,1MB,first=15,ranks=2"  # 6 us + 80 us across pods


def repair_times(check, program, link):
    flow = lambda *words: tree(program, FLOW, "--lb", "ecmp", *words)["sim_time_us"]
    check.equal("nothing breaks", flow(), 86, PS)
    for word, cost in (("50us", 50), ("local", 50), ("remote", 1000), ("convergence", 1e6)):
        got = flow("--fault", f"link/{link}:down@26us,reroute={word}")
        # 20 us of the transfer are done, then it stands until paths avoid the link.
        check.equal(f"down, reroute={word}", got, 86 + cost, PS * 10)
    check.equal("half speed from half way", flow("--fault", f"link/{link}:degrade=0.5@46us"), 126,
                PS * 10)
    check.equal("down and up before paths change",
                flow("--fault", f"link/{link}:down@26us,reroute=1s",
                     "--fault", f"link/{link}:up@36us,reroute=1s"), 96, PS * 10)
    got = flow("--fault", f"link/{link}:flap@26us,down=5us,period=20us,count=2,reroute=1s")
    check.equal("two flaps", got, 96, PS * 10)


def stalls(check, program):
    done = call(program, "--topology", TREE, "--workload", FLOW, "--fault", "link/15:down@10us")
    check.equal("host link down: exit code", done.returncode, 3)
    check.true(f"the blocked flow and link are named: {done.stderr}",
               "GPU 16 to GPU 15 at link/00000015" in done.stderr
               and "nothing can progress" in done.stderr)
    done = call(program, "--topology", TREE, "--workload", "permutation:1MB", "--lb", "spray",
                "--fault", "node/00007:down@10us")
    check.equal("node down under spraying: exit code", done.returncode, 3)
    got = tree(program, FLOW, "--fault", "link/15:down@10us", "--fault", "link/15:up@1ms")
    check.equal("host link back after 1 ms", got["sim_time_us"], 86 + 990 + 0, 60)


def devices(check, program):
    """A spine of 4 dies: sprayed traffic keeps three quarters of the pod's uplinks."""
    got = tree(program, "allreduce:ring,1GB", "--lb", "spray",
               "--fault", "spine/p0-0:down@0us,reroute=0us")
    check.true("a ring does not need what a spine carried", got["sim_time_us"] < 170000)
    for lb in ("spray", "planned", "ecmp", "adaptive"):
        free = tree(program, "permutation:1MB,seed=5", "--lb", lb)["sim_time_us"]
        hit = tree(program, "permutation:1MB,seed=5", "--lb", lb,
                   "--fault", "spine/p0-0:down@20us,reroute=local")
        check.true(f"{lb}: all flows end", hit["flows"] == 128)
        check.true(f"{lb}: a dead spine costs time: {hit['sim_time_us']} {free}",
                   hit["sim_time_us"] >= free or lb == "ecmp")
        check.true(f"{lb}: no link carries more than it can", hit["link_load"]["max"] < 1.000001)


def slow_nodes(check, program):
    got = tree(program, "allreduce:ring,128MB", "--lb", "spray", "--slow", "node/00009:0.5")
    # Its port is busy all the time: bytes follow bytes, and the latencies pass meanwhile.
    bytes_us = 2 * (2 * 127 / 128 * 128 * 80)
    check.true("one slow node slows the ring",
               bytes_us + 2 <= got["sim_time_us"] <= bytes_us + 2 * 127 * 2.625)
    got = tree(program, "allreduce:ring,128MB,schedule=collapsed", "--lb", "spray",
               "--slow", "node/00009:0.5")
    check.equal("in lockstep", got["sim_time_us"], bytes_us + 2 * 127 * 2.625, PS * 10)
    step = "step:llama3-8b,tp=1,pp=8,micro_batch=1,global_batch=64"
    free = tree(program, step, "--lb", "spray")["sim_time_us"]
    slow = tree(program, step, "--lb", "spray", "--slow", "node/00009:0.5")["sim_time_us"]
    check.true(f"one slow node slows a step: {free} {slow}", 1.3 * free < slow < 2.1 * free)


def main():
    program, check = sys.argv[1], Checks()
    repair_times(check, program, uplink(program))
    stalls(check, program)
    devices(check, program)
    slow_nodes(check, program)
    check.end()


if __name__ == "__main__":
    main()
