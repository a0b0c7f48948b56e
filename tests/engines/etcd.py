#!/usr/bin/env python3
"""Two servers on one state in a real etcd: leaders killed in turn, nothing lost, nothing twice.

    tests/engines/etcd.py MYRIAD AGENT [--kills N] [--seed N] [--case NAME]

Cases: 'kill' (etcd's leader and Myriad's killed -9 in turn under load: every job that was accepted
is done, no GPU is ever had by two, each takeover is timed), 'stale' (a leader that was stopped and
overtaken commits nothing, and ends), 'full' (the quota is used up: read-only, ranks run on, and
back), 'slow' (a member that hangs is left), 'partition' (an agent that is cut off with a strict
job: its second copy waits).
"""
import argparse
import base64
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from etcd_lab import Etcd, members_of  # noqa: E402
from slurm_lab import SKIP  # noqa: E402
from cluster import Cluster, Failed, wait_for  # noqa: E402
from kill import job_text  # noqa: E402
from ports import free_ports  # noqa: E402


class Pair(Cluster):
    """One folder, copied: two servers of the same cluster, of which one leads. Agents know both."""

    def __init__(self, myriad, agent, folder, etcd, nodes):
        super().__init__(myriad, agent, folder, nodes,
                         options=("--etcd", members_of(etcd), "--gpus-per-node", "8"))
        self.homes = [self.home, folder / "second"]
        shutil.copytree(self.home, self.homes[1])
        self.ports = free_ports(4)
        for i in range(2):
            self.home = self.homes[i]
            self.configure(http=f'"127.0.0.1:{self.ports + 2 * i}"',
                           agents=f'"127.0.0.1:{self.ports + 2 * i + 1}"')
        self.home = self.homes[0]
        self.agents_port = f"{self.ports + 1},127.0.0.1:{self.ports + 3}"
        self.servers = [None, None]

    def run(self, i):
        log = open(self.folder / f"server{i}.log", "ab")
        self.servers[i] = subprocess.Popen([self.myriad, "serve", self.homes[i]],
                                           stdout=subprocess.DEVNULL, stderr=log)
        log.close()

    def log_of(self, i):
        path = self.folder / f"server{i}.log"
        return path.read_text(errors="replace") if path.exists() else ""

    def leads(self):
        """Which of the two answers now; asking goes on with that one."""
        for i in range(2):
            self.url = f"http://127.0.0.1:{self.ports + 2 * i}/"
            try:
                if self.ask("/healthz", limit_s=1)[0] in (200, 503):
                    return i
            except OSError:
                pass
        return None

    def end(self):
        for node in list(self.agents):
            self.end_agent(node)
        for server in self.servers:
            if server and server.poll() is None:
                server.send_signal(signal.SIGCONT)
                server.kill()
                server.wait(60)
        self.agents = {}
        super().end()

    def tail(self):
        return "".join(f"--- server {i}\n{self.log_of(i)[-1500:]}" for i in range(2))


def check(holds, what):
    if not holds:
        raise Failed(what)


def begin(pair):
    pair.run(0)
    wait_for("the first leads", lambda: pair.leads() == 0)
    pair.run(1)
    wait_for("the second stands by", lambda: "standby" in pair.log_of(1))
    for node in pair.nodes:
        pair.start_agent(node)
    wait_for("all nodes healthy", lambda: pair.healthy() == len(pair.nodes))


def try_submit(pair, text):
    """The job's number, or None where nobody takes it now."""
    try:
        status, answer = pair.ask("/v1/jobs", text.encode(), limit_s=5)
    except OSError:
        return None
    return answer["id"] if status == 200 else None


def kill(pair, etcd, words):
    rng = random.Random(words.seed)
    (pair.folder / "locks").mkdir()
    os.chmod(pair.folder / "locks", 0o777)
    accepted, takeovers, number = [], [], 0
    begin(pair)
    for kill_number in range(words.kills):
        for _ in range(2):
            text = job_text(pair.folder, round(rng.uniform(0.2, 2), 1), rng.choice([1, 2, 8, 16]),
                            rng, number)
            number += 1
            job = try_submit(pair, text)
            accepted += [job] if job is not None else []
        if kill_number % 2 == 0:
            leader = wait_for("somebody leads", lambda: (lambda i: None if i is None else i + 1)(
                pair.leads())) - 1
            pair.servers[leader].send_signal(signal.SIGKILL)
            pair.servers[leader].wait(60)
            start = time.monotonic()
            wait_for("the other leads", lambda: pair.leads() == 1 - leader)
            takeovers.append(time.monotonic() - start)
            pair.run(leader)
        else:
            member = etcd.leader()
            etcd.kill(member)
            start = time.monotonic()
            wait_for("a job is taken again", lambda: try_submit(
                pair, f"name: p{number}\ngpus: 1\ncommand: 'true'\nretries: 1000\n") is not None)
            takeovers.append(time.monotonic() - start)
            etcd.start(member)
            wait_for("three members", lambda: all(etcd.status(i).get("leader") for i in range(3)))
    count = pair.get("/v1/jobs?all=1&limit=1")["jobs"][0]["id"] + 1
    wait_for("every job is done", lambda: not pair.get("/v1/jobs")["jobs"])
    for job in accepted:
        state = pair.job(job)["state"]
        check(state == "done", f"job {job} is {state}: {pair.job(job)['reason']}")
    twice = pair.folder / "twice"
    check(not twice.exists(), twice.read_text() if twice.exists() else "")
    wait_for("no rank is left", lambda: not pair.ranks())
    ours, theirs = takeovers[0::2], takeovers[1::2]
    print(f"kill: {words.kills} kills, {count} jobs, {len(accepted)} accepted in between, all "
          f"done, no GPU twice")
    print(f"  Myriad's leader: next answer after {max(ours):.1f} s at most, {min(ours):.1f} least")
    if theirs:
        print(f"  etcd's leader: next job after {max(theirs):.1f} s at most")
    if words.limit_s:
        check(max(takeovers) <= words.limit_s, f"{max(takeovers):.1f} s")


def stale(pair, etcd, words):
    """Stopped in the middle, overtaken, and let go on."""
    del etcd, words
    begin(pair)
    job = pair.submit("name: a\ngpus: 8\ncommand: sleep 600\n")
    wait_for("it runs", lambda: pair.job(job)["state"] == "running")
    pair.servers[0].send_signal(signal.SIGSTOP)
    wait_for("the other leads", lambda: "ready" in pair.log_of(1))
    pair.servers[0].send_signal(signal.SIGCONT)
    code = pair.servers[0].wait(60)
    check(code == 3, f"the old leader ended with {code}")
    check("another" in pair.log_of(0), pair.log_of(0)[-500:])
    wait_for("the second serves", lambda: pair.leads() == 1)
    pair.run(0)
    wait_for("nodes are back", lambda: pair.healthy() == len(pair.nodes))
    check(pair.job(job)["epoch"] == 1, "the job was started again")
    pair.post(f"/v1/jobs/{job}/cancel", {})
    wait_for("it is cancelled", lambda: pair.job(job)["state"] == "cancelled")
    print("stale: a leader that was overtaken commits nothing, and ends")


def full(pair, etcd, words):
    del words
    begin(pair)
    go = pathlib.Path(pair.folder, "go")  # its ranks run until then, however long this takes
    job = pair.submit("name: a\ngpus: 8\ncommand: until [ -e $F/go ]; do sleep 0.1; done\n"
                      f"env: {{F: {pair.folder}}}\n")
    wait_for("it runs", lambda: pair.job(job)["state"] == "running")
    filler = "A" * 1_300_000
    for i in range(40):
        try:
            etcd.call(0, "kv/put", {"key": "L2ZpbGwv" + f"{i:04}", "value": filler})
        except OSError:
            break
    status, answer = wait_for("a job is refused", lambda: (lambda got: got if got[0] == 503 else
                              None)(pair.ask("/v1/jobs", b"name: b\ngpus: 1\ncommand: 'true'\n")))
    check("quota" in answer["error"], f"{status} {answer}")
    check(pair.ranks(), "the ranks are gone")
    check(pair.get("/v1/cluster")["read_only"], "it does not say so")
    etcd.call(0, "kv/deleterange", {"key": "L2ZpbGwv", "range_end": "L2ZpbGww"})
    revision = etcd.call(0, "kv/range", {"key": "L3g="})["header"]["revision"]
    etcd.call(0, "kv/compaction", {"revision": revision, "physical": True})
    for i in range(3):
        etcd.call(i, "maintenance/defragment", {})
    for alarm in etcd.call(0, "maintenance/alarm", {"action": "GET"}).get("alarms", []):
        etcd.call(0, "maintenance/alarm", {"action": "DEACTIVATE", **alarm})
    wait_for("jobs are taken again", lambda: try_submit(
        pair, "name: c\ngpus: 1\ncommand: 'true'\n") is not None)
    go.touch()
    wait_for("all is done", lambda: not pair.get("/v1/jobs")["jobs"])
    check(pair.job(job)["state"] == "done" and pair.job(job)["epoch"] == 1, f"{pair.job(job)}")
    print("full: read-only while the quota is used up, ranks ran on, and back")


def slow(pair, etcd, words):
    del words
    begin(pair)
    pair.submit("name: a\ngpus: 1\ncommand: 'true'\n")
    etcd.processes[0].send_signal(signal.SIGSTOP)
    start = time.monotonic()
    wait_for("a job is taken", lambda: try_submit(
        pair, "name: b\ngpus: 1\ncommand: 'true'\n") is not None)
    took = time.monotonic() - start
    wait_for("all is done", lambda: not pair.get("/v1/jobs")["jobs"])
    etcd.processes[0].send_signal(signal.SIGCONT)
    check("another" not in pair.log_of(0), pair.log_of(0)[-500:])
    print(f"slow: a member hangs, the next job is taken after {took:.1f} s, the leader stays")


def partition(pair, etcd, words):
    """An agent that is stopped is cut off: its ranks run on. With the leader lost as well, the
    second copy of a strict job must not start before the first one's lease is over."""
    del etcd, words
    begin(pair)
    mark = pair.folder / "mark"
    mark.mkdir()
    os.chmod(mark, 0o777)
    text = ("name: s\ngpus: 8\nrestart: strict\nretries: 9\nlease_s: 600\n"
            f"env: {{F: {pair.folder}}}\n"
            f"command: 'echo $$ > {mark}/$MYRIAD_EPOCH.$RANK; sleep 600'\n")
    job = pair.submit(text)
    wait_for("it runs", lambda: pair.job(job)["state"] == "running")
    wait_for("its ranks are up", lambda: len(list(mark.iterdir())) == 8)
    node = pair.job(job)["node_names"][0]
    pair.agents[node].send_signal(signal.SIGSTOP)
    pair.servers[0].send_signal(signal.SIGKILL)
    pair.servers[0].wait(60)
    wait_for("the other leads", lambda: pair.leads() == 1)
    wait_for("the node is missed", lambda: pair.get(f"/v1/nodes/{node}")["state"] != "healthy")
    time.sleep(3)
    check({name.name.split(".")[0] for name in mark.iterdir()} == {"1"}, "a second copy started")
    pair.agents[node].send_signal(signal.SIGCONT)
    wait_for("it is back", lambda: pair.healthy() == len(pair.nodes))
    check(pair.job(job)["epoch"] == 1, f"{pair.job(job)}")
    pair.post(f"/v1/jobs/{job}/cancel", {})
    wait_for("it is cancelled", lambda: pair.job(job)["state"] == "cancelled")
    print("partition: a strict job that was cut off has no second copy beside it")


def backup(pair, etcd, words):
    """The state in etcd copied out, lost, and put back; and a relay that follows the lead."""
    del words
    pair.nodes, through = pair.nodes[:2], pair.nodes[2]
    begin(pair)
    pair.nodes.append(through)
    relay, port = pair.start_relay("r1")
    pair.start_agent(through, port)
    wait_for("the one behind the relay", lambda: pair.healthy() == 3)
    job = pair.submit("name: kept\ngpus: 8\ncommand: sleep 600\n")
    wait_for("it runs", lambda: pair.job(job)["state"] == "running")
    kept, again = pair.folder / "kept", pair.folder / "again"

    def run(*command, code=0):
        result = subprocess.run([pair.myriad, *map(str, command)], capture_output=True, text=True,
                                check=False, timeout=120)
        check(result.returncode == code, f"{command}: {result.returncode} {result.stderr}")
        return result.stderr
    leader = pair.leads()
    run("backup", pair.homes[leader], pair.folder / "live")
    # The lead moves; the relay finds it, and what is behind it is healthy again.
    pair.servers[leader].send_signal(signal.SIGKILL)
    pair.servers[leader].wait(60)
    wait_for("the other leads", lambda: pair.leads() == 1 - leader)
    wait_for("all nodes through agents and relay", lambda: pair.healthy() == 3)
    check(relay.poll() is None, "the relay is gone")
    pair.start_relay("r2")  # its first start: the first server of its list is not there
    check("a server leads" in run("restore", pair.folder / "live", again, code=3),
          "a restore under a server that leads")
    other = pair.servers[1 - leader]
    other.send_signal(signal.SIGTERM)
    other.wait(60)
    run("backup", pair.homes[0], kept)
    check("already" in run("restore", kept, again, code=2), "restored over a state")
    prefix = base64.b64encode(b"/myriad/").decode()
    end = base64.b64encode(b"/myriad0").decode()
    etcd.call(0, "kv/deleterange", {"key": prefix, "range_end": end})
    run("restore", kept, again)
    check(not (again / "state.db").exists(), "a second state lies in the folder")
    pair.run(0)
    wait_for("it leads again", lambda: pair.leads() == 0)
    wait_for("nodes are back", lambda: pair.healthy() == 3)
    check(pair.job(job)["state"] == "running" and pair.job(job)["epoch"] == 1, pair.job(job))
    pair.post(f"/v1/jobs/{job}/cancel", {})
    wait_for("it is cancelled", lambda: pair.job(job)["state"] == "cancelled")
    print("backup: live and at rest, put back into etcd; the relay followed the lead")


CASES = {"backup": backup, "kill": kill, "stale": stale, "full": full, "slow": slow,
         "partition": partition}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("myriad")
    parser.add_argument("agent")
    parser.add_argument("--kills", type=int, default=4)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--limit-s", type=float, default=0)
    parser.add_argument("--case", action="append", choices=sorted(CASES))
    words = parser.parse_args()
    if not shutil.which("etcd"):
        print("skipped: etcd is not installed (scripts/deps test)")
        return SKIP
    for name in words.case or CASES:
        folder = pathlib.Path(tempfile.mkdtemp(prefix="myriad-etcd-"))
        more = ("--quota-backend-bytes", 24 << 20) if name == "full" else ()
        try:
            with Etcd(folder, more=more) as etcd:
                with Pair(words.myriad, words.agent, folder, etcd, ["a", "b", "c"]) as pair:
                    CASES[name](pair, etcd, words)
        except Failed as fault:
            print(f"failed: {fault}", file=sys.stderr)
            return 1
        finally:
            if not os.environ.get("KEEP"):
                shutil.rmtree(folder, ignore_errors=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
