"""What a design needs of modules and cables, counted from its files alone: cables.csv says which
port each end is plugged into, design.json how many links a cable of a type has. A module fills a
cage, however many of its ports carry a link; a port is named after its cage: 3/2 is in cage 3.
"""
import collections
import csv
import json


def cage_of(port):
    return port.split("/")[0] if "/" in port else port


def needed(folder):
    """By (network, part, 'NIC end' | 'switch end' | 'cable'): pieces."""
    cages, cables, links = set(), collections.defaultdict(set), collections.Counter()
    with open(folder / "design.json", encoding="utf-8") as file:
        legs = {(kind["network"], kind["layer"], kind["part"]): kind["legs"]
                for kind in json.load(file)["cable_types"]}
    whole = {}
    with open(folder / "cables.csv", newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            for end in "ab":
                if row[f"optic_{end}"]:
                    port = row[f"{end}_port"]
                    side = "switch end" if port[0].isdigit() else "NIC end"
                    cages.add((row["network"], row[f"optic_{end}"], side,
                               row[f"{end}_device"], cage_of(port)))
            if row["part"]:
                key = row["network"], row["part"]
                cables[key].add(row["cable"])
                links[key] += 1
                split = legs[row["network"], row["layer"], row["part"]] > 1
                whole[key] = split or not row["optic_a"]
    count = collections.Counter((net, optic, side) for net, optic, side, _device, _cage in cages)
    for key, ids in cables.items():
        count[(*key, "cable")] += len(ids) if whole[key] else links[key]
    return count


def ordered(folder):
    """The same of bom.csv, without lines that the spec pins to a number."""
    count, pinned = collections.Counter(), set()
    with open(folder / "bom.csv", newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            for side in ("NIC end", "switch end", "cable"):
                if row["name"].endswith(side):
                    key = row["system"], row["part"].lower(), side
                    count[key] += int(row["quantity"])
                    if row["inputs"].startswith("pinned"):
                        pinned.add(key)
    return count, pinned


def differences(folder):
    """[(what, needed, ordered)]; networks whose cabling others supply are left out."""
    need, (have, pinned) = needed(folder), ordered(folder)
    cabled = {net for net, _part, _side in have}
    return [(key, need[key], have[key]) for key in sorted(set(need) | set(have))
            if key not in pinned and need[key] != have[key] and key[0] in cabled]
