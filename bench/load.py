#!/usr/bin/env python3
"""Thousands of agents against the real server on this machine: what is dropped, how long handling
takes, how much memory a node costs, how fast the API answers under that load, and how soon a killed
server is back.

    bench/load.py BUILD [--nodes 10000] [--registered 12500] [--seconds 60]
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
import time
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "server"))
from cluster import Cluster, wait_for  # noqa: E402


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


def fetch(cluster, path):
    request = urllib.request.Request(cluster.url.rstrip("/") + path,
                                     headers={"Authorization": "Bearer " + cluster.token})
    with urllib.request.urlopen(request, timeout=30) as answer:
        return answer.read()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build")
    parser.add_argument("--nodes", type=int, default=10000)
    parser.add_argument("--registered", type=int, default=12500)
    parser.add_argument("--seconds", type=int, default=60)
    options = parser.parse_args()
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (limit[1], limit[1]))
    build = pathlib.Path(options.build).resolve()
    with tempfile.TemporaryDirectory(prefix="myriad-load-") as folder:
        folder = pathlib.Path(folder)
        cluster = Cluster(build / "bin/myriad", build / "bin/myriad-agent", folder,
                          [f"gpu-[00001-{options.registered:05d}]"])
        with cluster:
            cluster.start_server()
            empty_kb = memory_kb(cluster.server.pid)
            papers = folder / "papers"
            papers.mkdir()
            tokens = folder / "tokens"
            begun = time.monotonic()
            fingerprint = ""
            with tokens.open("w") as file:
                for number in range(1, options.nodes + 1):
                    while True:
                        status, answer = cluster.ask("/v1/enrol", {"node": f"gpu-{number:05d}"})
                        if status == 200:
                            break
                        time.sleep(0.2)  # so many a second are taken, and no more
                    fingerprint = answer["token"].split("@")[1]
                    file.write(f"gpu-{number:05d} {answer['token']}\n")
            print(f"{options.nodes} tokens in {time.monotonic() - begun:.0f} s", flush=True)
            limit_s = options.seconds + options.nodes // 20 + 120
            load = subprocess.Popen([build / "bin/bench_load", "127.0.0.1",
                                     str(cluster.agents_port), fingerprint, tokens, papers,
                                     str(limit_s)], stdout=subprocess.PIPE, text=True)
            begun = time.monotonic()
            last = {}

            def connected():
                last.update(json.loads(load.stdout.readline()))
                return last["connected"] >= options.nodes

            wait_for("all connected", connected, limit_s)
            print(f"{options.nodes} enrolled and connected in {time.monotonic() - begun:.0f} s",
                  flush=True)
            wait_for("all healthy", lambda: cluster.healthy() >= options.nodes, 300)
            before = cluster.get("/metrics").decode()
            beats, cpu = last["beats"], cpu_s(cluster.server.pid)
            begun, times = time.monotonic(), []
            while time.monotonic() - begun < options.seconds:
                start = time.monotonic()
                text = fetch(cluster, "/v1/nodes")
                times.append(time.monotonic() - start)
                assert len(json.loads(text)["nodes"]) == options.registered
                last.update(json.loads(load.stdout.readline()))
            took = time.monotonic() - begun
            after = cluster.get("/metrics").decode()
            name = "myriad_agent_handling_seconds"
            p99, reads = quantile(histogram(before, name), histogram(after, name), 0.99)
            name = "myriad_http_handling_seconds"
            h99, _ = quantile(histogram(before, name), histogram(after, name), 0.99)
            times.sort()
            kb = memory_kb(cluster.server.pid)
            print(f"connected {last['connected']}, dropped {last['dropped']}, refused "
                  f"{last['refused']}, {(last['beats'] - beats) / took:.0f} beats/s")
            print(f"handling of one read: p99 <= {p99:g} ms over {reads} reads; HTTP inside the "
                  f"server p99 <= {h99:g} ms")
            print(f"node list of {options.registered}: p50 {times[len(times) // 2] * 1e3:.0f} ms, "
                  f"p99 {times[min(len(times) - 1, int(len(times) * 0.99))] * 1e3:.0f} ms over "
                  f"{len(times)} asked (until the last byte)")
            print(f"server: {kb / 1024:.0f} MiB, {(kb - empty_kb) / options.nodes:.1f} KB a "
                  f"connected node, {100 * (cpu_s(cluster.server.pid) - cpu) / took:.0f} % of a "
                  "core")
            healthy = cluster.healthy()
            cluster.end_server(signal.SIGKILL)
            begun = time.monotonic()
            cluster.start_server()
            back = time.monotonic() - begun
            answered = cluster.get("/v1/cluster")
            print(f"killed and back: ready after {back:.2f} s, "
                  f"{answered['node_states']['drained']} drained")
            wait_for("all healthy again", lambda: cluster.healthy() >= options.nodes, 300)
            states = cluster.get("/v1/cluster")["node_states"]
            print(f"{healthy} healthy before, {states['healthy']} after "
                  f"{time.monotonic() - begun:.0f} s, {states['drained']} drained")
            load.send_signal(signal.SIGTERM)
            load.wait(60)


if __name__ == "__main__":
    main()
