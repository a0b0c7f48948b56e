#!/usr/bin/env python3
"""The page of the real server, in a real browser: a simulated cluster with jobs that come and go.

    tests/server/page.py MYRIAD [--shots FOLDER]
"""
import argparse
import pathlib
import subprocess
import sys
import tempfile
import threading

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from cluster import Cluster, Failed, wait_for  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
JOB = """name: '<b>job-{n}</b>'
nodes: {nodes}
tenant: team-{team}
command: "true"
twin: {{hours: {hours}}}
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("myriad")
    parser.add_argument("--shots")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="myriad-page-") as folder:
        cluster = Cluster(options.myriad, "none", folder, ["gpu-[0001-0160]"],
                          ["--world", "twin", "--speed", "60"])
        over = threading.Event()

        def keep_busy():
            number = 0
            while not over.wait(1):
                number += 1
                try:
                    cluster.submit(JOB.format(n=number, nodes=1 + number % 5, team=number % 3,
                                              hours=0.2))
                except (Failed, OSError):
                    return

        with cluster:
            if not cluster.start_server():
                raise Failed("the server did not start")
            for n in range(6):  # more than there is room for: some wait
                cluster.submit(JOB.format(n=f"long-{n}", nodes=30, team=n % 3, hours=1000))
            wait_for("jobs that run",
                     lambda: cluster.get("/v1/cluster")["job_states"]["running"] >= 3)
            busy = threading.Thread(target=keep_busy)
            busy.start()
            try:
                words = [sys.executable, ROOT / "tests/web/page.py", "--url", cluster.url,
                         "--token", cluster.token]
                if options.shots:
                    words += ["--shots", options.shots]
                code = subprocess.run(words).returncode
            finally:
                over.set()
                busy.join()
        sys.exit(code)


if __name__ == "__main__":
    try:
        main()
    except Failed as problem:
        sys.exit(f"page.py: {problem}")
