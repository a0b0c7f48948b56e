"""Lists and LLDP texts of field.py's sites: what stands in a file of each kind."""
import json

from field import switches, texts


def is_switch(device):
    return not device.startswith("node-")


def address(device, port=""):
    """A MAC address that the same end has in all texts."""
    value = 0
    for letter in f"{device}/{port}":
        value = (value * 131 + ord(letter)) % (1 << 40)
    return "b8:" + ":".join(f"{value >> shift & 255:02x}" for shift in (32, 24, 16, 8, 0))


def rows(site, look):
    """Every cable, one end first or the other, as people fill in lists."""
    for number, (a, z) in enumerate(site.cables_there()):
        if "turned" in look.mess and number % 3 == 1:
            a, z = z, a
        yield number, a, z, look.end(a), look.end(z)


def kind_of(end):
    return "Switch" if is_switch(end[0]) else "Host"


def cvt(site, look):
    out = ["A-Rack,A-U,A-Node Name,A-Type,A-Port,Z-Rack,Z-U,Z-Node Name,Z-Type,Z-Port,Cable"]
    for number, a, z, one, other in rows(site, look):
        out.append(f"A{number % 7},{number % 40},{one[0]},{kind_of(a)},{one[1]},B1,{number % 9},"
                   f"{other[0]},{kind_of(z)},{other[1]},MPO-{number}")
        if "notes" in look.mess and number % 40 == 3:
            out.append(",,,,,,,,,,")
    end = "\r\n" if "dos" in look.mess else "\n"
    mark = "\ufeff" if "dos" in look.mess else ""
    return {"p2p.csv": mark + end.join(out) + end}


def cvt_other_order(site, look):
    """Columns in another order, a column for the protocol, and quotes around everything."""
    out = ['"Z-Port","Z-Node Name","Z-Type","Protocol","A-Port","A-Node Name","A-Type"']
    for _, a, z, one, other in rows(site, look):
        out.append(f'"{other[1]}","{other[0]}","{kind_of(z)}","ETH","{one[1]}","{one[0]}",'
                   f'"{kind_of(a)}"')
    return {"links.csv": "\n".join(out) + "\n"}


def netbox_import(site, look):
    out = ["side_a_site,side_a_device,side_a_type,side_a_name,side_b_site,side_b_device,"
           "side_b_type,side_b_name,type,status,profile,bundle,label,color,length,length_unit"]
    for number, _, _, one, other in rows(site, look):
        out.append(f"HALL2,{one[0]},dcim.interface,{one[1]},HALL2,{other[0]},dcim.interface,"
                   f"{other[1]},,connected,,,L{number},00ffff,12,m")
    for device in switches(site):
        out.append(f"HALL2,{look.device(device)},dcim.powerport,PSU-1,HALL2,pdu-a,"
                   "dcim.poweroutlet,7,power,connected,,,,,,")
    return {"cables.csv": "\n".join(out) + "\n"}


def netbox_export(site, look):
    out = ["ID,Label,Termination A,Device A,Rack A,Site A,Termination B,Device B,Rack B,Site B,"
           "Status,Type,Length"]
    for number, _, _, one, other in rows(site, look):
        out.append(f"{number + 300},,{one[1]},{one[0]},R{number % 5},HALL2,{other[1]},{other[0]},"
                   f"R{number % 3},HALL2,Connected,,3.00 m")
    return {"export.csv": "\n".join(out) + "\n"}


def ptm(site, look):
    out = ["graph G {", '  graph [hostidtype="hostname", version="1:0"]']
    for number, _, _, one, other in rows(site, look):
        plain = number % 2 and one[0].replace("_", "").isalnum() and one[1].isalnum()
        left = f"{one[0]}:{one[1]}" if plain else f'"{one[0]}":"{one[1]}"'
        out.append(f'  {left} -- "{other[0]}":"{other[1]}"')
    return {"topology.dot": "\n".join(out) + "\n}\n"}


# --- LLDP

def port_part(look, far, text):
    """A port as lldpd tells it: SONiC's alias is local, a host's is its address and its name."""
    if is_switch(far[0]):
        kind = "local" if look.system == "alias" else "ifname"
        return {"id": {"type": kind, "value": text}, "descr": "uplink" if kind == "local" else text}
    if "alias-set" in look.mess:
        return {"id": {"type": "ifname", "value": text}, "descr": "to the fabric", "ttl": "120"}
    return {"id": {"type": "mac", "value": address(*far)}, "descr": text, "ttl": "120"}


def lldp_json(site, look):
    files = {}
    for device, ports in texts(site, is_switch).items():
        records = []
        if "oob" in look.mess:
            records.append({"eth0": {"via": "LLDP", "rid": "2", "chassis": {"oob-7": {
                "id": {"type": "mac", "value": address("oob")}}}, "port": {
                    "id": {"type": "ifname", "value": "swp31"}, "ttl": "120"}}})
        for own, far in ports:
            name, text = look.end(far)
            records.append({look.port(own).strip(): {
                "via": "LLDP", "rid": "1", "age": "0 day, 00:12:01",
                "chassis": {name: {"id": {"type": "mac", "value": address(far[0])},
                                   "mgmt-ip": ["10.2.0.4", "fe80::1"], "descr": "Ubuntu 24.04",
                                   "capability": {"type": "Router", "enabled": True}}},
                "port": port_part(look, far, text)}})
        found = {"lldp": {"interface": records[0] if len(records) == 1 else records}}
        files[f"lldp/{look.called.get(device, device)}.json"] = json.dumps(found, indent=2) + "\n"
    return files


def lldp_json0(site, look):
    """Always arrays; one file, with 'show chassis' of each box in front of its neighbours."""
    files = {}
    for device, ports in texts(site, is_switch).items():
        records = []
        for own, far in ports:
            name, text = look.end(far)
            part = port_part(look, far, text)
            records.append({"name": look.port(own).strip(), "via": "LLDP", "chassis": [{
                "id": [{"type": "mac", "value": address(far[0])}], "name": [{"value": name}],
                "descr": [{"value": "SONiC"}]}], "port": [{
                    "id": [part["id"]], "descr": [{"value": part["descr"]}]}]})
        files[f"lldp/{look.called.get(device, device)}.json"] = json.dumps({"lldp": [{"interface": records}]}) + "\n"
    return files


def sonic_table(site, look):
    """Own ports by name, others by the alias that SONiC sends; hosts by address and description."""
    files = {}
    for device, ports in texts(site, is_switch).items():
        cells = []
        for own, far in ports:
            name = look.device(far[0]).strip()
            if is_switch(far[0]):
                there = (look.spelled("alias", far), "BR", look.spelled("sonic", far))
            else:
                there = (address(*far), "O", look.port(far).strip())
            cells.append((look.spelled("sonic", own), name, *there))
        cells.append(("eth0", "oob-7", "swp31", "BR", "mgmt"))
        heads = ("LocalPort", "RemoteDevice", "RemotePortID", "Capability", "RemotePortDescr")
        wide = [max(len(row[i]) for row in [heads, *cells]) for i in range(5)]
        out = ["Capability codes: (R) Router, (B) Bridge, (O) Other",
               "  ".join(cell.ljust(w) for cell, w in zip(heads, wide)).rstrip(),
               "  ".join("-" * w for w in wide)]
        out += ["  ".join(cell.ljust(w) for cell, w in zip(row, wide)).rstrip() for row in cells]
        out += ["-" * (sum(wide) + 8), f"Total entries displayed:  {len(cells)}"]
        files[f"lldp/{look.called.get(device, device)}.txt"] = "\n".join(out) + "\n"
    return files


def netq(site, look):
    out = []
    for _, ports in texts(site, is_switch).items():
        for own, far in ports:
            one, other = look.end(own), look.end(far)
            out.append({"hostname": one[0].strip(), "ifname": one[1].strip(),
                        "peerHostname": other[0].strip(), "peerIfname": other[1].strip(),
                        "peerOs": "Cumulus Linux", "lastChanged": 1731742391.337})
    return {"netq.json": json.dumps({"lldp": out, "truncatedResult": False}) + "\n"}


LISTS = {"cvt": cvt, "cvt-other": cvt_other_order, "netbox-import": netbox_import,
         "netbox-export": netbox_export, "ptm": ptm}
LLDP = {"lldp": lldp_json, "lldp0": lldp_json0, "sonic-table": sonic_table, "netq": netq}
