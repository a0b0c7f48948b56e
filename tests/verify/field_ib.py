"""InfiniBand texts of field.py's sites, as the tools print them."""
import json

from field import SYSTEMS

GIGABITS = {"HDR": ("50", "53.125"), "NDR": ("100", "106.25"), "XDR": ("200", "212.5")}
SHARP = "Mellanox Technologies Aggregation Node"


class Fabric:
    """Switches and adapters of a site with their GUIDs, LIDs, numbers and descriptions.

    A node is (device, nic or "", chip): a box of four chips is four switches of one name, and an
    adapter there has a port for each.
    """

    def __init__(self, site, look):
        self.site, self.look, self.box = site, look, site.box
        self.found = site.found()
        self.chips = range(1, site.box.chips + 1)
        self.nodes = sorted({node for end in set(site.plan) | set(self.found)
                             for node in self.nodes_of(end)})
        self.guid = {n: 0x946dae0300618000 + 0x40 * i for i, n in enumerate(self.nodes)}
        self.lid = {n: 3 * i + 2 for i, n in enumerate(self.nodes)}
        self.names = {n: self.describe(n) for n in self.nodes}
        self.divided = {device for device, port in site.plan if port.count("/") == 2}
        self.links = {n: [] for n in self.nodes}
        for end in sorted(self.found, key=lambda e: (e[0], self.number(e, 1))):
            for chip in self.chips:
                if site.dark.get(frozenset((end, self.found[end]))) != chip:
                    self.links[self.node(end, chip)].append((end, chip))

    @staticmethod
    def node(end, chip):
        return (*end, 0) if end[0].startswith("node-") else (end[0], "", chip)

    def nodes_of(self, end):
        return {self.node(end, chip) for chip in self.chips}

    def describe(self, node):
        if not node[1]:
            text = self.look.device(node[0])
            return text.replace("/U1", f"/U{node[2]}") if self.look.managed else text
        if "factory" in self.look.mess:
            return "MT4129 ConnectX7   Mellanox Technologies"
        gap = "  " if "blanks" in self.look.mess else " "
        return f"{self.look.device(node[0])}{gap}{self.look.nic(node[1])}"

    def number(self, end, chip):
        if end[0].startswith("node-"):
            return chip
        at = self.look.place(end)
        of_cage = 2 * self.box.ib if end[0] in self.divided else self.box.ib
        return (at.cage - 1) * of_cage + (at.rank - 1) * (of_cage // max(at.per, 1)) + 1

    def count(self, node):
        if node[1]:
            return len(self.chips)
        return self.box.cages * self.box.ib * (2 if node[0] in self.divided else 1) + 1

    def lines(self, node):
        """Of each link: number, the node there, its number, lanes, speed, the port's place."""
        for end, chip in self.links[node]:
            far = self.found[end]
            lanes, speed = self.site.rate(end, far)
            yield (self.number(end, chip), self.node(far, chip), self.number(far, chip),
                   lanes, speed, end)

    def empty(self, node):
        used = {number for number, *_ in self.lines(node)}
        return [number for number in range(1, self.count(node)) if number not in used]


def sharp_port(f, node):
    """The node inside of a switch that adds up: never a cable."""
    guid, number = f.guid[node] + 8, f.count(node)
    line = f'[{number}]\t"H-{guid:016x}"[1]({guid:x}) \t\t# "{SHARP}" lid {f.lid[node] + 1} 4xHDR'
    return [line, "", "vendid=0x2c9", "devid=0xcf09", f"sysimgguid=0x{f.guid[node]:x}",
            f"caguid=0x{guid:x}", f'Ca\t1 "H-{guid:016x}"\t\t# "{SHARP}"',
            f'[1]({guid:x}) \t"S-{f.guid[node]:016x}"[{number}]\t\t# lid {f.lid[node] + 1} lmc 0 '
            f'"{f.names[node]}" lid {f.lid[node]} 4xHDR']


def ibnetdiscover(site, look):
    f = Fabric(site, look)
    out = ["#", "# Topology file: generated on Mon Nov 16 03:12:44 2026", "#",
           "# Initiated from node 946dae0300618000 port 946dae0300618000"]
    for node in f.nodes:
        guid, is_switch = f.guid[node], not node[1]
        out += ["", "vendid=0x2c9", "devid=0xd2f2" if is_switch else "devid=0x1021",
                f"sysimgguid=0x{guid:x}"]
        if is_switch:
            out += [f"switchguid=0x{guid:x}({guid:x})",
                    f'Switch\t{f.count(node)} "S-{guid:016x}"\t\t# "{f.names[node]}" enhanced '
                    f"port 0 lid {f.lid[node]} lmc 0"]
        else:
            out += [f"caguid=0x{guid:x}",
                    f'Ca\t{f.count(node)} "H-{guid:016x}"\t\t# "{f.names[node]}"']
        for number, there, at, lanes, speed, _ in f.lines(node):
            if is_switch:
                letter, port = ("H", f"({f.guid[there]:x}) ") if there[1] else ("S", "")
                out.append(f'[{number}]\t"{letter}-{f.guid[there]:016x}"[{at}]{port}\t\t# '
                           f'"{f.names[there]}" lid {f.lid[there]} {lanes}x{speed}')
            else:
                out.append(f'[{number}]({guid:x}) \t"S-{f.guid[there]:016x}"[{at}]\t\t# lid '
                           f'{f.lid[node]} lmc 0 "{f.names[there]}" lid {f.lid[there]} '
                           f"{lanes}x{speed}")
        if is_switch and "sharp" in look.mess:
            out += sharp_port(f, node)
    return {"fabric.txt": "\n".join(out) + "\n"}


def ports(site, look):
    """ibnetdiscover -p"""
    f = Fabric(site, look)
    out = []
    for node in f.nodes:
        kind = "CA" if node[1] else "SW"
        own = f"0x{f.guid[node]:016x}"
        for number, there, at, lanes, speed, _ in f.lines(node):
            out.append(f"{kind} {f.lid[node]:5d} {number:2d} {own} {lanes}x {speed} - "
                       f"{'CA' if there[1] else 'SW'} {f.lid[there]:5d} {at:2d} "
                       f"0x{f.guid[there]:016x} ( '{f.names[node]}' - '{f.names[there]}' )")
        for number in [] if node[1] else f.empty(node):
            quote = "'" if number % 2 else ""
            out.append(f"SW {f.lid[node]:5d} {number:2d} {own} 4x {'???' if number % 3 else 'SDR'}"
                       f"{'':36s}{quote}{f.names[node]}{quote}")
        if not node[1] and "sharp" in look.mess:
            out.append(f"SW {f.lid[node]:5d} {f.count(node)} {own} 4x HDR - CA {f.lid[node] + 1:5d}"
                       f"  1 0x{f.guid[node] + 8:016x} ( '{f.names[node]}' - '{SHARP}' )")
    return {"ports.txt": "\n".join(out) + "\n"}


def iblinkinfo(site, look):
    f = Fabric(site, look)
    out = []
    for node in f.nodes:
        out.append(f"CA: {f.names[node]}:" if node[1] else
                   f"Switch: 0x{f.guid[node]:016x} {f.names[node]}:")
        lead = f"      0x{f.guid[node]:016x} " if node[1] else "          "
        for number, there, at, lanes, speed, _ in f.lines(node):
            out.append(f"{lead}{f.lid[node]:6d} {number:4d}[  ] ==( {lanes}X "
                       f"{GIGABITS[speed][1]:>11} Gbps Active/  LinkUp)==>  {f.lid[there]:6d} "
                       f'{at:4d}[  ] "{f.names[there]}" ( )')
        for number in [] if node[1] else f.empty(node)[:9]:
            out.append(f"          {f.lid[node]:6d} {number:4d}[  ] ==(                Down/ "
                       'Polling)==>             [  ] "" ( )')
    return {"links.txt": "\n".join(out) + "\n"}


def net_dump(site, look):
    f = Fabric(site, look)
    out = ["#", "# This database file was automatically generated by IBDIAG", "#",
           "# Running version   : ibdiagnet 2.21.0", ""]
    system = "nvos" if f.box.chips > 1 else "plan"
    for node in f.nodes:
        if node[1]:
            continue
        out += ["", f'"{f.names[node]}", Mellanox, 0x{f.guid[node]:016x}, LID {f.lid[node]}',
                " #       : IB#  : Sta  : PhysSta : MTU  : LWA  : LSA     : FEC mode         : "
                "Retran   : Neighbor Guid        : N#       : LID   : Neighbor Description"]
        for number, there, at, lanes, speed, end in f.lines(node):
            own = SYSTEMS[system](f.box, look.place(end))
            out.append(f" {own:7s} : {number:<4d} : ACT  : LINK UP : 5    : {lanes}x   : "
                       f"{GIGABITS[speed][0]:7s} : MLNX_RS_544_514_PLR : NO-RTR : "
                       f"0x{f.guid[there]:016x}   : {at:<8d} : {f.lid[there]:<5d} : "
                       f'"{f.names[there]}"')
    return {"ibdiagnet2.net_dump": "\n".join(out) + "\n"}


def lst(site, look):
    f = Fabric(site, look)

    def half(node, number):
        return (f"{{ {'CA' if node[1] else 'SW'} Ports:{f.count(node):02x} SystemGUID:"
                f"{f.guid[node]:016x} NodeGUID:{f.guid[node]:016x} PortGUID:{f.guid[node]:016x} "
                f"VenID:000002C9 DevID:0000D2F2 Rev:000000A0 {{{f.names[node]}}} "
                f"LID:{f.lid[node]:04x} PN:{number:02x} }}")

    out = [f"{half(node, number)} {half(there, at)} PHY={lanes}x LOG=ACT SPD={GIGABITS[speed][0]}"
           for node in f.nodes for number, there, at, lanes, speed, _ in f.lines(node)]
    return {"ibdiagnet2.lst": "\n".join(out) + "\n"}


def ufm(site, look):
    """Links of UFM's REST: three forms of a port behind the name in one site."""
    f = Fabric(site, look)
    out = []
    for number, (a, z) in enumerate(site.cables_there()):
        row = {"severity": "Info", "width": "IB_4x", "capabilities": ["collect_system_dump"]}
        for key, end in (("source", a), ("destination", z)):
            node = f.node(end, 1)
            text = f.names[node]
            if not node[1]:
                at = look.place(end)
                form = (f"1/{at.cage}/{at.rank}", f"{at.cage}/{at.rank}", str(f.number(end, 1)))
                text = look.device(node[0]) if f.box.chips == 1 else look.called.get(
                    node[0], node[0])
                text += ":" + (SYSTEMS["nvos"](f.box, at) if f.box.chips > 1 else form[number % 3])
            row[f"{key}_guid"] = f"{f.guid[node]:016x}"
            row[f"{key}_port"] = str(f.number(end, 1))
            row[f"{key}_port_node_description"] = text
        out.append(row)
    return {"ufm.json": json.dumps(out) + "\n"}


FORMS = {"ibnetdiscover": ibnetdiscover, "ports": ports, "iblinkinfo": iblinkinfo,
         "net-dump": net_dump, "lst": lst, "ufm": ufm}
