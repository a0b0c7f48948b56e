#!/usr/bin/env python3
"""`myriad route` and `myriad path` as their users call them: what programs read, and bad input."""
import csv
import io
import json
import random
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET
from pathlib import Path

SPEC = "name: small\nservers: 64\nserver: h100-8gpu\nnetworks: {compute: {switch: mqm9790}}\n"
FAILED = []
COUNT = 0


def check(what, good, shown=""):
    global COUNT
    COUNT += 1
    if not good:
        FAILED.append(f"{what} {shown}")


class Program:
    def __init__(self, myriad, folder):
        self.myriad, self.folder = myriad, folder
        (folder / "small.yaml").write_text(SPEC)
        self.run("plan", "small.yaml", "--out", "out")
        self.design = "out/design.myr"

    def run(self, *words):
        return subprocess.run([self.myriad, *words], cwd=self.folder, capture_output=True,
                              text=True, timeout=600, check=False)

    def json(self, *words):
        result = self.run(*words, "-o", "json")
        check(f"{words}: exit status", result.returncode == 0, result.stderr)
        return json.loads(result.stdout or "null")


def policies(program):
    """The contract: max_link_load, mean_link_load, share_of_ideal, bound; operand or --design."""
    flows = program.folder / "ring.csv"
    rows = [f"gpu/{node}/{gpu},gpu/{(node + 32) % 64}/{gpu}" for node in range(64)
            for gpu in range(8)]
    flows.write_text("from,to\n" + "\n".join(rows) + "\n")
    for place in (["route", program.design], ["route", "--design", program.design]):
        planned = program.json(*place, "--policy", "planned", "--flows", "ring.csv")
        check("contract", {"max_link_load", "mean_link_load", "share_of_ideal", "bound"}
              <= set(planned), planned)
        check("planned", planned["max_link_load"] == 1 and planned["share_of_ideal"] == 1, planned)
        check("bound", planned["bound"] == 1 and planned["flows"] == 512, planned)
    hashed = program.json("route", program.design, "--policy", "ecmp", "--flows", "ring.csv")
    check("ecmp is worse", hashed["max_link_load"] > 2 and hashed["share_of_ideal"] < 0.8, hashed)
    every = program.json("route", program.design, "--flows", "ring.csv")
    check("all policies", len(every["policies"]) == 8
          and every["policies"][0]["policy"] == "ecmp" and every["max_link_load"] is None, every)
    check("one policy is also a row", planned["policies"] == [
        {key: planned[key] for key in planned["policies"][0]}], planned["policies"])
    table = program.run("route", program.design, "--permutation", "1")
    check("table", table.stdout.startswith("POLICY") and table.returncode == 0, table.stdout)


def dead_plans(program):
    """Plans around dead links: no flow is lost that has a way, and the bound is reached where a
    plan at the bound is known; where it is not, the gap is told."""
    (program.folder / "three.yaml").write_text(
        "name: three\nservers: 128\nserver: h100-8gpu\n"
        "networks: {compute: {switch: mqm9790, tiers: 3}}\n")
    program.run("plan", "three.yaml", "--out", "three")
    design = "three/design.myr"
    rows = program.json("route", "failover", design, "--all")["rows"]
    links = [row["what"] for row in rows if row["between"] and row["kind"] != "host_leaf"]
    above = [row["what"] for row in rows if row["kind"] == "spine_core"
             and row["between"].startswith("spine/p0-0:")]
    for seed in range(8):
        dead = random.Random(seed).sample(links, len(links) // 50)
        plan = program.json("route", design, "--policy", "planned", "--permutation", str(seed),
                            "--dead", ",".join(dead))
        check("2 % dead", plan["max_link_load"] == plan["bound"] == 2 and plan["gap"] == 0 and
              plan["unroutable"] == 0, plan)
    for seed in range(4):
        every = program.json("route", design, "--permutation", str(seed), "--dead",
                             ",".join(above))["policies"]
        check("a spine without cores", all(row["unroutable"] == 0 for row in every), every)
        plan = every[-1]
        check("gap", plan["gap"] == round(plan["max_link_load"] - plan["bound"], 6) and
              plan["max_link_load"] <= 2, plan)


def repair(program):
    kinds = program.json("route", "failover", program.design)["rows"]
    check("one of each kind", [row["kind"] for row in kinds] ==
          ["host_leaf", "leaf_spine", "leaf", "spine"], kinds)
    check("alike", kinds[1]["alike"] == 512 and kinds[1]["local_choices"] == 31, kinds[1])
    check("without flows there are none to count", kinds[0]["flows_affected"] is None, kinds[0])
    one = program.json("route", "failover", program.design, "--link", kinds[1]["what"],
                       "--permutation", "1")["rows"]
    check("flows affected", 0 < one[0]["flows_affected"] <= 2, one)
    device = program.json("route", "failover", program.design, "--device", "spine/p0-3")["rows"]
    check("device", device[0]["local_choices"] == 28, device)
    every = program.run("route", "failover", program.design, "--all", "-o", "csv")
    rows = list(csv.DictReader(io.StringIO(every.stdout)))
    check("every link and switch", len(rows) == 1024 + 24, len(rows))
    left = program.json("route", "degraded", program.design, "--dead",
                        "spine/p0-3,link/00000000")
    check("degraded", left["dead_links"] == 65 and left["hosts_cut"] == 1, left)
    check("bisection", left["bisection_gbps"] == left["bisection_full_gbps"] * 7 // 8, left)
    check("rails", len(left["rails"]) == 8 and left["rails"][0]["full_gbps"] == 25600, left)
    check("worst pair", left["worst_pair"]["gbps"] == 28 * 400, left)
    check("the same as rows", left["rows"][1]["gbps"] == 28 * 400
          and left["rows"][1]["share"] == 0.875 and len(left["rows"]) == 10, left["rows"])
    blast = program.json("route", "blast", program.design, "--of",
                         "rail-group/1,leaf/p0-g0-r0")["rows"]
    check("blast", [row["gpus_lost"] for row in blast] == [256, 0], blast)
    check("blast of a leaf", blast[1]["nodes_weakened"] == 32, blast)


def paths(program):
    words = ["path", program.design, "--nodes", "0-3,node/00032", "--layout", "tp=8", "--axis",
             "dp", "--svg", "job.svg"]
    found = program.json(*words)
    check("flows", found["flows"] == 40 and found["unroutable"] == 0, found["flows"])
    nodes = {row["node"] for row in found["nics"]}
    check("servers", nodes == {"node/00000", "node/00001", "node/00002", "node/00003",
                               "node/00032"}, nodes)
    check("GPUs", {row["gpus"] for row in found["nics"]} == set("01234567"), "")
    kinds = {row["kind"] for row in found["switches"]}
    check("switches", kinds == {"leaf", "spine"}, kinds)
    sent = sum(row["flows_up"] for row in found["links"] if row["layer"] == "host_leaf")
    check("flows up", sent == 40, sent)
    listed = list(csv.DictReader(io.StringIO(program.run(*words, "-o", "csv").stdout)))
    check("csv lists the links", len(listed) == len(found["links"]), len(listed))
    people = program.run(*words)
    check("table", "maximum 1.000 (at least 1.000)" in people.stdout
          and "40 NICs, 24 switches, 72 links" in people.stdout
          and len(people.stdout.splitlines()) < 12, people.stdout[-300:])
    wide = program.run(*words, "-o", "wide").stdout
    check("wide", "SERVER" in wide and "LINK" in wide and len(wide.splitlines()) > 130, wide[-300:])
    drawing = (program.folder / "job.svg").read_text()
    shapes = sum(1 for _ in ET.fromstring(drawing).iter())
    check("drawing", shapes < 400, shapes)
    hot = program.run("path", program.design, "--permutation", "3", "--policy", "ecmp", "--svg",
                      "hot.svg", "-o", "csv")
    drawing = (program.folder / "hot.svg").read_text()
    check("hot links", hot.returncode == 0 and 'class="link-hot"' in drawing, "")
    shapes = sum(1 for _ in ET.fromstring(drawing).iter())
    check("a large drawing stays small", shapes < 700, shapes)


BAD_FLOWS = [
    ("", "1:1: there is no flow in it"),
    ("from,to\n", "1:1: there is no flow in it"),
    ("from,to\ngpu/0/0\n", "2:1: 1 field"),
    ("from,to\ngpu/0/0,gpu/1/0,1\n", "2:17: the row has 3 fields, the header 2"),
    ("from,to,share,port,more\ngpu/0/0,gpu/1/0,1,2,3\n", "2:1: 5 fields"),
    ("from,to\ngpu/0/0,gpu/64/0\n", "2:9: 'gpu/64/0' is no host port"),
    ("from,to\nspine/p0-0:1/1,gpu/1/0\n", "2:1: 'spine/p0-0:1/1' is no host port"),
    ("from,to\ngpu/0/0,gpu/0/0\n", "2:9: the flow ends where it begins"),
    ("from,to,share\ngpu/0/0,gpu/1/0,-1\n", "2:17: the share must be"),
    ("from,to,share,port\ngpu/0/0,gpu/1/0,1,99999\n", "2:19: the source port must be"),
    ('from,to\n"gpu/0/0,gpu/1/0\n', "2:1: "),
    ("from,to\ngpu/0/0,gpu/1/0\nx\0y,z\n", "1:1: looks like binary data; a list of flows"),
    ("name: a\nservers: 4\nserver: h100-8gpu\n", "1:1: looks like a spec; a list of flows"),
    ('{"flows": []}\n', "1:1: looks like JSON with the key 'flows'; a list"),
    ("from,to\n" + "x" * 100000 + ",y\n", "2:1: 'xxx"),
]

BAD_WORDS = [
    (["route"], "a design is needed"),
    (["path"], "a design is needed"),
    (["route", "D", "--design", "D"], "a design as operand and --design"),
    (["route", "missing.myr"], "missing.myr: cannot open"),
    (["route", "small.yaml"], "small.yaml:1:1: looks like a spec"),
    (["route", "D", "--flows", "missing.csv"], "missing.csv: cannot open"),
    (["route", "D", "--layout", "tp=3"], ""),
    (["route", "D", "--layout", "tp=8,xx=2"], "--layout:1:"),
    (["route", "D", "--layout", "tp=8", "--axis", "qq"], "unknown axis 'qq'"),
    (["route", "D", "--layout", "tp=8", "--nodes", "64"], "'64' is no node"),
    (["route", "D", "--layout", "tp=8", "--nodes", "9-3"], "'9-3' is no node"),
    (["route", "D", "--permutation", "x"], "'x' is no seed"),
    (["route", "D", "--permutation", "1", "--dead", "link/99999999"], "'link/99999999' is no link"),
    (["route", "D", "--permutation", "1", "--dead", "spine/p9-9"], "'spine/p9-9' is no device"),
    (["route", "D", "--net", "storage"], "the design has no storage network"),
    (["route", "failover", "D", "--link", "link/x"], "'link/x' is no link"),
    (["route", "failover", "D", "--device", "leaf"], "'leaf' is no device"),
    (["route", "failover", "D", "--permutation", "1", "--policy", "spray"], "sprayed flows"),
    (["route", "failover"], "a design is needed"),
    (["route", "failover", "D", "--of", "leaf"], "unknown option '--of'"),
    (["route", "blast", "D", "--of", "pod/99"], "'pod/99' is no device"),
    (["route", "blast", "D"], "give --of LIST"),
    (["route", "degraded", "D", "--permutation", "1"], "unknown option '--permutation'"),
    (["route", "D", "--link", "link/0"], "unknown option '--link'"),
    (["route", "tables", "D"], "give --dump FILE"),
    (["route", "apply", "D", "--out", "-"], "--out: '-' is standard output"),
    (["path", "D", "--permutation", "1", "--svg", "-"], "--svg: '-' is standard output"),
    (["path", "D", "--nodes", "0", "--layout", "tp=8"], "no flow leaves a scale-up domain"),
    (["path", "D", "--permutation", "1", "--svg", "no/such/folder/x.svg"], ""),
]


def one_line(what, result, expected, statuses=(2,)):
    lines = result.stderr.rstrip("\n").split("\n")
    good = result.returncode in statuses and result.stdout == "" and len(lines) <= 2 and \
        lines[0].startswith("myriad: " + expected) and \
        (len(lines) == 1 or lines[1].startswith("hint: ")) and \
        not re.search(r"[\x00-\x1f\x7f]", lines[0])
    check(what, good, f"{result.returncode}: {result.stderr[:300]}")


def bad_input(program):
    for text, expected in BAD_FLOWS:
        (program.folder / "bad.csv").write_text(text)
        result = program.run("route", program.design, "--flows", "bad.csv")
        one_line(f"flow file {text[:40]!r}", result, "bad.csv:" + expected)
    for words, expected in BAD_WORDS:
        result = program.run(*[program.design if word == "D" else word for word in words])
        one_line(" ".join(words), result, expected, (2, 3))


def main():
    with tempfile.TemporaryDirectory(prefix="myriad-fabric-") as name:
        program = Program(str(Path(sys.argv[1]).resolve()), Path(name))
        for case in (policies, dead_plans, repair, paths, bad_input):
            case(program)
    for line in FAILED:
        print("FAIL", line)
    print(f"{COUNT} checks, {len(FAILED)} failed")
    return 1 if FAILED else 0


if __name__ == "__main__":
    sys.exit(main())
