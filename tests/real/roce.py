#!/usr/bin/env python3
"""A RoCE-style leaf-spine network in network namespaces, from the exported configuration: real BGP
(FRR), real LLDP (lldpd), and the kernel's own multipath hash. Four leaves, two spines, eight hosts.
"""
import csv

from parts import (Path, Skip, expect, find, json, main, need, note, os, plan, re, run, subprocess,
                   time, wait_for)

HERE = Path(__file__).resolve().parent
CATALOG = ["--catalog", HERE / "lab-parts.yaml"]
HOSTS, SWITCHES = 8, 6
PREFIX = "myriad-"  # of namespaces; then the process id of the test
HASH_SEED = Path("/proc/sys/net/ipv4/fib_multipath_hash_seed")


def remove_namespaces(is_mine):
    """Ends what still runs in the namespaces of these names, and removes them."""
    listed = run("ip", "netns", "list", ok=(0, 1)).output
    names = [line.split(" ")[0] for line in listed.split("\n")]
    for name in filter(is_mine, names):
        for process in run("ip", "netns", "pids", name, ok=(0, 1)).output.split():
            run("kill", "-9", process, ok=(0, 1))
        run("ip", "netns", "delete", name, ok=(0, 1))


def remove_stale():
    """A test that was killed outright leaves namespaces behind: those whose maker is gone."""
    def stale(name):
        found = re.match(rf"{PREFIX}(\d+)-", name)
        return found and not Path("/proc", found.group(1)).exists()
    remove_namespaces(stale)


class Lab:
    """The namespaces with their links; daemons are started on demand."""

    def __init__(self, myriad, scratch, swap=None):
        need("ip", "ping")
        if os.geteuid() != 0:
            raise Skip("network namespaces need root")
        self.scratch = scratch
        remove_stale()
        self.prefix = f"{PREFIX}{os.getpid()}-{scratch.unique('n')}-"
        scratch.path.chmod(0o755)  # FRR's daemons run as their own user
        self.design = plan(myriad, scratch, (HERE / "lab.yaml").read_text(), "lab", CATALOG)
        self.frr = scratch.path / "frr"
        run(myriad, "export", "frr", self.design, "--out", self.frr, *CATALOG)
        with open(self.frr / "links.csv", encoding="utf-8") as file:
            self.links = list(csv.DictReader(file))
        self.devices = [path.parent.name for path in sorted(self.frr.glob("*/frr.conf"))]
        expect(len(self.devices) == HOSTS + SWITCHES, f"devices {self.devices}")
        self._make(swap or {})

    def namespace(self, device):
        return self.prefix + device

    def _make(self, swap):
        """swap: interface ends that are exchanged, as (device, interface) -> (device, interface)"""
        test = run("ip", "netns", "add", self.namespace("test"), ok=(0, 1, 255))
        if test.returncode != 0:
            raise Skip(f"no network namespaces: {test.stderr.strip()}")
        self.scratch.undo.append(self._remove)
        lines = [f"netns add {self.namespace(device)}" for device in self.devices]
        for link in self.links:
            a = (link["a_device"], link["a_interface"])
            b = swap.get((link["b_device"], link["b_interface"]),
                         (link["b_device"], link["b_interface"]))
            lines.append(f"link add {a[1]} netns {self.namespace(a[0])} type veth "
                         f"peer name {b[1]} netns {self.namespace(b[0])}")
        run("ip", "-batch", "-", text="\n".join(lines) + "\n")
        self.seeds = {device: 1000 + number for number, device in enumerate(self.devices)}
        for device in self.devices:
            self._settings(device)
            run("ip", "-n", self.namespace(device), "-batch", "-",
                text="".join(f"link set {name} up\n" for name in ["lo", *self.interfaces(device)]))

    def _settings(self, device):
        """Layer-4 hash with a seed of its own for each switch, as on real switches."""
        settings = {"ip_forward": 0 if device.startswith("node") else 1,
                    "fib_multipath_hash_policy": 1, "conf/all/rp_filter": 0,
                    "conf/default/rp_filter": 0}
        if HASH_SEED.exists():
            settings[HASH_SEED.name] = self.seeds[device]
        script = "".join(f"echo {value} > /proc/sys/net/ipv4/{name}\n"
                         for name, value in settings.items())
        self.inside(device, "sh", "-ec", script)

    def _remove(self):
        remove_namespaces(lambda name: name.startswith(self.prefix))

    def interfaces(self, device):
        return [link[f"{end}_interface"] for link in self.links for end in "ab"
                if link[f"{end}_device"] == device]

    def addresses(self, device):
        return [link[f"{end}_address"] for link in self.links for end in "ab"
                if link[f"{end}_device"] == device]

    def loopback(self, device):
        with open(self.frr / "devices.csv", encoding="utf-8") as file:
            rows = {row["device"]: row["loopback"] for row in csv.DictReader(file)}
        return rows[device].split("/")[0]

    def hosts(self):
        return [device for device in self.devices if device.startswith("node")]

    def switches(self):
        return [device for device in self.devices if not device.startswith("node")]

    def order(self, device):
        """The switch's interfaces in the order of its next hops: by the number that FRR gave them
        when it learnt them, which is a matter of which session came first."""
        hops = json.loads(self.inside(device, "ip", "-j", "nexthop").output)
        return [hop["dev"] for hop in sorted(hops, key=lambda hop: hop["id"]) if "gateway" in hop]

    def inside(self, device, *command, **options):
        return run("ip", "netns", "exec", self.namespace(device),
                   find(command[0]) or command[0], *command[1:], **options)

    def start(self, device, command):
        log = open(self.frr / device / "daemons.log", "a", encoding="utf-8")
        return self.scratch.start(
            ["ip", "netns", "exec", self.namespace(device), find(command[0]), *command[1:]],
            stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT)

    def start_frr(self):
        need("zebra", "bgpd", "vtysh")
        for device in self.devices:
            folder = self.frr / device
            run("chown", "-R", "frr:frr", folder)
            for daemon in ("zebra", "bgpd"):
                self.start(device, [daemon, "-f", folder / "frr.conf",
                                    "-i", folder / f"{daemon}.pid",
                                    "-z", folder / "zserv.api", "--vty_socket", folder,
                                    "-u", "frr", "-g", "frr"])
                if daemon == "zebra":
                    wait_for("zebra's socket", (folder / "zserv.api").exists)

    def bgp(self, device, command):
        text = run("vtysh", "--vty_socket", self.frr / device, "-c", command, ok=(0, 1)).output
        try:
            return json.loads(text)
        except ValueError:
            return {}

    def start_lldp(self, alias=False):
        """With 'alias' switches send what SONiC calls a port, as an id of type local: etp7."""
        need("lldpd", "lldpcli")
        for device in self.devices:
            folder = self.frr / device
            ports = {link[f"{side}_interface"] for link in self.links for side in ("a", "b")
                     if link[f"{side}_device"] == device and not device.startswith("node")}
            aliases = "".join(f"configure ports {port} lldp portidsubtype local etp{port[3:]}\n"
                              for port in sorted(ports) if alias)
            (folder / "lldpd.conf").write_text(
                f"configure system hostname {device}\nconfigure lldp tx-interval 1\n"
                f"configure lldp portidsubtype ifname\n{aliases}")
            self.start(device, ["lldpd", "-d", "-u", folder / "lldpd.sock", "-O",
                                folder / "lldpd.conf"])

    def neighbours(self):
        """A folder with one file a device, as 'lldpcli show neighbors' prints it there."""
        folder = self.scratch.path / self.scratch.unique("lldp")
        folder.mkdir()
        for device in self.devices:
            text = ""
            for _ in range(100):  # a daemon that is not up yet answers nothing
                text = run("lldpcli", "-u", self.frr / device / "lldpd.sock", "-f", "json", "show",
                           "neighbors", ok=(0, 1)).output
                if text.strip():
                    break
                time.sleep(0.1)
            (folder / f"{device}.json").write_text(text)
        return folder

    def packets(self):
        """Packets sent so far, by (device, interface)."""
        sent = {}
        for device in self.devices:
            for link in json.loads(self.inside(device, "ip", "-j", "-s", "link").output):
                sent[device, link["ifname"]] = link["stats64"]["tx"]["packets"]
        return sent

    def next_hops(self, device):
        """Of the routes to blocks of hosts: how many next hops each has."""
        routes = json.loads(self.inside(device, "ip", "-j", "route", "show", "proto", "bgp").output)
        return sorted(len(route.get("nexthops", [1])) for route in routes
                      if route["dst"].endswith("/29") or route["dst"] == "default")

    def expected_hops(self, device):
        return [{"leaf": [4] * 3, "spin": [2] * 4, "node": [2]}[device[:4]]]

    def sessions(self):
        """(established, all) over the whole network; each session counts at both ends."""
        up = total = 0
        for device in self.devices:
            summary = self.bgp(device, "show bgp summary json")
            peers = summary.get("ipv4Unicast", {}).get("peers", {})
            total += len(peers)
            up += sum(peer["state"] == "Established" for peer in peers.values())
        return up, total


def bring_up(lab):
    start = time.monotonic()
    lab.start_frr()
    ends = 2 * len(lab.links)
    wait_for("all BGP sessions", lambda: lab.sessions() == (ends, ends), every=0.5)
    # Routes follow their sessions one by one: wait for all next hops, two spines by two links.
    wait_for("all routes", lambda: all(lab.next_hops(device) == hops for device in lab.devices
                                       for hops in lab.expected_hops(device)), every=0.3)
    note(f"{ends // 2} BGP sessions and all routes up in {time.monotonic() - start:.1f} s")


def reach(myriad, scratch):
    """BGP comes up on every link, and every host reaches every other on all its addresses."""
    lab = Lab(myriad, scratch)
    bring_up(lab)
    targets = {host: [lab.loopback(host), *lab.addresses(host)] for host in lab.hosts()}
    for host in lab.hosts():
        others = [address for other, found in targets.items() if other != host for address in found]
        script = "".join(f"ping -n -q -c 1 -W 2 {address} >/dev/null || echo {address}\n"
                         for address in others)
        wait_for(f"{host} reaching all {len(others)} addresses", lambda: not lab.inside(
            host, "sh", "-c", script, timeout=120).output.split(), every=0.5)
    note(f"{len(lab.hosts())} hosts reach each other on {len(others) * len(lab.hosts())} addresses")


# Runs in a host's namespace: sends each connection's packets, as RoCE would, and nothing else. The
# sockets stay unconnected, for a connected one would give its packets a hash of its own.
SENDER = """
import socket, sys
for line in sys.stdin:
    device, source, port, target, count = line.split()
    link = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    link.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, device.encode())
    link.bind((source, int(port)))
    for _ in range(int(count)):
        link.sendto(bytes(64), (target, 4791))
"""


def send(lab, connections, packets):
    """Sends packets on each connection: rows of 'route apply' with their source ports."""
    for host in lab.hosts():
        rows = [row for row in connections if row["from"].split(":")[0] == host.replace("-", "/")]
        text = "".join(f"{row['from'].split(':')[1]} {row['from_address']} {row['source_port']} "
                       f"{row['to_address']} {packets}\n" for row in rows)
        if rows:
            lab.inside(host, "python3", "-c", SENDER, text=text)


def steer(myriad, scratch):
    """Source ports chosen against the switches' hashes put every connection on its planned path,
    and so one on each uplink; those that a stack would choose do not."""
    if not HASH_SEED.exists():
        raise Skip("the kernel has no net.ipv4.fib_multipath_hash_seed (Linux 6.11)")
    lab = Lab(myriad, scratch)
    bring_up(lab)
    flows, seeds, order = (scratch.path / name for name in ("flows.csv", "seeds.csv", "order.csv"))
    # Every NIC of the first rail group sends to its sister in the second one, and back: 16
    # connections, which is what the 16 uplinks can carry without conflict.
    hosts = [host.replace("-", "/") for host in lab.hosts()]
    flows.write_text("from,to\n" + "".join(
        f"{a}:nic{rail},{b}:nic{rail}\n" for rail in range(2)
        for a, b in zip(hosts, hosts[4:] + hosts[:4])))
    seeds.write_text("device,seed\n" + "".join(
        f"{device},{seed}\n" for device, seed in lab.seeds.items()))
    order.write_text("device,port\n" + "".join(
        f"{device},{port}\n" for device in lab.switches() for port in lab.order(device)))
    chosen = scratch.path / "connections.csv"
    report = json.loads(run(myriad, "route", "apply", lab.design, "--for", "roce",
                            "--hash", "linux", "--seeds", seeds, "--order", order,
                            "--flows", flows, "--out", chosen, "-o", "json").output)
    expect(report["planned"] == report["flows"] == 16, f"planned {report['planned']} of 16")
    expect(report["max_link_load"] == 1, f"maximum load {report['max_link_load']}")
    with open(chosen, encoding="utf-8") as file:
        connections = list(csv.DictReader(file))
    packets = 200
    uplinks = [(leaf, f"swp{port}") for leaf in lab.devices if leaf.startswith("leaf")
               for port in range(5, 9)]

    def measure(rows):
        before = lab.packets()
        send(lab, rows, packets)
        after = lab.packets()
        return {key: (after[key] - before[key]) / packets for key in after}

    # Each uplink carries one connection, and each egress that was predicted was used.
    loads = measure(connections)
    used = [round(loads[uplink]) for uplink in uplinks]
    note(f"connections on the 16 uplinks, ports chosen: {used}")
    expect(used == [1] * 16, f"uplinks carry {used} connections")
    predicted = {}
    for path in report["paths"]:
        for hop in path["egress"]:
            device, port = hop.split(":")
            key = (device.replace("/", "-"), f"swp{port}")
            predicted[key] = predicted.get(key, 0) + 1
    wrong = {key: (count, loads[key]) for key, count in predicted.items()
             if round(loads[key]) != count}
    expect(not wrong, f"predicted and measured differ: {wrong}")
    note(f"{len(predicted)} predicted egress ports carried exactly what was predicted")
    for number, row in enumerate(connections):
        row["source_port"] = 49152 + 7 * number  # as a stack that counts up
    loads = measure(connections)
    used = [round(loads[uplink]) for uplink in uplinks]
    note(f"connections on the 16 uplinks, ports as they come: {used}")
    expect(sum(used) == 16 and max(used) > 1, f"ports as they come: {used}")


def verify(myriad, lab, ok):
    done = run(myriad, "verify", lab.design, "--from", "lldp", lab.neighbours(), "-o", "json",
               ok=ok)
    return json.loads(done.output)


def complete(myriad, lab):
    """The verdict once every link was heard of from both ends."""
    ends = 2 * len(lab.links)

    def look():
        report = verify(myriad, lab, (0, 1))
        seen = report["ports"]["right"] + report["ports"]["wrong"]
        return report if seen == ends else None
    return wait_for(f"LLDP on all {ends} interfaces", look, every=0.5)


def lldp(myriad, scratch):
    """lldpd's own words about the exported network verify clean; an exchanged pair is found."""
    lab = Lab(myriad, scratch)
    lab.start_lldp()
    report = complete(myriad, lab)
    expect(report["ports"]["right"] == 64 and report["repair"]["moves"] == 0 and
           sum(report["ports"].values()) == 64, f"{report['ports']}")
    verify(myriad, lab, (0,))
    note("64 ports right by LLDP")
    scratch.close_children()
    # Two cables of different leaves are exchanged where they meet the spines.
    ends = [("spine-p0-0", "swp2"), ("spine-p0-1", "swp7")]
    lab = Lab(myriad, scratch, {ends[0]: ends[1], ends[1]: ends[0]})
    lab.start_lldp()
    report = complete(myriad, lab)
    expect(report["ports"]["wrong"] == 4 and report["ports"]["right"] == 60, f"{report['ports']}")
    repair = report["repair"]
    expect(repair["moves"] == 1 and repair["exact"], f"{repair}")
    text = json.dumps(repair["steps"])
    named = [end for end in ends if end[0].replace("-", "/", 1) in text]
    note(f"4 ports wrong, {repair['moves']} move: {repair['steps'][0]}")
    expect(named, f"the step does not name a spine: {text}")


def lldp_alias(myriad, scratch):
    """The same with the aliases of SONiC on the wire; the switches' own names in their texts."""
    ends = [("spine-p0-0", "swp3"), ("spine-p0-1", "swp5")]
    for swap, wrong in (({}, 0), ({ends[0]: ends[1], ends[1]: ends[0]}, 4)):
        lab = Lab(myriad, scratch, swap)
        lab.start_lldp(alias=True)
        report = complete(myriad, lab)
        told = "".join(path.read_text() for path in lab.neighbours().glob("*.json"))
        expect(told.count('"etp') >= 32, "no alias was told")
        expect(report["ports"]["wrong"] == wrong and report["ports"]["right"] == 64 - wrong and
               report["repair"]["moves"] == wrong // 4, f"{report['ports']}")
        note(f"by SONiC's aliases: {64 - wrong} ports right, {wrong} wrong")
        scratch.close_children()


if __name__ == "__main__":
    main({"reach": reach, "steer": steer, "lldp": lldp, "lldp-alias": lldp_alias})
