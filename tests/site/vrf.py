#!/usr/bin/env python3
"""Tenants as VRFs: who reaches whom, by following the routes; and what FRR says of the files.

usage: vrf.py MYRIAD

A VRF of a leaf knows its own links and what its hosts announce, and what VRFs of other leaves
export under a route target that it imports, as long as EVPN is spoken on the way. Every pair of
hosts is asked, of FRR's files and of those beside SONiC's config_db. Where FRR is installed its own
programs read every kind of file.
"""
import ipaddress
import json
import shutil
import sys
import tempfile
from pathlib import Path

import tenants
from tenants import check, run, sonic_port

LONG = "a-tenant-with-a-long-name"
TENANTS = {"research": [*range(0, 11)], LONG: [11, 12, 15, 17], "t2": [16]}


class Router:
    """One frr.conf: interfaces by table, instances of BGP with neighbours and route targets."""

    def __init__(self, text):
        self.address, self.table, self.vni, self.bgp = {}, {}, {}, {}
        at = None
        for line in text.splitlines():
            words = line.split()
            if line.startswith("interface "):
                at = words[1]
                self.table[at] = words[3] if len(words) > 3 else None
            elif line.startswith(" ip address "):
                self.address[at] = ipaddress.ip_interface(words[2])
            elif line.startswith("vrf "):
                at = words[1]
                self.vni.setdefault(at, None)
            elif line.startswith(" vni "):
                self.vni[at] = words[1]
            elif line.startswith("router bgp "):
                at = words[4] if len(words) > 4 else None
                self.bgp[at] = {"peers": set(), "import": set(), "export": set(), "lines": []}
            elif at in self.bgp and words[:1] == ["neighbor"] and "remote-as" in words:
                self.bgp[at]["peers"].add(ipaddress.ip_address(words[1]))
            elif at in self.bgp and words[:1] == ["route-target"]:
                self.bgp[at][words[1]].add(words[2])
            if at in self.bgp:
                self.bgp[at]["lines"].append(line.strip())


def tenant_of(node):
    return tenants.tenant_of(TENANTS, node)


def tables_of(routers, hosts):
    """{(leaf, table): what it knows by itself}, and what all of them know of each other."""
    own = {}
    for name, router in routers.items():
        for table in router.vni:
            links = {i.network for port, i in router.address.items()
                     if router.table[port] == table}
            said = {loop for node, loop, addresses in hosts
                    if addresses & router.bgp[table]["peers"]}
            own[name, table] = links | said
    known = {}
    for (name, table), routes in own.items():
        bgp = routers[name].bgp[table]
        known[name, table] = set(routes)
        for (other, there), more in own.items():
            far = routers[other].bgp[there]
            if bgp["import"] & far["export"] and "advertise ipv4 unicast" in far["lines"]:
                known[name, table] |= more
    return known


def judge(what, folder, rows, loopbacks, named):
    routers = {path.parent.name: Router(path.read_text())
               for path in sorted(folder.glob("*/frr.conf"))}
    leaves = {name: r for name, r in routers.items() if name.startswith("leaf")}
    for name, router in routers.items():
        if name.startswith("node"):
            continue
        lines = router.bgp[None]["lines"]
        check(f"{what}: {name} speaks EVPN", "neighbor FABRIC activate" in lines)
        check(f"{what}: {name} passes it on",
              name.startswith("leaf") or "neighbor FABRIC attribute-unchanged next-hop" in lines)
        check(f"{what}: {name} has no host in the main table", all(
            router.table[named(port)] for _, _, _, leaf, port in rows if leaf == name))
    hosts = [(node, ipaddress.ip_network(loop), {own for n, own, *_ in rows if n == node})
             for node, loop in loopbacks.items()]
    known = tables_of(leaves, hosts)
    for node, own, far, leaf, port in rows:
        port = named(port)
        table = leaves[leaf].table[port]
        check(f"{what}: {leaf} {port} speaks to its host", own in leaves[leaf].bgp[table]["peers"])
        check(f"{what}: a name of at most 15 letters", table and len(table) <= 15)
        tells = "neighbor HOSTS default-originate" in leaves[leaf].bgp[table]["lines"]
        check(f"{what}: {node} is told a way out", tells == (tenant_of(node) is not None))
        for other, loop, addresses in hosts:
            allowed = tenant_of(node) is not None and tenant_of(node) == tenant_of(other)
            for address in [loop, *map(ipaddress.ip_network, addresses)]:
                reached = tells and any(address.subnet_of(r) for r in known[leaf, table])
                check(f"{what}: node {node} to {other}: {not allowed}",
                      other == node or reached == allowed)
    numbers = {}
    for router in leaves.values():
        for table, vni in router.vni.items():
            numbers.setdefault(table, set()).add(vni)
    check(f"{what}: one number a tenant", all(len(v) == 1 for v in numbers.values()) and
          len({next(iter(v)) for v in numbers.values()}) == len(numbers))
    return leaves


def same_tables(folder, leaves):
    """config_db has the tables of the frr.conf beside it."""
    for name, router in leaves.items():
        config = json.loads((folder / name / "config_db.json").read_text())
        tables = {port: row.get("vrf_name") for port, row in config["INTERFACE"].items()
                  if "|" not in port}
        expected = {port: table for port, table in router.table.items() if port != "lo"}
        check(f"{name}: interfaces", tables == expected and set(tables) == set(config["PORT"]))
        check(f"{name}: VRFs", {v: row.get("vni") for v, row in config["VRF"].items()}
              == router.vni)
        carried = {row["vni"]: row["vlan"] for row in config["VXLAN_TUNNEL_MAP"].values()}
        for vrf, vni in router.vni.items():
            check(f"{name}: {vrf} is carried", vni is None or
                  config["VLAN_INTERFACE"][carried[vni]]["vrf_name"] == vrf)
        check(f"{name}: FRR's file is used", config["DEVICE_METADATA"]["localhost"][
            "docker_routing_config_mode"] == "split-unified" and "BGP_NEIGHBOR" not in config)
        check(f"{name}: no filters", "ACL_TABLE" not in config)


def taken_by_frr(folder):
    """FRR's own programs read a file of each kind, and refuse one with a word that is wrong."""
    if not shutil.which("vtysh"):
        print("vtysh is not installed: FRR did not read the files")
        return
    kinds = {path.parent.name.split("-")[0]: path for path in sorted(folder.glob("*/frr.conf"))}
    for path in kinds.values():
        done = run("vtysh", "-C", "-f", path, codes=range(256))
        check(f"vtysh reads {path.parent.name}: {done.stdout} {done.stderr}",
              done.returncode == 0 and not (done.stdout + done.stderr).strip())
    wrong = folder / "wrong.conf"
    wrong.write_text(kinds["leaf"].read_text().replace("advertise ipv4", "advertise ipv5"))
    check("vtysh refuses", run("vtysh", "-C", "-f", wrong, codes=range(256)).returncode != 0)


def main():
    myriad = sys.argv[1]
    with tempfile.TemporaryDirectory(prefix="myriad-vrf-") as name:
        folder = Path(name)
        design = tenants.plan(myriad, folder, 20, 8)
        listed = ("--tenants", tenants.write_list(folder / "tenants.csv", TENANTS))
        run(myriad, "export", "frr", design, *listed, "--out", folder / "frr")
        run(myriad, "export", "sonic-sn5600", design, *listed, "--vrf", "--out", folder / "sonic")
        rows, loopbacks = tenants.read_hosts(folder / "frr")
        judge("frr", folder / "frr", rows, loopbacks, str)
        same_tables(folder / "sonic", judge("sonic", folder / "sonic", rows, loopbacks, sonic_port))
        links = (folder / "frr/leaf-p0-g0-r0/vrf.ip").read_text().splitlines()
        check("devices of VRFs", sum(" type vrf " in line for line in links) == 1 and sum(
            " type vxlan " in line for line in links) == 1)
        taken_by_frr(folder / "frr")
        taken_by_frr(folder / "sonic")
        done = run(myriad, "export", "sonic-sn5600", design, "--vrf", "--out", folder / "no",
                   codes=(2,))
        check("--vrf alone", "--vrf says nothing without --tenants" in done.stderr)
        run(myriad, "export", "frr", design, "--out", folder / "plain")
        check("without tenants", not any("vrf" in path.read_text() or "evpn" in path.read_text()
                                         for path in (folder / "plain").glob("*/*")))
    tenants.end()


if __name__ == "__main__":
    main()
