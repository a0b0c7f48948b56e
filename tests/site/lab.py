#!/usr/bin/env python3
"""The laboratory of containers and the inventory, held against the cable list and FRR's files.

usage: lab.py MYRIAD
"""
import csv
import subprocess
import sys
import tempfile
from pathlib import Path

SPEC = ("name: 'x: y'\nservers: 12\nserver: h100-8gpu\nnetworks: {compute: {switch: sn5600, "
        "leaf_down: 6}}\n")
SKIPPED = 77


def run(*words):
    done = subprocess.run([*map(str, words)], capture_output=True, text=True, timeout=300,
                          check=False)
    if done.returncode not in (0, 1):
        sys.exit(f"{words}: {done.returncode} {done.stderr}")
    return done.stdout


def main():
    try:
        import yaml
    except ImportError:
        print("skipped: not installed: PyYAML (Debian: python3-yaml)")
        return SKIPPED
    failed = []
    myriad = sys.argv[1]
    with tempfile.TemporaryDirectory(prefix="myriad-lab-") as name:
        folder = Path(name)
        (folder / "x.yaml").write_text(SPEC)
        run(myriad, "plan", folder / "x.yaml", "--out", folder / "d")
        design = folder / "d/design.myr"
        run(myriad, "export", "frr", design, "--out", folder / "frr")
        run(myriad, "export", "containerlab", design, "--out", folder / "frr")
        lab = yaml.safe_load((folder / "frr/topology.clab.yml").read_text())
        with open(folder / "frr/links.csv", encoding="utf-8") as file:
            links = {frozenset(f"{row[end + '_device']}:{row[end + '_interface']}"
                               for end in "ab") for row in csv.DictReader(file)}
        found = {frozenset(link["endpoints"]) for link in lab["topology"]["links"]}
        if found != links or lab["name"] != "x-y":
            failed.append(f"links: {sorted(map(sorted, found ^ links))[:3]}, {lab['name']}")
        for node, row in lab["topology"]["nodes"].items():
            for bind in row["binds"]:
                if not (folder / "frr" / bind.split(":")[0]).is_file():
                    failed.append(f"{node}: {bind} is not there")
        with open(folder / "frr/devices.csv", encoding="utf-8") as file:
            devices = {row["device"]: (int(row["asn"]), row["loopback"].split("/")[0])
                       for row in csv.DictReader(file)}
        if set(lab["topology"]["nodes"]) != set(devices):
            failed.append("nodes are not the devices")
        (folder / "binding.yaml").write_text(
            "design: 'x: y'\ndevices:\n  leaf/p0-g0-r1: {address: 10.9.0.7, host: 'sw \"1\"'}\n"
            "  node/00003: {host: 'gpu \"3\": x'}\n")
        inventory = yaml.safe_load(run(myriad, "export", "ansible", design, "--binding",
                                       folder / "binding.yaml"))["all"]["children"]
        hosts = {name: row for group in inventory.values() for name, row in group["hosts"].items()}
        if {n: (r["asn"], r["loopback"]) for n, r in hosts.items()} != devices:
            failed.append("inventory is not the devices")
        if (hosts["leaf-p0-g0-r1"]["ansible_host"], hosts["node-00003"]["ansible_host"]) != (
                "10.9.0.7", 'gpu "3": x') or "ansible_host" in hosts["node-00004"]:
            failed.append(f"addresses: {hosts['leaf-p0-g0-r1']} {hosts['node-00003']}")
        if sorted(inventory) != ["leaf", "nodes", "spine"]:
            failed.append(f"groups {sorted(inventory)}")
    print("\n".join(failed) or f"{len(links)} links, {len(devices)} devices")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
