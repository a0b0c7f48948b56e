"""How real boxes, hosts and tools write a cabling: names of ports and devices, and whole files.

Made from the documented forms (docs/verify.md names them); nothing here is shared with the readers.
A site is a Wiring (wiring.py) plus what its boxes are; ports are (device, port) in the design's own
names, and every writer turns them into what a tool would print.
"""
import json
import random
from dataclasses import dataclass

LETTERS = "abcdefgh"
DGX_H100 = {0: 0, 1: 3, 2: 4, 3: 5, 4: 6, 5: 9, 6: 10, 7: 11}  # GPU to mlx5
DGX_CAGES = {7: "1P1", 4: "1P2", 6: "2P1", 5: "2P2", 2: "3P1", 1: "3P2", 3: "4P1", 0: "4P2"}
PCI = [26, 60, 77, 94, 156, 188, 204, 220]


@dataclass
class Port:
    cage: int
    rank: int  # in the cage, from 1
    per: int   # ports in the cage


@dataclass
class Box:
    """The switches of a site: ports in a cage, lanes of a cage, cages."""
    per: int
    lanes: int = 8
    cages: int = 64

    def port(self, name):
        parts = [int(part) for part in name.split("/")]
        if len(parts) == 3:  # a splitter behind each connector
            return Port(parts[0], 2 * parts[1] - 2 + parts[2], 4)
        return Port(parts[0], parts[1] if len(parts) == 2 else 1, self.per)


def lane(port, box):
    return (port.rank - 1) * (box.lanes // port.per)


def numbers(box, split):
    return 4 if split else box.per


def gigabits(p):
    """Of one port of a cage of 800 Gb/s, as a number and as a word."""
    return 800 // p.per, {1: "Eight", 2: "Four", 4: "Two", 8: ""}[p.per] + "Hundred"


SWITCH_PORTS = {
    "huawei": lambda p, b: f"{gigabits(p)[0]}GE1/0/{p.cage}" + (f":{p.rank}" if p.per > 1 else ""),
    "h3c": lambda p, b: f"{gigabits(p)[1]}GigE1/0/{p.cage}"
    + (f":{p.rank}" if p.per > 1 else ""),
    "ruijie": lambda p, b: f"{gigabits(p)[1]}GigabitEthernet 0/{p.cage}"
    + (f":{p.rank}" if p.per > 1 else ""),
    "ios-xr": lambda p, b: f"{gigabits(p)[1]}GigE0/0/0/{p.cage - 1}"
    + (f"/{p.rank - 1}" if p.per > 1 else ""),
    "srlinux": lambda p, b: f"ethernet-1/{p.cage}" + (f"/{p.rank}" if p.per > 1 else ""),
    "sros": lambda p, b: f"1/1/c{p.cage}/{p.rank}",
    "os10": lambda p, b: f"ethernet1/1/{p.cage}" + (f":{p.rank}" if p.per > 1 else ""),
    "eos-words": lambda p, b: f"ethernet {p.cage}/{lane(p, b) + 1}",
    "ib-p": lambda p, b: f"P{(p.cage - 1) * b.per + p.rank}",
    "ib-port": lambda p, b: f"Port {p.cage}/{p.rank}",
    "own": None,
    "sonic": lambda p, b: f"Ethernet{(p.cage - 1) * b.lanes + lane(p, b)}",
    "sonic-alias": lambda p, b: f"etp{p.cage}" + (LETTERS[p.rank - 1] if p.per > 1 else ""),
    "cumulus": lambda p, b: f"swp{p.cage}" + (f"s{p.rank - 1}" if p.per > 1 else ""),
    "eos": lambda p, b: f"Ethernet{p.cage}/{lane(p, b) + 1}",
    "eos-short": lambda p, b: f"Et{p.cage}/{lane(p, b) + 1}",
    "eos-plain": lambda p, b: f"Ethernet{p.cage}",
    "nx-os": lambda p, b: f"Ethernet1/{p.cage}" + (f"/{p.rank}" if p.per > 1 else ""),
    "nx-os-short": lambda p, b: f"Eth1/{p.cage}" + (f"/{p.rank}" if p.per > 1 else ""),
    "onyx": lambda p, b: f"1/{p.cage}" + (f"/{p.rank}" if p.per > 1 else ""),
    "junos": lambda p, b: f"et-0/0/{p.cage - 1}" + (f":{p.rank - 1}" if p.per > 1 else ""),
    "celestica": lambda p, b: f"Eth{p.cage}/{p.rank}",
    "fboss": lambda p, b: f"eth1/{p.cage}/{lane(p, b) + 1}",
    "mlnx-os": lambda p, b: {1: f"IB1/{p.cage}", 2: f"IB1/{p.cage}/{p.rank}"}.get(
        p.per, f"IB1/{p.cage}/{(p.rank + 1) // 2}/{(p.rank - 1) % 2 + 1}"),
    "mlnx-cli": lambda p, b: f"ib 1/{p.cage}" + (f"/{p.rank}" if p.per > 1 else ""),
    "ufm": lambda p, b: f"{p.cage}/{p.rank}",
    "ib-number": lambda p, b: str((p.cage - 1) * b.per + p.rank),
    "nvos": lambda p, b: f"sw{p.cage}p{p.rank}",
    "library": lambda p, b: f"P{p.cage - 1}.{p.rank - 1}",
}

NICS = {
    "own": lambda n: f"nic{n}",
    "mlx5": lambda n: f"mlx5_{n}",
    "hca": lambda n: f"HCA-{n + 1}",
    "dgx": lambda n: f"mlx5_{DGX_H100[n]}",
    "dgx-hca": lambda n: f"HCA-{DGX_H100[n] + 1}",
    "dgx-cages": lambda n: f"OSFP{DGX_CAGES[n]}",
    "dgx-slashes": lambda n: "OSFP" + DGX_CAGES[n].replace("P", "/"),
    "pci": lambda n: f"ibp{PCI[n]}s0",
    "enp": lambda n: f"enp{PCI[n]}s0np0",
    "eth": lambda n: f"eth{n}",
    "rail": lambda n: f"rail{n + 1}",
    "rdma": lambda n: f"rdma{n}",
    "capitals": lambda n: f"NIC{n}",
    "bnxt": lambda n: f"bnxt_re{n}",
    "ens": lambda n: f"ens{n + 1}f0np0",
    "arm": lambda n: f"enP{n + 2}p1s0f0np0",
    "rocep": lambda n: f"rocep{PCI[n]}s0",
    "ib": lambda n: f"ib{n}",
    "count": lambda n: f"{n + 1}",
    "slot": lambda n: f"Slot{n + 1}-P1",
}

HOSTS = {
    "own": lambda n: f"node-{n:05d}",
    "slash": lambda n: f"node/{n:05d}",
    "gpu": lambda n: f"gpu{n + 1:04d}",
    "domain": lambda n: f"gpu{n + 1:04d}.hall-3.example.net",
    "capitals": lambda n: f"NODE-{n:05d}",
    "own-domain": lambda n: f"node-{n:05d}.cluster.local",
    "serial": lambda n: f"MT{random.Random(n).randrange(10**9):09d}X",
    "rack": lambda n: f"r{n // 4 + 11:02d}-gpu-{n % 4 + 1:02d}",
    "manager": lambda n: f"dgx-{n + 1:02d}.cm.cluster",
    "shouted": lambda n: f"GPU_SRV_{n + 1:03d}",
}

SWITCHES = {
    "own": lambda name: name,
    "capitals": str.upper,
    "domain": lambda name: f"{name}.fabric.example.net",
    "managed": lambda name: f"MF0;{name}:MQM9700/U1",
    "blanks": lambda name: f"  {name} ",
    "site": lambda name: "dc1" + name.replace("leaf", "-lf").replace("spine", "-sp"),
    "managed-site": lambda name: "MF0;dc1" + name.replace("leaf", "-lf").replace(
        "spine", "-sp") + ":MQM9700/U1",
}


class Speller:
    """One way to write a site's names."""

    def __init__(self, box, ports="own", nics="own", hosts="own", switches="own"):
        self.box, self.ports, self.nics = box, ports, NICS[nics]
        self.hosts, self.switches = HOSTS[hosts], SWITCHES[switches]

    def device(self, name):
        if name.startswith("node-"):
            return self.hosts(int(name[5:]))
        return self.switches(name)

    def port(self, end):
        device, port = end
        if device.startswith("node-"):
            return self.nics(int(port[3:]))
        write = SWITCH_PORTS[self.ports]
        return write(self.box.port(port), self.box) if write else port

    def end(self, end):
        return self.device(end[0]), self.port(end)


# --- lists

def p2p(site, spell, messy=False):
    gap = "  " if messy else ""
    lines = ["A-Node Name,A-Type,A-Port,Z-Node Name,Z-Type,Z-Port"]
    if messy:
        lines = ["Rack,U,A-Node Name, A-Type, A-Port, Z-Node Name, Z-Type, Z-Port,Cable Label"]
    for number, (a, z) in enumerate(site.cables_there()):
        (a_name, a_port), (z_name, z_port) = spell.end(a), spell.end(z)
        row = f"{a_name},Host,{gap}{a_port},{gap}{z_name},Switch,{gap}{z_port}"
        lines.append(f"R{number % 9},{number % 40},{row}{gap},L{number}" if messy else row)
    return {"p2p.csv": "\n".join(lines) + "\n"}


def netbox_import(site, spell):
    lines = ["side_a_site,side_a_device,side_a_type,side_a_name,side_b_site,side_b_device,"
             "side_b_type,side_b_name,type,status,label,color,length,length_unit"]
    for number, (a, z) in enumerate(site.cables_there()):
        (a_name, a_port), (z_name, z_port) = spell.end(a), spell.end(z)
        lines.append(f"dc1,{a_name},dcim.interface,{a_port},dc1,{z_name},dcim.interface,{z_port},"
                     f"smf,connected,C{number},aqua,10,m")
    return {"cables.csv": "\n".join(lines) + "\n"}


def netbox_export(site, spell):
    lines = ["ID,Label,Site A,Rack A,Device A,Termination A,Site B,Rack B,Device B,Termination B,"
             "Status,Type"]
    for number, (a, z) in enumerate(site.cables_there()):
        (a_name, a_port), (z_name, z_port) = spell.end(a), spell.end(z)
        lines.append(f"{number},,dc1,r1,{a_name},{a_port},dc1,r2,{z_name},{z_port},connected,smf")
    return {"export.csv": "\n".join(lines) + "\n"}


def ptm(site, spell):
    lines = ["graph G {", '    hostidtype="hostname";'][:1]
    for a, z in site.cables_there():
        (a_name, a_port), (z_name, z_port) = spell.end(a), spell.end(z)
        lines.append(f'    "{a_name}":"{a_port}" -- "{z_name}":"{z_port}";')
    return {"topology.dot": "\n".join(lines) + "\n}\n"}


# --- LLDP: a text a device

def talkers(site, who):
    found = site.found()
    for device in sorted({device for device, _ in found}):
        if device.split("-")[0] in who:
            yield device, [(port, far) for port, far in found.items() if port[0] == device]


def lldp(site, spell, shape="json", who=("leaf", "spine"), mac=False):
    files = {}
    for device, ports in talkers(site, who):
        records = []
        for own, far in ports:
            name, port = spell.end(far)
            by_mac = mac and far[0].startswith("node-")
            kind = "mac" if by_mac else "local"
            if by_mac:
                port = mac_of(far)
            own_port = spell.port(own)
            if shape == "json0":
                records.append({"name": own_port, "chassis": [{
                    "id": [{"type": "mac", "value": mac_of((far[0], ""))}],
                    "name": [{"value": name}]}],
                    "port": [{"id": [{"type": kind, "value": port}]}]})
            else:
                records.append({own_port: {"via": "LLDP", "chassis": {
                    name: {"id": {"type": "mac", "value": mac_of((far[0], ""))}}},
                    "port": {"id": {"type": kind, "value": port}, "ttl": "120"}}})
        lists = {"lldp": [{"interface": records}] if shape == "json0" else {
            "interface": records[0] if len(records) == 1 else records}}
        files[f"lldp/{device}.json"] = json.dumps(lists) + "\n"
    return files


def mac_of(end):
    value = random.Random("/".join(end)).getrandbits(40)
    return ":".join(f"{byte:02x}" for byte in b"\x02" + value.to_bytes(5, "big"))


def sonic_table(site, spell, alias):
    """'show lldp table': the own port by its name, the neighbour's by its alias."""
    files = {}
    for device, ports in talkers(site, ("leaf", "spine")):
        rows = [(spell.port(own), *alias.end(far), "BR", "") for own, far in ports]
        heads = ("LocalPort", "RemoteDevice", "RemotePortID", "Capability", "RemotePortDescr")
        wide = [max(len(row[i]) for row in [heads, *rows]) for i in range(5)]
        text = ["Capability codes: (R) Router, (B) Bridge, (O) Other"]
        text.append("  ".join(head.ljust(w) for head, w in zip(heads, wide)).rstrip())
        text.append("  ".join("-" * w for w in wide))
        text += ["  ".join(cell.ljust(w) for cell, w in zip(row, wide)).rstrip() for row in rows]
        text += ["-" * (sum(wide) + 8), f"Total entries displayed:  {len(rows)}"]
        files[f"lldp/{device}.txt"] = "\n".join(text) + "\n"
    return files


def netq(site, spell):
    rows = []
    for _, ports in talkers(site, ("leaf", "spine")):
        for own, far in ports:
            (host, port), (peer, peer_port) = spell.end(own), spell.end(far)
            rows.append({"hostname": host, "ifname": port, "peerHostname": peer,
                         "peerIfname": peer_port, "lastChanged": 1731700000.1})
    return {"netq.json": json.dumps({"lldp": rows}) + "\n"}


# --- InfiniBand

class IbFabric:
    """GUIDs, LIDs and descriptions of a site's switches and NICs."""

    def __init__(self, site, box, nics, hosts, switches, planes=1, header=None, factory=False):
        self.site, self.box, self.planes = site, box, planes
        self.nics, self.hosts, self.switches = NICS[nics], HOSTS[hosts], SWITCHES[switches]
        self.header, self.factory = header, factory
        self.found = site.found()
        self.things = sorted({self.thing(end) for end in self.found})
        self.guids = {thing: 0xb83fd20300000000 + 16 * i for i, thing in enumerate(self.things)}
        self.lids = {thing: i + 1 for i, thing in enumerate(self.things)}

    @staticmethod
    def thing(end):
        return end if end[0].startswith("node-") else (end[0], "")

    def split(self, device):
        return any(end[0] == device and end[1].count("/") == 2 for end in self.site.plan)

    def number(self, end):
        if end[0].startswith("node-"):
            return 1
        port, split = self.box.port(end[1]), self.split(end[0])
        if not split:
            return (port.cage - 1) * self.box.per + port.rank
        return (port.cage - 1) * 4 + (port.rank - 1) * (4 // port.per) + 1

    def name(self, thing):
        device, nic = thing
        if not nic:
            return self.switches(device)
        if self.factory:
            return "MT4129 ConnectX7   Mellanox Technologies"
        return f"{self.hosts(int(device[5:]))} {self.nics(int(nic[3:]))}"

    def ports(self, thing):
        if thing[1]:
            return 1
        if self.header:
            return self.header
        return (4 if self.split(thing[0]) else self.box.per) * self.box.cages + 1

    def own_ends(self, thing):
        return sorted((end for end in self.found if self.thing(end) == thing), key=self.number)


def speed_of(site, a, z):
    return site.slow.get(frozenset((a, z)), site.speed)


def ibnetdiscover(site, fabric):
    text = ["#", "# Topology file: generated on Mon Nov 16 08:00:00 2026", "#"]
    for thing in fabric.things:
        guid, switch = fabric.guids[thing], not thing[1]
        kind = "Switch" if switch else "Ca"
        text += ["", "vendid=0x2c9", f"{'switch' if switch else 'ca'}guid=0x{guid:x}"]
        text.append(f'{kind}\t{fabric.ports(thing)} "{"S" if switch else "H"}-{guid:016x}"\t\t# '
                    f'"{fabric.name(thing)}"' + (" enhanced port 0 lid 1 lmc 0" if switch else ""))
        for end in fabric.own_ends(thing):
            far = fabric.found[end]
            there = fabric.thing(far)
            letter = "H" if there[1] else "S"
            text.append(f'[{fabric.number(end)}]\t"{letter}-{fabric.guids[there]:016x}"'
                        f'[{fabric.number(far)}]\t\t# "{fabric.name(there)}" lid '
                        f"{fabric.lids[there]} {speed_of(site, end, far)}")
        if switch and fabric.header is None:  # SHARP's own port
            text.append(f'[{fabric.ports(thing)}]\t"H-{guid + 8:016x}"[1]\t\t# "Mellanox '
                        'Technologies Aggregation Node" lid 999 4xHDR')
    return {"fabric.txt": "\n".join(text) + "\n"}


def ib_lines(site, fabric):
    """ibnetdiscover -p"""
    text = []
    for thing in fabric.things:
        kind = "CA" if thing[1] else "SW"
        for end in fabric.own_ends(thing):
            far = fabric.found[end]
            there = fabric.thing(far)
            lanes, speed = speed_of(site, end, far).split("x")
            text.append(f"{kind} {fabric.lids[thing]:5} {fabric.number(end):2} "
                        f"0x{fabric.guids[thing]:016x} {lanes}x {speed} - "
                        f"{'CA' if there[1] else 'SW'} {fabric.lids[there]:5} "
                        f"{fabric.number(far):2} 0x{fabric.guids[there]:016x} "
                        f"( '{fabric.name(thing)}' - '{fabric.name(there)}' )")
        if not thing[1]:
            text.append(f"SW {fabric.lids[thing]:5} {fabric.ports(thing) - 1:2} "
                        f"0x{fabric.guids[thing]:016x} ?? ???"
                        f"                                    '{fabric.name(thing)}'")
    return {"ports.txt": "\n".join(text) + "\n"}


def iblinkinfo(site, fabric):
    rates = {"HDR": "53.125", "NDR": "106.25", "XDR": "212.5", "EDR": "25.78125"}
    text = []
    for thing in fabric.things:
        head = f"CA: {fabric.name(thing)}:" if thing[1] else \
            f"Switch: 0x{fabric.guids[thing]:016x} {fabric.name(thing)}:"
        text.append(head)
        for end in fabric.own_ends(thing):
            far = fabric.found[end]
            there = fabric.thing(far)
            lanes, speed = speed_of(site, end, far).split("x")
            own = f"      0x{fabric.guids[thing]:016x} " if thing[1] else "          "
            text.append(f"{own}{fabric.lids[thing]:6} {fabric.number(end):4}[  ] ==( {lanes}X "
                        f"{rates[speed]:>12} Gbps Active/  LinkUp)==> {fabric.lids[there]:6} "
                        f'{fabric.number(far):4}[  ] "{fabric.name(there)}" ( )')
        if not thing[1]:
            text.append(f"          {fabric.lids[thing]:6} {fabric.ports(thing) - 1:4}[  ] ==("
                        '                Down/ Polling)==>             [  ] "" ( )')
    return {"links.txt": "\n".join(text) + "\n"}


LANES = {"HDR": 50, "NDR": 100, "XDR": 200, "EDR": 25}


def net_dump(site, fabric):
    text = ["# This database file was automatically generated by IBDIAG"]
    for thing in fabric.things:
        if thing[1]:
            continue
        text += ["", f'"{fabric.name(thing)}", Mellanox, 0x{fabric.guids[thing]:016x}, LID '
                     f"{fabric.lids[thing]}",
                 " # : IB# : Sta : PhysSta : MTU : LWA : LSA : FEC mode : Retran : Neighbor Guid"
                 " : N# : NLID : Neighbor Description"]
        for end in fabric.own_ends(thing):
            far = fabric.found[end]
            there = fabric.thing(far)
            lanes, speed = speed_of(site, end, far).split("x")
            text.append(f" {end[1]} : {fabric.number(end)} : ACT : LINK UP : 5 : {lanes}x : "
                        f"{LANES[speed]} : STD-RS : NO-RTR : 0x{fabric.guids[there]:x} : "
                        f'{fabric.number(far)} : {fabric.lids[there]} : "{fabric.name(there)}"')
        text.append(f" 99/1 : {fabric.ports(thing) - 1} : DOWN : POLL : N/A : N/A : N/A : N/A : N/A"
                    " :  :  :  : ")
    return {"ibdiagnet2.net_dump": "\n".join(text) + "\n"}


def ib_list(site, fabric):
    """ibdiagnet2.lst: port numbers are hexadecimal."""
    text = []

    def half(end):
        thing = fabric.thing(end)
        return (f"{{ {'CA' if thing[1] else 'SW'} Ports:{fabric.ports(thing):02x} SystemGUID:"
                f"{fabric.guids[thing]:016x} NodeGUID:{fabric.guids[thing]:016x} PortGUID:"
                f"{fabric.guids[thing]:016x} VenID:000002C9 DevID:0000D2F2 Rev:000000A0 "
                f"{{{fabric.name(thing)}}} LID:{fabric.lids[thing]:04x} "
                f"PN:{fabric.number(end):02X} }}")

    for end, far in fabric.found.items():
        lanes, speed = speed_of(site, end, far).split("x")
        text.append(f"{half(end)} {half(far)} PHY={lanes}x LOG=ACT SPD={LANES[speed]}")
    return {"ibdiagnet2.lst": "\n".join(text) + "\n"}


def ufm(site, fabric, forms):
    """UFM's links: one site has several forms of a port behind the name."""
    rows = []
    for number, (a, z) in enumerate(site.cables_there()):
        row = {}
        for key, end in (("source", a), ("destination", z)):
            thing = fabric.thing(end)
            name = fabric.name(thing)
            if not thing[1]:
                form = forms[number % len(forms)]
                name += ":" + SWITCH_PORTS[form](fabric.box.port(end[1]), fabric.box)
            row[f"{key}_guid"] = f"{fabric.guids[thing]:016x}"
            row[f"{key}_port"] = str(fabric.number(end))
            row[f"{key}_port_node_description"] = name
        rows.append(row)
    return {"ufm.json": json.dumps(rows) + "\n"}


def four_chips(site, fabric):
    """A Q3400 is four switches of one name; a NIC has a port for each of them."""
    text = ["# Topology file: generated on Mon Nov 16 08:00:00 2026"]

    def thing_id(thing, chip):
        kind, guid = ("H", 0) if thing[1] else ("S", chip)
        return f'"{kind}-{fabric.guids[thing] + guid:016x}"'

    for thing in fabric.things:
        for chip in range(1, 5) if not thing[1] else (0,):
            name = fabric.name(thing) if thing[1] else f"MF0;{thing[0]}:Q3400_RA/U{chip}"
            text += ["", f"{'Ca' if thing[1] else 'Switch'}\t{4 if thing[1] else 145} "
                         f'{thing_id(thing, chip)}\t\t# "{name}"']
            for end in fabric.own_ends(thing):
                far = fabric.found[end]
                there = fabric.thing(far)
                for plane in ([chip] if chip else range(1, 5)):
                    if site.dark.get(frozenset((end, far))) == plane:
                        continue
                    own = plane if thing[1] else fabric.number(end)
                    at = plane if there[1] else fabric.number(far)
                    called = fabric.name(there) if there[1] else f"MF0;{there[0]}:Q3400_RA/U{plane}"
                    text.append(f'[{own}]\t{thing_id(there, plane)}[{at}]\t\t# "{called}" lid 5 '
                                "1xXDR")
    return {"fabric.txt": "\n".join(text) + "\n"}
