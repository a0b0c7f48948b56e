#!/usr/bin/env python3
"""Myriad as the scheduler of gangs on a real Kubernetes.

    tests/kubernetes/run.py MYRIAD [--full] [NAME...]

Without --full nodes are objects alone; with it 32 hollow kubelets run pods too, 1,000 more nodes
stand beside them, and the stock scheduler's gangs are shown. NAME: some of the tests alone.
"""
import argparse
import collections
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time

from lab import (LIMIT_S, ROOT, Kubernetes, Refused, Scheduler, bound, check_gang, lab_folder,
                 natural, programs, say, skip, wait)
from odd import odd_pods, strict
from troubles import (expired_certificates, hangs, other_versions, rights,  # noqa: E402
                      wrong_credentials)

HOLLOW = 32
# Nodes without a kubelet are never heard: the node controller is to be patient with them.
PATIENT = ("--node-monitor-grace-period=87600h", "--node-startup-grace-period=87600h")


def used(lab):
    """GPUs asked for on each node by pods that are not over; none may have more than it has."""
    total = collections.Counter()
    for pod in lab.get("/api/v1/pods")["items"]:
        over = pod["status"].get("phase") in ("Failed", "Succeeded")
        if pod["spec"].get("nodeName") and not over:
            for container in pod["spec"]["containers"]:
                limits = container.get("resources", {}).get("limits", {})
                total[pod["spec"]["nodeName"]] += int(limits.get("nvidia.com/gpu", 0))
    assert not [name for name, gpus in total.items() if gpus > 8], total
    return total


def bound_once(lab, job):
    """Every pod was told once that it was bound."""
    told = collections.Counter(
        event["involvedObject"]["uid"] for event in
        lab.get("/api/v1/namespaces/default/events")["items"] if event["reason"] == "Scheduled"
        and event["involvedObject"]["name"].startswith(job + "-"))
    assert not [uid for uid, count in told.items() if count > 1], told


def in_order(nodes):
    """Leaves are entered once each, and inside of one the nodes stand in their order."""
    leaves = [natural(name)[1] // 8 for name in nodes]
    seen = [leaf for i, leaf in enumerate(leaves) if i == 0 or leaf != leaves[i - 1]]
    assert len(seen) == len(set(seen)), nodes
    for leaf in seen:
        inside = [name for name in nodes if natural(name)[1] // 8 == leaf]
        assert inside == sorted(inside, key=natural), nodes


# --- what is tested; each begins with an empty cluster of the lab's nodes

def gang(lab, myriad, nodes):
    """A gang of 32 pods is bound whole and in rank order; describe says so."""
    scheduler = Scheduler(lab, myriad)
    begun = time.monotonic()
    lab.job("whole", 32)
    placed = bound(lab, "whole", 32)
    took = time.monotonic() - begun
    in_order(placed)
    pods = lab.pods("whole")
    master = pods[0]["metadata"]["annotations"]["myriad/master-addr"]
    first = lab.get(f"/api/v1/nodes/{placed[0]}")
    addresses = [a["address"] for a in first["status"]["addresses"] if a["type"] == "InternalIP"]
    assert master in addresses, (master, addresses)
    by_rank = {int(pod["metadata"]["annotations"]["myriad/rank"]): pod["metadata"]["name"]
               for pod in pods}
    for rank in (0, 7):
        wait("an event of the pod", lambda rank=rank: f"as rank {rank} of 32" in
             lab.kubectl("describe", "pod", by_rank[rank]))
    said = lab.kubectl("describe", "pod", by_rank[31])  # of the others the annotations say it
    assert re.search(r"myriad/rank: 31$", said, re.M) and f"myriad/node: {placed[31]}" in said, said
    wait("an event of the Job", lambda: "GangBound" in lab.kubectl("describe", "job", "whole"))
    report = scheduler.end()
    assert report["gangs_bound"] == 1 and report["pods_bound"] == 32, report
    say(f"gang: 32 pods bound whole, in rank order, {took:.2f} s after the Job was made")
    lab.delete_job("whole")


def one_at_a_time(lab, myriad, nodes):
    """Two gangs of which one fits: one is bound whole, the other waits whole, then it is bound."""
    size = nodes * 3 // 4
    scheduler = Scheduler(lab, myriad)
    scheduler.line("holds the lease")
    begun = time.monotonic()
    lab.job("left", size)
    lab.job("right", size)
    full = wait("one of both", lambda: [job for job in ("left", "right") if
                len([pod for pod in lab.live(job) if pod["spec"].get("nodeName")]) == size])[0]
    first_s = time.monotonic() - begun
    other = "right" if full == "left" else "left"
    check_gang(lab.live(full), size)
    scheduler.line(f"waits default/{other}/.*{size} pods need a place at once")
    assert not [pod for pod in lab.live(other) if pod["spec"].get("nodeName")]
    pod = wait("a pod", lambda: lab.live(other))[0]["metadata"]["name"]
    wait("the reason in describe", lambda: "short of nvidia.com/gpu" in
         lab.kubectl("describe", "pod", pod))
    again = time.monotonic()
    lab.delete_job(full)
    bound(lab, other, size)
    second_s = time.monotonic() - again
    scheduler.end()
    lab.delete_job(other)
    say(f"one at a time: {size} pods each on {nodes} nodes: the first bound whole after "
        f"{first_s:.2f} s, none of the other's; that one {second_s:.2f} s after the first was "
        f"deleted")


def stock(lab, myriad, nodes):
    """The stock scheduler with the same two gangs: each has a part, and neither goes on."""
    size = nodes * 3 // 4
    begun = time.monotonic()
    lab.job("left", size, scheduler="default-scheduler", gang=False)
    lab.job("right", size, scheduler="default-scheduler", gang=False)

    def counts():
        return [len([pod for pod in lab.live(job) if pod["spec"].get("nodeName")])
                for job in ("left", "right")]
    wait("all nodes in use", lambda: sum(counts()) == nodes)
    took = time.monotonic() - begun
    time.sleep(10)
    left, right = counts()
    say(f"stock scheduler: all {nodes} nodes in use after {took:.2f} s; 10 s later {left} of "
        f"{size} pods of one gang and {right} of {size} of the other: "
        + ("neither can begin" if max(left, right) < size else "one is whole"))
    lab.delete_job("left")
    lab.delete_job("right")


def lost_node(lab, myriad, nodes):
    """A node is lost: its gang is made again and bound without it."""
    scheduler = Scheduler(lab, myriad, "--lost-after", "1")
    lab.job("heals", 8)
    before = bound(lab, "heals", 8)
    old = {pod["metadata"]["uid"] for pod in lab.live("heals")}
    begun = time.monotonic()
    lab.set_ready(before[3], "Unknown")
    scheduler.line(f"remade default/heals/.*node {before[3]} was lost")

    def anew():
        live = lab.live("heals")
        fresh = len(live) == 8 and not old & {pod["metadata"]["uid"] for pod in live}
        return fresh and all(pod["spec"].get("nodeName") for pod in live)
    wait("the gang anew", anew)
    after = check_gang(lab.live("heals"), 8)
    took = time.monotonic() - begun
    assert before[3] not in after, after
    wait("GangRemade", lambda: "GangRemade" in lab.kubectl("describe", "job", "heals"))
    report = scheduler.end()
    assert report["gangs_remade"] == 1 and report["gangs_bound"] == 2, report
    lab.set_ready(before[3], "True")
    lab.delete_job("heals")
    say(f"lost node: 8 pods made again and bound elsewhere {took:.2f} s after the node was lost")


def drained_node(lab, myriad, nodes):
    """Cordoned and evicted, as kubectl drain does: the evicted pod takes its gang with it."""
    scheduler = Scheduler(lab, myriad)
    lab.job("moves", 4)
    before = bound(lab, "moves", 4)
    lab.kubectl("cordon", before[1])
    victim = [pod for pod in lab.live("moves") if pod["spec"]["nodeName"] == before[1]][0]
    lab.post(f"/api/v1/namespaces/default/pods/{victim['metadata']['name']}/eviction",
             {"apiVersion": "policy/v1beta1", "kind": "Eviction",
              "metadata": {"name": victim["metadata"]["name"], "namespace": "default"}})
    scheduler.line("remade default/moves/")

    def elsewhere():
        live = lab.live("moves")
        return len(live) == 4 and all(pod["spec"].get("nodeName") for pod in live) and \
            before[1] not in [pod["spec"]["nodeName"] for pod in live]
    wait("the gang elsewhere", elsewhere)
    check_gang(lab.live("moves"), 4)
    lab.kubectl("uncordon", before[1])
    scheduler.end()
    lab.delete_job("moves")
    say("drained node: the gang was made again on other nodes")


def respects(lab, myriad, nodes):
    """Selectors, affinity, taints and the pods of the stock scheduler."""
    lab.kubectl("label", "node", "node-0", "node-1", "node-2", "node-3", "pool=a")
    lab.kubectl("taint", "node", "node-0", "dedicated=x:NoSchedule")
    lab.kubectl("cordon", "node-1")
    lab.post("/api/v1/namespaces/default/pods", {
        "metadata": {"name": "theirs"},
        "spec": {"nodeSelector": {"kubernetes.io/hostname": "node-2"}, "containers": [
            {"name": "c", "image": "x", "resources": {"limits": {"nvidia.com/gpu": "1"}}}]}})
    wait("the stock scheduler's pod", lambda: lab.get(
        "/api/v1/namespaces/default/pods/theirs")["spec"].get("nodeName"))
    scheduler = Scheduler(lab, myriad)
    lab.job("picky", 1, nodeSelector={"pool": "a"})
    assert bound(lab, "picky", 1) == ["node-3"]
    lab.job("tolerant", 1, nodeSelector={"pool": "a"},
            tolerations=[{"key": "dedicated", "operator": "Exists"}])
    assert bound(lab, "tolerant", 1) == ["node-0"]
    lab.job("small", 1, gpus=7, affinity={"nodeAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
            {"matchExpressions": [{"key": "pool", "operator": "In", "values": ["a", "b"]}]}]}}})
    assert bound(lab, "small", 1) == ["node-2"]
    lab.job("late", 1, nodeSelector={"pool": "a"})
    scheduler.line("waits default/late/.*1 cordoned.*")
    lab.kubectl("uncordon", "node-1")
    assert bound(lab, "late", 1) == ["node-1"]
    scheduler.end()
    used(lab)
    for job in ("picky", "tolerant", "small", "late"):
        lab.delete_job(job)
    lab.kubectl("delete", "pod", "theirs", "--force", "--grace-period=0")
    lab.kubectl("taint", "node", "node-0", "dedicated-")
    lab.kubectl("label", "node", "node-0", "node-1", "node-2", "node-3", "pool-")
    say("labels, affinity, taints, cordons and others' pods are respected")


def restarts(lab, myriad, nodes):
    """The API server dies in the middle, twice; watches expire: nothing lost, nothing twice."""
    scheduler = Scheduler(lab, myriad)
    scheduler.line("holds the lease")
    names = [f"storm-{i}" for i in range(8)]
    for round_number in range(2):
        def submit():
            for name in names[round_number * 4:round_number * 4 + 4]:
                while True:
                    try:
                        lab.job(name, 4)
                        break
                    except (OSError, Refused) as failure:
                        if isinstance(failure, Refused) and failure.status == 409:
                            break
                        time.sleep(0.3)
                    except Exception:  # a broken line
                        time.sleep(0.3)
        thread = threading.Thread(target=submit)
        thread.start()
        time.sleep(0.25)
        lab.stop(lab.api, signal.SIGKILL)
        lab.start_api()
        lab.ready()
        thread.join()
    for name in names:
        in_order(bound(lab, name, 4))
    used(lab)
    for name in names:
        bound_once(lab, name)
    assert len(scheduler.line("well again")) >= 1
    report = scheduler.end()
    assert report["expired"] >= 1, report
    say(f"API server killed twice: 8 gangs of 4 bound whole and once, {report['expired']} watches "
        f"expired (410) and listed anew")
    for name in names:
        lab.delete_job(name)


def takeover(lab, myriad, nodes):
    """The holder of the lease is killed in the middle; the other one goes on from what it finds."""
    first = Scheduler(lab, myriad, "--identity", "first", "--lease-seconds", "6", name="first")
    first.line("holds the lease")
    second = Scheduler(lab, myriad, "--identity", "second", "--lease-seconds", "6", name="second")
    jobs = [f"over-{i}" for i in range(6)]
    for name in jobs:
        lab.job(name, 5)
    time.sleep(0.15)
    begun = time.monotonic()
    first.kill()
    second.line("holds the lease")
    took = time.monotonic() - begun
    for name in jobs:
        bound(lab, name, 5)
    used(lab)
    report = second.end()
    say(f"takeover: {took:.1f} s after the holder (of a lease of 6 s) was killed; 6 gangs whole, "
        f"{report['gangs_finished']} of them finished from a plan that was found")
    for name in jobs:
        lab.delete_job(name)


def half_bound(lab, myriad, nodes):
    """A plan that was carried out in part is finished, not begun anew."""
    lab.job("half", 4)
    pods = sorted(wait("four pods", lambda: len(lab.live("half")) == 4 and lab.live("half")),
                  key=lambda pod: pod["metadata"]["name"])
    for rank, pod in enumerate(pods):
        path = f"/api/v1/namespaces/default/pods/{pod['metadata']['name']}"
        lab.ask("PATCH", path, {"metadata": {"annotations": {
            "myriad/rank": str(rank), "myriad/world-size": "4", "myriad/placement": "dead-1",
            "myriad/master-addr": "10.0.0.9", "myriad/node": f"node-{9 + rank}"}}},
            kind="application/merge-patch+json")
        if rank in (1, 3):
            lab.post(path + "/binding", {"apiVersion": "v1", "kind": "Binding",
                                         "metadata": {"name": pod["metadata"]["name"]},
                                         "target": {"kind": "Node", "name": f"node-{9 + rank}"}})
    scheduler = Scheduler(lab, myriad, "--alone")
    assert bound(lab, "half", 4) == [f"node-{9 + rank}" for rank in range(4)]
    report = scheduler.end()
    assert report["gangs_finished"] == 1 and report["bindings"] == 2, report
    lab.delete_job("half")
    say("half bound: the two pods that were missing were bound where the plan had them")
    # A scheduler that may bind rank 0 alone, and dies: the next one goes on from what that has.
    path = "/apis/rbac.authorization.k8s.io/v1/clusterroles/myriad"
    rules = lab.get(path)["rules"]
    less = [{**rule, "resourceNames": ["part-0"]} if rule["resources"] == ["pods/binding"] else rule
            for rule in rules]
    lab.ask("PATCH", path, {"rules": less}, kind="application/merge-patch+json")
    for i in range(4):
        lab.pod(f"part-{i}", {"myriad/gang": "part", "myriad/gang-size": "4"})
    first = Scheduler(lab, myriad, "--alone")
    first.line("cannot create resource .*pods/binding")

    def nodes_of():
        pods = [lab.get(f"/api/v1/namespaces/default/pods/part-{i}") for i in range(4)]
        return [pod["spec"].get("nodeName") for pod in pods], pods
    placed, pods = nodes_of()
    assert placed[0] and not any(placed[1:]), placed
    plan = pods[0]["metadata"]["annotations"]["myriad/plan"].partition(";")[2].split(",")
    first.kill()
    lab.ask("PATCH", path, {"rules": rules}, kind="application/merge-patch+json")
    second = Scheduler(lab, myriad, "--alone")
    wait("the rest", lambda: all(nodes_of()[0]))
    placed, pods = nodes_of()
    assert check_gang(pods, 4) == plan == placed, (plan, placed)
    report = second.end()
    assert report["gangs_finished"] == 1 and report["bindings"] == 3, report
    for i in range(4):
        lab.ask("DELETE", f"/api/v1/namespaces/default/pods/part-{i}", {"gracePeriodSeconds": 0})
    say("half bound: with rank 0 bound alone, the others went where its plan had them")


def plain_job(lab, myriad, nodes):
    """A plain Job with two annotations, by kubectl; and a job file, by myriad submit."""
    scheduler = Scheduler(lab, myriad)
    lab.apply(ROOT / "packaging/kubernetes/job.yaml")
    bound(lab, "train", 4)
    lab.delete_job("train")
    job_file = lab.top / "job.yaml"
    job_file.write_text("name: From File\nnodes: 3\ncommand: python3 train.py\n"
                        "image: lab/train:1\ndirectory: /srv\nenv: {A: b}\n")
    made = subprocess.run([myriad, "submit", job_file, "--kubeconfig", lab.admin, "-o", "json"],
                          capture_output=True, text=True, check=True)
    name = json.loads(made.stdout)["kubernetes"][0]["name"]
    placed = bound(lab, name, 3)
    pod = lab.live(name)[0]["spec"]
    assert pod["containers"][0]["image"] == "lab/train:1"
    assert pod["containers"][0]["resources"]["limits"]["nvidia.com/gpu"] == "8"
    scheduler.end()
    lab.delete_job(name)
    say(f"a plain Job and a job file (as {name}) were bound on {placed}")


def same_placement(lab, myriad, nodes):
    """The same job files, unchanged, on Myriad's own server: the same nodes in the same order."""
    away = ("node-2", "node-9", "node-11", "node-30")
    folder = lab.top / "server"
    environment = {key: value for key, value in os.environ.items()
                   if not key.startswith("MYRIAD_")}

    def ask(*words):
        done = subprocess.run([myriad, *map(str, words), "--dir", folder, "-o", "json"],
                              env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, (words, done.stderr)
        return json.loads(done.stdout)
    subprocess.run([myriad, "init", folder, "--world", "twin", "--nodes", f"node-[0-{nodes - 1}]",
                    "--nodes-per-leaf", "8", "--speed", "60", "--http", "127.0.0.1:0"],
                   env=environment, check=True, capture_output=True)
    server = lab.start("server", [myriad, "serve", folder])
    wait("the server", lambda: (folder / "server.url").exists() and subprocess.run(
        [myriad, "node", "list", "--dir", folder], env=environment, capture_output=True,
        check=False).returncode == 0)
    wait("healthy nodes", lambda: all(node["state"] == "healthy"
                                      for node in ask("node", "list")["nodes"]))
    for name in away:
        ask("node", "drain", name)
        lab.kubectl("cordon", name)
    scheduler = Scheduler(lab, myriad)
    made = []
    for size in (3, 1, 8, 5, 12):
        file = lab.top / f"same-{size}.yaml"
        file.write_text(f"name: same\nnodes: {size}\ncommand: python3 train.py\n"
                        "image: lab/train:1\ntwin: {hours: 100}\n")
        number = ask("submit", file)["jobs"][0]["id"]
        ranks = wait("its ranks", lambda: ask("job", "show", number)["jobs"][0]["ranks"])
        ours = [rank["node"].split("/")[-1] for rank in sorted(ranks, key=lambda r: r["first"])]
        done = subprocess.run([myriad, "submit", file, "--kubeconfig", lab.admin, "-o", "json"],
                              env=environment, capture_output=True, text=True, check=True)
        made.append(json.loads(done.stdout)["kubernetes"][0]["name"])
        theirs = bound(lab, made[-1], size)
        assert theirs == ours, (size, ours, theirs)
    scheduler.end()
    lab.stop(server, signal.SIGTERM)
    for name in made:
        lab.delete_job(name)
    for name in away:
        lab.kubectl("uncordon", name)
    say("same placement: 5 job files, unchanged, on a server's nodes and here: the same nodes, "
        "rank by rank")


def page(lab, myriad, nodes):
    """Every command of docs/kubernetes.md, as its reader would type it."""
    sys.path.insert(0, str(ROOT / "tests/docs"))
    import commands
    work = lab.top / "reader"
    (work / "bin").mkdir(parents=True)
    (work / "bin/myriad").symlink_to(myriad)
    for folder in ("packaging", "examples"):
        (work / folder).symlink_to(ROOT / folder)
    environment = {"PATH": f"{work / 'bin'}:{lab.bin}:{os.environ['PATH']}", "HOME": str(work),
                   "KUBECONFIG": str(lab.admin), "LANG": "C.UTF-8", "COLUMNS": "80"}
    ran = 0
    for block in commands.FENCE.finditer((ROOT / "docs/kubernetes.md").read_text()):
        lines = [line for line in block.group(3).splitlines() if "not tested:" not in line]
        for command in commands.logical_lines("\n".join(lines)) if block.group(2) == "sh" else ():
            done = subprocess.run(["bash", "-c", command], cwd=work, env=environment, text=True,
                                  capture_output=True, timeout=LIMIT_S, check=False)
            assert done.returncode == 0, f"{command}: {done.stderr}"
            ran += 1
    assert ran >= 8, ran
    lab.delete_job("train")
    for job in lab.get("/apis/batch/v1/namespaces/default/jobs")["items"]:
        lab.delete_job(job["metadata"]["name"])
    lab.kubectl("delete", "deployment", "myriad", "-n", "myriad")
    lab.kubectl("label", "node", "--all", "myriad/leaf-")
    say(f"page: {ran} commands of docs/kubernetes.md")


def hollow(lab, myriad, nodes):
    """Real kubelets run the pods; one of them is killed."""
    for i in range(HOLLOW):
        lab.start_hollow(f"hollow-{i}")
    names = [f"hollow-{i}" for i in range(HOLLOW)]

    def ready():
        for child in [c for c in lab.children if c.name.startswith("hollow-") and c.poll()]:
            lab.children.remove(child)  # it did not get its ports
            lab.start_hollow(child.name.removeprefix("hollow-"))
        items = {node["metadata"]["name"]: node for node in lab.get("/api/v1/nodes")["items"]}
        return all(name in items and any(c["type"] == "Ready" and c["status"] == "True"
                                         for c in items[name]["status"].get("conditions", []))
                   for name in names)
    wait(f"{HOLLOW} hollow kubelets", ready, limit_s=600, step_s=1)
    for name in names:
        lab.ask("PATCH", f"/api/v1/nodes/{name}/status",
                [{"op": "add", "path": "/status/capacity/nvidia.com~1gpu", "value": "8"}],
                kind="application/json-patch+json")
    wait("their GPUs", lambda: all(
        node["status"]["allocatable"].get("nvidia.com/gpu") == "8"
        for node in lab.get("/api/v1/nodes")["items"]
        if node["metadata"]["name"].startswith("hollow-")))
    scheduler = Scheduler(lab, myriad, "--lost-after", "1")
    begun = time.monotonic()
    selector = {"kubernetes.io/os": "linux"}  # kubelets say so, objects alone do not
    lab.job("real", HOLLOW, nodeSelector=selector)
    placed = bound(lab, "real", HOLLOW)
    took = time.monotonic() - begun
    assert placed == sorted(placed, key=natural) and len(set(placed)) == HOLLOW, placed
    wait("all of them running or done", lambda: all(
        pod["status"]["phase"] in ("Running", "Succeeded") for pod in lab.pods("real")))
    ran_s = time.monotonic() - begun
    say(f"hollow kubelets: {HOLLOW} pods bound whole and in rank order after {took:.2f} s, all "
        f"running after {ran_s:.2f} s")
    lab.delete_job("real")
    # From here on the node controller notices who is not heard.
    lab.stop(lab.controllers)
    lab.start_controllers("--node-monitor-grace-period=10s", "--node-monitor-period=2s")
    lab.job("dies", HOLLOW // 2, nodeSelector=selector)
    before = bound(lab, "dies", HOLLOW // 2)
    old = {pod["metadata"]["uid"] for pod in lab.live("dies")}
    victim = [child for child in lab.children if child.name == f"hollow-{before[2]}"][0]
    begun = time.monotonic()
    lab.stop(victim)
    scheduler.line(f"remade default/dies/.*node {before[2]} was lost")

    # Fakes end by themselves, each in its own time: those that had are not made again.
    def anew():
        live = lab.live("dies")
        done = [p for p in lab.pods("dies") if p["status"]["phase"] == "Succeeded"]
        fresh = live and not old & {pod["metadata"]["uid"] for pod in live}
        return live if fresh and len(live) + len(done) == HOLLOW // 2 and \
            all(pod["spec"].get("nodeName") for pod in live) else None
    live = wait("the gang anew", anew)
    placements = {pod["metadata"]["annotations"]["myriad/placement"] for pod in live}
    assert len(placements) == 1 and before[2] not in [pod["spec"]["nodeName"] for pod in live]
    say(f"hollow kubelet killed: {len(live)} pods of its gang of {HOLLOW // 2} that were not done "
        f"made again and bound {time.monotonic() - begun:.1f} s later (of which the node "
        f"controller waits 10)")
    scheduler.end()
    lab.delete_job("dies")
    lab.stop(lab.controllers)
    lab.start_controllers(*PATIENT)
    for node in lab.get("/api/v1/nodes")["items"]:
        if not node["metadata"]["name"].startswith("hollow-"):
            lab.set_ready(node["metadata"]["name"], "True")
    for child in [c for c in lab.children if c.name.startswith("hollow-")]:
        lab.stop(child)
    for name in names:
        lab.ask("DELETE", f"/api/v1/nodes/{name}")
    no_taints(lab)


def no_taints(lab):
    """New nodes are tainted until the node controller has seen them."""
    wait("nodes without taints", lambda: not [
        node for node in lab.get("/api/v1/nodes")["items"] if node["spec"].get("taints")])


SHORT = [gang, one_at_a_time, lost_node, drained_node, respects, half_bound, restarts, takeover,
         rights, plain_job, odd_pods, strict, same_placement, page, wrong_credentials,
         expired_certificates, hangs, other_versions]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("myriad")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--full", action="store_true")
    options = parser.parse_args()
    binaries = programs()
    if not binaries:
        skip("no Kubernetes here; make test-kubernetes builds it (scripts/kubernetes)")
    myriad = os.path.abspath(options.myriad)
    tests = SHORT + [stock, hollow] if options.full else SHORT
    tests = [test for test in tests + [stock, hollow] if test.__name__ in options.names] \
        if options.names else tests
    nodes = 40
    with lab_folder() as top:
        lab = Kubernetes(top, binaries)
        try:
            begun = time.monotonic()
            lab.begin(PATIENT)
            lab.make_nodes(f"node-{i}" for i in range(nodes))
            no_taints(lab)
            say(f"a control plane and {nodes} nodes after {time.monotonic() - begun:.1f} s")
            for test in tests:
                begun = time.monotonic()
                if test is hollow:
                    lab.make_nodes((f"far-{i}" for i in range(1000)))
                test(lab, myriad, nodes)
                say(f"    ({test.__name__}: {time.monotonic() - begun:.1f} s)")
        finally:
            lab.close()
    say("ok")


if __name__ == "__main__":
    main()
