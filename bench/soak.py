#!/usr/bin/env python3
"""soak: half an hour of everything at once, and whether anything grows.

    bench/soak.py BUILD [--minutes 30] [--nodes 1000] [--relays 2] [--jobs 240]

Real server, real relays, agents by the load program: half of them through relays, half with
connections of their own. Jobs are submitted and cancelled all the time, lists are read by a client
that keeps its connection, watchers hold event streams, agents are cut off and come back. Every five
seconds memory and open files of server and relays, the size of the store and the time that the list
of nodes took are noted.

Rule: the first fifth is left out, as caches fill. Of the rest a line is drawn by the median of all
slopes between samples (Theil-Sen). A quantity grows when the line gains more than its allowance
over the time that was looked at: memory and store 5 % of their median and 2 MiB, open files 4, the
time of an answer 50 % and 10 ms. Jobs that are over are remembered, which is what they are there
for: so many KiB as JOB_KB says are taken off for each first, of memory and of the store.
"""
import argparse
import json
import os
import pathlib
import statistics
import sys
import tempfile
import threading
import time
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import load  # noqa: E402
from cluster import Cluster  # noqa: E402

LONG = True  # only when it is named
SAMPLE_S = 5
WATCHERS = 20
AWAY_A_MINUTE = 30
JOB_KB = {"server_kb": 1.5, "store_kb": 3.0}  # its file, its row, its place in the core


def open_files(pid):
    return len(os.listdir(f"/proc/{pid}/fd"))


def store_kb(home):
    return sum(path.stat().st_size for path in home.glob("state.db*")) / 1024


class Watcher(threading.Thread):
    """Holds an event stream, and begins anew when it ends."""

    def __init__(self, cluster):
        super().__init__(daemon=True)
        self.cluster, self.stop, self.events = cluster, False, 0

    def run(self):
        while not self.stop:
            request = urllib.request.Request(
                self.cluster.url.rstrip("/") + "/v1/events",
                headers={"Authorization": "Bearer " + self.cluster.token})
            try:
                with urllib.request.urlopen(request, timeout=60) as stream:
                    until = time.monotonic() + 20  # then it comes again: they leave too
                    while not self.stop and time.monotonic() < until:
                        self.events += stream.readline().startswith(b"data:")
            except OSError:
                time.sleep(0.5)


class Jobs(threading.Thread):
    """So many a minute are submitted; the oldest of eight is cancelled for each."""

    def __init__(self, cluster, a_minute):
        super().__init__(daemon=True)
        self.cluster, self.pause_s, self.stop = cluster, 60 / a_minute, False
        self.submitted, self.failed = 0, 0

    def run(self):
        alive = []
        while not self.stop:
            try:
                alive.append(self.cluster.submit(
                    f"name: soak-{self.submitted}\ngpus: {8 * (1 + self.submitted % 4)}\n"
                    "command: 'sleep 100'\n"))
                self.submitted += 1
                if len(alive) > 8:
                    self.cluster.post(f"/v1/jobs/{alive.pop(0)}/cancel", {})
            except Exception:  # noqa: BLE001  counted, and said at the end
                self.failed += 1
            time.sleep(self.pause_s)


def slope(times, values):
    """Theil-Sen: the median of all slopes; a few samples that stick out do not count."""
    pairs = [(values[j] - values[i]) / (times[j] - times[i])
             for i in range(len(times)) for j in range(i + 1, len(times))]
    return statistics.median(pairs)


def judge(samples):
    """(name, first, last, gained, allowed) of each quantity, by the rule above."""
    kept = samples[len(samples) // 5:]
    times = [sample["t"] for sample in kept]
    span = times[-1] - times[0]
    rows = []
    for name in [key for key in kept[0] if key not in ("t", "jobs")]:
        values = [sample[name] for sample in kept]
        values = [value - JOB_KB.get(name, 0) * sample["jobs"]
                  for value, sample in zip(values, kept)]
        middle = statistics.median(values)
        allowed = 4 if name.endswith("_files") else \
            0.5 * middle + 10 if name.endswith("_ms") else 0.05 * abs(middle) + 2048
        rows.append((name, kept[0][name], kept[-1][name], slope(times, values) * span, allowed))
    return rows, span


def sample(cluster, relays, begun, jobs):
    found = {"t": time.monotonic() - begun, "jobs": jobs.submitted,
             "server_kb": load.memory_kb(cluster.server.pid),
             "server_files": open_files(cluster.server.pid),
             "store_kb": store_kb(cluster.home)}
    if relays:
        found["relays_kb"] = sum(load.memory_kb(relay.pid) for relay in relays)
        found["relays_files"] = sum(open_files(relay.pid) for relay in relays)
    return found


def soak(build, options):
    """(judged rows, span in seconds, notes)"""
    with tempfile.TemporaryDirectory(prefix="myriad-soak-") as folder:
        cluster = Cluster(build / "bin/myriad", build / "bin/myriad-agent", folder,
                          [f"gpu-[00001-{options.nodes:05d}]"])
        with cluster:
            cluster.start_server()
            fleet = load.Fleet(cluster, build, options.nodes)
            pairs = [cluster.start_relay(f"relay-{n}") for n in range(options.relays)]
            relays = [relay for relay, _ in pairs]
            ports = [port for _, port in pairs] + [cluster.agents_port] * max(1, options.relays)
            watchers = [Watcher(cluster) for _ in range(WATCHERS)]
            jobs = Jobs(cluster, options.jobs)
            samples = []
            try:
                fleet.start(ports, 24 * 3600, AWAY_A_MINUTE)
                fleet.wait(load.PATIENCE_S)
                print(f"{options.nodes} connected; {options.minutes} minutes from now", flush=True)
                for thread in [*watchers, jobs]:
                    thread.start()
                begun = time.monotonic()
                while time.monotonic() - begun < options.minutes * 60:
                    asking = load.ask(build, cluster, "/v1/nodes", SAMPLE_S, 200)
                    answer = json.loads(asking.communicate()[0])
                    samples.append({**sample(cluster, relays, begun, jobs),
                                    "nodes_p99_ms": answer["p99_ms"]})
                states = cluster.get("/v1/cluster")["node_states"]
            finally:
                for thread in [*watchers, jobs]:
                    thread.stop = True
                fleet.end()
            rows, span = judge(samples)
            notes = {"jobs": jobs.submitted, "refused": jobs.failed, "away": fleet.last["away"],
                     "dropped": fleet.last["dropped"], "events": sum(w.events for w in watchers),
                     "drained": states["drained"], "samples": len(samples)}
            return rows, span, notes


def arguments(words):
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("--minutes", type=float,
                        default=float(os.environ.get("SOAK_MINUTES", "30")),
                        help="default: SOAK_MINUTES, or 30")
    parser.add_argument("--nodes", type=int, default=1000)
    parser.add_argument("--relays", type=int, default=2)
    parser.add_argument("--jobs", type=float, default=240, help="a minute")
    return parser.parse_args(words)


def report(rows, span, notes):
    """True: nothing grows and nothing was lost."""
    good = notes["dropped"] == 0 and notes["refused"] == 0 and notes["drained"] == 0
    print(f"looked at for {span / 60:.1f} minutes: {notes}")
    for name, first, last, gained, allowed in rows:
        grows = gained > allowed
        good = good and not grows
        print(f"{'GROWS' if grows else 'ok   '} {name}: {first:.1f} to {last:.1f}, gains "
              f"{gained:.1f}, {allowed:.1f} are allowed")
    print("pass" if good else "FAIL", flush=True)
    return good


def run(bench):
    """For bench/run: gains beside what is allowed."""
    load.raise_limits()
    build = bench.program.parent.parent
    rows, span, notes = soak(build, arguments([str(build)]))
    if not report(rows, span, notes):
        bench.fail("soak", "something grows, or was lost")
    for name, _, _, gained, allowed in rows:
        bench.figure(f"{name}/gain", max(gained, 0), name.rsplit("_", 1)[1], allowed)


def main():
    options = arguments(sys.argv[1:])
    load.raise_limits()
    sys.exit(0 if report(*soak(pathlib.Path(options.build).resolve(), options)) else 1)


if __name__ == "__main__":
    main()
