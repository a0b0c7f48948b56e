#!/usr/bin/env python3
"""Every file of a plan is read back, by other readers than ours, and held against the others.

    tests/plan/written.py MYRIAD

design.json must hold to docs/schema/design.json and say the same as cables.csv, labels.csv, bom.csv
and the answer; the drawing must be XML. A catalogue whose words a spreadsheet would run as formulas
must come back as text.
"""
import csv
import json
import subprocess
import sys
import tempfile
import xml.etree.ElementTree
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "tests/answers"))
import schema as schemas

EXAMPLES = ("h100-64", "ascend-910b-1k", "nvl72-9k")
TORUS = """servers: 27
server: generic-1gpu
networks: {compute: {topology: torus, dims: [3, 3, 3]}}
"""
OWN_SPEC = """servers: 4
server: h100-8gpu
prices: {book: own, parts: {mqm9790-ns2f: 5.25}}
items: [{part: evil, quantity: 3}]
accept: [optic-form]
"""
OWN_PARTS = """devices: {evil: {order: '=1+1', title: "@SUM(A1), -x", source: test, watts: 1}}
prices:
  own:
    title: ours
    currency: EUR
    date: 2026-01-01
    source: test
    parts: {h100-8gpu: 1000.5, mqm9790-ns2f: 77, evil: {price: 9, per_servers: 2}}
"""


def call(myriad, *words):
    done = subprocess.run([myriad, *words], capture_output=True, text=True, timeout=300,
                          check=False)
    if done.returncode > 1:
        raise SystemExit(f"{words}: {done.stderr}")
    return done.stdout


def rows(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def check_lists(design, answer, folder):
    """What the lists say, against design.json."""
    cables, labels, bom = (rows(folder / f"{name}.csv") for name in ("cables", "labels", "bom"))
    types = design["cable_types"]
    if len(cables) != len(design["links"]) or len(labels) != 2 * len(cables):
        yield f"{len(cables)} cable rows, {len(labels)} labels, {len(design['links'])} links"
    for row, link in zip(cables, design["links"]):
        kind = types[link["type"]]
        told = [int(row["cable"]), int(row["link"]), row["a_device"], row["a_port"],
                row["b_device"], row["b_port"], row["network"], row["layer"], int(row["gbps"]),
                row["part"], float(row["length_m"]), row["optic_a"], row["optic_b"]]
        held = [link["cable"], link["id"], link["a"], link["a_port"], link["b"], link["b_port"],
                kind["network"], kind["layer"], kind["gbps"], kind["part"], kind["length_m"],
                kind["optic_a"], kind["optic_b"]]
        if told != held:
            yield f"cables.csv says {told}, design.json {held}"
            return
    for row, link in zip(labels[::2], design["links"]):
        told = (row["end"], row["device"], row["port"], row["label"])
        here, there = f"{link['a']}:{link['a_port']}", f"{link['b']}:{link['b_port']}"
        if told != ("A", link["a"], link["a_port"], f"{here} -> {there}"):
            yield f"labels.csv says {told} of link {link['id']}"
            return
    plain = [{key: value.removeprefix("'") for key, value in row.items()} for row in bom]
    listed = [(row["system"], row["name"], row["part"], int(row["quantity"])) for row in plain]
    asked = [(row["system"], row["name"], row["part"], row["quantity"]) for row in answer["bom"]]
    if listed != asked:
        yield "bom.csv and the answer differ"


def check_design(design, answer):
    held = json.loads((ROOT / "docs/schema/design.json").read_text())
    yield from schemas.well_formed(held)
    yield from schemas.validate(design, held)
    devices, links = design["devices"], design["links"]
    if [d["id"] for d in devices] != list(range(len(devices))) or \
            [k["id"] for k in links] != list(range(len(links))):
        yield "ids do not count from 0"
    names = {d["name"] for d in devices}
    if len(names) != len(devices) or not all(k["a"] in names and k["b"] in names for k in links):
        yield "a link ends at no device"
    first = 0
    for device in devices:
        if device["first_port"] != first:
            yield f"{device['name']}: ports begin at {device['first_port']}, not {first}"
            return
        first += device["ports"]
    totals = answer["totals"]
    if (totals["devices"], totals["links"], totals["ports"]) != (len(devices), len(links), first):
        yield f"the answer counts {totals}"
    if [design[key] for key in ("name", "servers", "nodes", "gpus")] != \
            [answer[key] for key in ("name", "servers", "nodes", "gpus")]:
        yield "head and answer differ"


def check_prices(answer):
    """Prices of the user's book are in the bill; the spec's own price for the switch beats it."""
    bill = {row["part"]: row for row in answer["bom"]}
    switch = bill["MQM9790-NS2F"]
    if (bill["H100-8GPU"]["unit_price"], bill["H100-8GPU"]["total"]) != (1000.5, 4002):
        yield f"servers cost {bill['H100-8GPU']}"
    if switch["unit_price"] != 5.25 or switch["total"] != 5.25 * switch["quantity"]:
        yield f"switches cost {switch}"
    if (bill["=1+1"]["unit_price"], bill["=1+1"]["total"]) != (9 * 2, 9 * 2 * 3):
        yield f"a price for each started two servers gives {bill['=1+1']}"
    cost = sum(row["total"] or 0 for row in answer["bom"])
    if answer["totals"]["currency"] != "EUR" or abs(answer["totals"]["cost"] - cost) > 1e-6:
        yield f"totals {answer['totals']}, the lines add up to {cost}"


def main():
    myriad, failed = sys.argv[1], []
    with tempfile.TemporaryDirectory(prefix="myriad-written-") as name:
        top = Path(name)
        (top / "torus.yaml").write_text(TORUS)
        (top / "own.yaml").write_text(OWN_SPEC)
        (top / "parts.yaml").write_text(OWN_PARTS)
        specs = [(ROOT / f"examples/{spec}.yaml", []) for spec in EXAMPLES]
        specs += [(top / "torus.yaml", []), (top / "own.yaml", ["--catalog", top / "parts.yaml"])]
        for spec, more in specs:
            folder = top / spec.stem
            answer = json.loads(call(myriad, "plan", spec, *more, "--out", folder, "-o", "json"))
            design = json.loads((folder / "design.json").read_text())
            faults = [*check_design(design, answer), *check_lists(design, answer, folder)]
            xml.etree.ElementTree.parse(folder / "topology.svg")
            if spec.stem == "own":
                faults += check_prices(answer)
                text = (folder / "bom.csv").read_text()
                if "'=1+1" not in text or ",=1+1" in text or "\"'@SUM(A1), -x\"" not in text:
                    faults.append(f"formulas in bom.csv: {text}")
            failed += [f"{spec.stem}: {fault}" for fault in faults]
    for fault in failed:
        print(fault[:500])
    print(f"{len(specs)} plans, {len(failed)} faults")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
