#!/usr/bin/env python3
"""Tenants behind filters of SONiC's leaves: who reaches whom, by following the rules.

usage: acl.py MYRIAD

Every pair of hosts is asked: the filter of the sender's port, rule by rule in the order of the
priorities, on every address of the receiver. Within a tenant all pass, across tenants and for nodes
of nobody none does; everybody reaches the leaf's end of the own link.
"""
import csv
import ipaddress
import json
import subprocess
import sys
import tempfile
from pathlib import Path

SPEC = ("name: x\nservers: {}\nserver: h100-8gpu\nnetworks: {{compute: {{switch: sn5600, "
        "leaf_down: {}}}}}\n")
TENANTS = {"research": [*range(0, 11)], "product": [11, 12, 15, 17], "edge": [16]}
FAILED = []
COUNT = 0


def check(what, good):
    global COUNT
    COUNT += 1
    if not good and len(FAILED) < 9:
        FAILED.append(what)


def run(myriad, *words, codes=(0, 1)):
    done = subprocess.run([myriad, *map(str, words)], capture_output=True, text=True, timeout=300,
                          check=False)
    if done.returncode not in codes:
        sys.exit(f"{words}: {done.returncode} {done.stderr}")
    return done


class Leaf:
    def __init__(self, config):
        self.table = {port: name for name, row in config.get("ACL_TABLE", {}).items()
                      for port in row["ports"]}
        self.rules = {}
        for key, row in config.get("ACL_RULE", {}).items():
            rule = (int(row["PRIORITY"]), ipaddress.ip_network(row["DST_IP"]),
                    row["PACKET_ACTION"])
            self.rules.setdefault(key.split("|")[0], []).append(rule)
        for rules in self.rules.values():
            rules.sort(key=lambda rule: -rule[0])

    def passes(self, port, address):
        table = self.table.get(port)
        for _, network, action in self.rules.get(table, []):
            if address in network:
                return action == "FORWARD"
        return True


def tenant_of(node):
    return next((name for name, nodes in TENANTS.items() if node in nodes), None)


def judge(folder, rows, loopbacks):
    """'rows': of every host link its node, both addresses, the leaf and the leaf's port."""
    leaves = {path.parent.name: Leaf(json.loads(path.read_text()))
              for path in sorted((folder / "sonic").glob("leaf-*/config_db.json"))}
    addresses = {}
    for node, own, _, _, _ in rows:
        addresses.setdefault(node, [loopbacks[node]]).append(own)
    for node, own, far, leaf, port in rows:
        check(f"node {node} and its leaf", leaves[leaf].passes(port, far))
        check(f"{leaf} {port} has a filter", port in leaves[leaf].table)
        for other, there in addresses.items():
            if other == node:
                continue
            allowed = tenant_of(node) is not None and tenant_of(node) == tenant_of(other)
            for address in there:
                check(f"node {node} to {other} ({address}): {not allowed}",
                      leaves[leaf].passes(port, address) == allowed)


def sonic_port(interface):
    """swp17s1 of a cage of two: eight numbers a cage."""
    cage, _, at = interface[3:].partition("s")
    return f"Ethernet{(int(cage) - 1) * 8 + int(at or 0) * 4}"


def main():
    myriad = sys.argv[1]
    with tempfile.TemporaryDirectory(prefix="myriad-acl-") as name:
        folder = Path(name)
        (folder / "x.yaml").write_text(SPEC.format(20, 8))
        run(myriad, "plan", folder / "x.yaml", "--out", folder / "d")
        design = folder / "d/design.myr"
        lists = "".join(f'{t},"{",".join(map(str, nodes))}"\n' for t, nodes in TENANTS.items())
        (folder / "tenants.csv").write_text("tenant,nodes\n" + lists)
        run(myriad, "export", "frr", design, "--out", folder / "frr")
        run(myriad, "export", "sonic-sn5600", design, "--tenants", folder / "tenants.csv", "--out",
            folder / "sonic")
        with open(folder / "frr/links.csv", encoding="utf-8") as file:
            rows = [(int(row["a_device"][5:]), ipaddress.ip_address(row["a_address"]),
                     ipaddress.ip_address(row["b_address"]), row["b_device"],
                     sonic_port(row["b_interface"]))
                    for row in csv.DictReader(file) if row["a_device"].startswith("node-")]
        with open(folder / "frr/devices.csv", encoding="utf-8") as file:
            loopbacks = {int(row["device"][5:]): ipaddress.ip_address(row["loopback"].split("/")[0])
                         for row in csv.DictReader(file) if row["device"].startswith("node-")}
        judge(folder, rows, loopbacks)
        check("spines have no filter", "ACL_TABLE" not in json.loads(
            next((folder / "sonic").glob("spine-*/config_db.json")).read_text()))
        run(myriad, "export", "sonic-sn5600", design, "--out", folder / "plain")
        check("without tenants", not any("ACL" in path.read_text() for path in
                                         (folder / "plain").glob("*/config_db.json")))
        # Every second node of a large fabric: too many rules for a box.
        (folder / "x.yaml").write_text(SPEC.format(1024, 32))
        run(myriad, "plan", folder / "x.yaml", "--out", folder / "d")
        (folder / "tenants.csv").write_text("tenant,nodes\n" + "".join(
            f"{'ab'[n % 2]},{n}\n" for n in range(1024)))
        done = run(myriad, "export", "sonic-sn5600", design, "--tenants", folder / "tenants.csv",
                   "--out", folder / "large", codes=(1,))
        check("too many rules", "rules" in done.stderr and not (folder / "large").exists())
    print("\n".join(FAILED) or f"{COUNT} checks")
    sys.exit(1 if FAILED or COUNT < 10000 else 0)


if __name__ == "__main__":
    main()
