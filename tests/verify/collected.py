#!/usr/bin/env python3
"""Sites as somebody collected them: files named after addresses, copied from terminals, not whole.

    tests/verify/collected.py MYRIAD [COUNT [FIRST]]     sites drawn by seeds, judged as third.py's

The sites and their truth are third.py's. What a file says is right; what is around it is what
people and their scripts leave: a management address, a MAC address or a date in the name of a file,
a shell's prompt above the text and below it, the mark of an editor, Windows' line ends, complaints
of a tool between its lines, the firmware of a NIC that speaks beside its host, the storage network
in the same sweep, the end of the text missing.
"""
import json
import random
import re
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True
import third
import third_files

SWITCHES = ("own", "sea")


def address(site, device):
    number = sorted({d for d, _ in site.plan}).index(device)
    return f"10.77.{number // 200}.{number % 200 + 1}"


# --- LLDP: what a neighbour tells, and how files are called

def neighbour(site, names, own, far, habits):
    """What lldpd prints of one neighbour; a NIC's firmware tells addresses alone."""
    nameless = "nameless" in habits and site.is_switch(far[0])
    chassis = {"id": {"type": "mac", "value": third_files.mac(far[0])},
               "mgmt-ip": [address(site, far[0]), "fe80::9a03:9bff:fe4d:1"]}
    entries = [{names.port(own): {
        "via": "LLDP", "rid": "3", "age": "2 days, 10:20:30",
        "chassis": chassis if nameless else {names.device(far[0]): chassis},
        "port": {"id": {"type": "ifname", "value": names.port(far)}, "descr": names.port(far),
                 "ttl": "120"}}}]
    if "firmware" in habits and not site.is_switch(far[0]):
        mac = third_files.mac(*far)
        entries.insert(names.draw.randrange(2), {names.port(own): {
            "via": "LLDP", "rid": "9", "chassis": {"id": {"type": "mac", "value": mac}},
            "port": {"id": {"type": "mac", "value": mac}, "ttl": "120"}}})
    return entries


FILES = {
    "address": lambda site, names, device: address(site, device),
    "mac": lambda site, names, device: third_files.mac(device).replace(":", "-"),
    "date": lambda site, names, device: f"lldp_{names.switch_names[device]}_2026-11-16",
    "capitals": lambda site, names, device: names.switch_names[device].upper(),
    "number": lambda site, names, device: f"out{site.switches().index(device)}",
}


def lldp(site, names, draw):
    habits = {habit for habit in ("nameless", "firmware") if draw.random() < 0.4}
    called = draw.choice(sorted(FILES))
    site.told = set(site.switches())
    files = {}
    for device, rows in third_files.told_by(site).items():
        entries = [e for own, far in rows for e in neighbour(site, names, own, far, habits)]
        text = json.dumps({"lldp": {"interface": entries}}, indent=1)
        if "nameless" in habits:
            text = json.dumps({"local-chassis": {"chassis": {names.device(device): {
                "id": {"type": "mac", "value": third_files.mac(device)}}}}}) + "\n" + text
        files[f"lldp/{FILES[called](site, names, device)}.json"] = text
    # Files under names of nobody: who tells is known only where 'show chassis' stands in front.
    blind = called == "number" and "nameless" not in habits
    return files, blind, f"{called} {sorted(habits)}"


# --- InfiniBand: what else is in the sweep

def storage(site, names):
    """Each host's card for storage, on a switch that the design does not have."""
    first, switch = 0xe8ebd30300000000, 0xe8ebd303ff000000
    name = "MF0;stor-leaf-01:MQM9700/U1"
    ports, cards = [], []
    for number in range(site.servers):
        guid, text = first + 16 * number, f"{names.host_word(number)} mlx5_8"
        ports.append(f'[{number + 1}]\t"H-{guid:016x}"[1]({guid:x}) \t\t# "{text}" lid 9 2xNDR')
        cards += ["vendid=0x2c9", "devid=0xa2dc", f"caguid=0x{guid:x}",
                  f'Ca\t1 "H-{guid:016x}"\t\t# "{text}"',
                  f'[1]({guid:x}) \t"S-{switch:016x}"[{number + 1}]\t\t# lid 9 lmc 0 "{name}" '
                  "lid 7 2xNDR", ""]
    return "\n".join(["vendid=0x2c9", "devid=0xd2f2", f"switchguid=0x{switch:x}({switch:x})",
                      f'Switch\t129 "S-{switch:016x}"\t\t# "{name}" base port 0 lid 7 lmc 0',
                      *ports, "", *cards]) + "\n"


def band(site, names, draw):
    form = draw.choice(("ibnetdiscover", "ibnetdiscover", "ports", "linkinfo", "lst"))
    files = third_files.BAND[form](site, names)
    note, cut = form, False
    if form == "ibnetdiscover":
        (path, text), = files.items()
        if draw.random() < 0.5 and names.how["nics"] == "mlx5":
            text, note = text + "\n" + storage(site, names), note + " storage"
        if draw.random() < 0.3:
            text, cut, note = complaint(text, draw), True, note + " complaints"
        if draw.random() < 0.4:
            lines = text.split("\n")
            text = "\n".join(lines[:draw.randrange(len(lines) // 2, len(lines))]) + "\n"
            cut, note = True, note + " cut"
        files = {path: text}
    return files, cut, note


def complaint(text, draw):
    line = draw.choice(("ibwarn: [2117] mad_rpc: _do_madrpc failed; dport (DR path slid 0; dlid 0; "
                        "0,1,13)", "src/query_smp.c:196; umad (DR path slid 0; dlid 0; 0,1,22 Attr "
                        "0x11:0) bad status 110; Connection timed out"))
    return re.sub("\n\n", f"\n{line}\n\n", text, count=2)


# --- what is around a text

AROUND = {
    "nothing": lambda text: text,
    "mark": lambda text: "\ufeff" + text,
    "windows": lambda text: text.replace("\r\n", "\n").replace("\n", "\r\n"),
    "prompt": lambda text: f"admin@ops-1:~$ collect --all\n{text}admin@ops-1:~$ \n",
    "root": lambda text: f"[root@ufm-01 tmp]# run\n\n{text}\n[root@ufm-01 tmp]# exit\nlogout\n",
    "script": lambda text: 'Script started on 2026-11-14 22:01:10+00:00 [TERM="xterm"]\n'
                           f"{text}\nScript done on 2026-11-14 22:02:10+00:00\n",
    "ssh": lambda text: "Warning: Permanently added '10.1.2.3' (ED25519) to the list of known "
                        f"hosts.\r\n{text}\nConnection to 10.1.2.3 closed.\n",
}


def drawn(myriad, folder, seed):
    draw = random.Random(f"collected/{seed}")
    how = third.drawn(seed)
    how["name"] = draw.choice(("t-ndr", "t-hdr", "t-xdr", "t-sn56", "t-7060", "t-qfx"))
    infiniband = third.DESIGNS[how["name"]][-1]
    how.update(system=third.SYSTEMS[how["name"]][0], switches=draw.choice(SWITCHES),
               nics=draw.choice(("mlx5", "hca") if infiniband else ("mlx5", "enp")),
               fault=draw.choice(("none", "rails", "anywhere", "cut", "uplinks")),
               habits=[h for h in how["habits"] if h in ("sharp", "oob")])
    site = third.Site(myriad, third.design_of(myriad, folder, how["name"]), how["name"])
    third.FAULTS[how["fault"]](site, random.Random(f"collected/fault/{seed}"))
    names = third_files.Names(site, how)
    files, blind, note = (band if infiniband else lldp)(site, names, draw)
    around = draw.choice(sorted(AROUND))
    files = {path: AROUND[around](text) for path, text in files.items()}
    return site, files, blind, f"{how['name']} {how['fault']} {how['switches']} {note}, {around}"


def main():
    myriad, words = sys.argv[1], sys.argv[2:]
    count, first = int(words[0]) if words else 12, int(words[1]) if len(words) > 1 else 1
    bad, least = 0, 1.0
    with tempfile.TemporaryDirectory(prefix="myriad-collected-") as folder:
        for seed in range(first, first + count):
            site, files, blind, note = drawn(myriad, folder, seed)
            out = Path(folder) / "site" / str(seed)
            third.put(files, out)
            try:
                false, share = third.judge(
                    site, [out / n for n in sorted({p.split("/")[0] for p in files})])
            except SystemExit as stop:
                false, share = [str(stop)[-300:]], 0.0
            if not blind and not false and share < third.READ_LEAST:
                false = [f"{100 * share:.1f} % read"]
            least = least if blind else min(least, share)
            bad += bool(false)
            for line in false[:3]:
                print(f"seed {seed} ({note}): {line[:240]}")
    print(f"{count} sites: {bad} misread, {100 * least:.1f} % read at least where texts are whole")
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
