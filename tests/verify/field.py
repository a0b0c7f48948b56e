"""Sites as they are found: names, ports and whole files, written once more from the documents.

Nothing here is shared with spell.py or with the readers: who reads a manual twice errs twice in
other places. A Look says how one site spells; the writers below turn its cables into what a tool
prints, with what else stands there (SHARP's nodes, empty ports, management, remarks).
"""
import random

ALIAS = "abcdefgh"


class Box:
    """A switch: cages, electrical lanes of a cage, planes (chips that share every cage)."""

    def __init__(self, model, cages, lanes=8, ib=0, chips=1):
        self.model, self.cages, self.lanes, self.ib, self.chips = model, cages, lanes, ib, chips


BOXES = {
    "mqm9700-ns2f": Box("MQM9700", 32, ib=2), "mqm8700-hs2f": Box("MQM8700", 40, 4, ib=1),
    "q3400": Box("Q3400_RA", 72, ib=2, chips=4), "sn5600": Box("SN5600", 64),
    "sn5640": Box("SN5640", 64), "sn4700": Box("SN4700", 32), "sn5400": Box("SN5400", 64),
    "z9864f-on": Box("Z9864F", 64), "dcs-7060x6-64pe": Box("7060X6", 64),
    "qfx5240-64od": Box("QFX5240", 64), "sn6600-ld": Box("SN6600_LD", 64),
    "sn6810-ld": Box("SN6810_LD", 128, 4), "eth-12t8-128x100": Box("AS7816", 128, 4),
}


class Place:
    """Where a port of a switch is: cage, place in it from 1, ports of that cage."""

    def __init__(self, name, per):
        parts = [int(word) for word in name.split("/")]
        self.cage = parts[0]
        self.split = len(parts) == 3
        self.rank = (parts[1] - 1) * 2 + parts[2] if self.split else (parts + [1])[1]
        self.per = 4 if self.split else per


def first_lane(box, place):
    return (place.rank - 1) * (box.lanes // place.per)


def tail(place, mark, base):
    return f"{mark}{place.rank - 1 + base}" if place.per > 1 else ""


# How each system calls a port; 'box' and 'place' as above.
SYSTEMS = {
    "sonic": lambda box, at: f"Ethernet{(at.cage - 1) * box.lanes + first_lane(box, at)}",
    "alias": lambda box, at: f"etp{at.cage}" + (ALIAS[at.rank - 1] if at.per > 1 else ""),
    "cumulus": lambda box, at: f"swp{at.cage}" + tail(at, "s", 0),
    "eos": lambda box, at: f"Ethernet{at.cage}/{first_lane(box, at) + 1}",
    "nxos": lambda box, at: f"Ethernet1/{at.cage}" + tail(at, "/", 1),
    "junos": lambda box, at: f"et-0/0/{at.cage - 1}" + tail(at, ":", 0),
    "onyx": lambda box, at: f"Eth1/{at.cage}" + tail(at, "/", 1),
    "fboss": lambda box, at: f"eth1/{at.cage}/{first_lane(box, at) + 1}",
    "celestica": lambda box, at: f"Eth{at.cage}/{at.rank}",
    "accton": lambda box, at: f"Eth{at.cage}(Port{at.cage})",
    "plan": lambda box, at: f"{at.cage}" + tail(at, "/", 1),
    "mlnxos": lambda box, at: f"IB1/{at.cage}" + (
        f"/{(at.rank + 1) // 2}/{(at.rank - 1) % 2 + 1}" if at.split else
        f"/{at.rank}" if box.ib == 2 or at.per > 1 else ""),
    "mlnxos-cli": lambda box, at: "ib " + SYSTEMS["mlnxos"](box, at)[2:],
    "nvos": lambda box, at: f"sw{at.cage}p" + (
        f"{(at.rank + 1) // 2}s{(at.rank - 1) % 2 + 1}" if at.split else f"{at.rank}"),
    "slash": lambda box, at: f"{at.cage}/{at.rank}",
    "number": lambda box, at: str((at.cage - 1) * box.ib + at.rank),
    "library": lambda box, at: f"P{at.cage - 1}.{at.rank - 1}",
}

BUS = [26, 60, 77, 94, 156, 188, 204, 220]
DGX_DEVICE = [0, 3, 4, 5, 6, 9, 10, 11]
DGX_CAGE = ["OSFP4P2", "OSFP3P2", "OSFP3P1", "OSFP4P1", "OSFP1P2", "OSFP2P2", "OSFP2P1", "OSFP1P1"]
DGX_BUS = [24, 64, 79, 94, 154, 192, 206, 220]

# How a host calls the NIC of a rail and of a plane (cards with several ports).
NICS = {
    "plan": lambda rail, plane: f"nic{rail + 8 * plane}",
    "mlx5": lambda rail, plane, planes=1: f"mlx5_{rail * planes + plane}",
    "hca": lambda rail, plane, planes=1: f"HCA-{rail * planes + plane + 1}",
    "bus": lambda rail, plane: f"ibp{BUS[rail]}s0f{plane}",
    "bus1": lambda rail, plane: f"ibp{BUS[rail]}s0",
    "netdev": lambda rail, plane: f"enp{BUS[rail]}s0f{plane}np{plane}",
    "netdev1": lambda rail, plane: f"enp{BUS[rail]}s0np0",
    "roce": lambda rail, plane: f"rocep{BUS[rail]}s0f{plane}",
    "rdma": lambda rail, plane, planes=1: f"rdma{rail * planes + plane}",
    "rail0": lambda rail, plane: f"rail{rail}",
    "rail1": lambda rail, plane: f"rail{rail + 1}",
    "eth": lambda rail, plane, planes=1: f"eth{rail * planes + plane}",
    "dgx": lambda rail, plane: f"mlx5_{DGX_DEVICE[rail]}",
    "dgx-hca": lambda rail, plane: f"HCA-{DGX_DEVICE[rail] + 1}",
    "dgx-cage": lambda rail, plane: DGX_CAGE[rail],
    "dgx-bus": lambda rail, plane: f"ibp{DGX_BUS[rail]}s0",
    "dgx-netdev": lambda rail, plane: f"enp{DGX_BUS[rail]}s0np0",
}

HOSTS = {
    "plan": lambda n: f"node-{n:05d}", "slash": lambda n: f"node/{n:05d}",
    "gpu": lambda n: f"gpu{n + 1:03d}", "dgx": lambda n: f"dgx-a{n // 4 + 1:02d}-{n % 4 + 1}",
    "su": lambda n: f"su{n // 8 + 1:02d}-n{n % 8 + 1:02d}", "o": lambda n: f"o{n + 1:04d}",
    "hex": lambda n: f"h{n * 37 + 4096:x}", "worker": lambda n: f"worker{n}",
}


class Look:
    """How one site spells its names; 'mess' draws what differs from row to row."""

    def __init__(self, site, system="plan", nics="plan", hosts="plan", managed=False, mess=(),
                 own_names=False):
        self.site, self.box, self.system = site, site.box, system
        self.nics, self.hosts, self.managed, self.mess = nics, hosts, managed, set(mess)
        self.draw = random.Random(f"{site.name}/{system}/{nics}/{hosts}")
        nics_of = {port for device, port in site.plan if device == "node-00000"}
        self.planes = max(1, len(nics_of) // 8)
        # Switches under names of the site, which the design does not know.
        self.called = {device: f"dc2-{device.split('-')[0][:2]}{number:03d}"
                       for number, device in enumerate(switches(site))} if own_names else {}

    def per(self, end):
        """Ports of the cage that the end is in, from the plan's own names."""
        if "/" not in end[1]:
            return 1
        return max(int(port.split("/")[1]) for device, port in self.site.plan
                   if device == end[0] and port.count("/") == 1) if end[1].count("/") == 1 else 4

    def place(self, end):
        return Place(end[1], self.per(end))

    def device(self, name):
        if name.startswith("node-"):
            text = HOSTS[self.hosts](int(name[5:]))
        else:
            text = self.called.get(name, name)
        if "case" in self.mess and self.draw.random() < 0.3:
            text = text.upper()
        if "domain" in self.mess and self.draw.random() < 0.5:
            text += ".hall2.example.net"
        if self.managed and not name.startswith("node-"):
            text = f"MF0;{text}:{self.box.model}/U1"
        if "blanks" in self.mess:
            text = " " * self.draw.randrange(2) + text + " " * self.draw.randrange(3)
        return text

    def nic(self, port):
        number = int(port[3:])
        write = NICS[self.nics]
        if "planes" in write.__code__.co_varnames:
            return write(number % 8, number // 8, self.planes)
        return write(number % 8, number // 8)

    def port(self, end):
        text = self.nic(end[1]) if end[0].startswith("node-") else \
            SYSTEMS[self.system](self.box, self.place(end))
        if "case" in self.mess and self.draw.random() < 0.3:
            text = text.upper() if self.draw.random() < 0.5 else text.lower()
        if "blanks" in self.mess and self.draw.random() < 0.3:
            text = f" {text} "
        return text

    def spelled(self, system, end):
        return SYSTEMS[system](self.box, self.place(end))

    def end(self, end):
        return self.device(end[0]), self.port(end)


def switches(site):
    return sorted({device for device, _ in site.plan if not device.startswith("node-")})


def texts(site, who):
    """{device: [(its port, what is there)]} of those devices, in the order of their ports."""
    found = site.found()
    out = {device: [] for device in sorted({d for d, _ in site.plan}) if who(device)}
    for end in sorted(found, key=lambda e: (e[0], [int(w) for w in e[1].strip("nic").split("/")])):
        if end[0] in out:
            out[end[0]].append((end, found[end]))
    return out
