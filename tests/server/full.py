#!/usr/bin/env python3
"""The disk under the store is full, and has room again.

    tests/server/full.py MYRIAD AGENT

The server's folder lies on a small file system in memory. While it is full the server reads and
does not write: changes are answered 503 with one line, ranks run on, what agents report waits. When
there is room everything goes on, nothing that was accepted is lost, and a server that is killed
then reads what was answered. Where nothing can be mounted there is nothing to try: exit status 77.
"""
import argparse
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from cluster import LIMIT_S, Cluster, Failed, wait_for  # noqa: E402

SIZE = 24 << 20
NODES = ["n00", "n01", "n02"]


def need(truth, *words):
    if not truth:
        raise Failed(" ".join(str(word)[:600] for word in words))


def fill(path):
    """Until not a byte more goes in."""
    with open(path, "ab", buffering=0) as file:
        for size in (1 << 20, 4096, 1):
            try:
                while True:
                    file.write(b"\0" * size)
            except OSError:
                pass


def submit(cluster, text, key):
    """As a careful submitter does: the same request again is the same job."""
    request = urllib.request.Request(
        cluster.url.rstrip("/") + "/v1/jobs", data=text.encode(), method="POST",
        headers={"Authorization": "Bearer " + cluster.token, "Idempotency-Key": key})
    try:
        with urllib.request.urlopen(request, timeout=LIMIT_S) as answer:
            return answer.status, json.loads(answer.read())
    except urllib.error.HTTPError as error:
        return error.code, json.loads(error.read())


def refused(cluster, path, body):
    status, answer = cluster.ask(path, body)
    need(status == 503 and "\n" not in answer["error"] and
         ("full" in answer["error"] or "disk" in answer["error"]), path, status, answer)


def run(cluster, folder, mount):
    cluster.start()
    known = f"env: {{FOLDER: '{folder}'}}\n"  # by which its ranks are found
    held = cluster.submit(f"name: held\ngpus: 8\ncommand: [sleep, '1000']\n{known}")
    gate = folder / "gate"
    ends = cluster.submit("name: ends\ngpus: 8\ncommand: "
                          f"\"while [ ! -e '{gate}' ]; do sleep 0.1; done\"\n{known}")
    wait_for("both run", lambda: all(cluster.job(j)["state"] == "running" for j in (held, ends)))
    behind = cluster.submit("name: behind\ngpus: 16\ncommand: 'true'\n")
    ranks = set(cluster.ranks())
    need(len(ranks) >= 16, "ranks:", ranks)
    fill(mount / "filler")

    # The first one to be refused is the one by which the server learns of it.
    text = "name: late\ngpus: 1\ncommand: 'true'\n"
    status, answer = submit(cluster, text, "late")
    need(status == 503 and "disk" in answer["error"], status, answer)
    for path, body in (("/v1/jobs", b"gpus: 1\ncommand: id\n"), (f"/v1/jobs/{behind}/cancel", {}),
                       ("/v1/nodes/n02/drain", {"reason": "full"}),
                       ("/v1/tokens", {"user": "x", "role": "viewer"}), ("/v1/enrol", {})):
        refused(cluster, path, body)
    for path in ("/v1/nodes", "/v1/jobs", f"/v1/jobs/{held}", "/v1/queue", "/v1/usage", "/metrics",
                 f"/v1/jobs/{held}/explain"):
        cluster.get(path)
    need(cluster.get("/healthz")["ok"] is False, "healthz says that all is well")
    need(cluster.get("/v1/cluster")["read_only"] is True, "it does not say that it is read-only")
    need(b"myriad_read_only 1" in cluster.get("/metrics"), "metrics do not tell")

    # Meanwhile things happen: a job ends, an agent dies and comes back, another one dies.
    gate.touch()
    wait_for("its ranks have ended", lambda: len(cluster.ranks()) == 8)
    cluster.end_agent("n00", signal.SIGKILL)
    cluster.start_agent("n00")
    cluster.end_agent("n02", signal.SIGKILL)
    time.sleep(5)  # longer than a silence
    left = set(cluster.ranks())
    need(left < ranks and len(left) == 8, "ranks of the job that runs:", left, ranks)
    need(cluster.server.poll() is None, "the server has ended")

    # Room again: all that has happened is taken, in its order.
    os.unlink(mount / "filler")
    wait_for("it writes again", lambda: cluster.get("/healthz")["ok"])
    wait_for("the job that ended is known to have", lambda: cluster.job(ends)["state"] == "done")
    need(set(cluster.ranks()) >= left, "a rank was stopped")
    need(cluster.job(held)["epoch"] == 1, "the job was started again")
    status, answer = submit(cluster, text, "late")
    need(status == 200, status, answer)
    late = answer["id"]
    names = [job["name"] for job in cluster.get("/v1/jobs?all=1")["jobs"]]
    need(sorted(names) == ["behind", "ends", "held", "late"], "jobs:", names)
    cluster.start_agent("n02")
    wait_for("all are healthy", lambda: cluster.healthy() == len(NODES))
    for job in (behind, late):
        wait_for("what waited runs", lambda job=job: cluster.job(job)["state"] == "done")

    # And again, with a kill in the middle: what was answered is what is read.
    fill(mount / "filler")
    status, _ = submit(cluster, text, "never")
    need(status == 503, status)
    before = {job["id"]: job["state"] for job in cluster.get("/v1/jobs?all=1")["jobs"]
              if job["id"] <= late}
    cluster.end_server(signal.SIGKILL)
    started = cluster.start_server()
    if not started:  # it has said why, in one line
        need("full" in cluster.tail() or "disk" in cluster.tail(), cluster.tail())
        cluster.server.wait(LIMIT_S)
    os.unlink(mount / "filler")
    if not started:
        need(cluster.start_server(), "the server does not start again:", cluster.tail())
    wait_for("it writes again", lambda: cluster.get("/healthz")["ok"])
    after = {job["id"]: job["state"] for job in cluster.get("/v1/jobs?all=1")["jobs"]
             if job["id"] <= late}
    need(after == before, "it reads", after, "and had answered", before)
    status, answer = submit(cluster, text, "never")
    need(status == 200, "again:", status, answer)
    wait_for("it ends", lambda: cluster.job(answer["id"])["state"] == "done")
    need(set(cluster.ranks()) >= left and cluster.job(held)["epoch"] == 1, "the job has noticed")
    need(cluster.end_server() == 0 and cluster.start_server(), "no clean end:", cluster.tail())
    need(cluster.job(held)["state"] == "running", "it is gone")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("myriad")
    parser.add_argument("agent")
    options = parser.parse_args()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="myriad-full-"))
    mount = folder / "small"
    mount.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={SIZE},mode=0755", "tmpfs", mount],
                      check=False).returncode != 0:
        shutil.rmtree(folder)
        print("nothing can be mounted here: no disk to fill")
        sys.exit(77)
    try:
        with Cluster(options.myriad, options.agent, folder, NODES,
                     home=mount / "server") as cluster:
            run(cluster, folder, mount)
    finally:
        subprocess.run(["umount", "-l", mount], check=False)
    shutil.rmtree(folder, ignore_errors=True)
    print("full and not full twice: nothing lost")


if __name__ == "__main__":
    try:
        main()
    except Failed as problem:
        sys.exit(f"full.py: {problem}")
