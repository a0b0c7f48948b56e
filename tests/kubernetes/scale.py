#!/usr/bin/env python3
"""Own work and load on the API server at the size of a large cluster; nodes made by POST.

    tests/kubernetes/scale.py MYRIAD [--nodes 5000] [--gangs 200] [--sizes 1,4,16]
        [--perf FILE]

Gangs of 1 to 64 pods are made one after the other, older ones are deleted to make room; then
nothing is done for half a minute. Prints one line of figures, and one for each size of gang.

Own work of a job is all processor time that the scheduler's process takes for it, user and system:
from the Job's POST until its pods are bound and their events are told, and again for its deletion,
less what the process takes in so much time when it is idle. What is asserted is the load at idle:
no request but the lease's and those of watches that end. --perf: 'perf record' of the scheduler.
"""
import argparse
import os
import random
import re
import signal
import subprocess
import time

from lab import (Kubernetes, Scheduler, bound, lab_folder, programs, say, skip, wait)

# Without work for so long: what a gang has caused is over. What comes while nothing waits is read
# every 128 ms, and later on a busy machine: a shorter rest would count it as the next one's work.
SETTLE_S = 0.4


def cpu_of(process):
    """Milliseconds of processor time so far, of all its threads."""
    total = 0
    for task in os.listdir(f"/proc/{process}/task"):
        with open(f"/proc/{process}/task/{task}/schedstat", encoding="ascii") as stat:
            total += int(stat.read().split()[0])
    return total / 1e6


def settled(process, lines):
    """What it has taken once it rests; 'lines' is true when what was to be done is done."""
    until = time.monotonic() + 60
    while not lines():
        assert time.monotonic() < until, "it never rests"
        time.sleep(0.02)
    before = cpu_of(process)
    while True:
        time.sleep(SETTLE_S)
        now = cpu_of(process)
        # An idle one wakes twice a second, for some hundredths of a millisecond.
        if now - before < 0.15:
            return now
        assert time.monotonic() < until, "it never rests"
        before = now


def part(values, share):
    """The value below which that share of them lies."""
    values = sorted(values)
    return values[min(len(values) - 1, int(len(values) * share))]


def memory_of(process):
    with open(f"/proc/{process}/status", encoding="ascii") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmRSS:")) / 1024


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("myriad")
    parser.add_argument("--nodes", type=int, default=5000)
    parser.add_argument("--gangs", type=int, default=200)
    parser.add_argument("--sizes", default="1,4,8,16,32,64")
    parser.add_argument("--perf")
    options = parser.parse_args()
    gang_sizes = [int(size) for size in options.sizes.split(",")]
    binaries = programs()
    if not binaries:
        skip("no Kubernetes here; make test-kubernetes builds it (scripts/kubernetes)")
    draw = random.Random(1)
    with lab_folder() as top:
        lab = Kubernetes(top, binaries)
        try:
            lab.begin(["--node-monitor-grace-period=87600h", "--node-startup-grace-period=87600h",
                       "--controllers=*,-ttl"], scheduler=False)
            begun = time.monotonic()
            lab.make_nodes(f"node-{i}" for i in range(options.nodes))
            wait("nodes without taints", lambda: "not-ready" not in lab.get(
                "/api/v1/nodes", raw=True), limit_s=900, step_s=5)
            say(f"{options.nodes} nodes made in {time.monotonic() - begun:.0f} s")
            scheduler = Scheduler(lab, os.path.abspath(options.myriad), "--nodes-per-leaf", "32")
            scheduler.line("holds the lease")
            pid = scheduler.child.pid
            # On a busy machine the first list takes long: it is no part of an idle one's work.
            start_ms = settled(pid, lambda: True)
            time.sleep(20)
            idle_ms = (cpu_of(pid) - start_ms) / 20  # a second
            perf = options.perf and subprocess.Popen(
                ["perf", "record", "-g", "-q", "-o", options.perf, "-p", str(pid)])
            waits, running, work, sizes, binding = [], [], {}, {}, {}

            def timed(name, act, until):
                """Processor time from before act() until it rests, less that of an idle one."""
                before, begun = cpu_of(pid), time.monotonic()
                act()
                after = settled(pid, until)
                took = after - before - idle_ms * (time.monotonic() - begun)
                binding.setdefault(name, took)  # the first is from the POST to the last event
                work[name] = work.get(name, 0) + took

            def make(name, size):
                begun = time.monotonic()
                lab.job(name, size)
                bound(lab, name, size)
                waits.append(time.monotonic() - begun)

            def drop(name):
                timed(name, lambda: lab.delete_job(name), lambda: True)

            for number in range(options.gangs):
                name, size = f"gang-{number}", gang_sizes[number % len(gang_sizes)]
                sizes[name] = size
                timed(name, lambda: make(name, size), lambda: any(
                    f"bound default/{name}/" in line for line in scheduler.lines()))
                running.append(name)
                if len(running) > 40:
                    drop(running.pop(draw.randrange(len(running))))
            for name in running:
                drop(name)
            if perf:
                perf.send_signal(signal.SIGINT)
                perf.wait()
            before = cpu_of(pid)
            memory = memory_of(pid)
            time.sleep(30)
            idle_part = (cpu_of(pid) - before) / 30 / 10
            flights = sorted(int(re.search(r"in (\d+) ms$", line).group(1))
                             for line in scheduler.lines() if " bound " in line)
            report = scheduler.end()
        finally:
            lab.close()
    say("own work of a job: processor time of Myriad's process, user and system, all threads "
        "(/proc/PID/task/*/schedstat), from the Job's POST until its pods are bound and told of "
        "('to bound'), and once more for its deletion; less what an idle one takes meanwhile")
    for size in sorted(set(gang_sizes)):
        of_size = [work[name] for name in work if sizes[name] == size]
        to_bound = [binding[name] for name in work if sizes[name] == size]
        if of_size:
            say(f"own work of a job of {size} pods: {part(of_size, 0.5):.2f} ms p50, "
                f"{part(of_size, 0.99):.2f} ms p99 of {len(of_size)}; to bound "
                f"{part(to_bound, 0.5):.2f} ms p50, {part(to_bound, 0.99):.2f} ms p99")
    pods = sum(sizes.values())
    say(f"scale: {options.nodes} nodes, {options.gangs} gangs of {pods} pods: own work of a job "
        f"{part(work.values(), 0.5):.2f} ms p50, {part(work.values(), 0.99):.2f} ms p99; "
        f"of which the decision {report['work_p50_ms']:.2f} ms p50, {report['work_p99_ms']:.2f} ms "
        f"p99; first list {start_ms:.0f} ms; {report['requests_per_s']:.1f} requests a "
        f"second over {report['seconds']:.0f} s ({report['requests']} in all: "
        f"{report['bindings']} bindings, {report['events']} events, "
        f"{report['lists']} lists, {report['watches']} watches, {report['leases']} of the lease); "
        f"{report['idle_requests_per_s']:.3f} a second in {report['idle_seconds']:.0f} s of idle; "
        f"{idle_part:.3f} % of a core at idle, {memory:.0f} MB; "
        f"Job to bound {part(waits, 0.5):.2f} s p50, "
        f"{part(waits, 0.99):.2f} s p99, of which from the decision on "
        f"{flights[len(flights) // 2]} ms p50, {flights[len(flights) * 99 // 100]} ms p99")
    assert report["gangs_bound"] == options.gangs, report
    assert report["idle_requests_per_s"] < 0.1, report


if __name__ == "__main__":
    main()
