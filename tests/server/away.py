#!/usr/bin/env python3
"""A controller that is away, and clocks that jump: a gang that makes steps goes on through both.

    tests/server/away.py MYRIAD AGENT CLOCK [AWAY_S]

CLOCK is loaded before the C library: the server's wall clock then follows a file. The controller is
away for AWAY_S seconds: four leases, or as many as it is given (900 by hand).
"""
import os
import pathlib
import signal
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from cluster import Cluster, Failed, wait_for  # noqa: E402

LEASE_S = 6
AWAY_S = int(sys.argv[4]) if len(sys.argv) > 4 else 4 * LEASE_S
# Steps in the words of a training program that knows nothing of Myriad.
GANG = f"""name: gang
gpus: 16
lease_s: {LEASE_S}
retries: 0
command: for i in $(seq 1 20000); do echo " iteration $i/ 20000 |"; sleep 0.3; done
"""


def expect(condition, what):
    print(("ok   " if condition else "FAIL ") + what, flush=True)
    if not condition:
        raise Failed(what)


def main():
    myriad, agent, clock = sys.argv[1:4]
    with tempfile.TemporaryDirectory(prefix="myriad-away-") as folder:
        folder = pathlib.Path(folder)
        hands = folder / "clock"
        hands.write_text("0")
        with Cluster(myriad, agent, folder, ["n1", "n2", "n3"]) as cluster:
            cluster.configure(beat_ms=300)
            cluster.environment = {"LD_PRELOAD": os.path.abspath(clock),
                                   "MYRIAD_TEST_CLOCK": str(hands)}
            cluster.start()
            mark = f"env: {{FOLDER: '{folder}'}}\n"  # by which ranks of this test are known
            gang = cluster.submit(GANG + mark)
            wait_for("steps", lambda: cluster.job(gang)["step"] > 0)
            ranks = sorted(cluster.ranks())

            def as_before(what):
                job = cluster.job(gang)
                expect(job["epoch"] == 1 and job["failures"] == 0
                       and job["state"] == "running", f"{what}: the gang runs on")
                expect(cluster.healthy() == 3, f"{what}: no node is lost")

            for jump in (3600, -3600, 86400, 0):
                before = cluster.job(gang)["step"]
                hands.write_text(str(jump))
                wait_for("more steps", lambda: cluster.job(gang)["step"] > before)
                time.sleep(3)  # ten beats: whoever takes the jump for silence has said so
                as_before(f"the clock stands at {jump:+d} s")
            step = cluster.job(gang)["step"]
            cluster.end_server(signal.SIGKILL)
            time.sleep(AWAY_S)
            if not cluster.start_server():
                raise Failed("the server does not start again")
            wait_for("all back", lambda: cluster.healthy() == 3)
            wait_for("steps told", lambda: cluster.job(gang)["step"] > step)
            as_before(f"after {AWAY_S} s without a controller, {AWAY_S // LEASE_S} leases")
            alive = set(cluster.ranks())
            expect(sum(pid in alive for pid in ranks) >= 16, "these are the ranks of before")
            # One that makes no steps is stopped when its lease runs out, and not before.
            cluster.post(f"/v1/jobs/{gang}/cancel", {})
            wait_for("it is over", lambda: cluster.job(gang)["state"] == "cancelled")
            idle = cluster.submit(f"gpus: 8\nlease_s: {LEASE_S}\ncommand: sleep 1000\n" + mark)
            wait_for("it runs", lambda: cluster.job(idle)["state"] == "running")
            wait_for("its ranks", lambda: len(cluster.ranks()) >= 8)
            cluster.end_server(signal.SIGKILL)
            wait_for("no rank left", lambda: not cluster.ranks(), 60 + LEASE_S)
            expect(True, "a job without steps ends with its lease")


if __name__ == "__main__":
    try:
        main()
    except Failed as problem:
        sys.exit(f"away.py: {problem}")
