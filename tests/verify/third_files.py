"""Files of third.py's sites: how names are spelled there, and what each tool prints."""
import json
import random

PCI = (12, 30, 49, 68, 141, 159, 180, 203)
SHARP_NODE = "Mellanox Technologies Aggregation Node"


class Names:
    """How one site calls its hosts, NICs, switches and ports."""

    def __init__(self, site, how):
        self.site, self.how, self.habits = site, how, set(how["habits"])
        self.draw = random.Random(f"third/names/{how['seed']}")
        self.switch_names = {d: self.switch_word(i, d) for i, d in enumerate(site.switches())}
        self.per_cage = {}
        for device, port in site.plan:
            if site.is_switch(device) and "/" in port:
                self.per_cage[device] = max(self.per_cage.get(device, 1), int(port.split("/")[1]))

    def switch_word(self, number, device):
        tier = device.split("-")[0]
        return {"own": device, "sea": f"SEA4-{tier[:2].upper()}-{101 + number}",
                "plain": f"{tier}sw{number + 1:02d}",
                "row": f"r{number // 4 + 1}c{number % 4 + 1}-t"}[self.how["switches"]]

    def host_word(self, n):
        return {"aws": f"ip-10-31-{n // 16}-{n % 16 + 20}",
                "rack": f"GPU-R{n // 4 + 11}-U{n % 4 * 9 + 4}",
                "dell": f"xe9680-{n * 7 + 1301}", "corp": f"mlpod1srv{n + 1:02d}",
                "shout": f"HGX{n:04d}", "short": f"n{n}", "own": f"node-{n:05d}"}[self.how["hosts"]]

    def device(self, name):
        text = self.switch_names[name] if self.site.is_switch(name) else \
            self.host_word(int(name[5:]))
        if "capitals" in self.habits and self.draw.random() < 0.4:
            text = text.upper()
        if "domain" in self.habits and self.draw.random() < 0.4:
            text += ".az2.corp.example"
        return text

    def nic(self, port):
        n = int(port[3:])
        return {"mlx5": f"mlx5_{n}", "ens": f"ens{10 + n}f0np0", "enp": f"enp{PCI[n]}s0f0np0",
                "hca": f"HCA-{n + 1}", "own": port, "ib": f"ibs{n + 3}",
                "rocep": f"rocep{PCI[n]}s0"}[self.how["nics"]]

    def cage(self, end):
        cage, _, rank = end[1].partition("/")
        return int(cage), int(rank or 1), self.per_cage.get(end[0], 1)

    def port_by(self, system, end):
        cage, rank, per = self.cage(end)
        lane = (rank - 1) * self.site.lanes // per
        return {
            "cumulus": f"swp{cage}" + (f"s{rank - 1}" if per > 1 else ""),
            "sonic": f"Ethernet{(cage - 1) * self.site.lanes + lane}",
            "alias": f"etp{cage}" + ("abcdefgh"[rank - 1] if per > 1 else ""),
            "eos": f"Ethernet{cage}/{lane + 1}", "eos-short": f"Et{cage}/{lane + 1}",
            "os10": f"ethernet1/1/{cage}" + (f":{rank}" if per > 1 else ""),
            "junos": f"et-0/0/{cage - 1}" + (f":{rank - 1}" if per > 1 else ""),
            "mlnx": f"IB1/{cage}" + (f"/{rank}" if per > 1 else ""),
            "ufm": f"{cage}/{rank}", "nvos": f"sw{cage}p{rank}",
            "number": str((cage - 1) * per + rank)}[system]

    def port(self, end):
        text = self.port_by(self.how["system"], end) if self.site.is_switch(end[0]) else \
            self.nic(end[1])
        return text.upper() if "capitals" in self.habits and self.draw.random() < 0.2 else text


def in_turn(site, names):
    for number, (a, z) in enumerate(site.there()):
        yield (z, a) if "turned" in names.habits and number % 2 else (a, z)


def padded(names, text):
    return f" {text}  " if "blanks" in names.habits and names.draw.random() < 0.3 else text


# --- lists

def p2p(site, names):
    out = ["A-Node Name,A-Port,Z-Node Name,Z-Port,Speed"]
    for a, z in in_turn(site, names):
        out.append(",".join(padded(names, t) for t in (names.device(a[0]), names.port(a),
                                                       names.device(z[0]), names.port(z))) + ",")
    return {"cabling.csv": "\r\n".join(out) + "\r\n"}


def netbox_in(site, names):
    out = ["side_a_device,side_a_type,side_a_name,side_b_device,side_b_type,side_b_name,status,"
           "length,length_unit,color"]
    for a, z in in_turn(site, names):
        out.append(f"{names.device(a[0])},dcim.interface,{names.port(a)},{names.device(z[0])},"
                   f"dcim.interface,{names.port(z)},connected,3,m,aa1409")
    if "oob" in names.habits:
        out += [f"{names.device(d)},dcim.consoleport,console,ts-1,dcim.consoleserverport,p{i},"
                "connected,,,"
                for i, d in enumerate(site.switches())]
    return {"netbox-import.csv": "\n".join(out) + "\n"}


def netbox_out(site, names):
    out = ['"ID","Label","Device A","Termination A","Device B","Termination B","Status"']
    for number, (a, z) in enumerate(in_turn(site, names)):
        row = (str(number), f"#{number}", names.device(a[0]), names.port(a), names.device(z[0]),
               names.port(z), "Connected")
        out.append(",".join(f'"{cell}"' for cell in row))
    return {"netbox_cables.csv": "\n".join(out) + "\n"}


def ptm(site, names):
    out = ["graph dc1 {"]
    for a, z in in_turn(site, names):
        out.append(f'"{names.device(a[0])}":"{names.port(a)}"--"{names.device(z[0])}":'
                   f'"{names.port(z)}" [prefix="x"];')
    return {"topology.dot": "\n".join(out) + "\n}\n"}


# --- neighbours

def mac(*words):
    value = random.Random("/".join(words)).getrandbits(40)
    return "94:" + ":".join(f"{value >> s & 255:02x}" for s in (32, 24, 16, 8, 0))


def told_by(site):
    """{switch that answers: [(own end, what is there)]}"""
    found = site.found()
    out = {d: [] for d in site.switches() if d not in site.silent}
    for end in sorted(found, key=lambda e: (e[0], len(e[1]), e[1])):
        if end[0] in out:
            out[end[0]].append((end, found[end]))
    return out


def far_port(site, names, far):
    """An interface's name as id; or a MAC address, and the name as description."""
    if site.is_switch(far[0]):
        return ("local" if names.how["system"] == "alias" else "ifname"), names.port(far), \
            f"to-{far[0][:4]}"
    if int(far[0][5:]) % 2:
        return "mac", mac(*far), names.nic(far[1])
    return "ifname", names.nic(far[1]), "Interface " + names.nic(far[1])


def lldp(site, names):
    files = {}
    for device, rows in told_by(site).items():
        out = [{"mgmt0" if "oob" in names.habits else "eth0": {
            "via": "LLDP", "rid": "9", "chassis": {"oob-sw-3": {"id": {"type": "mac", "value": mac(
                "oob")}}}, "port": {"id": {"type": "ifname", "value": "ge-0/0/7"}}}}]
        for own, far in rows:
            kind, value, text = far_port(site, names, far)
            out.append({names.port(own): {
                "via": "LLDP", "rid": "4", "age": "12 days, 03:11:09", "chassis": {
                    names.device(far[0]): {"id": {"type": "mac", "value": mac(far[0])},
                                           "descr": "Debian GNU/Linux 12",
                                           "mgmt-ip": "10.9.0.4"}},
                "port": {"id": {"type": kind, "value": value}, "descr": text, "ttl": "120",
                         "auto-negotiation": {"supported": False}}}})
        name = names.switch_names[device]
        files[f"lldp/{name}.json"] = json.dumps({"lldp": {"interface": out}}, indent=1)
    return files


def lldp0(site, names):
    """Everything in one file: 'show chassis' in front says whose neighbours follow."""
    files = {}
    for device, rows in told_by(site).items():
        out = []
        for own, far in rows:
            kind, value, text = far_port(site, names, far)
            out.append({"name": names.port(own), "via": "LLDP", "rid": "4", "chassis": [{
                "id": [{"type": "mac", "value": mac(far[0])}],
                "name": [{"value": names.device(far[0])}]}], "port": [{
                    "id": [{"type": kind, "value": value}], "descr": [{"value": text}],
                    "ttl": [{"value": "120"}]}]})
        chassis = {"local-chassis": [{"chassis": [{
            "id": [{"type": "mac", "value": mac(device)}],
            "name": [{"value": names.device(device)}]}]}]}
        files[f"neighbours/{mac(device).replace(':', '')}.json"] = \
            json.dumps(chassis) + "\n" + json.dumps({"lldp": [{"interface": out}]}) + "\n"
    return files


def sonic_table(site, names):
    files = {}
    for device, rows in told_by(site).items():
        cells = [("LocalPort", "RemoteDevice", "RemotePortID", "Capability", "RemotePortDescr"),
                 ("-" * 11, "-" * 20, "-" * 18, "-" * 12, "-" * 18)]
        for own, far in rows:
            there = (names.port_by("alias", far), "BR", names.port_by("sonic", far)) \
                if site.is_switch(far[0]) else (mac(*far), "BWR", names.nic(far[1]))
            cells.append((names.port_by("sonic", own), names.device(far[0]), *there))
        wide = [max(len(row[i]) for row in cells) for i in range(5)]
        files[f"show/{names.switch_names[device]}.txt"] = "\n".join(
            ["Capability codes: (R) Router, (B) Bridge, (O) Other",
             *("  ".join(c.ljust(w) for c, w in zip(row, wide)).rstrip() for row in cells),
             "-" * 50, f"Total entries displayed:  {len(rows)}"]) + "\n"
    return files


def netq(site, names):
    out = [{"peerIfname": names.port(far), "hostname": names.device(own[0]),
            "ifname": names.port(own), "peerHostname": names.device(far[0]), "opid": 0,
            "lastChanged": "2026-11-14 09:11:02"}
           for rows in told_by(site).values() for own, far in rows]
    return {"lldp.json": json.dumps({"lldp": out}, indent=2)}


# --- InfiniBand

class Band:
    """Nodes as InfiniBand sees them: (device, NIC or "", chip)."""

    RATES = {"t-ndr": (4, "NDR", "100", "106.25"), "t-hdr": (4, "HDR", "50", "53.125"),
             "t-xdr": (1, "XDR", "200", "212.5")}

    def __init__(self, site, names):
        self.site, self.names = site, names
        self.found = site.found()
        self.chips = (1, 2, 3, 4) if site.name == "t-xdr" else (1,)
        ends = sorted(set(site.plan) | set(self.found))
        self.nodes = sorted({self.node(end, chip) for end in ends for chip in self.chips})
        self.guid = {n: 0xfc6a1c0300000000 + 0x10 * (7 * i % 4096 + 4096 * (i // 4096))
                     for i, n in enumerate(self.nodes)}
        self.lid = {n: i + 1 for i, n in enumerate(self.nodes)}
        self.text = {n: self.describe(n) for n in self.nodes}

    def node(self, end, chip):
        return (end[0], "", chip) if self.site.is_switch(end[0]) else (*end, 0)

    def describe(self, node):
        name = self.names.device(node[0])
        if node[1]:
            return f"{name} {self.names.nic(node[1])}"
        model = {"t-xdr": "Q3400_RA", "t-ndr": "MQM9700", "t-hdr": "MQM8700"}[self.site.name]
        managed = self.site.name == "t-xdr" or "oob" in self.names.habits
        gap = "  " if "blanks" in self.names.habits else ""
        return f"MF0;{name}:{model}/U{node[2]}" if managed else f"{gap}{name}{gap}"

    def number(self, end, chip):
        if not self.site.is_switch(end[0]):
            return chip
        cage, rank, _ = self.names.cage(end)
        return (cage - 1) * (1 if self.site.name == "t-hdr" else 2) + rank

    def count(self, node):
        ports = self.site.cages * (1 if self.site.name == "t-hdr" else 2) + 1
        return len(self.chips) if node[1] else ports

    def rate(self, a, z):
        lanes, speed, lane, line = self.RATES[self.site.name]
        if frozenset((a, z)) in self.site.slow:
            return {"NDR": (4, "HDR", "50", "53.125"), "HDR": (4, "EDR", "25", "25.78125"),
                    "XDR": (1, "NDR", "100", "106.25")}[speed]
        return lanes, speed, lane, line

    def lines(self, node):
        ends = [e for e in self.found if (e[0], e[1] if node[1] else "") == node[:2]]
        for end in sorted(ends, key=lambda e: self.number(e, 1)):
            for chip in self.chips if node[1] else (node[2],):
                far = self.found[end]
                yield self.number(end, chip), self.node(far, chip), self.number(far, chip), \
                    self.rate(end, far), end


def ibnetdiscover(site, names):
    b = Band(site, names)
    out = ["#", "# Topology file: generated on Sat Nov 14 22:01:10 2026", "#",
           f"# Initiated from node {b.guid[b.nodes[-1]]:016x} port {b.guid[b.nodes[-1]]:016x}", ""]
    for node in b.nodes:
        guid = b.guid[node]
        out += ["vendid=0x2c9", "devid=0xd2f0", f"sysimgguid=0x{guid:x}"]
        if node[1]:
            out += [f"caguid=0x{guid:x}",
                    f'Ca\t{b.count(node)} "H-{guid:016x}"\t\t# "{b.text[node]}"']
        else:
            out += [f"switchguid=0x{guid:x}({guid:x})", f'Switch\t{b.count(node)} "S-{guid:016x}"'
                    f'\t\t# "{b.text[node]}" enhanced port 0 lid {b.lid[node]} lmc 0']
        for number, far, at, (lanes, speed, *_), _ in b.lines(node):
            kind = "H" if far[1] else "S"
            own = f"({guid:x}) " if node[1] else ""
            there = f"({b.guid[far]:x}) " if far[1] else ""
            lead = f"lid {b.lid[node]} lmc 0 " if node[1] else ""
            out.append(f'[{number}]{own}\t"{kind}-{b.guid[far]:016x}"[{at}]{there}\t\t# {lead}'
                       f'"{b.text[far]}" lid {b.lid[far]} {lanes}x{speed}')
        if not node[1] and "sharp" in names.habits:
            out.append(f'[{b.count(node)}]\t"H-{guid + 4:016x}"[1]({guid + 4:x}) \t\t# '
                       f'"{SHARP_NODE}" lid 4{b.lid[node]:04d} 4xHDR')
        out.append("")
    return {"ibnetdiscover.out": "\n".join(out)}


def ports(site, names):
    b = Band(site, names)
    out = []
    for node in b.nodes:
        kind, guid = ("CA" if node[1] else "SW"), f"0x{b.guid[node]:016x}"
        used = set()
        for number, far, at, (lanes, speed, *_), _ in b.lines(node):
            used.add(number)
            out.append(f"{kind} {b.lid[node]:5d} {number:2d} {guid} {lanes}x {speed} - "
                       f"{'CA' if far[1] else 'SW'} {b.lid[far]:5d} {at:2d} 0x{b.guid[far]:016x} "
                       f"( '{b.text[node]}' - '{b.text[far]}' )")
        if not node[1]:
            out += [f"SW {b.lid[node]:5d} {n:2d} {guid} 4x SDR{'':38s}'{b.text[node]}'"
                    for n in range(1, b.count(node)) if n not in used and n % 5 == 0]
    return {"ibnetdiscover-p.txt": "\n".join(out) + "\n"}


def linkinfo(site, names):
    b = Band(site, names)
    out = []
    for node in b.nodes:
        out.append(f"CA: {b.text[node]}:" if node[1] else
                   f"Switch: 0x{b.guid[node]:016x} {b.text[node]}:")
        for number, far, at, (lanes, _, _, line), _ in b.lines(node):
            lead = f"      0x{b.guid[node]:016x} " if node[1] else "          "
            out.append(f"{lead}{b.lid[node]:6d} {number:4d}[  ] ==( {lanes}X {line:>14} Gbps "
                       f"Active/  LinkUp)==>  {b.lid[far]:6d} {at:4d}[  ] \"{b.text[far]}\" ( )")
    return {"iblinkinfo.txt": "\n".join(out) + "\n"}


def lst(site, names):
    b = Band(site, names)

    def half(node, number):
        guid = f"{b.guid[node]:016x}"
        return (f"{{ {'CA' if node[1] else 'SW'} Ports:{b.count(node):02x} SystemGUID:{guid} "
                f"NodeGUID:{guid} PortGUID:{guid} VenID:000002c9 DevID:0000d2f0 Rev:000000a0 "
                f"{{{b.text[node]}}} LID:{b.lid[node]:04x} PN:{number:02x} }}")

    return {"ibdiagnet2.lst": "".join(
        f"{half(node, number)} {half(far, at)} PHY={lanes}x LOG=ACT SPD={lane}\n"
        for node in b.nodes for number, far, at, (lanes, _, lane, _), _ in b.lines(node))}


def ufm(site, names):
    b = Band(site, names)
    out = []
    for a, z in in_turn(site, names):
        row = {"name": "link", "severity": "Info", "source_port_dname": ""}
        for key, end in (("source", a), ("destination", z)):
            node = b.node(end, 1)
            text = b.text[node]
            if not node[1]:
                text = f"{names.device(node[0])}:{names.port_by(names.how['system'], end)}" \
                    if names.how["system"] != "mlnx" else \
                    f"{names.device(node[0])}:{names.port_by('mlnx', end)[2:]}"
            row[f"{key}_guid"] = f"0x{b.guid[node]:x}"
            row[f"{key}_port"] = b.number(end, 1)
            row[f"{key}_port_node_description"] = text
        out.append(row)
    return {"ufm-links.json": json.dumps(out, indent=1)}


LISTS = {"p2p": p2p, "netbox-in": netbox_in, "netbox-out": netbox_out, "ptm": ptm}
NEIGHBOURS = {"lldp": lldp, "lldp0": lldp0, "sonic-table": sonic_table, "netq": netq}
BAND = {"ibnetdiscover": ibnetdiscover, "ports": ports, "linkinfo": linkinfo, "lst": lst,
        "ufm": ufm}
FORMS = {**LISTS, **NEIGHBOURS, **BAND}
