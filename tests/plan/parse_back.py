#!/usr/bin/env python3
"""Every file that a plan writes, read back by other programs' readers, and held against the others.

    tests/plan/parse_back.py MYRIAD

design.json, cables.csv, labels.csv and bom.csv tell of the same cluster, so that each is checked by
what the others say; topology.svg is XML. Specs: the examples that plan in a moment, and small ones
of every topology.
"""
import csv
import json
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree
from collections import Counter
from decimal import Decimal
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ["h100-64", "h100-128", "ascend-910b-1k", "nvl72-9k"]
SMALL = {
    "clos": "servers: 20\nserver: h100-8gpu\nnetworks:\n  compute: {topology: clos}\n",
    "rail-only": "servers: 16\nserver: h100-8gpu\nnetworks:\n  compute: {topology: rail-only}\n",
    "dragonfly": "servers: 36\nserver: h100-8gpu\nnetworks:\n  compute: {topology: dragonfly+}\n",
    "torus": "servers: 8\nserver: h100-8gpu\nnetworks:\n"
             "  compute: {topology: torus, dims: [2, 4]}\n",
    "copper": "servers: 4\nserver: h100-8gpu\nnetworks:\n  compute: {length_m: 1.5}\n  oob:\n",
}
TOP = ["version", "name", "servers", "nodes", "gpus", "gpus_per_node", "scale_up_gpus", "groups",
       "cable_types", "node_parts", "node_links", "devices", "links"]
CABLES = ["cable", "link", "network", "layer", "a_device", "a_port", "b_device", "b_port", "gbps",
          "part", "length_m", "medium", "optic_a", "optic_b"]
LABELS = ["cable", "end", "device", "port", "label"]
BOM = ["system", "name", "part", "quantity", "unit_price", "total", "rule", "inputs", "price_note",
       "specification", "warranty_months", "spare_share", "basis", "estimate_low", "estimate",
       "estimate_high", "lead_weeks"]
INSIDE = {"numa", "pcie_switch", "gpu", "nic", "scale_up_switch", "dpu"}
SWITCHES = {"leaf", "spine", "core", "access", "agg", "router"}
NETWORKS = {"compute", "storage", "service", "oob"}


class Wrong(Exception):
    """A file that says something else than it should."""


def same(what, found, expected):
    if found != expected:
        raise Wrong(f"{what}: {str(found)[:300]} is not {str(expected)[:300]}")


def read_csv(path, columns):
    with open(path, newline="", encoding="utf-8") as file:
        rows = list(csv.reader(file, strict=True))
    same(f"{path.name}: header", rows[0], columns)
    for number, row in enumerate(rows, 1):
        same(f"{path.name}: cells of row {number}", len(row), len(columns))
    return [dict(zip(columns, row)) for row in rows[1:]]


def check_devices(design):
    """Ids count up, names are unique, ports follow each other without a gap."""
    devices, port = design["devices"], 0
    same("names of devices", len({row["name"] for row in devices}), len(devices))
    for number, row in enumerate(devices):
        same("keys of a device", list(row), ["id", "name", "part", "first_port", "ports"])
        same(f"id of {row['name']}", row["id"], number)
        same(f"first port of {row['name']}", row["first_port"], port)
        same(f"{row['name']} has a part", bool(row["part"]), True)
        port += row["ports"]
    return {row["name"]: row for row in devices}


def check_links(design, devices):
    """Each port carries one link at most, and a device has no more links than ports."""
    taken, carried, last = set(), Counter(), -1
    for number, row in enumerate(design["links"]):
        same("keys of a link", list(row),
             ["id", "cable", "type", "a", "a_port", "b", "b_port"])
        same("id of a link", row["id"], number)
        same(f"cable of link {number} counts up", row["cable"] in (last, last + 1), True)
        last = row["cable"]
        same(f"type of link {number} is known", row["type"] < len(design["cable_types"]), True)
        for side in "ab":
            end = (row[side], row[f"{side}_port"])
            same(f"{end} of link {number} is free", end in taken, False)
            taken.add(end)
            carried[row[side]] += 1
    for name, count in carried.items():
        same(f"{name} is a device with {count} ports", devices[name]["ports"] >= count, True)
    return Counter(row["cable"] for row in design["links"])


def check_types(design, legs):
    """A type says what its cables are: how many links they carry, how fast and how long."""
    used = {row["cable"]: row["type"] for row in design["links"]}
    for row in design["cable_types"]:
        same("keys of a type", list(row), ["network", "layer", "part", "optic_a", "optic_b", "gbps",
                                           "length_m", "legs"])
        same("network of a type", row["network"] in NETWORKS, True)
        same("speed and length of a type", row["gbps"] > 0 and row["length_m"] > 0, True)
    for cable, count in legs.items():
        most = design["cable_types"][used[cable]]["legs"]
        same(f"cable {cable} has {count} links of at most {most}", 1 <= count <= most, True)


def check_inside(design):
    """The inside of a node: GPUs and NICs as many as there are, joined into one piece."""
    parts, joined = design["node_parts"], {0}
    kinds = Counter(row["kind"] for row in parts)
    same("kinds of node parts", set(kinds) - INSIDE, set())
    same("GPUs of a node", kinds["gpu"], design["gpus_per_node"])
    same("GPUs", design["gpus"], design["nodes"] * design["gpus_per_node"])
    for row in parts:
        same("a NIC has a network", bool(row["network"]) <= (row["kind"] == "nic"), True)
        same("NUMA node of a part", row["numa"] < max(1, kinds["numa"]), True)
    for kind in kinds:
        indices = Counter((row.get("network"), row["index"]) for row in parts
                          if row["kind"] == kind)
        same(f"indices of {kind}", max(indices.values()), 1)
    for _ in parts:
        for row in design["node_links"]:
            same("speed inside a node", row["gbps"] > 0 and row["a"] != row["b"], True)
            if row["a"] in joined or row["b"] in joined:
                joined |= {row["a"], row["b"]}
    same("parts that are joined", joined, set(range(len(parts))))


def check_cables(design, rows):
    """The list of cables is the list of links, in the same order."""
    same("rows of cables.csv", len(rows), len(design["links"]))
    for link, row in zip(design["links"], rows):
        kind = design["cable_types"][link["type"]]
        told = {"cable": f"{link['cable']:08}", "link": f"{link['id']:08}",
                "network": kind["network"], "layer": kind["layer"], "a_device": link["a"],
                "a_port": link["a_port"], "b_device": link["b"], "b_port": link["b_port"],
                "gbps": str(kind["gbps"]), "part": kind["part"], "optic_a": kind["optic_a"],
                "optic_b": kind["optic_b"], "medium": row["medium"],
                "length_m": row["length_m"]}
        same(f"row of link {link['id']}", row, told)
        same(f"length of link {link['id']}", float(row["length_m"]), kind["length_m"])
        same(f"medium of link {link['id']}",
             row["medium"] in ("copper", "multimode", "singlemode"), True)


def check_labels(design, rows):
    """Two labels a cable for each of its links, this end first."""
    told = []
    for link in design["links"]:
        a, b = (f"{link[side]}:{link[side + '_port']}" for side in "ab")
        told.append([f"{link['cable']:08}", "A", link["a"], link["a_port"], f"{a} -> {b}"])
        told.append([f"{link['cable']:08}", "B", link["b"], link["b_port"], f"{b} -> {a}"])
    for row, expected in zip(rows, told):
        same("row of labels.csv", list(row.values()), expected)
    same("rows of labels.csv", len(rows), len(told))


def check_bom(design, rows):
    """Totals are products, and switches as many as there are devices."""
    for row in rows:
        quantity = int(row["quantity"])
        same(f"{row['part']}: text", bool(row["system"] and row["name"] and row["rule"]), True)
        same(f"{row['part']}: priced", bool(row["unit_price"]), bool(row["total"]))
        if row["unit_price"] and "each started" not in row["price_note"]:
            same(f"{row['part']}: total", Decimal(row["total"]),
                 quantity * Decimal(row["unit_price"]))
    counted = Counter(row["part"].lower() for row in design["devices"]
                      if row["name"].split("/")[0] in SWITCHES)
    bought = Counter()
    for row in rows:
        if row["name"].endswith("switch"):
            bought[row["part"].lower()] += int(row["quantity"])
    same("switches", sum(bought.values()), sum(counted.values()))


def check_drawing(path, name):
    root = ElementTree.parse(path).getroot()
    same("root of the drawing", root.tag, "{http://www.w3.org/2000/svg}svg")
    title = root.find("{http://www.w3.org/2000/svg}title")
    same(f"the drawing's title names {name}", name in (title.text or ""), True)


def check(myriad, name, spec, folder):
    out = Path(folder) / name
    done = subprocess.run([myriad, "plan", str(spec), "--out", str(out)], capture_output=True,
                          text=True, timeout=600, check=False)
    same("exit status", (done.returncode, done.stderr if done.returncode else ""), (0, ""))
    design = json.loads((out / "design.json").read_text(encoding="utf-8"))
    same("keys of design.json", list(design), TOP)
    same("version", design["version"], 1)
    same("name", design["name"], name)
    devices = check_devices(design)
    same("nodes among the devices", sum(key.startswith("node/") for key in devices),
         design["nodes"])
    check_types(design, check_links(design, devices))
    check_inside(design)
    check_cables(design, read_csv(out / "cables.csv", CABLES))
    check_labels(design, read_csv(out / "labels.csv", LABELS))
    check_bom(design, read_csv(out / "bom.csv", BOM))
    check_drawing(out / "topology.svg", name)
    return len(design["links"])


def main():
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        specs = {name: ROOT / "examples" / f"{name}.yaml" for name in EXAMPLES}
        for name, text in SMALL.items():
            specs[name] = Path(folder) / f"{name}.yaml"
            specs[name].write_text(f"name: {name}\n{text}", encoding="utf-8")
        for name, spec in specs.items():
            try:
                print(f"{name}: {check(sys.argv[1], name, spec, folder)} links")
            except (Wrong, ValueError, KeyError, ElementTree.ParseError) as wrong:
                print(f"{name}: {type(wrong).__name__}: {wrong}")
                failed += 1
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
