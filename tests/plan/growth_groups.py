#!/usr/bin/env python3
"""Clusters of several kinds of servers that grow.

    tests/plan/growth_groups.py MYRIAD [SEED [COUNT]]

Random pairs of specs with groups, where each group grows or stays and new ones come, planned and
grown, then grown once more from the design.myr. Everything is read from design.json and cables.csv:
- every installed device keeps its id, its name and its part, every cable its id
- no cable of an installed server moves where hosts fill leaves in order (a leaf has its hosts for
  good), whichever groups grow
- each group has as many servers as its spec says, and the bill has what was bought
- the bill has the modules and cables that the cables of the grown design need, cage by cage
- the physical checker has nothing to say of the grown design
Then what is no growth: one clear line, exit status 2.
"""
import collections
import csv
import json
import pathlib
import random
import subprocess
import sys
import tempfile

import bill_count

FAILED = []
LIMIT_S = 600
COMPUTE = ("h100-8gpu", "mi300x-8gpu", "h200-8gpu")


def check(what, held):
    if not held:
        FAILED.append(what)


def run(myriad, folder, *words):
    return subprocess.run([myriad, *map(str, words)], capture_output=True, text=True, check=False,
                          cwd=folder, stdin=subprocess.DEVNULL, timeout=LIMIT_S)


def text_of(groups):
    """A spec: groups of (name, servers, server, on the compute network)."""
    lines = ["groups:"]
    for name, servers, server, compute in sorted(groups, key=lambda g: not g[3]):
        nets = "" if compute else ", networks: [service, oob]"
        lines.append(f"  - {{name: {name}, servers: {servers}, server: {server}{nets}}}")
    return "\n".join([*lines, "networks: {compute: {fabric: roce}, service: {}, oob: {}}",
                      "accept: [unpriced]", ""])


def draw(rng):
    """Groups of a small cluster; the first is on the compute network."""
    count = rng.randint(1, 4)
    return [(f"g{i}", rng.randint(1, 90), rng.choice(COMPUTE), i == 0 or rng.random() < 0.6)
            for i in range(count)]


def larger(rng, groups):
    grown = [(name, servers + rng.choice((0, 1, 7, rng.randint(0, 100))), server, compute)
             for name, servers, server, compute in groups]
    if rng.random() < 0.5:
        grown.append((f"n{len(grown)}", rng.randint(1, 60), rng.choice(COMPUTE),
                      rng.random() < 0.5))
    rng.shuffle(grown)  # the order of the spec is not the order of what stands
    first = next(i for i, group in enumerate(grown) if group[3])
    return [grown[first], *grown[:first], *grown[first + 1:]]


def read(folder):
    with open(folder / "cables.csv", newline="", encoding="utf-8") as file:
        cables = list(csv.DictReader(file))
    with open(folder / "design.json", encoding="utf-8") as file:
        return json.load(file), cables


def ends(row):
    return row["a_device"], row["a_port"], row["b_device"], row["b_port"]


def compare(what, small, large):
    """What stands keeps its name and its ends."""
    (old, old_cables), (new, new_cables) = small, large
    names = {device["id"]: device for device in new["devices"]}
    for device in old["devices"]:
        now = names.get(device["id"])
        check(f"{what}: device {device['id']} is gone", now is not None)
        if now:
            check(f"{what}: {device['name']} is called {now['name']}",
                  device["name"] == now["name"])
    new_ends = {(row["cable"], ends(row)) for row in new_cables}
    new_ids = {row["cable"] for row in new_cables}
    moved = collections.Counter()
    for row in old_cables:
        check(f"{what}: cable {row['cable']} is gone", row["cable"] in new_ids)
        if (row["cable"], ends(row)) not in new_ends:
            moved[row["network"], row["layer"]] += 1
    for (net, layer), count in moved.items():
        check(f"{what}: {count} host cables of {net} move",
              layer != "host_leaf")
    return sum(moved.values())


def bill(folder):
    """By system, name and part: how many. A group that has grown twice has several lines."""
    count = collections.Counter()
    with open(folder / "bom.csv", newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            count[row["system"], row["name"], row["part"]] += int(row["quantity"])
    return count


def check_bought(what, answer, before, after):
    """What is bought and what is left over make the one bill of the other."""
    small, large = bill(before), bill(after)
    for sign, lines in ((1, answer["buy"]), (-1, answer["left_over"])):
        for line in lines:
            key = line["system"], line["name"], line["part"]
            small[key] += sign * line["quantity"]
    check(f"{what}: {set((+small).items()) ^ set(large.items())} bought", +small == large)


def servers_by_group(answer):
    counts = collections.Counter()
    for group in answer["groups"]:
        counts[group["name"]] += group["servers"]
    return counts


def check_names(what, groups, design, cables):
    """Nodes are of the group that their names say: on the compute network or not, each in one."""
    of = {}
    for group in groups:
        for number in range(group["first_node"], group["first_node"] + group["nodes"]):
            check(f"{what}: node {number} is in two groups", number not in of)
            of[number] = "compute" in group["networks"]
    named = {int(device["name"][5:]) for device in design["devices"]
             if device["name"].startswith("node/")}
    check(f"{what}: groups have nodes {sorted(set(of) ^ named)[:5]}", set(of) == named)
    on = {int(row[end][5:]) for row in cables if row["network"] == "compute"
          for end in ("a_device", "b_device") if row[end].startswith("node/")}
    wrong = [number for number, compute in of.items() if compute != (number in on)]
    check(f"{what}: nodes {wrong[:5]} hang on other networks than their group", not wrong)


def look_at(myriad, folder, rng):
    small, spec = draw(rng), []
    steps = [small, larger(rng, small)]
    steps.append(larger(rng, steps[1]))
    for number, groups in enumerate(steps):
        (folder / f"{number}.yaml").write_text(text_of(groups))
        spec.append(text_of(groups))
    what = repr(spec)
    done = run(myriad, folder, "plan", "0.yaml", "--out", "at0", "-o", "json")
    if done.returncode not in (0, 1):
        return False  # these kinds do not share a network: no growth to look at
    for number in (1, 2):
        done = run(myriad, folder, "plan", "grow", f"at{number - 1}/design.myr",
                   f"{number}.yaml", "--out", f"at{number}", "-o", "json")
        if done.returncode in (1, 2) and "cannot grow" in done.stderr:
            return False  # fewer switches of a tier than stand, another topology by default
        check(f"{what} {number}: exit code {done.returncode}: {done.stderr[:300]}",
              done.returncode == 0)
        if done.returncode != 0:
            return False
        answer = json.loads(done.stdout)
        before, after = folder / f"at{number - 1}", folder / f"at{number}"
        moved = compare(f"{what} {number}", read(before), read(after))
        check(f"{what} {number}: {answer['moved_cables']} cables move, {moved} by hand",
              answer["moved_cables"] == moved)
        shown = run(myriad, folder, "design", f"at{number}/design.myr", "-o", "json")
        wanted = {name: servers for name, servers, _server, _on in steps[number]}
        check(f"{what} {number}: {shown.stderr[:200]}", shown.returncode in (0, 1))
        if shown.returncode in (0, 1):
            told = json.loads(shown.stdout)
            have = servers_by_group(told)
            check(f"{what} {number}: groups {dict(have)}", dict(have) == wanted)
            written, cables = read(after)
            check_names(f"{what} {number}", told["groups"], written, cables)
            check(f"{what} {number}: design.json has other groups",
                  [(g["name"], g["first_node"], g["nodes"]) for g in told["groups"]] ==
                  [(g["name"], g["first_node"], g["nodes"]) for g in written["groups"]])
        bought = sum(line["quantity"] for line in answer["buy"]
                     if line["name"].startswith("GPU server"))
        was = sum(servers for _name, servers, _server, _on in steps[number - 1])
        check(f"{what} {number}: {bought} servers bought",
              bought == sum(wanted.values()) - was)
        for key, need, have in bill_count.differences(after):
            check(f"{what} {number}: {key}: {need} needed, {have} in the bill", False)
        check_bought(what, answer, before, after)
        plugged = run(myriad, folder, "design", f"at{number}/design.myr", "--check")
        check(f"{what} {number}: the checker: {plugged.stdout[:300]}", plugged.returncode == 0)
    return True


def refusals(myriad, folder):
    one = [("train", 8, "h100-8gpu", True), ("infer", 8, "h100-8gpu", False)]
    cases = [
        ("fewer", [("train", 4, "h100-8gpu", True), one[1]], "'train' has 4 servers"),
        ("gone", [("train", 30, "h100-8gpu", True)], "'infer' has 0 servers"),
        ("renamed", [("learn", 8, "h100-8gpu", True), one[1]], "'train' has 0 servers"),
        ("server", [("train", 9, "mi300x-8gpu", True), one[1]], "'train' has 0 servers"),
        ("off-network", [("infer", 8, "h100-8gpu", True), ("train", 8, "h100-8gpu", False)],
         "'train' has 0 servers"),
    ]
    (folder / "one.yaml").write_text(text_of(one))
    plain = "servers: 40\nserver: h100-8gpu\n"
    plain += "networks: {compute: {fabric: roce}, service: {}, oob: {}}\n"
    (folder / "plain.yaml").write_text(plain)
    for name, groups, says in [*cases, ("no groups", None, "it has no groups")]:
        (folder / "two.yaml").write_text(text_of(groups) if groups else plain)
        done = run(myriad, folder, "plan", "grow", "one.yaml", "two.yaml", "--out", "none")
        line = done.stderr.splitlines()[0] if done.stderr else ""
        check(f"{name}: {done.returncode} {done.stderr}",
              done.returncode == 2 and says in line and not (folder / "none").exists())
    # One kind of servers becomes the first of several.
    (folder / "two.yaml").write_text(text_of([("train", 48, "h100-8gpu", True),
                                              ("more", 8, "mi300x-8gpu", True)]))
    done = run(myriad, folder, "plan", "grow", "plain.yaml", "two.yaml", "-o", "json")
    check(f"one kind becomes two: {done.stderr}", done.returncode == 0)


def main():
    myriad = str(pathlib.Path(sys.argv[1]).resolve())
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 20261116
    count = int(sys.argv[3]) if len(sys.argv) > 3 else 6
    rng = random.Random(seed)
    grown = 0
    with tempfile.TemporaryDirectory(prefix="myriad-groups-") as name:
        folder = pathlib.Path(name)
        for number in range(count):
            own = folder / str(number)
            own.mkdir()
            grown += look_at(myriad, own, rng)
        refusals(myriad, folder)
    check(f"only {grown} of {count} were grown", grown * 2 >= count)
    print(f"seed {seed}: {grown} of {count} clusters grown twice")
    for line in FAILED[:20]:
        print(line)
    sys.exit(f"{len(FAILED)} failed" if FAILED else 0)


if __name__ == "__main__":
    main()
