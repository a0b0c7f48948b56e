#!/usr/bin/env python3
"""load: thousands of agents against the real server on this machine, each with a connection of its
own and through relays: what is dropped, how long handling takes, how much memory a node costs,
how fast the API answers under that load, and how soon a killed server is back.

    bench/load.py BUILD [--nodes 10000] [--registered 12500] [--seconds 60] [--relays 8]
                  [--no-direct] [--no-restart]
"""
import argparse
import json
import pathlib
import re
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "server"))
from cluster import Cluster, wait_for  # noqa: E402

LONG = True  # only when it is named
PATIENCE_S = 1800  # a machine may be busy, and a handshake takes its time


def memory_kb(pid):
    return int(re.search(r"VmRSS:\s+(\d+)",
                         pathlib.Path(f"/proc/{pid}/status").read_text()).group(1))


def cpu_s(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / 100


def histogram(text, name):
    """(upper limit in ms, count) of each bucket."""
    rows = re.findall(name + r'_bucket\{le="([^"]+)"\} (\d+)', text)
    return [(float(limit) * 1e3, int(count)) for limit, count in rows]


def quantile(before, after, share):
    total = after[-1][1] - before[-1][1]
    for (limit, count), (_, old) in zip(after, before):
        if count - old >= share * total:
            return limit, total
    return float("inf"), total


def raise_limits():
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (limit[1], limit[1]))


class Fleet:
    """The load program: nodes with papers of their own, and what it last said of them."""

    def __init__(self, cluster, build, count):
        self.cluster, self.build, self.count = cluster, build, count
        self.papers, self.tokens = cluster.folder / "papers", cluster.folder / "tokens"
        self.papers.mkdir()
        self.fingerprint, self.last, self.process, self.reader = "", {}, None, None
        with self.tokens.open("w") as file:
            for number in range(1, count + 1):
                while True:
                    status, answer = cluster.ask("/v1/enrol", {"node": f"gpu-{number:05d}"})
                    if status == 200:
                        break
                    time.sleep(0.2)  # so many a second are taken, and no more
                self.fingerprint = answer["token"].split("@")[1]
                file.write(f"gpu-{number:05d} {answer['token']}\n")

    def start(self, ports, seconds, away=0):
        self.process = subprocess.Popen(
            [self.build / "bin/bench_load", "127.0.0.1", ",".join(map(str, ports)),
             self.fingerprint, self.tokens, self.papers, str(seconds), str(away)],
            stdout=subprocess.PIPE, text=True)
        self.last = {"connected": 0, "beats": 0, "dropped": 0}
        self.reader = threading.Thread(target=self.read, args=(self.process.stdout,))
        self.reader.start()

    def read(self, lines):
        for line in lines:
            self.last.update(json.loads(line))

    def wait(self, limit_s):
        wait_for("all connected", lambda: self.last["connected"] >= self.count, limit_s)
        wait_for("all healthy", lambda: self.cluster.healthy() >= self.count, limit_s)

    def end(self):
        if self.process:
            self.process.terminate()
            self.process.wait(60)
            self.reader.join(60)
            self.process = None


def ask(build, cluster, path, seconds, pause_ms):
    """Started; its answer is a line of JSON at the end."""
    port = cluster.url.rsplit(":", 1)[1].strip("/")
    return subprocess.Popen([build / "bin/bench_ask", port, cluster.home / "admin.token", path,
                             str(seconds), str(pause_ms)], stdout=subprocess.PIPE, text=True)


def measure(cluster, fleet, seconds, registered):
    """What one stretch of load is like, as a dict."""
    before = cluster.get("/metrics").decode()
    beats, cpu, begun = fleet.last["beats"], cpu_s(cluster.server.pid), time.monotonic()
    assert len(cluster.get("/v1/nodes")["nodes"]) == registered
    asking = ask(fleet.build, cluster, "/v1/nodes", seconds, 100)
    told = json.loads(asking.communicate()[0])
    took = time.monotonic() - begun
    after = cluster.get("/metrics").decode()
    handling, reads = quantile(*(histogram(text, "myriad_agent_handling_seconds")
                                 for text in (before, after)), 0.99)
    inside, _ = quantile(*(histogram(text, "myriad_http_handling_seconds")
                           for text in (before, after)), 0.99)
    return {"handling_p99_ms": handling, "reads": reads, "http_inside_p99_ms": inside,
            "http_p50_ms": told["p50_ms"], "http_p99_ms": told["p99_ms"], "asked": told["asked"],
            "http_max_ms": told["max_ms"], "bytes": told["bytes"],
            "beats_a_second": (fleet.last["beats"] - beats) / took,
            "dropped": fleet.last["dropped"], "connected": fleet.last["connected"],
            "cpu_percent": 100 * (cpu_s(cluster.server.pid) - cpu) / took,
            "server_kb": memory_kb(cluster.server.pid)}


def print_stretch(title, found, registered):
    print(f"{title}: {found['connected']} connected, {found['dropped']} dropped, "
          f"{found['beats_a_second']:.0f} beats/s; handling of one read p99 <= "
          f"{found['handling_p99_ms']:g} ms over {found['reads']} reads")
    print(f"  node list of {registered} ({found['bytes']} bytes), until the last byte: p50 "
          f"{found['http_p50_ms']:g} ms, p99 {found['http_p99_ms']:g} ms, longest "
          f"{found['http_max_ms']:g} ms over {found['asked']} asked; inside the server p99 <= "
          f"{found['http_inside_p99_ms']:g} ms")
    print(f"  server: {found['server_kb'] / 1024:.0f} MiB, {found['kb_a_node']:.1f} KB a connected "
          f"node, {found['cpu_percent']:.0f} % of a core", flush=True)


def restart(cluster, count):
    """Killed and started again: (seconds until it answers, drained nodes, seconds until well)."""
    cluster.end_server(signal.SIGKILL)
    begun = time.monotonic()
    cluster.start_server()
    back = time.monotonic() - begun
    drained = cluster.get("/v1/cluster")["node_states"]["drained"]
    wait_for("all healthy again", lambda: cluster.healthy() >= count, PATIENCE_S)
    return back, drained, time.monotonic() - begun


def stretches(build, options):
    """Yields (title, what was measured) of each."""
    with tempfile.TemporaryDirectory(prefix="myriad-load-") as folder:
        cluster = Cluster(build / "bin/myriad", build / "bin/myriad-agent", folder,
                          [f"gpu-[00001-{options.registered:05d}]"])
        with cluster:
            cluster.start_server()
            empty_kb = memory_kb(cluster.server.pid)
            begun = time.monotonic()
            fleet = Fleet(cluster, build, options.nodes)
            print(f"{options.nodes} tokens in {time.monotonic() - begun:.0f} s", flush=True)
            doors = {"relays": None} if options.relays else {}
            if options.direct:
                doors["direct"] = [cluster.agents_port]
            try:
                for title, ports in doors.items():
                    relays = []
                    if ports is None:
                        pairs = [cluster.start_relay(f"relay-{n}") for n in range(options.relays)]
                        relays, ports = zip(*pairs)
                    begun = time.monotonic()
                    fleet.start(ports, 3600)
                    fleet.wait(PATIENCE_S)
                    came = time.monotonic() - begun
                    before = [cpu_s(relay.pid) for relay in relays]
                    found = measure(cluster, fleet, options.seconds, options.registered)
                    spent = sum(cpu_s(relay.pid) for relay in relays) - sum(before)
                    found.update(kb_a_node=(found["server_kb"] - empty_kb) / options.nodes,
                                 came_s=came, relay_cpu_percent=100 * spent / options.seconds,
                                 relay_kb=max([memory_kb(relay.pid) for relay in relays] or [0]))
                    yield title, found
                    if options.restart:
                        yield title, dict(zip(("back_s", "drained", "well_s"),
                                              restart(cluster, options.nodes)))
                    fleet.end()
                    time.sleep(5)  # those who left are missed
            finally:
                fleet.end()


def arguments(words):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build")
    parser.add_argument("--nodes", type=int, default=10000)
    parser.add_argument("--registered", type=int, default=12500)
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--relays", type=int, default=8, help="0: connections of their own alone")
    parser.add_argument("--no-direct", dest="direct", action="store_false")
    parser.add_argument("--no-restart", dest="restart", action="store_false")
    return parser.parse_args(words)


def run(bench):
    """For bench/run: the figures with their goals."""
    raise_limits()
    build = bench.program.parent.parent
    goals = {"handling_p99_ms": ("ms", 10), "http_p99_ms": ("ms", 50), "kb_a_node": ("KB", 200),
             "back_s": ("s", 1), "dropped": ("nodes", 1), "drained": ("nodes", 1),
             "cpu_percent": ("%", None)}
    for title, found in stretches(build, arguments([str(build)])):
        for name in found.keys() & goals.keys():
            unit, goal = goals[name]
            bench.figure(f"{title}/{name.rsplit('_', 1)[0]}", found[name], unit, goal)


def main():
    options = arguments(sys.argv[1:])
    raise_limits()
    for title, found in stretches(pathlib.Path(options.build).resolve(), options):
        if "back_s" in found:
            print(f"  killed and back: ready after {found['back_s']:.2f} s, {found['drained']} "
                  f"drained, all well after {found['well_s']:.0f} s", flush=True)
            continue
        print_stretch(title, found, options.registered)
        print(f"  all came in {found['came_s']:.0f} s", flush=True)
        if found["relay_kb"]:
            print(f"  relays: {options.relays}, together {found['relay_cpu_percent']:.0f} % of a "
                  f"core, the largest {found['relay_kb'] / 1024:.0f} MiB", flush=True)


if __name__ == "__main__":
    main()
