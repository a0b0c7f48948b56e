#!/usr/bin/env python3
"""Questions that are thought about beside the loop: many at once, of a state that is not small; and
a server that is told to end while some are under way.

    tests/server/asked.py MYRIAD
"""
import concurrent.futures
import json
import sys
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from lab import LIMIT_S, Lab  # noqa: E402

NODES, WAITING, ASKERS = 320, 60, 12


def get(lab, path):
    """(status, JSON), or None where the server has gone."""
    try:
        url = Path(lab.folder, "server.url").read_text().strip().rstrip("/")
        token = Path(lab.folder, "admin.token").read_text().strip()
        request = urllib.request.Request(url + path, headers={"Authorization": "Bearer " + token})
        with urllib.request.urlopen(request, timeout=LIMIT_S) as answer:
            return answer.status, json.loads(answer.read())
    except urllib.error.HTTPError as error:
        return error.code, json.loads(error.read())
    except (OSError, ValueError):
        return None


def submit(lab, name, gpus):
    path = Path(lab.top, f"{name}.yaml")
    path.write_text(f"name: {name}\ngpus: {gpus}\ncommand: sleep 1\n")
    lab.ask("submit", str(path))


def ask(lab, number):
    """One that waits, or the whole queue; whoever finds too many under way asks again."""
    path = f"/v1/jobs/{1 + number % WAITING}/explain" if number % 3 else "/v1/queue"
    for _ in range(200):
        status, answer = get(lab, path)
        if status != 429:
            break
        time.sleep(0.05)
    assert status == 200, (path, status, answer)
    if number % 3:
        said = dict(line.split(": ", 1) for line in answer["why"])
        assert said["state"] != "queued" or ("waits" in said and "would start" in said), said
    else:
        assert len(answer["queue"]) >= WAITING / 2, len(answer["queue"])
        assert all(row["reason"] and "starts_in_s" in row for row in answer["queue"])


def main():
    with tempfile.TemporaryDirectory(prefix="myriad-asked-") as top:
        lab = Lab(sys.argv[1], top)
        lab.run("init", lab.folder, "--world", "twin", "--nodes", f"n-[001-{NODES}]", "--http",
                "127.0.0.1:0", "--user", "nobody", "--speed", "20")
        lab.serve()
        submit(lab, "all", NODES * 8)
        until = time.monotonic() + LIMIT_S
        while get(lab, "/v1/jobs/0")[1]["state"] != "running":
            assert time.monotonic() < until
            time.sleep(0.1)
        for number in range(WAITING):
            submit(lab, f"w{number}", 8 * (1 + number % 40))
        with concurrent.futures.ThreadPoolExecutor(ASKERS) as pool:
            for done in [pool.submit(ask, lab, number) for number in range(4 * ASKERS)]:
                done.result()
            # Told to end while questions are under way: all are answered, or find nobody.
            last = [pool.submit(get, lab, f"/v1/jobs/{1 + n}/explain") for n in range(ASKERS)]
            lab.stop()
            answers = [one.result() for one in last]
        assert all(one is None or one[0] in (200, 429, 503, 502) for one in answers), answers
    print(f"{4 * ASKERS} questions of {NODES} nodes and {WAITING} that wait")


main()
