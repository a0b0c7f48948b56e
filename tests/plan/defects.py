#!/usr/bin/env python3
"""Faults that were found by use, each with its neighbours.

What is planned can be plugged together: a module into a cage, a cable into a connector, an end to
an end. What cannot be built is refused with the nearest that can, and that is then built.
"""
import json
import math
import random
import subprocess
import sys
import tempfile
from pathlib import Path


FAILED = []
COUNT = 0


def check(what, found, expected):
    global COUNT
    COUNT += 1
    if found != expected:
        FAILED.append(f"{what}: {found}, expected {expected}")


class Spec:
    """A spec as a tree that can be changed and written."""

    def __init__(self, servers, server="h100-8gpu", storage=None, prices=None, **nets):
        self.top = {"servers": servers, "server": server, "networks": nets}
        if storage:
            self.top["storage"] = storage
        if prices:
            self.top["prices"] = prices

    def run(self, myriad, out=None):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "spec.json"
            path.write_text(json.dumps(self.top))
            words = [myriad, "plan", path, "-o", "json"] + (["--out", out] if out else [])
            done = subprocess.run(words, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout, done.stderr

    def plan(self, myriad, what, accept=()):
        """The plan, which must be sound."""
        code, out, err = self.run(myriad)
        check(f"{what}: exit code", code, 0)
        if not out:
            FAILED.append(f"{what}: no plan: {err.strip()}")
            return None
        plan = json.loads(out)
        errors = [f["rule"] + ": " + f["message"] for f in plan["findings"]
                  if f["severity"] == "error" and f["rule"] not in accept]
        check(f"{what}: errors", errors, [])
        return plan

    def refused(self, myriad, what, words):
        """One line that says these words, and a hint whose every proposal is true."""
        code, out, err = self.run(myriad)
        check(f"{what}: exit code", code, 2)
        check(f"{what}: output", out, "")
        for word in words:
            check(f"{what}: says '{word}' in '{err.strip()}'", word in err, True)
        self.try_hint(myriad, what, err)

    def try_hint(self, myriad, what, err, must=True):
        mark = "the nearest that can be built: "
        if mark not in err:
            check(f"{what}: names the nearest in '{err.strip()}'", False, must)
            return
        for proposal in err.split(mark)[1].strip().split("; "):
            check(f"{what}: '{proposal}' can be built", self.with_proposal(proposal, myriad), True)

    def with_proposal(self, proposal, myriad):
        name = self.at_fault
        tree = json.loads(json.dumps(self.top))
        if proposal.startswith("no '"):
            tree["networks"][name].pop(proposal[4:-1])
        else:
            key, value = proposal.split(": ", 1)
            value = float(value) if value.replace(".", "", 1).isdigit() else value
            value = int(value) if isinstance(value, float) and value == int(value) else value
            old = tree["networks"][name].get(key)
            if key == "servers":
                tree["servers"] = value
            elif key == "pin":
                tree["networks"][name].setdefault("pin", {})["nic"] = value[6:-1]
            elif key == "oversubscription" and isinstance(old, list):
                tree["networks"][name][key] = [value] + old[1:]
            else:
                tree["networks"][name][key] = value
        spec = Spec(1)
        spec.top = tree
        return spec.run(myriad)[0] in (0, 1)

    at_fault = "compute"


def quantity(plan, part, system="compute"):
    return sum(row["quantity"] for row in plan["bom"]
               if row["part"] == part and row["system"] == system)


def rules(plan):
    return {f["rule"] for f in plan["findings"]}


def never_aborts(myriad):
    """Odd shares of a spine's ports between leaves and cores: its cages decide."""
    Spec(3264, "generic-1gpu", compute={"switch": "mqm9790", "islands": 2,
                                        "oversubscription": [1, 4]}).refused(
        myriad, "3,264 hosts on two islands", ["cannot be built"])
    Spec(5366, "generic-1gpu", compute={"switch": "mqm9790", "nic_ports": 5, "tiers": 3,
                                        "oversubscription": [1.5, 2]}).plan(
        myriad, "5,366 hosts of five ports")
    rng = random.Random(16)
    for i in range(250):
        net = {"switch": rng.choice(["mqm9790", "sn5600", "eth-25t6", "qm8790"]),
               "nic_ports": rng.randint(1, 6)}
        if rng.random() < 0.5:
            net["oversubscription"] = [rng.choice([1, 1.5, 2, 3, 4, 7]) for _ in range(2)]
        if rng.random() < 0.5:
            net["islands"] = rng.randint(1, 9)
        elif rng.random() < 0.5:
            net["tiers"] = rng.randint(1, 3)
        if rng.random() < 0.3:
            net["fill"] = "dense"
        if rng.random() < 0.4:
            net["topology"] = rng.choice(["clos", "rail-only", "rail"])
        net["nic_gbps"] = 200
        spec = Spec(rng.randint(1, 6000), "generic-1gpu", compute=net)
        code, out, err = spec.run(myriad)
        check(f"random {i} {spec.top}: code {code} {err[:200]}", code in (0, 1, 2), True)
        bad = [f for f in json.loads(out)["findings"] if f["severity"] == "error"] if out else []
        check(f"random {i} {spec.top}", [f for f in bad if f["rule"] != "no-optics"], [])


def technology(myriad):
    for leaf, upper in (("mqm9790", "sn5600"), ("sn5600", "mqm9790"),
                        ("qm8790", "eth-12t8-64x200")):
        for key in ("spine_switch", "core_switch"):
            server = "a100-8gpu" if leaf == "qm8790" else "h100-8gpu"
            Spec(64, server, compute={"switch": leaf, key: upper}).refused(
                myriad, f"{leaf} below {upper}", [key, "cannot be cabled"])
    Spec(64, compute={"switch": "mqm9790", "spine_switch": "mqm9700"}).plan(myriad, "9790 and 9700")


def connectors(myriad):
    """A connector takes one cable: between switches a divided port stays whole."""
    for switch, cages in (("eth-25t6", 1), ("eth-12t8-32x400", 1), ("mqm9790", 2)):
        plan = Spec(64, "h100-8gpu-2x200", compute={"switch": switch, "nic_gbps": 200,
                                                    "topology": "dual-plane"}).plan(
            myriad, f"dual plane on {switch}")
        net = plan["networks"]["compute"]
        check(f"{switch}: uplinks", net["fabric_gbps"], 400)
        modules = sum(row["quantity"] for row in plan["bom"] if "switch end" in row["name"])
        ends = net["links"]["host_leaf"] // 2 + 2 * net["links"]["leaf_spine"]
        check(f"{switch}: modules", modules >= ends / cages, True)


def cages_of_routers(myriad):
    # 18 cages of two ports: 9 + 17 + 9 ports would be 36, but need 5 + 9 + 5 = 19 cages.
    spec = Spec(8, "b300-8gpu-xdr", compute={"topology": "dragonfly", "switch": "q3200",
                                             "global_ports": 9, "group_switches": 18,
                                             "hosts_per_switch": 9})
    spec.refused(myriad, "dragonfly beyond its cages", ["19 cages", "18"])
    Spec(8, "b300-8gpu-xdr", compute={"topology": "dragonfly", "switch": "q3200"}).plan(
        myriad, "dragonfly by default")
    spec = Spec(64, compute={"topology": "torus", "switch": "mqm9790", "dims": [4, 4, 4],
                             "hosts_per_switch": 53, "trunk": 1})
    spec.plan(myriad, "torus with odd ports: 27 + 3 cages")
    spec = Spec(30, compute={"topology": "torus", "switch": "mqm9790", "dims": [2, 2],
                             "hosts_per_switch": 61, "trunk": 1})
    spec.refused(myriad, "torus beyond its ports", ["65 ports"])
    spec = Spec(27, compute={"topology": "torus", "switch": "mqm9790", "dims": [2, 2],
                             "hosts_per_switch": 59, "trunk": 1, "uplink_gbps": 400})
    spec.plan(myriad, "torus: 30 + 2 cages")


def modules(myriad):
    """Flat modules with 200G lanes are for cards; a finned 100G-lane switch has none that meets."""
    code, out, _ = Spec(72, "b300-8gpu-xdr", compute={"switch": "sn5600"}).run(myriad)
    check("800G card on 100G lanes", (code, "no-optics" in rules(json.loads(out))), (1, True))
    check("no module of cards in switches",
          quantity(json.loads(out), "MMS4A20-XM800"), 0)
    Spec(72, "b300-8gpu-xdr", compute={"switch": "q3400"}).plan(myriad, "800G card on 200G lanes")


def pins(myriad):
    """A pin that cannot be plugged is told which rule it breaks, whatever the rule."""
    def broken(what, rule, net, **more):
        code, out, _ = Spec(64, **more, compute=net).run(myriad)
        check(f"{what}: exit code", code, 1)
        check(f"{what}: {rule} in {rules(json.loads(out))}", rule in rules(json.loads(out)), True)
    ndr = {"switch": "mqm9790"}
    broken("flat module in a switch", "optic-top",
           dict(ndr, pin={"switch_optic": "mma4z00-ns-flt"}))
    broken("single module in a twin cage", "optic-top",
           dict(ndr, pin={"switch_optic": "mma4z00-ns400"}))
    broken("twin module in a card", "optic-connectors",
           dict(ndr, pin={"nic_optic": "mma4z00-ns-flt"}))
    broken("module of cards between switches", "optic-top",
           dict(ndr, pin={"fabric_optic": "mma4z00-ns400"}))
    broken("four connectors for two ports", "optic-speed",
           dict(ndr, pin={"switch_optic": "osfp-800g-4xvr2"}))
    broken("wrong form", "optic-form", dict(ndr, pin={"nic_optic": "mma1z00-ns400"}))
    broken("straight copper to a card", "cable-top", dict(ndr, pin={"host_cable": "mcp4y10-n002"},
                                                          length_m=2))
    broken("splitter between switches", "cable-top",
           dict(ndr, pin={"fabric_cable": "mcp7y00-n002"}, length_m=2))
    broken("splitter of fibre on whole ports", "cable-legs",
           dict(ndr, pin={"host_cable": "mfp7e20-n050"}))
    broken("copper too short", "cable-short",
           dict(ndr, pin={"host_cable": "mcp7y00-n002"}, length_m=3))
    broken("module and fixed ends", "cable-form",
           dict(ndr, pin={"host_cable": "mcp7y00-n002", "nic_optic": "mma4z00-ns400"}, length_m=2))
    broken("200G lanes in a 100G card", "optic-form",
           dict(ndr, pin={"nic_optic": "mms4a20-xm800"}))
    broken("InfiniBand module on Ethernet", "optic-technology",
           {"switch": "eth-102t4", "pin": {"switch_optic": "mms4a00-xm"}}, server="b300-8gpu-xdr")
    # One pin draws the others with it.
    plan = Spec(64, compute=dict(ndr, pin={"switch_optic": "mms4x00-ns"})).plan(myriad, "one pin")
    check("the card's module follows", quantity(plan, "MMS4X00-NS400"), 512)
    plan = Spec(64, compute=dict(ndr, pin={"host_cable": "mfp7e30-n050"})).plan(myriad, "a fibre")
    check("both modules follow", quantity(plan, "MMS4X00-NS400"), 512)


def copper(myriad):
    """A copper splitter is one piece for the cage that its head is in."""
    for servers, rails in ((5, 8), (6, 8), (31, 8)):
        with tempfile.TemporaryDirectory() as folder:
            spec = Spec(servers, compute={"switch": "mqm9790", "topology": "rail", "length_m":
                                          {"host_leaf": 2}})
            plan = spec.plan(myriad, f"copper {servers}")
            pieces = rails * math.ceil(servers / 2)
            check(f"copper {servers}: ordered", quantity(plan, "MCP7Y00-N002"), pieces)
            spec.run(myriad, Path(folder) / "out")
            rows = [line.split(",") for line in
                    (Path(folder) / "out/cables.csv").read_text().splitlines()[1:]]
            laid = {row[0] for row in rows if row[3] == "host_leaf"}
            check(f"copper {servers}: cables.csv", len(laid), pieces)
            net = plan["networks"]["compute"]
            check(f"copper {servers}: as published", net["cables"]["host_leaf"], servers * 8)
            check(f"copper {servers}: fibres", net["fibres"], pieces + net["links"]["leaf_spine"])


def twin_cages(myriad):
    """DGX: four twin cages for eight cards; 4 SU have 508 twin modules."""
    for server in ("dgx-h100", "dgx-h200", "dgx-b200"):
        plan = Spec(127, server, compute={"switch": "mqm9790", "fabric_manager_ports": 4}).plan(
            myriad, server)
        check(f"{server}: twin modules", quantity(plan, "MMA4Z00-NS-FLT"), 508)
        check(f"{server}: cables", plan["networks"]["compute"]["cables"]["total"], 2044)
        check(f"{server}: switch modules", quantity(plan, "MMA4Z00-NS"), 1536)
    plan = Spec(64, "b300-8gpu", compute={"switch": "sn5600", "topology": "twin-planar"}).plan(
        myriad, "twin planes")
    net = plan["networks"]["compute"]
    check("twin planes: cables, fibres", (net["cables"]["total"], net["fibres"]), (1024, 2048))


def speeds(myriad):
    """Link <= port, card and NIC speed."""
    store = {"capacity_tb": 500}
    spec = Spec(2, "cloudmatrix-384", compute={})
    spec.top["networks"] = {"storage": {}}
    spec.top["storage"] = store
    plan = spec.plan(myriad, "cards of 400G and 200G")
    check("one speed for all", (plan["networks"]["storage"]["host_gbps"],
                                "common-speed" in rules(plan)), (200, True))
    spec = Spec(64, service={"nic_gbps": 100})
    spec.at_fault = "service"
    spec.refused(myriad, "100G in 25G ports", ["25 Gb/s"])
    spec = Spec(64, service={"aggregation_switch": "eth-agg-10g"})
    spec.at_fault = "service"
    spec.refused(myriad, "100G uplinks in 10G ports", ["100 Gb/s"])
    Spec(64, service={"nic_gbps": 10}).plan(myriad, "10G in 25G ports")
    pinned = {"switch": "sn5600", "nic_gbps": 100, "pin": {"nic": "cx7-400g-osfp"}}
    Spec(16, compute=pinned).refused(
        myriad, "a speed that the card has not", ["runs at 400 or 200"])


def storage_rate(myriad):
    """Rates go by GPUs: 128 racks of 72 are 36 times 256."""
    for servers, server, units in ((128, "gb200-nvl72", 36), (128, "h100-8gpu", 4),
                                   (33, "h100-8gpu", 2)):
        plan = Spec(servers, server, storage={"rate": "best"}, compute={}).plan(myriad, server)
        check(f"{servers} {server}: storage servers", plan["storage"]["servers"],
              math.ceil(units * 125 / 50))
    code, out, _ = Spec(128, storage={"rate": "best", "servers": 9}, compute={}).run(myriad)
    check("too few for the rate", (code, "storage-slow" in rules(json.loads(out))), (1, True))
    plan = Spec(128, storage={"rate": "best", "servers": 10}, compute={}).plan(myriad, "enough")
    check("enough for the rate", "storage-slow" in rules(plan), False)


def planes(myriad):
    for count in (3, 5, 7):
        Spec(16, compute={"switch": "mqm9790", "planes": count}).refused(
            myriad, f"{count} planes", [f"{count} planes need"])
    Spec(16, "b300-8gpu-4x200", compute={"switch": "eth-102t4", "planes": 4}).plan(
        myriad, "four planes")
    Spec(16, "dgx-h100", compute={"switch": "mqm9790", "planes": 2}).refused(
        myriad, "two planes of single cards", ["2 planes need 2 ports on every card"])


def one_switch(myriad):
    for servers in (1, 5, 8):
        plan = Spec(servers, compute={"switch": "mqm9790"}).plan(myriad, f"{servers} servers")
        check(f"{servers} servers: switches",
              plan["networks"]["compute"]["switches"]["total"], 1)
        check(f"{servers} servers: said", "single-switch" in rules(plan), True)
    plan = Spec(9, compute={"switch": "mqm9790"}).plan(myriad, "9 servers")
    check("9 servers have rails", plan["networks"]["compute"]["topology"], "rail")
    plan = Spec(5, compute={"switch": "mqm9790", "topology": "rail"}).plan(myriad, "asked rails")
    check("rails that are asked for", plan["networks"]["compute"]["switches"]["leaf"], 8)


def unused_keys(myriad):
    for net in ({"oversubscription": [1, 3]}, {"core_switch": "mqm9790"}):
        plan = Spec(64, compute=dict(net, switch="mqm9790")).plan(myriad, f"{net}")
        check(f"{net} is not lost", "key-unused" in rules(plan), True)
        Spec(64, compute=dict(net, switch="mqm9790", tiers=2)).refused(
            myriad, f"{net} with two tiers", ["3 tiers"])


def three_tiers_of_access(myriad):
    spec = Spec(12544, compute={"switch": "sn5600", "nic_gbps": 400}, service={"tiers": 3},
                oob={"tiers": 3})
    plan = spec.plan(myriad, "service of 12,544 nodes")
    with tempfile.TemporaryDirectory() as folder:  # drawn, written, and read again
        check("written", spec.run(myriad, folder)[0], 0)
        done = subprocess.run([myriad, "design", f"{folder}/design.myr"], capture_output=True,
                              text=True, check=False)
        check("read again", (done.returncode, done.stderr), (0, ""))
    net = plan["networks"]["service"]
    check("tiers", net["tiers"], 3)
    check("not in windows", "aggregation-not-meshed" in rules(plan), False)
    shape, switches = net["shape"], net["switches"]
    check("aggregation", switches["aggregation"], shape["pods"] * 6)
    check("every block reaches every core of its group",
          shape["pods"] * (shape["spine_up"] // shape["group_cores"]) <= 32, True)


def out_of_band(myriad):
    """Nodes, storage servers, switches with a management port and fabric managers."""
    store = {"capacity_tb": 500}
    spec = Spec(127, "dgx-h100", storage=store, oob={}, service={},
                compute={"switch": "mqm9700", "fabric_manager_ports": 4})
    spec.top["networks"]["storage"] = {"switch": "sn5600", "nic_gbps": 200}
    plan = spec.plan(myriad, "out of band")
    nets = plan["networks"]
    boxes = sum(nets[name]["switches"]["total"] for name in ("compute", "storage", "service"))
    check("ports of oob", nets["oob"]["host_ports"],
          127 + plan["storage"]["servers"] + boxes + 4)
    plan = Spec(64, compute={"switch": "mqm9790"}, oob={}).plan(myriad, "without management port")
    Spec(32, compute={}, oob={"topology": "clos", "fabric_manager_ports": 6, "nic_gbps": 200,
                              "pin": {"nic": "cx7-2x200g"}}).plan(myriad, "managers out of band")
    check("a switch without a management port", plan["networks"]["oob"]["host_ports"], 64)


def prices(myriad):
    plan = Spec(64, compute={}).plan(myriad, "no prices")
    check("unknown cost", plan["totals"]["cost"], None)
    spec = Spec(500000, "generic-1gpu", prices={"parts": {"generic-1gpu": 10 ** 12}},
                compute={"switch": "sn5600"})
    code, out, err = spec.run(myriad)
    check("price beyond counting", (code, out, "more than can be counted" in err), (2, "", True))


def main():
    myriad = sys.argv[1]
    for case in (never_aborts, technology, connectors, cages_of_routers, modules, pins, copper,
                 twin_cages, speeds, storage_rate, planes, one_switch, unused_keys,
                 three_tiers_of_access, out_of_band, prices):
        case(myriad)
    for line in FAILED:
        print("FAIL", line)
    print(f"{COUNT} checks, {len(FAILED)} failed")
    return 1 if FAILED or COUNT < 600 else 0


sys.exit(main())
