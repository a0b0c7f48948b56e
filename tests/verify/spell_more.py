"""Further files of real tools: what else stands in them, and versions that spell otherwise.

As spell.py, whose spellers and fabrics these writers take.
"""
import json

from spell import LANES, mac_of, netq, p2p, sonic_table, speed_of, talkers, ufm


def oob_rows(site, spell):
    """Management ports of the switches, which are in many a list of cables."""
    switches = sorted({device for device, _ in site.plan if not device.startswith("node-")})
    return [(spell.device(device), "eth0", "oob-sw-1", f"Gi1/0/{number + 1}")
            for number, device in enumerate(switches)]


def p2p_with_oob(site, spell):
    files = p2p(site, spell)
    rows = [f"{a},Switch,{a_port},{z},Switch,{z_port}" for a, a_port, z, z_port in
            oob_rows(site, spell)]
    return {"p2p.csv": files["p2p.csv"] + "\n".join(rows) + "\n"}


def cvt_sheet(site, spell):
    """A sheet of the cable validation tool: both ends have the same heads."""
    lines = ["Rack,U,Name,HCA/Port,Rack,U,Name,Port"]
    for number, (a, z) in enumerate(site.cables_there()):
        (a_name, a_port), (z_name, z_port) = spell.end(a), spell.end(z)
        lines.append(f"PX{number % 9},{number % 40},{a_name},{a_port},R1,22,{z_name},{z_port}")
    return {"links.csv": "\n".join(lines) + "\n"}


def cvt_links(site, spell):
    """The Links sheet of later versions, with modules and connectors."""
    lines = ["A-Rack,A-U,A-Node Name,A-Type,A-Port,A-Connector,A-Module-PN,Z-Rack,Z-U,Z-Node Name,"
             "Z-Type,Z-Port,Z-Connector,Z-Module-PN,Protocol,Shuffle-ID"]
    for number, (a, z) in enumerate(site.cables_there()):
        (a_name, a_port), (z_name, z_port) = spell.end(a), spell.end(z)
        lines.append(f"PX{number % 9},{number % 40},{a_name},Host,{a_port},MPO-12,MMA4Z00-NS400,R1,"
                     f"22,{z_name},Switch,{z_port},MPO-12,MMA4Z00-NS,ETH,")
    return {"links.csv": "\n".join(lines) + "\n"}


def netbox_full(site, spell):
    """All columns of the import, and rows about other things than network cables."""
    lines = ["side_a_site,side_a_device,side_a_type,side_a_name,side_b_site,side_b_device,"
             "side_b_type,side_b_name,type,status,profile,bundle,tenant,label,color,length,"
             "length_unit,description,comments,tags"]
    for number, (a, z) in enumerate(site.cables_there()):
        (a_name, a_port), (z_name, z_port) = spell.end(a), spell.end(z)
        lines.append(f'dc1,{a_name},dcim.interface,{a_port},dc1,{z_name},dcim.interface,{z_port},'
                     f',connected,single-1c4p,,,"C,{number}",ffbf00,10.5,m,,,"a,b"')
        if number % 7 == 0:
            lines.append(f"dc1,{a_name},dcim.powerport,PSU1,dc1,pdu-{number},dcim.poweroutlet,"
                         f"{number},power,connected,,,,,,2,m,,,")
            lines.append(f"dc1,{a_name},dcim.interface,{a_port},dc1,{z_name},dcim.interface,1/99,"
                         "smf,planned,,,,,,,,,,")
    return {"cables.csv": "\n".join(lines) + "\n"}


def netbox_view(site, spell):
    """An export of the view, with its columns moved around."""
    lines = ['"ID","Site A","Location A","Rack A","Device A","Termination A","Termination B",'
             '"Device B","Rack B","Location B","Site B","Status","Type","Tenant","Length","Color"']
    for number, (a, z) in enumerate(site.cables_there()):
        (a_name, a_port), (z_name, z_port) = spell.end(a), spell.end(z)
        lines.append(f'"{number}","dc1","hall 1","A{number % 9}","{a_name}","{a_port}","{z_port}",'
                     f'"{z_name}","B1","hall 1","dc1","Connected","","",'
                     '"10.5 m","ffbf00"')
    return {"export.csv": "\n".join(lines) + "\n"}


def lldp_texts(site, spell, how):
    """What other systems send: how(far, name, port) gives the port's part of a record."""
    files = {}
    for device, ports in talkers(site, ("leaf", "spine")):
        records = [{"eth0": {"via": "LLDP", "rid": "1", "age": "0 day, 01:02:03", "chassis": {
            "oob-sw-1": {"id": {"type": "mac", "value": mac_of(("oob", ""))}}}, "port": {
                "id": {"type": "ifname", "value": "Gi1/0/7"}, "ttl": "120"}}}]
        for own, far in ports:
            name, port = spell.end(far)
            records.append({spell.port(own): {"via": "LLDP", "rid": "3", "chassis": {
                name: {"id": {"type": "mac", "value": mac_of((far[0], ""))},
                       "descr": "Some Network OS 4.2", "mgmt-ip": "10.0.0.9",
                       "capability": [{"type": "Bridge", "enabled": True}]}},
                "port": how(far, name, port)}})
        files[f"lldp/{spell.device(device)}.json"] = json.dumps(
            {"lldp": {"interface": records}}, indent=1) + "\n"
    return files


def lldp_ifname(site, spell):
    return lldp_texts(site, spell, lambda far, name, port: {
        "id": {"type": "ifname", "value": port}, "descr": f"to {far[1]} of somebody",
        "ttl": "120"})


def lldp_index(site, spell):
    """Junos sends SNMP's number of the port, and its name as the description."""
    return lldp_texts(site, spell, lambda far, name, port: {
        "id": {"type": "local", "value": str(500 + len(port))}, "descr": port, "ttl": "120"})


def lldp_hosts_mac(site, spell):
    """lldpd on hosts: an address, and the interface behind it; switches by name."""
    return lldp_texts(site, spell, lambda far, name, port: {
        "id": {"type": "mac", "value": mac_of(far)}, "descr": port, "ttl": "120"}
        if far[0].startswith("node-") else {"id": {"type": "ifname", "value": port},
                                            "descr": port})


def lldp_one_file(site, spell):
    """All devices in one text, each under its name, as a script of ssh collects them."""
    files = lldp_ifname(site, spell)
    texts = {path.split("/")[1].removesuffix(".json"): json.loads(text)
             for path, text in files.items()}
    return {"fabric.json": json.dumps(texts) + "\n"}


def sonic_table_oob(site, spell, alias):
    """With the row of the management port, and descriptions that people typed."""
    files = sonic_table(site, spell, alias)
    out = {}
    for path, text in files.items():
        lines = text.splitlines()
        head = lines[1]
        at = [head.index(word) for word in head.split()]
        row = "".join(cell.ljust((at + [99])[i + 1] - at[i]) for i, cell in enumerate(
            ("eth0", "oob-1", "Gi1/0/3", "B", "mgmt net")))
        lines.insert(3, row.rstrip())
        out[path] = "\n".join(lines) + "\n"
    return out


def netq_filled(site, spell):
    """With what NetQ has besides, and a neighbour of the management port."""
    rows = json.loads(netq(site, spell)["netq.json"])["lldp"]
    for number, row in enumerate(rows):
        row.update({"peerOs": "Ubuntu", "peerMacAddress": mac_of((str(number), "")), "opid": 0,
                    "timestamp": None, "isBridge": "no", "isRouter": "no", "isWlan": None})
    rows.append({"hostname": rows[0]["hostname"], "ifname": "eth0", "peerHostname": "oob-sw-1",
                 "peerIfname": "swp4"})
    return {"netq.json": json.dumps({"lldp": rows, "truncatedResult": False}, indent=2) + "\n"}


def ptm_plain(site, spell):
    """Without quotes where dot needs none, with remarks and attributes."""
    lines = ["/* made by hand,", "   twice */", "graph fabric {",
             '  hostidtype="hostname", version="1:0", date="06/26/2026";',
             '  node [shape="box"]; // for pictures', "  # leaves first"]
    for a, z in site.cables_there():
        (a_name, a_port), (z_name, z_port) = spell.end(a), spell.end(z)
        lines.append(f'"{a_name}":{a_port} -- "{z_name}":{z_port} [BFD="upMinTx=150"];')
    return {"topology.dot": "\n".join(lines) + "\n}\n"}


def topo(site, fabric):
    """A topology file of ibdiagnet: systems, and cables below them."""
    models = {1: "MQM8700", 2: "MQM9700"}
    text = ["# This topology file was automatically generated by IBDIAGNET"]
    for thing in fabric.things:
        if thing[1]:
            continue
        text += ["", f"{models[fabric.box.per]} {fabric.name(thing)}"]
        for end in fabric.own_ends(thing):
            far = fabric.found[end]
            there = fabric.thing(far)
            lanes, speed = speed_of(site, end, far).split("x")
            arrow = f"-{lanes}x-{LANES[speed]}G->"
            if there[1]:
                host, device = fabric.name(there).split(" ")
                text.append(f"    P{fabric.number(end)} {arrow} HCA_1 {host} {device}/P1")
            else:
                text.append(f"    P{fabric.number(end)} {arrow} {models[fabric.box.per]} "
                            f"{fabric.name(there)} P{fabric.number(far)}")
    return {"fabric.topo": "\n".join(text) + "\n"}


def ufm_guids(site, fabric):
    """Older versions of UFM tell GUIDs and numbers alone."""
    rows = []
    for a, z in site.cables_there():
        row = {"width": "IB_4x", "severity": "Info", "capabilities": []}
        for key, end in (("source", a), ("destination", z)):
            row[f"{key}_guid"] = f"{fabric.guids[fabric.thing(end)]:016x}"
            row[f"{key}_port"] = row[f"{key}_port_dname"] = str(fabric.number(end))
        row["name"] = "_".join((row["source_guid"], row["source_port"])) + ":" + "_".join(
            (row["destination_guid"], row["destination_port"]))
        rows.append(row)
    return {"links.json": json.dumps(rows) + "\n"}


def ufm_filled(site, fabric):
    """As UFM 6.2x prints links, with what it has besides."""
    rows = json.loads(ufm(site, fabric, ("mlnx-os",))["ufm.json"])
    for row in rows:
        for key in ("source", "destination"):
            row[f"{key}_port_node_description"] = row[f"{key}_port_node_description"].replace(
                ":IB1/", ":1/")
            row[f"{key}_port_name"] = f"{row[f'{key}_guid']}_{row[f'{key}_port']}"
            row[f"{key}_port_dname"] = "1/3/1"
        row.update({"width": "4x", "severity": "Info", "capabilities": ["collect_system_dump"]})
    return {"ufm.json": json.dumps(rows, indent=4) + "\n"}


def iblinkinfo_lines(site, fabric):
    """iblinkinfo -l: one line holds both ends."""
    rates = {"HDR": "53.125", "NDR": "106.25", "XDR": "212.5", "EDR": "25.78125"}
    text = []
    for thing in fabric.things:
        for end in fabric.own_ends(thing):
            far = fabric.found[end]
            there = fabric.thing(far)
            lanes, speed = speed_of(site, end, far).split("x")
            text.append(f'0x{fabric.guids[thing]:016x} "{fabric.name(thing):>30}" '
                        f"{fabric.lids[thing]:6} {fabric.number(end):4}[  ] ==( {lanes}X "
                        f"{rates[speed]:>12} Gbps Active/  LinkUp)==>  "
                        f"0x{fabric.guids[there]:016x} "
                        f"{fabric.lids[there]:6} {fabric.number(far):4}[  ] "
                        f'"{fabric.name(there):>30}" ( )')
        if not thing[1]:
            text.append(f'0x{fabric.guids[thing]:016x} "{fabric.name(thing):>30}" '
                        f"{fabric.lids[thing]:6} {fabric.ports(thing) - 1:4}[  ] ==(             "
                        '   Down/ Polling)==>                             [  ] "" ( )')
    return {"links.txt": "\n".join(text) + "\n"}
