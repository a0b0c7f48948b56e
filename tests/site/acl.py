#!/usr/bin/env python3
"""Tenants behind filters of SONiC's leaves: who reaches whom, by following the rules.

usage: acl.py MYRIAD

Every pair of hosts is asked: the filter of the sender's port, rule by rule in the order of the
priorities, on every address of the receiver. Within a tenant all pass, across tenants and for nodes
of nobody none does; everybody reaches the leaf's end of the own link.
"""
import ipaddress
import json
import sys
import tempfile
from pathlib import Path

import tenants
from tenants import check, plan, run

TENANTS = {"research": [*range(0, 11)], "product": [11, 12, 15, 17], "edge": [16]}


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
    return tenants.tenant_of(TENANTS, node)


def judge(folder, rows, loopbacks):
    """'rows': of every host link its node, both addresses, the leaf and the leaf's port."""
    leaves = {path.parent.name: Leaf(json.loads(path.read_text()))
              for path in sorted((folder / "sonic").glob("leaf-*/config_db.json"))}
    addresses = {}
    for node, own, _, _, _ in rows:
        addresses.setdefault(node, [loopbacks[node]]).append(own)
    for node, own, far, leaf, interface in rows:
        port = tenants.sonic_port(interface)
        check(f"node {node} and its leaf", leaves[leaf].passes(port, far))
        check(f"{leaf} {port} has a filter", port in leaves[leaf].table)
        for other, there in addresses.items():
            if other == node:
                continue
            allowed = tenant_of(node) is not None and tenant_of(node) == tenant_of(other)
            for address in there:
                check(f"node {node} to {other} ({address}): {not allowed}",
                      leaves[leaf].passes(port, address) == allowed)


def main():
    myriad = sys.argv[1]
    with tempfile.TemporaryDirectory(prefix="myriad-acl-") as name:
        folder = Path(name)
        design = plan(myriad, folder, 20, 8)
        listed = tenants.write_list(folder / "tenants.csv", TENANTS)
        run(myriad, "export", "frr", design, "--out", folder / "frr", codes=(0, 1))
        run(myriad, "export", "sonic-sn5600", design, "--tenants", listed, "--out",
            folder / "sonic", codes=(0, 1))
        rows, loopbacks = tenants.read_hosts(folder / "frr")
        judge(folder, rows, loopbacks)
        check("spines have no filter", "ACL_TABLE" not in json.loads(
            next((folder / "sonic").glob("spine-*/config_db.json")).read_text()))
        run(myriad, "export", "sonic-sn5600", design, "--out", folder / "plain", codes=(0, 1))
        check("without tenants", not any("ACL" in path.read_text() for path in
                                         (folder / "plain").glob("*/config_db.json")))
        # Every second node of a large fabric: too many rules for a box.
        design = plan(myriad, folder, 1024, 32)
        halves = {"a": range(0, 1024, 2), "b": range(1, 1024, 2)}
        done = run(myriad, "export", "sonic-sn5600", design, "--tenants",
                   tenants.write_list(folder / "tenants.csv", halves), "--out", folder / "large",
                   codes=(1,))
        check("too many rules", "rules" in done.stderr and not (folder / "large").exists())
    tenants.end()


if __name__ == "__main__":
    main()
