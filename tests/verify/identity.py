#!/usr/bin/env python3
"""Sites whose hosts are called otherwise: which host, which NIC and which name is one question.

    tests/verify/identity.py MYRIAD [COUNT [FIRST]]

Each site is drawn from its seed: names of hosts shifted, permuted, with another word in front, or
several of these; names of NICs of several drivers, in another order, two habits in one hall; a few
cables swapped or cut; told in five formats. The truth is wiring.py's. What must hold: no plug is
moved for a name; what is told as the least is what the truth needs; nothing is called the least,
and no end is moved, where ends were not read; nothing is as planned where a cable is missing.
"""
import json
import random
import re
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True
from wiring import Wiring, call, plan

FORMATS = ("ibnetdiscover", "p2p", "netbox", "lldp", "sonic")
# servers, server, switch, ports of a host, halves of a cage
SHAPES = ((16, "h100-8gpu", "mqm9790-ns2f", 8), (9, "h100-8gpu", "mqm9790-ns2f", 8),
          (4, "h100-8gpu", "mqm9790-ns2f", 8), (12, "a100-8gpu", "qm8790", 8),
          (24, "h100-8gpu", "sn5600", 8), (1, "gb200-nvl72", "sn5600", 4),
          (12, "generic", "mqm9790-ns2f", 1), (20, "generic", "sn5600", 1))
BUSES = (0x18, 0x2a, 0x3b, 0x4c, 0x9a, 0xab, 0xba, 0xca)
NICS = {"own": lambda j: f"nic{j}", "mlx5": lambda j: f"mlx5_{j}", "hca": lambda j: f"HCA-{j + 1}",
        "pci": lambda j: f"ibp{BUSES[j]}s0", "hex": lambda j: f"rocep{BUSES[j]:x}s0f0",
        "ens": lambda j: f"ens{2 * j + 1}np0"}


class Site(Wiring):
    """Ports by the plan's names; 'called' says what hosts and NICs are called there."""

    def __init__(self, myriad, design, nics):
        super().__init__(myriad, design)
        self.nics = nics
        self.hosts = sorted({d for d, _ in self.plan if d.startswith("node-")})
        self.names, self.habit, self.told = {}, {}, None

    def called(self, end):
        device, port = end
        if device not in self.names:
            return end
        return self.names[device], self.habit[device][int(port[3:])]

    def by_port(self):
        """{device: [(own end, far end)]}"""
        ports = {}
        for a, z in filter(None, self.cables):
            ports.setdefault(a[0], []).append((tuple(a), tuple(z)))
            ports.setdefault(z[0], []).append((tuple(z), tuple(a)))
        return {device: sorted(rows) for device, rows in sorted(ports.items())}

    def states(self):
        states = super().states()
        return self.hear(states, self.told, self.nics == 1) if self.told else states

    def seen_devices(self, found):
        return self.told if self.told is not None else \
            super().seen_devices(found) | {d for d, _ in self.plan if d not in self.names}


# --- files

def mac(end):
    return "0c:42:a1:%02x:%02x:%02x" % tuple(abs(hash_of(end)) >> s & 255 for s in (16, 8, 0))


def hash_of(end):
    value = 7
    for c in "/".join(end):
        value = (value * 131 + ord(c)) % 0xffffff
    return value


def number(site, end):
    cage, _, half = end[1].partition("/")
    return 2 * int(cage) + int(half) - 2 if half else int(cage)


def ibnetdiscover(site):
    guid = {}
    out = []
    ports = site.by_port()
    for device, rows in ports.items():
        for own, _ in rows:
            key = own if device in site.names else device
            guid.setdefault(key, f"0c42a1{len(guid) + 4096:010x}")
    for key, one in guid.items():
        if isinstance(key, str):
            out += [f"switchguid=0x{one}", f'Switch\t65 "S-{one}"\t\t# "{key}" enhanced']
            for own, far in ports[key]:
                other = guid[far] if far[0] in site.names else guid[far[0]]
                kind, there = ("H", 1) if far[0] in site.names else ("S", number(site, far))
                out.append(f'[{number(site, own)}]\t"{kind}-{other}"[{there}]\t\t# "x" lid 1 4xNDR')
        else:
            far = next(far for own, far in ports[key[0]] if own == key)
            host, nic = site.called(key)
            other = guid[far if far[0] in site.names else far[0]]
            kind, there = ("H", 1) if far[0] in site.names else ("S", number(site, far))
            out += [f"caguid=0x{one}", f'Ca\t1 "H-{one}"\t\t# "{host} {nic}"',
                    f'[1]({one}) \t"{kind}-{other}"[{there}]\t\t# lid 2 lmc 0 "x" lid 3 4xNDR']
        out.append("")
    for device in sorted({d for d, _ in site.plan} - set(site.names) - guid.keys()):
        out += ["switchguid=0x0c42a1ffff%06x" % hash_of((device,)),
                f'Switch\t65 "S-0c42a1ffff{hash_of((device,)):06x}"\t\t# "{device}"', ""]
    return {"fabric.txt": "\n".join(out).replace("4xNDR", site.speed) + "\n"}


def p2p(site):
    rows = [",".join(site.HEADER)]
    for a, z in filter(None, site.cables):
        (one, port), (other, far) = site.called(tuple(a)), site.called(tuple(z))
        rows.append(f"{one},,{port},{other},,{far}")
    rows += [f"{device},,{port},,," for device, port in free_switch_ports(site)]
    return {"list.csv": "\n".join(rows) + "\n"}


def free_switch_ports(site):
    found = site.found()
    return sorted(end for end in site.plan if end[0] not in site.names and end not in found)


def netbox(site):
    rows = ["side_a_device,side_a_type,side_a_name,side_b_device,side_b_type,side_b_name,status"]
    for a, z in filter(None, site.cables):
        (one, port), (other, far) = site.called(tuple(a)), site.called(tuple(z))
        rows.append(f"{one},dcim.interface,{port},{other},dcim.interface,{far},connected")
    return {"cables.csv": "\n".join(rows) + "\n"}


def lldp(site):
    """Everybody tells; a NIC is an address with the interface's name as its description."""
    out = {}
    for device, rows in site.by_port().items():
        records = []
        for own, far in rows:
            name, port = site.called(far)
            local = site.called(own)[1]
            if device not in site.names:
                local = f"swp{local.replace('/', 's')}" if "/" in local else f"swp{local}"
                local = re.sub(r"s(\d)$", lambda m: f"s{int(m[1]) - 1}", local)
            ident = {"type": "mac", "value": mac(far)} if far[0] in site.names \
                else {"type": "ifname", "value": port}
            records.append({local: {"via": "LLDP", "port": {"id": ident, "descr": port},
                                    "chassis": {name: {"id": {"type": "mac", "value": mac(
                                        (far[0], ""))}}}}})
        out[site.names.get(device, device)] = {"lldp": {"interface": records}}
    for device in {d for d, _ in site.plan} - out.keys() - set(site.names):
        out[device] = {"lldp": {"interface": []}}
    return {f"lldp/{name}.json": json.dumps(body) for name, body in out.items()}


def sonic(site):
    """The tables of all switches, and of no host."""
    files = {}
    ports = site.by_port()
    for device in sorted({d for d, _ in site.plan} - set(site.names)):
        cells = []
        for own, far in ports.get(device, []):
            name, port = site.called(far)
            there = (mac(far), "O", port) if far[0] in site.names else (port, "BR", port)
            cells.append((own[1], name, *there))
        heads = ("LocalPort", "RemoteDevice", "RemotePortID", "Capability", "RemotePortDescr")
        wide = [max(len(row[i]) for row in [heads, *cells]) for i in range(5)]
        out = ["Capability codes: (R) Router, (B) Bridge, (O) Other",
               "  ".join(cell.ljust(w) for cell, w in zip(heads, wide)).rstrip(),
               "  ".join("-" * w for w in wide)]
        out += ["  ".join(cell.ljust(w) for cell, w in zip(row, wide)).rstrip() for row in cells]
        out += ["-" * (sum(wide) + 8), f"Total entries displayed:  {len(cells)}"]
        files[f"tables/{device}.txt"] = "\n".join(out) + "\n"
    return files


WRITERS = {"ibnetdiscover": ibnetdiscover, "p2p": p2p, "netbox": netbox, "lldp": lldp,
           "sonic": sonic}


# --- what hosts and NICs are called

def draw_hosts(site, draw):
    count = len(site.hosts)
    ways = ("shifted", "round", "permuted", "prefixed", "mixed", "planned")
    way = draw.choice(ways)
    shift = draw.randrange(1, 4)
    order = list(range(count))
    draw.shuffle(order)
    word = draw.choice(("gpu{:03d}", "r7-n{}", "GPU-{:04d}", "dgx{}.hall.example", "worker-{:02d}"))
    first, stride = draw.randrange(5), draw.choice((1, 1, 2, 7))
    for i, host in enumerate(site.hosts):
        own = word.format(first + i * stride)
        site.names[host] = {
            "shifted": f"node-{i + shift:05d}", "round": f"node-{(i + shift) % count:05d}",
            "permuted": f"node-{order[i]:05d}", "prefixed": own, "planned": host,
            "mixed": own if i % 3 else host}[way]
    return way


def names_of(kind, order):
    return [NICS[kind](j) for j in order]


def draw_nics(site, draw):
    way = draw.choice(("plain", "reordered", "two habits", "two reordered"))
    kinds = draw.sample(sorted(NICS), 2)
    orders = []
    for kind in kinds:
        order = list(range(site.nics))
        if "reordered" in way and kind != "own":
            draw.shuffle(order)
        orders.append(order)
    for i, host in enumerate(site.hosts):
        which = (i * 2 >= len(site.hosts)) if way.startswith("two") else 0
        site.habit[host] = names_of(kinds[which], orders[which])
    return f"{way} {'+'.join(kinds if way.startswith('two') else kinds[:1])}"


def draw_faults(site, draw):
    """So few that they do not decide what is called how: a quarter of the hosts at the most."""
    way = draw.choice(("none", "none", "swaps", "rails", "cut", "uplinks"))
    of_host = {host: [i for i, c in enumerate(site.cables) if host in (c[0][0], c[1][0])]
               for host in site.hosts}
    few = draw.sample(site.hosts, max(1, len(site.hosts) // 4) // 2 * 2)
    if way == "swaps":
        for one, other in zip(few[::2], few[1::2]):
            a, b = draw.choice(of_host[one]), draw.choice(of_host[other])
            site.swap(a, b)
    elif way == "rails" and site.nics > 1:
        for host in few:
            site.swap(*draw.sample(of_host[host], 2))
    elif way == "cut":
        site.cut(draw.choice(of_host[draw.choice(site.hosts)]))
    elif way == "uplinks":
        ups = [i for i, c in enumerate(site.cables)
               if c and c[0][0] not in of_host and c[1][0] not in of_host]
        if len(ups) > 1:
            site.swap(*draw.sample(ups, 2))
    return way


# --- the judge

def judge(site, result, listed, way, fault):
    """What is false."""
    truth, false = site.states(), []
    wrong = {port for port, state in truth.items() if state != "right"}
    repair, ports = result["repair"], result["ports"]
    moves = [repair[key] for key in ("moves", "adds", "removes")]
    renamed = {row["called"].replace("/", "-", 1): row["is"].replace("/", "-", 1)
               for row in result["identity"]["renamed"]}
    # With one port a name against a cable is one against one: names are believed.
    even = site.nics == 1 and way in ("round", "permuted")
    # And a host that nobody knows is what its only cable says.
    blind = site.nics == 1 and way in ("prefixed", "mixed") and fault == "swaps"
    if blind:
        return ["moves for names"] if result["repair"]["moves"] > site.moves()[0] else []
    if result["clean"] and wrong:
        false.append(f"as planned, and {sorted(wrong)[:3]} are not")
    if result["clean"] and any(n != h and n in site.names for h, n in site.names.items()):
        false.append("as planned, and hosts have each other's names")
    unread = {port for port, state in listed.items() if state == "unread"}
    touched = {(step[f"{end}_device"].replace("/", "-", 1), step[f"{end}_port"])
               for step in repair["steps"]
               for end in ("at", "to", "other_end_at", "other_end_to") if step[f"{end}_device"]}
    if unread or result["unread"]:
        if repair["exact"]:
            false.append(f"the least, with {len(unread)} ports unread")
        if touched & unread:
            false.append(f"moves unread ends: {sorted(touched & unread)[:3]}")
    if even:
        return false + (["as planned by names alone"] if result["clean"] else [])
    if not wrong and any(moves):
        false.append(f"moves {moves} for names")
    if not unread and moves != list(site.moves()):
        false.append(f"moves {moves}, are {site.moves()}")
    moved = {(step[f"{end}_device"].replace("/", "-", 1), step[f"{end}_port"])
             for step in repair["steps"] for end in ("at", "to") if step[f"{end}_device"]}
    if {port for port in moved if truth.get(port) == "right"}:
        false.append(f"moves right plugs: {sorted(moved)[:3]}")
    for called, real in renamed.items():
        if site.names.get(real) != called:
            false.append(f"{called} is called {real}, and that is {site.names.get(real)}")
    if ports["wrong"] > sum(state == "wrong" for state in truth.values()):
        false.append(f"{ports['wrong']} ports wrong")
    return false


def draw_site(myriad, folder, seed):
    draw = random.Random(f"identity/{seed}")
    form = FORMATS[seed % len(FORMATS)]
    shapes = [shape for shape in SHAPES
              if (form == "ibnetdiscover") == ("qm" in shape[2]) or form in ("p2p", "netbox")]
    servers, server, switch, nics = draw.choice(shapes)
    out = Path(folder) / f"{server}-{servers}-{switch}"
    design = out / "small" / "design.myr"
    if not design.exists():
        out.mkdir()
        plan(myriad, out, f"name: site\nservers: {servers}\nserver: {server}\n"
             f"accept: [no-optics]\nnetworks: {{compute: {{switch: {switch}}}}}\n")
    site = Site(myriad, design, nics)
    site.speed = "4xNDR" if switch != "qm8790" else "4xHDR"
    how = [form, f"{servers} {server}", draw_hosts(site, draw), draw_nics(site, draw),
           draw_faults(site, draw)]
    if form in ("lldp", "sonic"):
        site.told = {d for d, _ in site.plan if d not in site.names}
    if form == "lldp":
        site.told |= {d for d, _ in site.found()}
    return site, form, how


def main():
    myriad = sys.argv[1]
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 60
    first = int(sys.argv[3]) if len(sys.argv) > 3 else 0
    bad = unread = 0
    with tempfile.TemporaryDirectory(prefix="myriad-identity-") as folder:
        for seed in range(first, first + count):
            site, form, how = draw_site(myriad, folder, seed)
            files = WRITERS[form](site)
            top = Path(folder) / "site" / str(seed)
            for name, text in files.items():
                (top / name).parent.mkdir(parents=True, exist_ok=True)
                (top / name).write_text(text)
            paths = sorted({top / name.split("/")[0] for name in files})
            result = site.verify(*paths)
            false = judge(site, result, site.listed_states(*paths), how[2], how[4])
            unread += result["ports"]["unread"] > 0
            if false:
                bad += 1
                print(f"seed {seed}: {how}")
                for line in false:
                    print(f"    {line}")
    print(f"{count} sites from seed {first}: {bad} misjudged, {unread} with ends unread")
    sys.exit(bad > 0)


if __name__ == "__main__":
    main()
