#!/usr/bin/env python3
"""Server groups: counts, ids and networks of several kinds of servers in one cluster.

    tests/plan/groups.py MYRIAD

A cluster of groups is held against what is known without it: the same servers as one group give the
same networks, counts follow from the parts, every node hangs where its group says. Who counts GPUs
by node refuses what is mixed.
"""
import csv
import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
SEED = 16
# Alike on the compute network: eight ports of 400G. GPUs a node, for the counts.
EIGHT = {"h100-8gpu": 8, "h200-8gpu": 8, "h800-8gpu": 8}


def run(myriad, *args, code=(0, 1)):
    done = subprocess.run([myriad, *map(str, args)], capture_output=True, text=True)
    assert done.returncode in code, (args, done.returncode, done.stderr)
    return done.stdout, done.stderr


def plan(myriad, folder, text, name="g"):
    (folder / f"{name}.yaml").write_text(text)
    out = run(myriad, "plan", folder / f"{name}.yaml", "--out", folder / name, "-o", "json")[0]
    design = json.loads((folder / name / "design.json").read_text())
    return json.loads(out), design


def structure(answer):
    return {name: answer["networks"][name] for name in answer["networks"]}


def same_as_one(myriad, folder, rng):
    """Groups of alike servers are one cluster: the same networks and cables."""
    for _ in range(12):
        counts = [rng.randint(1, 60) for _ in range(rng.randint(2, 5))]
        servers = [rng.choice(list(EIGHT)) for _ in counts]
        nets = rng.choice(["{compute: }", "{compute: {fabric: roce}, storage: , oob: }",
                           "{compute: {topology: clos}, service: }",
                           "{compute: {topology: rail-only}}"])
        groups = "".join(f"  - {{name: g{i}, servers: {c}, server: {s}}}\n"
                         for i, (c, s) in enumerate(zip(counts, servers)))
        mixed, design = plan(myriad, folder, f"groups:\n{groups}networks: {nets}\n")
        alone, _ = plan(myriad, folder,
                        f"servers: {sum(counts)}\nserver: h100-8gpu\nnetworks: {nets}\n", "one")
        assert structure(mixed) == structure(alone), (groups, nets)
        assert mixed["gpus"] == 8 * sum(counts) and mixed["servers"] == sum(counts)
        first = 0
        for group, count, server in zip(mixed["groups"], counts, servers):
            assert (group["servers"], group["server"]) == (count, server)
            assert group["first_node"] == first
            assert group["gpus"] == count * EIGHT[server]
            first += group["nodes"]
        lines = [(r["part"].lower(), r["quantity"]) for r in mixed["bom"]
                 if r["system"] == "servers"]
        assert lines == list(zip(servers, counts)), lines
        names = [d["name"] for d in design["devices"] if d["name"].startswith("node/")]
        assert names == [f"node/{i:05d}" for i in range(sum(counts))]


def links_by_node(design):
    ports = {}
    for link in design["links"]:
        if link["a"].startswith("node/"):
            ports.setdefault(link["a"], []).append(link["a_port"])
    return ports


def example(myriad, folder):
    text = (ROOT / "examples" / "mixed-train-infer.yaml").read_text()
    answer, design = plan(myriad, folder, text, "mixed")
    assert [g["gpus"] for g in answer["groups"]] == [1024, 256, 512]
    assert answer["gpus"] == 1792 and answer["nodes"] == 224
    assert answer["networks"]["compute"]["nodes"] == 160
    assert answer["networks"]["compute"]["host_ports"] == 1280
    assert answer["networks"]["service"]["nodes"] == 224 + 8
    assert not [f for f in answer["findings"] if f["severity"] == "error"], answer["findings"]
    kinds = {d["name"]: d for d in design["devices"]}
    used = links_by_node(design)
    for index in range(224):
        ports = used[f"node/{index:05d}"]
        compute = [p for p in ports if p.startswith("nic")]
        assert len(compute) == (8 if index < 160 else 0), (index, ports)
        assert sum(p.startswith("eth") for p in ports) == 2, (index, ports)
        part = ("h100-8gpu", "mi300x-8gpu", "a100-8gpu")[(index >= 128) + (index >= 160)]
        assert kinds[f"node/{index:05d}"]["part"] == part
    assert design["groups"][2]["first_node"] == 160 and not design["node_parts"]
    return folder / "mixed" / "design.myr"


def refused(myriad, mixed, folder):
    """Nothing that counts GPUs by node takes nodes of several kinds; the rest does."""
    for args in (["sched", "place", "--design", mixed, "--nodes", 4],
                 ["fit", "--model", "llama3-8b", "--design", mixed, "--batch", 64],
                 ["sim", "--design", mixed, "--workload", "permutation:1MB"],
                 ["sim", "contention", "--design", mixed],
                 ["route", mixed, "--permutation", 1],
                 ["route", "blast", mixed, "--of", "node/00003"],
                 ["path", mixed, "--nodes", "0-3", "--layout", "tp=8"],
                 ["init", folder / "srv", "--design", mixed],
                 ["export", "slurm", mixed, "--out", folder / "t.conf"]):
        err = run(myriad, *args, code=(2,))[1]
        lines = err.strip().split("\n")
        assert "nodes of different kinds" in lines[0], (args, err)
        assert len(lines) <= 2, err
        assert not (folder / "srv").exists()
    run(myriad, "design", mixed)
    run(myriad, "export", "p2p", mixed, "--out", folder / "p2p.csv")
    found = run(myriad, "verify", mixed, folder / "p2p.csv", code=(0,))[0]
    assert found
    # Groups that are alike are taken as one kind.
    plan(myriad, folder, "groups:\n  - {name: a, servers: 8, server: h100-8gpu}\n"
         "  - {name: b, servers: 8, server: h100-8gpu}\n", "alike")
    run(myriad, "sched", "place", "--design", folder / "alike" / "design.myr", "--nodes", 16)


def in_a_room(myriad, folder):
    """Kinds of different power and height in one room: no rack carries more than it may."""
    text = (ROOT / "examples" / "mixed-train-infer.yaml").read_text()
    text += "room: {rows: 14, columns: 20, rack_kw: 22, place: PLACE}\n"
    for place in ("aligned", "shortest"):
        path = folder / "room.yaml"
        path.write_text(text.replace("PLACE", place))
        run(myriad, "plan", path, "--out", folder / "room")
        watts, taken, servers = {}, set(), 0
        with open(folder / "room" / "racks.csv", newline="", encoding="utf-8") as file:
            for row in csv.DictReader(file):
                watts[row["rack"]] = watts.get(row["rack"], 0) + int(row["watts"])
                servers += row["item"].startswith("node/")
                for unit in range(int(row["u"]), int(row["u"]) + int(row["units"])):
                    assert 1 <= unit <= 42 and (row["rack"], unit) not in taken, row
                    taken.add((row["rack"], unit))
        assert servers == 224 and max(watts.values()) <= 22000, (servers, max(watts.values()))
    # The plan's own racks are a layout that audit reads: all of them, and nothing is missing.
    spec = folder / "room.yaml"
    text = run(myriad, "plan", "audit", folder / "room" / "bom.csv", "--layout",
               folder / "room" / "racks.csv", "--spec", spec, "-o", "json")[0]
    answer = json.loads(text)
    assert answer["racks"] == len(watts), (answer["racks"], len(watts))
    assert not [f for f in answer["findings"] if f["rule"].startswith("layout")], answer["findings"]


def main():
    myriad = Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        same_as_one(myriad, folder, random.Random(SEED))
        refused(myriad, example(myriad, folder), folder)
        in_a_room(myriad, folder)
    print("groups: counts, ids, networks and refusals are right")


if __name__ == "__main__":
    main()
