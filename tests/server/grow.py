#!/usr/bin/env python3
"""A running server takes a grown design: jobs run on, new nodes come, nothing else is accepted.

    tests/server/grow.py MYRIAD AGENT

First with simulated nodes, then with agents. What would remove, rename or renumber a node is
refused and changes nothing; a server that is started again knows the larger cluster.
"""
import json
import os
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from cluster import Cluster, Failed, wait_for  # noqa: E402
from lab import Lab  # noqa: E402

SPEC = "servers: {}\nserver: h100-8gpu\nnetworks: {{compute: {{switch: mqm9790-ns2f}}}}\n"
OTHER = "servers: 40\nserver: {}\nnetworks: {{compute: {{{}}}}}\n"
SMALL, LARGE = 36, 70
GANG = "name: gang\ngpus: 64\ncommand: 'true'\ntwin: {hours: 200}\n"
STEPS = """name: steps
gpus: 16
retries: 0
command: for i in $(seq 1 2000); do echo " iteration $i/ 2000 |"; sleep 0.3; done
"""


def expect(condition, what):
    print(("ok    " if condition else "FAIL  ") + what, flush=True)
    if not condition:
        raise Failed(what)


def plan(lab, name, text):
    path = pathlib.Path(lab.top) / f"{name}.yaml"
    path.write_text(text)
    lab.run("plan", str(path), "--out", os.path.join(lab.top, name))
    return os.path.join(lab.top, name)


def refused(lab, words, *say):
    """Exit status 1 and one line; the cluster is as it was."""
    before = lab.json("node", "list")["nodes"]
    text = lab.ask("design", "apply", *words, code=1).stderr
    for word in say:
        if word not in text:
            raise Failed(f"'{word}' is not in {text!r}")
    now = lab.json("node", "list")["nodes"]
    if [(node["id"], node["name"]) for node in now] != [(n["id"], n["name"]) for n in before]:
        raise Failed("a refusal changed the nodes")


def with_twin(myriad, top):
    lab = Lab(myriad, top)
    small, large = plan(lab, "small", SPEC.format(SMALL)), plan(lab, "large", SPEC.format(LARGE))
    grown = os.path.join(top, "grown")
    lab.run("plan", "grow", small + "/design.myr", large + "/design.myr", "--out", grown)
    lab.run("init", lab.folder, "--design", small + "/design.myr", "--world", "twin",
            "--speed", "20", "--http", "127.0.0.1:0", "--user", "nobody")
    lab.serve()
    try:
        wait_for("healthy nodes", lambda: sum(node["state"] == "healthy" for node in
                                              lab.json("node", "list")["nodes"]) >= SMALL - 2)
        job = str(lab.json("submit", "-", text=GANG)["jobs"][0]["id"])
        shown = lambda: lab.json("job", "show", job)["jobs"][0]  # noqa: E731
        wait_for("it runs", lambda: shown()["state"] == "running")
        before = shown()
        dry = lab.json("design", "apply", grown, "--dry-run")
        expect((dry["added"], dry["applied"]) == (LARGE - SMALL, False), "a dry run only says")
        expect(len(lab.json("node", "list")["nodes"]) == SMALL, "and changes nothing")

        smaller = plan(lab, "smaller", SPEC.format(SMALL - 1))
        refused(lab, [smaller], "1 node removed", f"node-{SMALL - 1:05}")
        refused(lab, [grown, "--nodes", f"gpu-[00000-{LARGE - 1:05}]"], f"{SMALL} renamed")
        swapped = f"node-00001,node-00000,node-[00002-{LARGE - 1:05}]"
        refused(lab, [grown, "--nodes", swapped], "2 with another id", "from id 0 to 1")
        four = plan(lab, "four", OTHER.format("generic-1gpu", "topology: clos"))
        refused(lab, [four], "1 GPU a node")
        lab.ask("design", "apply", grown, "--nodes", "node-[00000-00009]", code=2)
        lab.ask("design", "apply", os.path.join(top, "nothing"), code=2)
        lab.ask("design", "apply", os.path.join(top, "small.yaml"), code=2)
        expect(True, "removed, renamed and renumbered nodes are refused, and other shapes")

        answer = lab.json("design", "apply", grown)
        expect((answer["nodes_before"], answer["nodes"]) == (SMALL, LARGE), "the server takes it")
        nodes = lab.json("node", "list")["nodes"]
        expect([node["name"] for node in nodes] == [f"node-{i:05}" for i in range(LARGE)],
               "all have their names, in order")
        wait_for("new nodes", lambda: sum(node["state"] == "healthy" for node in
                                          lab.json("node", "list")["nodes"]) >= LARGE - 4)
        now = shown()
        expect(now["state"] == "running" and now["epoch"] == before["epoch"]
               and now["failures"] == before["failures"], "the job runs on as it was")
        again = lab.json("design", "apply", grown)
        expect(again["added"] == 0, "the same again adds nothing")
        big = str(lab.json("submit", "-", text=GANG.replace("64", "400"))["jobs"][0]["id"])
        wait_for("a job on more than there were",
                 lambda: lab.json("job", "show", big)["jobs"][0]["state"] == "running")
        lab.stop()
        lab.serve()
        expect(len(lab.json("node", "list")["nodes"]) == LARGE, "a new start knows them")
        wait_for("it runs again", lambda: shown()["state"] == "running")
    finally:
        lab.stop()


def with_agents(myriad, agent, folder):
    """Four nodes with agents become six; ranks that ran run on, and the new ones get a job."""
    lab = Lab(myriad, str(folder))
    spec = "servers: {}\nserver: h100-8gpu\nnetworks: {{compute: {{topology: clos, " \
           "switch: mqm9790-ns2f, nic_ports: 8, leaf_down: 16, leaf_up: 16}}}}\n"
    small, large = plan(lab, "four", spec.format(4)), plan(lab, "six", spec.format(6))
    grown = str(folder / "grown")
    lab.run("plan", "grow", small + "/design.myr", large + "/design.myr", "--out", grown)
    names = [f"node-{i:05}" for i in range(6)]
    with Cluster(myriad, agent, folder, names[:4]) as cluster:
        lab.folder = str(cluster.home)
        cluster.configure(beat_ms=300, nodes_per_leaf=2)
        cluster.start()
        job = cluster.submit(STEPS + f"env: {{FOLDER: '{folder}'}}\n")
        wait_for("steps", lambda: cluster.job(job)["step"] > 0)
        ranks = set(cluster.ranks())
        answer = lab.json("design", "apply", grown)
        expect(answer["added"] == 2, "agents: the server takes it")
        step = cluster.job(job)["step"]
        wait_for("more steps", lambda: cluster.job(job)["step"] > step + 3)
        shown = cluster.job(job)
        alive = ranks & set(cluster.ranks())  # each of the 16 has a sleep that comes and goes
        expect(shown["epoch"] == 1 and shown["failures"] == 0 and len(alive) >= 16,
               "agents: the same ranks run on")
        states = {node["name"]: node["state"] for node in lab.json("node", "list")["nodes"]}
        expect(sorted(states) == names, "agents: the new nodes are known")
        token = lab.json("enrol", names[4])
        expect(bool(json.dumps(token)), "agents: a new node can enrol")


def main():
    myriad, agent = (os.path.abspath(name) for name in sys.argv[1:3])
    with tempfile.TemporaryDirectory(prefix="myriad-grow-") as top:
        with_twin(myriad, top)
    with tempfile.TemporaryDirectory(prefix="myriad-grow-") as top:
        with_agents(myriad, agent, pathlib.Path(top))


if __name__ == "__main__":
    try:
        main()
    except (Failed, AssertionError) as problem:
        sys.exit(f"grow.py: {problem}")
