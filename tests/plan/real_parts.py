#!/usr/bin/env python3
"""Every part of tests/data/parts.csv is in the catalogue, with the properties that the list gives.

The list was gathered from vendor pages, apart from the catalogue; the catalogue's own text is read
here with a reader of its own, as far as its files need one.
"""

import csv
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
# What the list calls by another name than the vendor's order number.
NAMES = {
    "DGX H100/H200/B200 network module": "dgx-cx7-2x400g",
    "BlueField-3 B3220": "b3220",
    "BlueField-3 B3140H": "b3140h",
    "ConnectX-8 C8180": "c8180",
    "ConnectX-8 C8240": "c8240",
    "DGX B300": "dgx-b300-nic",
}


def catalogue():
    """Parts by id, alias and order number, as flat maps of text."""
    parts = {}
    for path in sorted((ROOT / "catalog").glob("*.yaml")):
        part = None
        for line in path.read_text().splitlines():
            if re.match(r"  [a-z0-9]", line):
                part = {"id": line.strip().rstrip(":")}
                parts[part["id"]] = part
            elif part is not None and re.match(r"    [a-z]", line):
                key, _, value = line.strip().partition(":")
                part[key] = value.strip()
                for name in re.findall(r"[^\[\], ]+", value) if key == "aliases" else []:
                    parts[name] = part
                if key == "order":
                    parts.setdefault(value.strip().lower(), part)
    return parts


def speeds(part, key, also):
    return {int(x) for x in [part.get(key, "0")] + re.findall(r"\d+", part.get(also, ""))}


def check_box(row, part):
    """A switch or a card: cages, lanes, form, top, technology."""
    numbers = [int(x) for x in re.findall(r"\d+", row["ports_a"])]
    yield "form", part.get("form", part.get("access_form")), row["form_a"]
    yield "top", part.get("top", ""), re.sub("takes ", "", row["top_a"]) or part.get("top", "")
    if row["kind"] == "switch" and "access_ports" in part:
        yield "ports", int(part["access_ports"]), numbers[0]
        yield "speed", int(part["access_gbps"]), int(row["lane_gbps"])
        return
    if row["kind"] == "switch":
        yield "technology", part["technology"], {"ib": "infiniband", "eth": "ethernet"}[row["tech"]]
        yield "cages", int(part["cages"]) * int(part.get("per_box", 1)), numbers[0]
        cage = int(row["lanes_a"]) * int(row["lane_gbps"])
        yield "speed of a cage", int(part["cage_gbps"]), cage
    else:
        yield "technology", part.get("technology", "any"), {"ib+eth": "any", "eth": "ethernet"}[
            row["tech"]]
        yield "speed of a port", int(part["port_gbps"]), 400 if "ConnectX-7" in row[
            "ports_a"] else 800 if "ConnectX-8" in row["ports_a"] else numbers[1]
        # Cards that run a port on two of a cage's four lanes are listed with two.
        enough = int(part["lanes"]) >= int(row["lanes_a"])
        yield "lanes", enough, True
    if row["kind"] == "switch":
        yield "lanes", int(part["lanes"]), int(row["lanes_a"])
    yield "speed of a lane", int(part["lane_gbps"]), int(row["lane_gbps"])


def check_module(row, part):
    yield "form", part["form"], row["form_a"]
    if row["top_a"] != "n/a":
        yield "top", part["top"], row["top_a"]
    yield "lanes", int(part["lanes"]), int(row["lanes_a"])
    yield "lane", int(part.get("cage_lane_gbps", part["lane_gbps"])), int(row["lane_gbps"])
    yield "connectors", int(part.get("connectors", 1)), int(row["ports_a"])
    yield "connector", part["connector"], row["connector"]
    yield "reach", float(part["reach_m"]), float(row["reach_m"])
    yield "technology", part.get("technology", "any"), {
        "ib+eth": "any", "ib": "infiniband", "eth": "ethernet"}[row["tech"]]
    mode, _, wave = row["fibre"].partition(" ")
    yield "mode", part["medium"], mode
    yield "wavelength", part.get("grid", part["wavelength_nm"]), wave


def check_cable(row, part):
    kind = row["kind"].split("-")[0]
    yield "legs", int(part.get("legs", 1)), int(row["legs_b"])
    yield "lanes", int(part["lanes"]), int(row["lanes_a"])
    stock = [float(x) for x in re.findall(r"[\d.]+", part["lengths_m"])]
    listed = [float(x) for x in re.findall(r"[\d.]+", row["reach_m"])]
    if "lengths recalled" not in row["note"]:
        yield "longest", max(stock), max(listed)
    if kind == "fibre":
        yield "connector", part["connector"], row["connector"]
        yield "mode", part["medium"], row["fibre"]
        return
    yield "form", part["connector"], row["form_a"]
    yield "form of the legs", part.get("form_b", part["connector"]), row["form_b"]
    yield "top", part["top"], row["top_a"]
    yield "top of the legs", part.get("top_b", part["top"]), row["top_b"]
    yield "lane", int(part["lane_gbps"]), int(row["lane_gbps"])
    yield "medium", part["medium"], "multimode" if kind == "aoc" else "copper"


def main():
    parts = catalogue()
    rows = list(csv.DictReader((ROOT / "tests/data/parts.csv").open()))
    checks = {"switch": check_box, "nic": check_box, "transceiver": check_module}
    wrong, seen = [], set()
    for row in rows:
        name = NAMES.get(row["part"], re.sub("-.xxx$", "", row["part"])).lower()
        part = parts.get(name)
        if part is None:
            wrong.append(f"{row['part']}: not in the catalogue")
            continue
        seen.add(part["id"])
        for what, got, want in checks.get(row["kind"], check_cable)(row, part):
            if got != want:
                wrong.append(f"{row['part']} ({part['id']}): {what} is {got}, listed as {want}")
    if len(rows) != 61 or len(seen) < 60:  # B300's cages are those of the C8180
        wrong.append(f"{len(rows)} rows led to {len(seen)} parts")
    print("\n".join(wrong) or f"{len(rows)} real parts are as listed")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
