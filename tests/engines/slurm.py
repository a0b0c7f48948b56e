#!/usr/bin/env python3
"""The same job file on a real Slurm: the nodes that Myriad chose, in the order of the ranks.

    tests/engines/slurm.py MYRIAD AGENT [--nodes N] [--gang N] [--case NAME]

A controller and a daemon for each node on loopback. Cases: 'gang' (chosen nodes, rank order,
output, end), 'drain' (Slurm's drains avoided, ours seen there with a reason), 'down' (a node set
down: placed again), 'others' (nodes with others' jobs left alone), 'same' (agents and Slurm place
the same job file alike), 'parts' (GPUs of a node shared by jobs),
'cancel' (from here, and from there), 'restart' (killed and started again, nothing runs twice),
'away' (a controller that is gone, hangs, does not take our credential or has it too late, or is of
another release, which commands in its stead say in the words of real ones: one line, and back),
'keys' (each of a job file does what it does on agents), 'missed' (ended while the controller was
away, and lost to it),
'accounts' (alone: with a slurmdbd, whose shares and limits are the tenants'), 'fence' (alone, and
minutes: a node that is not heard any more loses its power before its strict job runs elsewhere).
"""
import argparse
import os
import pathlib
import shutil
import signal
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from slurm_lab import Slurm, need  # noqa: E402
from cluster import Cluster, Failed, wait_for  # noqa: E402

RANK = ("echo \"$RANK $NODE_RANK $LOCAL_RANK $LOCAL_WORLD_SIZE $WORLD_SIZE $SLURMD_NODENAME "
        "$MASTER_ADDR $MYRIAD_EPOCH $GREETING\"")

SEES = "echo gpu: $CUDA_VISIBLE_DEVICES:$SLURM_JOB_GPUS"


def check(holds, what):
    if not holds:
        raise Failed(what)


class Lab:
    """A Myriad on a Slurm."""

    def __init__(self, myriad, slurm, folder, accounts=False):
        self.slurm = slurm
        # Not in the order of their names: a rank order that Slurm would not choose by itself.
        self.cluster = Cluster(myriad, "", folder, slurm.names[::-1],
                               options=("--world", "slurm", "--gpus-per-node", str(slurm.gpus),
                                        "--nodes-per-leaf", str(slurm.leaf)))
        self.cluster.configure(slurm=f"{{conf: '{slurm.own_conf()}', poll_s: 1, timeout_s: 10, "
                               f"accounts: {str(accounts).lower()}}}")
        # Commands of another version, when a test puts some there.
        self.shadow = self.cluster.folder / "shadow"
        self.shadow.mkdir()
        self.cluster.environment = {"PATH": f"{self.shadow}:{slurm.env['PATH']}"}

    def start(self, healthy=None):
        if not self.cluster.start_server():
            raise Failed("the server did not start: " + self.cluster.tail())
        wanted = len(self.slurm.names) if healthy is None else healthy
        wait_for("nodes healthy", lambda: self.cluster.healthy() == wanted)

    def submit(self, nodes, command, **more):
        lines = "".join(f"{key}: {value}\n" for key, value in more.items())
        return self.cluster.submit(f"name: t\nnodes: {nodes}\ncommand: '{command}'\n"
                                   f"env: {{GREETING: \"it''s fine\"}}\n{lines}"
                                   .replace("it''s", "it's"))

    def fence_with(self, text):
        path = self.cluster.folder / "fence"
        path.write_text(f"#!/bin/sh\ncd {self.cluster.folder} || exit 1\n{text}\n")
        path.chmod(0o755)
        self.cluster.configure(fence=str(path))

    def state(self, job):
        return self.cluster.job(job)["state"]

    def wait(self, job, *states):
        try:
            wait_for(f"job {job} {' or '.join(states)}", lambda: self.state(job) in states)
        except Failed as fault:
            raise Failed(f"{fault}: {self.cluster.job(job)} {self.slurm.jobs()}") from fault
        return self.cluster.job(job)

    def output(self, job, rank):
        """What it has written so far; nothing before it speaks."""
        status, answer = self.cluster.ask(f"/v1/jobs/{job}/logs?rank={rank}")
        return answer["text"] if status == 200 else ""

    def running(self):
        return [row for row in self.slurm.jobs() if row[1] in ("RUNNING", "CONFIGURING",
                                                                "PENDING")]


def gang(lab, size):
    """Lands on exactly the chosen nodes, in rank order, and is followed to its end."""
    gpus = lab.slurm.gpus
    job = lab.submit(size, RANK + "; sleep 1")
    info = lab.wait(job, "done", "failed")
    check(info["state"] == "done", f"the gang failed: {info['reason']}")
    chosen = info["node_names"]
    check(len(chosen) == size and len(set(chosen)) == size, f"chosen: {chosen}")
    for rank in range(size * gpus):
        words = lab.output(job, rank).split()
        node = rank // gpus
        want = [str(rank), str(node), str(rank % gpus), str(gpus), str(size * gpus), chosen[node],
                "127.0.0.1", "1", "it's", "fine"]
        check(words == want, f"rank {rank} said {words}, {want} was expected")
    print(f"gang: {size} nodes, {size * gpus} ranks, each where and what it should be")
    return chosen


def drain(lab, _):
    slurm = lab.slurm
    first = slurm.names[0]
    slurm.ask("scontrol", "update", f"NodeName={first}", "State=DRAIN", "Reason=fan 3 | loud")
    node = wait_for("the drain seen", lambda: (lambda n: n if n["state"] == "drained" else None)(
        lab.cluster.get(f"/v1/nodes/{first}")))
    check("fan 3 | loud" in node["reason"], f"the reason is '{node['reason']}'")
    job = lab.submit(len(slurm.names) - 1, "true")
    info = lab.wait(job, "done", "failed")
    check(info["state"] == "done" and first not in info["node_names"], f"not avoided: {info}")
    slurm.ask("scontrol", "update", f"NodeName={first}", "State=RESUME")
    wait_for("it is back", lambda: lab.cluster.get(f"/v1/nodes/{first}")["state"] == "healthy")
    lab.cluster.post(f"/v1/nodes/{first}/drain", {"reason": "noise"})
    wait_for("our drain there", lambda: slurm.state(first).startswith("drained|myriad: admin: noi"))
    lab.cluster.post(f"/v1/nodes/{first}/resume", {})
    wait_for("our resume there", lambda: slurm.state(first).startswith("idle|none"))
    wait_for("it is ours", lambda: lab.cluster.get(f"/v1/nodes/{first}")["state"] == "healthy")
    print("drain: theirs is avoided, ours is theirs too, both with the reason")


def down(lab, _):
    job = lab.submit(2, RANK + "; [ $MYRIAD_EPOCH -gt 1 ] || sleep 600")
    info = lab.wait(job, "running")
    wait_for("its ranks speak", lambda: lab.output(job, 0))
    gone = info["node_names"][1]
    lab.slurm.ask("scontrol", "update", f"NodeName={gone}", "State=DOWN", "Reason=broken")
    info = lab.wait(job, "done", "failed")
    check(info["state"] == "done" and info["epoch"] > 1, f"not placed again: {info}")
    check(gone not in info["node_names"], f"placed on the lost node again: {info['node_names']}")
    lab.slurm.ask("scontrol", "update", f"NodeName={gone}", "State=RESUME")
    wait_for("it is back", lambda: lab.cluster.get(f"/v1/nodes/{gone}")["state"] == "healthy")
    print("down: the job was placed again without the node, which came back")


def others(lab, _):
    slurm = lab.slurm
    own = slurm.names[:2]
    theirs = slurm.ask("sbatch", "--parsable", f"--nodelist={','.join(own)}", "-N2", "-D", "/",
                       "--exclusive", "-o", "/dev/null", "--wrap", "sleep 600").strip()
    wait_for("others' job seen", lambda: all(
        lab.cluster.get(f"/v1/nodes/{name}")["state"] == "drained" for name in own))
    reason = lab.cluster.get(f"/v1/nodes/{own[0]}")["reason"]
    check(f"job {theirs} of root" in reason, f"the reason is '{reason}'")
    job = lab.submit(2, "true")
    info = lab.wait(job, "done", "failed")
    check(info["state"] == "done" and not set(own) & set(info["node_names"]), f"{info}")
    slurm.ask("scancel", theirs)
    wait_for("they are ours again", lambda: lab.cluster.healthy() == len(slurm.names))
    print("others: nodes with others' jobs are left alone, and used when those are over")


def parts(lab, _):
    """Two jobs share a node's GPUs; a gang of one node and a half is refused."""
    one, two = (lab.cluster.submit(f"name: t\ngpus: 1\ncommand: '{SEES}; sleep 600'\n")
                for _ in range(2))
    where = [lab.wait(job, "running")["node_names"] for job in (one, two)]
    check(where[0] == where[1], f"not on one node: {where}")
    sees = [wait_for("it speaks", lambda job=job: lab.output(job, 0)).split()
            for job in (one, two)]
    check(sees[0][1] != sees[1][1], f"both have the same GPU: {sees}")
    status, answer = lab.cluster.ask("/v1/jobs", b"name: t\ngpus: 3\ncommand: 'true'\n")
    check(status == 400 and "whole nodes" in answer["error"], f"{status} {answer}")
    for job in (one, two):
        lab.cluster.post(f"/v1/jobs/{job}/cancel", {})
        lab.wait(job, "cancelled")
    print("parts: jobs share a node and have GPUs of their own")


def same(lab, _):
    """The same files, unchanged, on agents: the same nodes and GPUs in the same order."""
    here = lab.cluster
    files = [f"name: s{i}\ngpus: {gpus}\ncommand: sleep 600\n"
             for i, gpus in enumerate((1, 4, 1, 2))]
    with Cluster(here.myriad, lab.agent, here.folder / "agents-lab", here.nodes,
                 options=("--gpus-per-node", str(lab.slurm.gpus), "--nodes-per-leaf",
                          str(lab.slurm.leaf))) as other:
        (other.folder / "pretend.yaml").write_text(f"gpus: {lab.slurm.gpus}\ngpu_kind: H100\n")
        other.start()
        placed = []
        for cluster in (here, other):
            jobs = [cluster.submit(text) for text in files]
            wait_for("all run", lambda: all(cluster.job(job)["state"] == "running"
                                            for job in jobs))
            placed.append([(cluster.job(job)["node_names"], cluster.job(job)["node_gpus"])
                           for job in jobs])
            for job in jobs:
                cluster.post(f"/v1/jobs/{job}/cancel", {})
            wait_for("all are over", lambda: not cluster.get("/v1/jobs")["jobs"])
    check(placed[0] == placed[1], f"Slurm: {placed[0]}, agents: {placed[1]}")
    print(f"same: {len(files)} job files, the same placement on agents and on Slurm")


ALL_KEYS = """name: k
tenant: default
priority: 3
nodes: 2
gpus_per_node: GPUS
command: [sh, -c, 'echo "$RANK $PWD $A $PATH $MYRIAD_CHECKPOINT_DIR $MYRIAD_ARRAY_INDEX" >>ranks']
env: {A: "it's $5", PATH: "/usr/bin:/bin:/extra"}
directory: OUT
checkpoint: OUT/saved
retries: 1
time_limit: 10m
restart: epoch
lease_s: 60
prolog: 'echo before $A >> OUT/around'
epilog: 'echo after $A >> OUT/around'
progress: {pattern: "step ([0-9]+)"}
layout: tp2
array: 0-1
"""


def use_keys(cluster, out, gpus):
    """What ranks and people see of every key of a job file."""
    out.mkdir()
    os.chmod(out, 0o777)

    def over(job):
        wait_for(f"job {job} is over", lambda: cluster.job(job)["state"] in (
            "done", "failed", "cancelled"))
        return cluster.job(job)["state"]
    many = cluster.submit(ALL_KEYS.replace("OUT", str(out)).replace("GPUS", str(gpus)))
    seen = [over(many), over(many + 1)]
    behind = cluster.submit(f"name: b\nnodes: 1\nafter: {many}\ncommand: 'true'\n")
    seen.append(over(behind))
    fails = cluster.submit("name: f\ngpus: 1\nretries: 0\n"
                           f"command: while [ ! -e {out}/go ]; do sleep 0.1; done; exit 3\n")
    behind = cluster.submit(f"name: b\ngpus: 1\nafter: {fails}\ncommand: 'true'\n")
    (out / "go").touch()  # who is over already can no longer be waited for
    seen += [over(fails), over(behind)]
    seen.append(over(cluster.submit("name: l\ngpus: 1\ntime_limit: 1s\ncommand: sleep 600\n")))
    service = cluster.submit("name: s\ngpus: 1\nservice: true\nretries: 9\ncommand: 'true'\n")
    wait_for("a service begins again", lambda: cluster.job(service)["epoch"] > 1)
    cluster.post(f"/v1/jobs/{service}/cancel", {})
    seen.append(over(service))
    odd = cluster.post("/v1/jobs", b"name: o\ngpus: 1\ncommand: 'true'\nlease_s: 60\n"
                       b"progress: {pattern: 'step ([0-9]+)'}\ntwin: {hours: 1}\n")
    seen.append(over(odd["id"]))
    text = [sorted((out / name).read_text().replace(str(out), "OUT").splitlines())
            for name in ("ranks", "around")]
    return seen, text, odd["unheeded"]


def keys(lab, _):
    """Every key of a job file does on Slurm what it does on agents."""
    here, gpus = lab.cluster, lab.slurm.gpus
    slurm = use_keys(here, here.folder / "out-slurm", gpus)
    with Cluster(here.myriad, lab.agent, here.folder / "agents-keys", here.nodes,
                 options=("--gpus-per-node", str(gpus), "--nodes-per-leaf",
                          str(lab.slurm.leaf))) as other:
        (other.folder / "pretend.yaml").write_text(f"gpus: {gpus}\ngpu_kind: H100\n")
        other.start()
        agents = use_keys(other, here.folder / "out-agents", gpus)
    check(slurm[:2] == agents[:2], f"Slurm: {slurm}\nagents: {agents}")
    # What nobody reads there is named.
    check((slurm[2], agents[2]) == (["lease_s", "progress", "twin"], ["twin"]),
          f"{slurm[2]} {agents[2]}")
    check(len(slurm[1][0]) == 4 * gpus and len(slurm[1][1]) == 8, f"{slurm[1]}")
    # An image is run by the node's own program for that.
    (lab.shadow / "apptainer").write_text("#!/bin/sh\necho with $1 $2 $3; shift 3; exec \"$@\"\n")
    (lab.shadow / "apptainer").chmod(0o755)
    job = here.submit("name: i\ngpus: 1\nimage: lab/train.sif\ncommand: echo $RANK inside\n")
    info = lab.wait(job, "done", "failed")
    check(lab.output(job, 0).split("\n")[:2] == ["with exec --nv lab/train.sif", "0 inside"],
          f"{info} {lab.output(job, 0)}")
    print(f"keys: all of a job file, alike on agents and on Slurm: {', '.join(slurm[0])}")


def cancel(lab, _):
    job = lab.submit(1, "trap \"echo saving; exit 0\" TERM; echo up; while :; do sleep 0.1; done")
    lab.wait(job, "running")
    wait_for("it speaks", lambda: "up" in lab.output(job, 0))
    lab.cluster.post(f"/v1/jobs/{job}/cancel", {})
    lab.wait(job, "cancelled")
    check("saving" in lab.output(job, 0), "the rank had no time to save")
    job = lab.submit(1, "sleep 600")
    lab.wait(job, "running")
    mine = [row[0] for row in lab.running()]
    check(len(mine) == 1, f"{mine}")
    lab.slurm.ask("scancel", mine[0])
    info = lab.wait(job, "cancelled", "failed", "done")
    check(info["state"] == "cancelled" and "Slurm" in info["reason"], f"{info}")
    print("cancel: with time to save; and from Slurm's side")


def restart(lab, _):
    job = lab.submit(2, RANK + "; sleep 4")
    second = lab.submit(1, RANK + "; sleep 4")
    lab.cluster.end_server(signal.SIGKILL)  # perhaps in the middle of the submission
    check(lab.cluster.start_server(), "it did not start again")
    for one in (job, second):
        info = lab.wait(one, "done", "failed")
        check(info["state"] == "done" and info["epoch"] == 1, f"started twice: {info}")
    lab.wait(lab.submit(1, "true"), "done")
    go = lab.cluster.folder / "go-third"
    third = lab.submit(1, f"until [ -e {go} ]; do sleep 0.1; done")
    lab.wait(third, "running")
    lab.cluster.end_server(signal.SIGKILL)
    go.touch()
    time.sleep(4)  # it ends while nobody looks
    check(lab.cluster.start_server(), "it did not start again")
    info = lab.wait(third, "done", "failed")
    check(info["state"] == "done" and info["epoch"] == 1, f"{info}")
    count = len([row for row in lab.slurm.jobs() if row[3] == "t"])
    print(f"restart: killed twice, every job ran once ({count} jobs of Slurm's in all)")


def said(lab, word, since=0):
    return wait_for(f"'{word}' in the log", lambda: next(
        (line for line in (lab.cluster.folder / "server.log").read_text()[since:].splitlines()
         if word in line), None))


def speak_otherwise(lab, otherwise):
    """Commands that say what real ones say to a controller of another release (slurm_errno.c)."""
    for name, call in (("sinfo", "slurm_load_partitions"), ("squeue", "slurm_load_jobs error")):
        path = lab.shadow / name
        if otherwise:
            path.write_text(f"#!/bin/sh\necho '{call}: Incompatible versions of client and server "
                            "code' >&2\nexit 1\n")
            path.chmod(0o755)
        else:
            path.unlink()


def grow_old(lab, since):
    """Credentials that hold for a second lie before a controller that is stopped for longer."""
    lab.slurm.hold_credentials(1)

    def expired():
        lab.slurm.controller.send_signal(signal.SIGSTOP)
        time.sleep(4)
        lab.slurm.controller.send_signal(signal.SIGCONT)
        time.sleep(1)
        return "error Slurm: " in (lab.cluster.folder / "server.log").read_text()[since:]
    wait_for("one that has run out", expired)


def away(lab, _):
    slurm, log = lab.slurm, lab.cluster.folder / "server.log"
    go = lab.cluster.folder / "go-away"
    job = lab.submit(1, f"until [ -e {go} ]; do sleep 0.1; done")
    lab.wait(job, "running")
    lines, stranger = [], slurm.start_stranger()
    for name, begin, end, words in (
            ("gone", lambda: (slurm.controller.terminate(), slurm.controller.wait(60)),
             slurm.start_controller, "does not answer"),
            ("hangs", lambda: slurm.controller.send_signal(signal.SIGSTOP),
             lambda: slurm.controller.send_signal(signal.SIGCONT), "does not answer"),
            ("no credential", lambda: slurm.use_munge("nowhere.sock"),
             lambda: slurm.use_munge("munge.sock"), "munge gives no credential"),
            ("wrong credential", lambda: slurm.use_munge(stranger),
             lambda: slurm.use_munge("munge.sock"), "do munge keys and clocks agree"),
            ("expired credential", lambda: grow_old(lab, len(log.read_text())),
             lambda: slurm.hold_credentials(0), "do munge keys and clocks agree"),
            ("another version", lambda: speak_otherwise(lab, True),
             lambda: speak_otherwise(lab, False), "speaks another version")):
        since = len(log.read_text())
        begin()
        go.touch()  # it ends while the controller is gone
        lines.append(f"{name}: {said(lab, 'error Slurm: ', since)}")
        check(words in lines[-1], f"'{words}' is not in: {lines[-1]}")
        end()
        said(lab, "answers again", since)
        new = [line for line in log.read_text()[since:].splitlines() if "error" in line]
        check(len(new) == 1, f"more than one line: {new}")
    info = lab.wait(job, "done", "failed")
    check(info["state"] == "done" and info["epoch"] == 1, f"{info}")
    lab.wait(lab.submit(1, "true"), "done")
    print("away: one line each, and back by itself:")
    print("\n".join("  " + line for line in lines))


def missed(lab, _):
    """Jobs that ended while the controller was away, and of whose end it never heard: it calls
    them lost, with healthy nodes; what their scripts wrote counts."""
    slurm = lab.slurm
    go = lab.cluster.folder / "go-missed"
    jobs = [lab.submit(1, f"echo up; until [ -e {go} ]; do sleep 0.1; done; exit {code}",
                       retries=0) for code in (0, 3)]
    for job in jobs:
        lab.wait(job, "running")
        wait_for("its ranks speak", lambda job=job: all(lab.output(job, rank) for rank in (0, 1)))
    slurm.controller.terminate()
    slurm.controller.wait(60)
    go.touch()
    spool = lab.cluster.home.with_suffix(".spool")
    wait_for("both have ended", lambda: all((spool / f"{job}.1/exit").exists() for job in jobs))
    slurm.kill_steps()
    slurm.start_controller()
    # A node that registers tells what it runs; by itself it does so seldom.
    wait_for("Slurm calls them lost", lambda: slurm.ask(
        "scontrol", "reconfigure", check=False) == "" and len(
            [row for row in slurm.jobs() if row[1] == "NODE_FAIL"]) == 2)
    infos = [lab.wait(job, "done", "failed") for job in jobs]
    check([info["state"] for info in infos] == ["done", "failed"], f"{infos}")
    check(all(info["epoch"] == 1 for info in infos), f"started again: {infos}")
    check("exit code 3" in infos[1]["reason"], f"{infos[1]}")
    wait_for("nodes healthy", lambda: lab.cluster.healthy() == len(slurm.names))
    print("missed: ended while the controller was away, which calls them lost: their own codes")


FENCE = "for pid in $(cat victims); do kill -9 $pid 2>/dev/null; done\necho $1 >> fenced"


def fence(lab, _):
    """A node that is not heard any more: its ranks run on without anybody. Slurm calls their job
    lost, and srun ends with 0; its power is taken, and only then it runs elsewhere."""
    slurm, here = lab.slurm, lab.cluster
    job = lab.submit(1, "echo $$; [ $MYRIAD_EPOCH -gt 1 ] || sleep 600", restart="strict")
    info = lab.wait(job, "running")
    pids = [int(wait_for("its ranks speak", lambda rank=rank: lab.output(job, rank)))
            for rank in range(slurm.gpus)]
    (here.folder / "victims").write_text(" ".join(map(str, pids)))
    gone = info["node_names"][0]
    slurm.daemons[gone].kill()
    slurm.daemons[gone].wait(60)
    wait_for("Slurm gives it up", lambda: any(row[1] == "NODE_FAIL" for row in slurm.jobs()))
    time.sleep(3)
    info = here.job(job)
    check(info["epoch"] == 1 and info["state"] not in ("done", "failed"), f"too early: {info}")
    check(all(os.path.exists(f"/proc/{pid}") for pid in pids), "its ranks did not run on")
    fenced = wait_for("the fence", lambda: (here.folder / "fenced").exists() and
                      (here.folder / "fenced").read_text(), limit_s=400)
    check(fenced == f"{gone}\n", f"{fenced} was fenced, {gone} was lost")
    info = lab.wait(job, "done", "failed")
    check(info["state"] == "done" and info["epoch"] == 2 and gone not in info["node_names"],
          f"{info}")
    check(f"fence {gone}" in (here.home / "audit.log").read_text(), "the audit does not know")
    print(f"fence: {gone} was silent and fenced, then its strict job ran elsewhere")


def accounts(lab, _):
    """Tenants are accounts: shares are weights, limits are Slurm's to hold, and are told."""
    here = lab.cluster
    tenant = "tenant: research\n"
    here.post("/v1/tenants/research", {"weight": "1"})
    wait_for("the share as a weight", lambda: [
        row for row in here.get("/v1/usage")["tenants"]
        if row["name"] == "research" and row["weight"] == 7])
    status, answer = here.ask("/v1/jobs", f"name: b\nnodes: 3\ncommand: x\n{tenant}".encode())
    check(status >= 400 and "account 'research' 4 at most (GrpTRES)" in answer["error"],
          f"{status} {answer}")
    first = here.submit(f"name: a\nnodes: 2\ncommand: sleep 600\n{tenant}")
    lab.wait(first, "running")
    account = lab.slurm.ask("squeue", "-h", "-o", "%a").strip()
    check(account == "research", f"the account is '{account}'")
    second = here.submit(f"name: b\nnodes: 1\ncommand: sleep 600\n{tenant}")
    reason = wait_for("the limit told", lambda: (lambda job: job["reason"] if "Assoc" in
                      job["reason"] else None)(here.job(second)))
    check("account research: 4 GPUs at once" in reason, reason)
    time.sleep(3)
    held = [row for row in lab.slurm.jobs() if row[1] == "PENDING"]
    check(len(held) == 1 and lab.state(second) == "starting", f"fought with: {lab.slurm.jobs()}")
    here.post(f"/v1/jobs/{first}/cancel", {})
    lab.wait(second, "running")
    here.post(f"/v1/jobs/{second}/cancel", {})
    wait_for("all are over", lambda: not here.get("/v1/jobs")["jobs"])
    print(f"accounts: fair share is weight, limits hold: {reason}")
    # A QOS: its limits go before those of the account.
    tenant = "tenant: brief\n"
    here.post("/v1/tenants/brief", {"weight": "1"})
    status, answer = here.ask("/v1/jobs", f"name: b\nnodes: 2\ncommand: x\n{tenant}".encode())
    check(status >= 400 and "QOS 'short' 2 at most (GrpTRES)" in answer["error"],
          f"{status} {answer}")
    text = f"name: q\nnodes: 1\ncommand: sleep 600\n{tenant}"
    jobs = [here.submit(text)]
    lab.wait(jobs[0], "running")  # of two at once Slurm may take either first
    jobs.append(here.submit(text))
    reason = wait_for("its limit told", lambda: (lambda job: job["reason"] if "QOS" in
                      job["reason"] else None)(here.job(jobs[1])))
    check("QOS short: 2 GPUs at once" in reason, reason)
    for job in jobs:
        here.post(f"/v1/jobs/{job}/cancel", {})
    wait_for("all are over", lambda: not here.get("/v1/jobs")["jobs"])
    print(f"accounts: limits of a QOS hold: {reason}")


# A slurmdbd of its own.
WITH_ACCOUNTS = [("add", "account", "research", "fairshare=7", "GrpTRES=gres/gpu=4"),
                 ("add", "user", "nobody", "account=research"),
                 ("add", "qos", "short", "GrpTRES=gres/gpu=2"),
                 ("add", "account", "brief", "GrpTRES=gres/gpu=8", "QOS=short",
                  "DefaultQOS=short"),
                 ("add", "user", "nobody", "account=brief")]
CASES = {"accounts": accounts, "gang": gang, "drain": drain, "down": down, "others": others,
         "parts": parts, "same": same, "cancel": cancel, "restart": restart, "away": away,
         "missed": missed, "keys": keys, "fence": fence}
ALONE = ("accounts", "fence")  # with settings of their own


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("myriad")
    parser.add_argument("agent")
    parser.add_argument("--nodes", type=int, default=4)
    parser.add_argument("--gang", type=int, default=3)
    parser.add_argument("--gpus", type=int, default=2)
    parser.add_argument("--case", action="append", choices=sorted(CASES))
    words = parser.parse_args()
    need()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="myriad-slurm-"))
    try:
        booked, fenced = words.case == ["accounts"], words.case == ["fence"]
        if booked:
            need("slurmdbd", "mariadbd", "mariadb-install-db")
        # A partition without nodes is nothing odd.
        with Slurm(folder / "slurm", words.nodes, gpus=words.gpus,
                   partition="PartitionName=empty State=UP",
                   settings={"SlurmdTimeout": 15} if fenced else None,
                   accounts=WITH_ACCOUNTS if booked else None) as slurm:
            lab = Lab(words.myriad, slurm, folder, accounts=booked)
            lab.agent = words.agent
            if fenced:
                lab.fence_with(FENCE)
            with lab.cluster:
                lab.start()
                for name in words.case or [name for name in CASES if name not in ALONE]:
                    CASES[name](lab, words.gang)
    except Failed as fault:
        print(f"failed: {fault}", file=sys.stderr)
        log = folder / "server.log"
        print(log.read_text()[-3000:] if log.exists() else "", file=sys.stderr)
        return 1
    finally:
        if not os.environ.get("KEEP"):
            shutil.rmtree(folder, ignore_errors=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
