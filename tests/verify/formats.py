#!/usr/bin/env python3
"""Every format that is read, every way to lose a name, and bindings.

    tests/verify/formats.py MYRIAD

A design of 64 servers is exported, read back and verified; then names and GUIDs are removed,
doubled or exchanged, and LLDP is told by one end, twice, or cut off.
"""
import csv
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True
from wiring import Checks, Wiring, call, plan


def interface(port):
    """A switch port as its system calls it."""
    cage, _, half = port.partition("/")
    return f"swp{cage}s{int(half) - 1}" if half else port


def neighbour(far, shape, mac="3e:9c:2b:3d:21:25"):
    device, port = far[0], interface(far[1])
    if shape == "json0":
        return {"chassis": [{"id": [{"type": "mac", "value": mac}], "name": [{"value": device}]}],
                "port": [{"id": [{"type": "ifname", "value": port}], "descr": [{"value": port}]}]}
    chassis = {"id": {"type": "mac", "value": mac},
               "capability": [{"type": "Bridge", "enabled": True}]}
    return {"via": "LLDP", "chassis": {device: chassis},
            "port": {"id": {"type": "ifname", "value": port}, "descr": port, "ttl": "120"}}


def lldp(found, device, shape="json"):
    """The text of one device."""
    own = [(port, far) for port, far in found.items() if port[0] == device]
    if shape == "json0":
        records = [{"name": interface(port[1]), **neighbour(far, shape)} for port, far in own]
        return json.dumps({"lldp": [{"interface": records}]}, indent=2)
    records = [{interface(port[1]): neighbour(far, shape)} for port, far in own]
    records = records[0] if len(records) == 1 else records
    return json.dumps({"lldp": {"interface": records}}, indent=2)


def write_lldp(folder, found, devices, shape="json"):
    folder.mkdir()
    for device in devices:
        (folder / f"{device}.json").write_text(lldp(found, device, shape))
    return folder


def numbers(result, *keys):
    return {key: result["ports"][key] for key in keys}


def check_exports(checks, myriad, design, folder):
    count = len(Wiring(myriad, design).plan)
    for form, file in (("ibnetdiscover", "fabric.topo"), ("ibsim", "fabric.net"),
                       ("p2p", "p2p.csv"), ("netbox", "cables.csv")):
        out = folder / form
        call(myriad, "export", form, design, "--out", f"{out}/")
        speeds = ["--speed-map", "HDR=400"] if form == "ibsim" else []  # it knows no NDR
        result = json.loads(call(myriad, "verify", design, out / file, "-o", "json", *speeds))
        checks.same(f"{form}: right", result["ports"]["right"], count)
        checks.same(f"{form}: clean", result["clean"], True)
    slow = json.loads(call(myriad, "verify", design, folder / "ibsim/fabric.net", "-o", "json",
                           codes=(1,)))
    checks.same("ibsim: said slower", [slow["notes"][f"slow_{key}"] for key in (
        "planned_gbps", "found_gbps", "links")], [400, 200, count // 2])
    checks.same("a fabric that is slow everywhere is slow", slow["ports"]["degraded"], count)
    mapped = json.loads(call(myriad, "verify", design, folder / "ibsim/fabric.net", "-o", "json",
                             "--speed-map", "HDR=400"))
    checks.same("ibsim: mapped", mapped["notes"]["slow_found_gbps"], 0)


def check_health(checks, myriad, design, folder):
    """Links that are in their place, and ill: speed, bit errors, correction, kind of cable."""
    wiring = Wiring(myriad, design)
    lines = ["A-Node,A-Port,Z-Node,Z-Port,Speed,BER,FEC,Medium"]
    ill = {5: ("200,,,", "speed"), 9: ("400,3e-4,RS,", "ber"), 14: ("400,1e-8,none,", "fec"),
           20: (",,,dac-passive", "medium"), 31: ("400,2.3e-4,RS,", None)}
    for number, ((a, a_port), (z, z_port)) in enumerate(wiring.planned):
        lines.append(f"{a},{a_port},{z},{z_port},{ill.get(number, ('400,1e-9,RS,',))[0]}")
    path = folder / "health.csv"
    path.write_text("\n".join(lines) + "\n")
    text = call(myriad, "verify", design, path, "--list", "ports", "-o", "csv", codes=(1,))
    rows = {(row["device"].replace("/", "-", 1), row["port"]): row["why"]
            for row in csv.DictReader(text.splitlines())}
    expected = {end: why for number, (_, why) in ill.items() if why
                for end in wiring.planned[number]}
    checks.same("ill links", rows, expected)


def stanza(guid, port, kind, rx, tx=(0.5, 0.6, 0.4, 0.5)):
    """What ibdiagnet2.cables says of one port."""
    rule = "-" * 55
    lines = [rule, f"Port={port} Lid=0x00a4 GUID=0x{guid} Port Name=x/U1/P{port}", rule, "",
             "Vendor: NVIDIA", "PN: MMA4Z00-NS", "SN: MT2350X00001", "Length: 30 m",
             f"Type: {kind}", "Temperature: 41 C", "RX power type: OMA"]
    lines += [f"RX{n + 1} Power: 1.000 mW, {dbm:.3f} dBm" for n, dbm in enumerate(rx)]
    lines += [f"TX{n + 1} Power: 1.000 mW, {dbm:.3f} dBm" for n, dbm in enumerate(tx)]
    return "\n".join(lines) + "\n"


def check_modules(checks, myriad, design, folder):
    """ibdiagnet2.cables beside a fabric: dirty, dark and wrong modules, and those without light."""
    topo = (folder / "ibnetdiscover/fabric.topo").read_text()
    found = re.search(r'"S-(\w+)"\t\t# "(leaf-p0-g0-r0)"', topo)
    fine, none = (-1.0, -1.2, -0.9, -1.1), (-999.999,) * 4
    ill = {3: ("1310 nm EML", (-1.0, -1.2, -4.0, -1.1)), 5: ("1310 nm EML", (-8.0,) * 4),
           7: ("Copper cable- unequalized", none), 9: ("1310 nm EML", fine),
           11: ("1310 nm EML", none)}
    path = folder / "ibdiagnet2.cables"
    path.write_text("".join(stanza(found[1], port, *rest) for port, rest in ill.items()))
    text = call(myriad, "verify", design, folder / "ibnetdiscover/fabric.topo", path, "--list",
                "ports", "-o", "csv", codes=(1,))
    rows = {(row["device"], row["port"]): row["why"] for row in csv.DictReader(text.splitlines())}
    own = {port: why for (device, port), why in rows.items() if device == "leaf/p0-g0-r0"}
    checks.same("modules", own, {"2/1": "dirty", "3/1": "light", "4/1": "medium"})
    checks.same("modules: both ends", len(rows), 6)
    bad = folder / "bad.cables"
    bad.write_text(stanza(found[1], "x", "1310 nm EML", fine))
    done = subprocess.run([myriad, "verify", design, bad, "--from", "ibdiagnet"], check=False,
                          capture_output=True, text=True)
    checks.true(f"modules: {done.stderr}", done.returncode == 2 and
                f"{bad}:2:" in done.stderr and "a port and its GUID" in done.stderr)


def check_compare(checks, myriad, design, folder):
    """UFM's comparison: what came is there, what went is empty, the rest nobody looked at."""
    topo = (folder / "ibnetdiscover/fabric.topo").read_text()
    call(myriad, "bind", design, folder / "ibnetdiscover/fabric.topo", "--out",
         folder / "ufm-binding.yaml")
    guids = dict(re.findall(r'"[SH]-(\w+)"\t\t# "([^"]+)"', topo))
    guids = {name: guid for guid, name in guids.items()}
    wiring = Wiring(myriad, design)

    def end(port):
        device, name = port
        if device.startswith("node"):
            return guids[f"{device}-{name}"], 1
        cage, half = map(int, name.split("/"))
        return guids[device], 2 * cage + half - 2

    hosts = [(a, z) for a, z in wiring.planned if a[0].startswith("node")]
    right, gone, one, other = hosts[5], hosts[9], hosts[20], hosts[33]
    links = {"added": [right, (one[0], other[1])], "removed": [gone]}
    named = {key: {"nodes": [], "links": [{"name": ":".join(f"{g}_{p}" for g, p in map(end, pair))}
                                          for pair in pairs]} for key, pairs in links.items()}

    def words(port):
        return "GUID %s (x) Port %d" % end(port)

    told = {"Added Links": [f"{words(right[0])} to {words(right[1])}"],
            "Removed Links": [f"{words(gone[0])} to {words(gone[1])}"],
            "Changed Links": [f"{words(one[0])} to {words(one[1])} peer changed to "
                              f"{words(other[1])}"]}
    for number, document in enumerate((named, told)):
        path = folder / f"compare-{number}.json"
        path.write_text(json.dumps(document))
        result = json.loads(call(myriad, "verify", design, path, "--binding",
                                 folder / "ufm-binding.yaml", "-o", "json", codes=(1,)))
        checks.same(f"comparison {number}", numbers(result, "right", "wrong", "missing"),
                    {"right": 2, "wrong": 2, "missing": 2})


def check_lldp(checks, myriad, design, folder):
    wiring = Wiring(myriad, design)
    found = wiring.found()
    devices = sorted({device for device, _ in found})
    for shape in ("json", "json0"):
        path = write_lldp(folder / f"lldp-{shape}", found, devices, shape)
        result = wiring.verify(path, codes=(0,))
        checks.same(f"lldp {shape}: right", result["ports"]["right"], len(found))
        checks.same(f"lldp {shape}: told twice", result["notes"]["one_sided_links"], 0)
    leaves = [device for device in devices if device.startswith("leaf")]
    result = wiring.verify(write_lldp(folder / "lldp-leaves", found, leaves), codes=(0,))
    checks.same("lldp of the leaves: right", result["ports"]["right"], len(found))
    checks.same("lldp of the leaves: one end", result["notes"]["one_sided_links"], len(found) // 2)
    one = wiring.verify(write_lldp(folder / "lldp-one", found, leaves[:1]), codes=(1,))
    checks.same("lldp of one leaf", numbers(one, "right", "wrong", "missing", "unseen"),
                {"right": 128, "wrong": 0, "missing": 0, "unseen": len(found) - 128})
    check_broken_lldp(checks, wiring, found, leaves, folder)


def check_broken_lldp(checks, wiring, found, leaves, folder):
    """Cut, doubled and stale texts never make a right port wrong."""
    text = lldp(found, leaves[0])
    for share in (10, 35, 60, 95):
        path = folder / f"cut-{share}" / f"{leaves[0]}.json"
        path.parent.mkdir()
        path.write_text(text[:len(text) * share // 100])
        result = wiring.verify(path.parent, codes=(1,))  # what was cut off was not seen
        checks.same(f"cut at {share} %: bad ports",
                    numbers(result, "wrong", "missing", "extra"), dict(wrong=0, missing=0, extra=0))
        checks.true(f"cut at {share} %: some are right", result["ports"]["right"] >= 2)
    records = json.loads(text)["lldp"]["interface"]
    stale = neighbour(("node-00063", "nic7"), "json")
    for record in records[:20]:
        records = records + [record, {next(iter(record)): stale}]
    path = folder / "stale"
    path.mkdir()
    (path / f"{leaves[0]}.json").write_text(json.dumps({"lldp": {"interface": records}}))
    result = wiring.verify(path, codes=(1,))
    checks.same("doubled and stale: right", numbers(result, "right", "wrong"),
                {"right": 128, "wrong": 0})
    swapped = dict(found)
    a, b = (leaves[0], "1/1"), (leaves[0], "3/2")
    far_a, far_b = swapped[a], swapped[b]
    swapped.update({a: far_b, far_b: a, b: far_a, far_a: b})
    nodes = sorted({device for device, _ in found})
    result = wiring.verify(write_lldp(folder / "lldp-swap", swapped, nodes), codes=(1,))
    checks.same("lldp, one swap", (result["ports"]["wrong"], result["repair"]["moves"]), (4, 1))


NAMED = re.compile(r'# (.*?)"([^"\n]*)"')


def rename(text, names):
    """The same fabric under other names; GUIDs that no design made up."""
    text = NAMED.sub(lambda m: f'# {m[1]}"{names(m[2])}"', text)
    return text.replace("024d59", "0c42a1")


def check_identity(checks, myriad, design, folder):
    topo = (folder / "ibnetdiscover/fabric.topo").read_text()
    count = len(Wiring(myriad, design).plan)

    def verify(name, text, *options, codes=(0,)):
        path = folder / f"{name}.topo"
        path.write_text(text)
        return json.loads(call(myriad, "verify", design, path, "-o", "json", *options, codes=codes))

    nameless = rename(topo, lambda name: "Quantum Mellanox Technologies")
    result = verify("nameless", nameless, codes=(1,))
    # Switches are what their cables say; which of a host's NICs is which nobody has said.
    checks.same("no names: states", numbers(result, "right", "wrong", "unread"),
                {"right": 1024, "wrong": 0, "unread": 1024})
    checks.same("no names: steps", result["repair"]["steps"], [])
    checks.same("no names: told by cables", len(result["identity"]["recovered"]), 536)
    named = {row["is"]: row["found"] for row in result["identity"]["recovered"]}
    checks.same("no names: each is one place", len(named), 536)
    checks.true("no names: what was found is named with its GUID",
                all(re.fullmatch(r"Quantum Mellanox Technologies 0x[0-9a-f]{16}", found)
                    for found in named.values()))
    checks.true("no names: places are of the design",
                {"spine/p0-1", "leaf/p0-g1-r3", "node/00042 nic3"} <= named.keys())
    hosts = rename(topo, lambda name: re.sub(r"node-(\d+)-nic(\d)", r"gpu\1 mlx5_\2", name))
    result = verify("hosts", hosts)
    checks.same("host names: right", result["ports"]["right"], count)
    checks.same("host names: told by cables", len(result["identity"]["recovered"]), 512)
    pair = {"spine-p0-1": "spine-p0-2", "spine-p0-2": "spine-p0-1"}
    result = verify("exchanged", rename(topo, lambda name: pair.get(name, name)), codes=(1,))
    checks.same("exchanged names: patterns", result["patterns"],
                [{"kind": "devices-exchanged", "where": "spine/p0-1, spine/p0-2", "ports": 256}])
    checks.same("exchanged names: relabel", result["repair"]["relabel"],
                {"links": 0, "devices": 2, "moves": 0})
    checks.same("exchanged names: moves", result["repair"]["moves"], 64)
    checks.same("exchanged names: renamed", result["identity"]["renamed"],
                [{"called": "spine/p0-1", "is": "spine/p0-2"},
                 {"called": "spine/p0-2", "is": "spine/p0-1"}])
    check_nameless_faults(checks, myriad, design, folder, topo, verify)
    twins = rename(topo, lambda name: "leaf-p0-g0-r0" if name == "leaf-p0-g1-r3" else name)
    result = verify("twins", twins)
    checks.same("doubled name: right", result["ports"]["right"], count)
    checks.same("doubled name: told by cables", len(result["identity"]["recovered"]), 2)
    check_binding(checks, myriad, design, folder, nameless, verify)


def check_nameless_faults(checks, myriad, design, folder, topo, verify):
    """Wrong cables do not keep devices from being told by the others."""
    wiring = Wiring(myriad, design)
    numbered = {}  # the design's own names of ports, by the number that InfiniBand gives them
    for device in {device for device, _ in wiring.plan if not device.startswith("node")}:
        text = call(myriad, "design", design, "--device", device.replace("-", "/", 1), "-o", "csv")
        for row in csv.DictReader(text.splitlines()):
            cage, half = map(int, row["port"].split("/"))
            numbered[device, row["port"]] = 2 * cage + half - 2
    for number in range(0, 1000, 37):
        wiring.swap(number, (number * 7 + 300) % 1024)
    lines = []
    found = wiring.found()
    for stanza in re.split(r"\n(?=switchguid=|caguid=)", topo)[1:]:
        head = re.match(r'.*\n(Switch|Ca)\t(\d+) "(\S+)"\t\t# "([^"]+)"', stanza)
        lines.append(f'{head[1]} {head[2]} "{head[3]}" # "x"')
        own = head[4] if head[1] == "Switch" else re.match(r"(.*)-(nic\d)", head[4]).groups()
        ports = [port for port in found if port == own or port[0] == own]
        for port in ports:
            lines.append((port, found[port]))
    ids = {m[2]: m[1] for m in re.finditer(r'"([SH]-\w+)"\t\t# "([^"]+)"', topo)}

    def far(port):
        name = port[0] if port in numbered else "-".join(port)
        return f'"{ids[name]}"[{numbered.get(port, 1)}]'

    text = "\n".join(line if isinstance(line, str) else
                     f"[{numbered.get(line[0], 1)}] {far(line[1])} # \"x\" lid 0 4xNDR"
                     for line in lines)
    result = verify("nameless-faults", rename(text, lambda name: "x"), codes=(1,))
    # A NIC without a name is what the plan has at its place, unless that place is for a switch:
    # then it may be any of those that are left.
    astray = sum(port[1].startswith("nic") and not wiring.plan[far_end][1].startswith("nic")
                 for port, far_end in found.items())
    checks.true("no names, faults: some NICs are astray", astray > 5)
    checks.same("no names, faults: told by cables", len(result["identity"]["recovered"]),
                536 - astray)
    checks.same("no names, faults: ambiguous",
                [(a["found_devices"], a["places"]) for a in result["identity"]["ambiguous"]],
                [(astray, astray)])
    checks.true("no names, faults: an example is named", all(
        re.search("0x[0-9a-f]{16}$", a["such_as"]) and re.match("(node|leaf|spine)/", a["may_be"])
        for a in result["identity"]["ambiguous"]))


def check_binding(checks, myriad, design, folder, nameless, verify):
    binding = folder / "binding.yaml"
    text = call(myriad, "bind", design, folder / "nameless.topo", codes=(1,))
    checks.same("NICs are not bound by their own cables", len(re.findall("nic[0-9]: ", text)), 0)
    call(myriad, "bind", design, folder / "nameless.topo", "--by-wiring", "--out", binding)
    result = verify("bound", nameless, "--binding", binding)
    checks.same("bound: told by cables", len(result["identity"]["recovered"]), 0)
    first = binding.read_text()
    call(myriad, "bind", design, folder / "nameless.topo", "--binding", binding, "--by-wiring",
         "--out", binding)
    checks.same("bound again: the same bytes", binding.read_text() == first, True)
    # Two switches change places after they were bound: their GUIDs say so.
    guids = re.findall(r"leaf/p0-g0-r[01]: \{guid: 0x(\w+)", first)
    swapped = nameless.replace(guids[0], "z" * 16).replace(guids[1], guids[0]) \
        .replace("z" * 16, guids[1])
    result = verify("moved", swapped, "--binding", binding, codes=(1,))
    checks.same("moved switches: patterns", [p["kind"] for p in result["patterns"]],
                ["leaf-pair-exchanged"])
    checks.same("moved switches: relabel", result["repair"]["relabel"]["devices"], 2)
    done = call(myriad, "bind", design, folder / "moved.topo", "--by-wiring")
    checks.true("moved switches are bound by their cables",
                f"leaf/p0-g0-r0: {{guid: 0x{guids[1]}" in done)


def check_crew_list(checks, myriad, design, folder):
    """The list for the crew: one row a step, in walking order."""
    wiring = Wiring(myriad, design)
    for one, other in ((3, 40), (700, 900), (100, 7)):
        wiring.swap(one, other)
    path = wiring.write_p2p(folder / "crew.csv")
    text = call(myriad, "verify", design, path, "-o", "csv", codes=(1,))
    rows = list(csv.DictReader(text.splitlines()))
    checks.same("crew list: steps", [row["step"] for row in rows], ["1", "2", "3"])
    checks.true("crew list: swaps", all(row["do"] == "swap" for row in rows))
    places = [(row["at_device"].startswith("spine"), row["at_device"]) for row in rows]
    checks.same("crew list: order", places, sorted(places))


def main():
    myriad = sys.argv[1]
    checks = Checks()
    with tempfile.TemporaryDirectory(prefix="myriad-verify-") as name:
        folder = Path(name)
        design = plan(myriad, folder, "h100-64")
        check_exports(checks, myriad, design, folder)
        check_health(checks, myriad, design, folder)
        check_modules(checks, myriad, design, folder)
        check_compare(checks, myriad, design, folder)
        check_lldp(checks, myriad, design, folder)
        check_identity(checks, myriad, design, folder)
        check_crew_list(checks, myriad, design, folder)
    checks.end()


if __name__ == "__main__":
    main()
