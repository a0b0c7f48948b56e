#!/usr/bin/env python3
"""Own work and load on the API server at the size of a large cluster; nodes made by POST.

    tests/kubernetes/scale.py MYRIAD [--nodes 5000] [--gangs 200]

Gangs of 1 to 64 pods are made one after the other until 'gangs' were bound, older ones are deleted
to make room; then nothing is done for half a minute. Prints one line of figures; the limit that is
asserted is that of the load at idle: no request but the lease's and those of watches that end.
"""
import argparse
import os
import random
import re
import time

from lab import (Kubernetes, Scheduler, bound, lab_folder, programs, say, skip, wait)


def cpu_of(process):
    """Seconds of processor time so far."""
    with open(f"/proc/{process}/stat", encoding="ascii") as stat:
        words = stat.read().rsplit(")", 1)[1].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


def memory_of(process):
    with open(f"/proc/{process}/status", encoding="ascii") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmRSS:")) / 1024


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("myriad")
    parser.add_argument("--nodes", type=int, default=5000)
    parser.add_argument("--gangs", type=int, default=200)
    options = parser.parse_args()
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
            begun = time.monotonic()
            scheduler = Scheduler(lab, os.path.abspath(options.myriad), "--nodes-per-leaf", "32")
            scheduler.line("holds the lease")
            waits, running, pods = [], [], 0
            for number in range(options.gangs):
                name, size = f"gang-{number}", draw.choice([1, 1, 2, 4, 8, 16, 32, 64])
                begun_gang = time.monotonic()
                lab.job(name, size)
                bound(lab, name, size)
                waits.append(time.monotonic() - begun_gang)
                running.append(name)
                pods += size
                if len(running) > 40:
                    lab.delete_job(running.pop(0))
            cpu_s = cpu_of(scheduler.child.pid)
            memory = memory_of(scheduler.child.pid)
            time.sleep(30)
            idle_s = cpu_of(scheduler.child.pid) - cpu_s
            flights = sorted(int(re.search(r"in (\d+) ms$", line).group(1))
                             for line in scheduler.lines() if " bound " in line)
            report = scheduler.end()
        finally:
            lab.close()
    waits.sort()
    say(f"scale: {options.nodes} nodes, {options.gangs} gangs of {pods} pods: own work "
        f"{report['work_p50_ms']:.2f} ms p50, {report['work_p99_ms']:.2f} ms p99, "
        f"{report['work_max_ms']:.2f} ms at most; {report['requests_per_s']:.1f} requests a "
        f"second over {report['seconds']:.0f} s ({report['requests']} in all: "
        f"{report['patches']} patches, {report['bindings']} bindings, {report['events']} events, "
        f"{report['lists']} lists, {report['watches']} watches, {report['leases']} of the lease); "
        f"{report['idle_requests_per_s']:.3f} a second in {report['idle_seconds']:.0f} s of idle; "
        f"processor {cpu_s * 1000 / options.gangs:.1f} ms a gang in all (lists, watches, TLS), "
        f"{idle_s / 30 * 100:.2f} % of a core at idle, {memory:.0f} MB; "
        f"Job to bound {waits[len(waits) // 2]:.2f} s p50, "
        f"{waits[len(waits) * 99 // 100]:.2f} s p99, of which from the decision on "
        f"{flights[len(flights) // 2]} ms p50, {flights[len(flights) * 99 // 100]} ms p99")
    assert report["gangs_bound"] == options.gangs, report
    assert report["idle_requests_per_s"] < 0.1, report


if __name__ == "__main__":
    main()
