#!/usr/bin/env python3
"""A RoCE-style leaf-spine network in network namespaces, from the exported configuration: real BGP
(FRR), real LLDP (lldpd), and the kernel's own multipath hash. Four leaves, two spines, eight hosts.
"""
import csv

from parts import (Path, Skip, expect, find, json, main, need, note, os, plan, run, subprocess,
                   time, wait_for)

HERE = Path(__file__).resolve().parent
CATALOG = ["--catalog", HERE / "lab-parts.yaml"]
HOSTS, SWITCHES = 8, 6


class Lab:
    """The namespaces with their links; daemons are started on demand."""

    def __init__(self, myriad, scratch, swap=None):
        need("ip", "ping")
        if os.geteuid() != 0:
            raise Skip("network namespaces need root")
        self.scratch = scratch
        self.prefix = scratch.unique("myr") + "-"
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
        for number, device in enumerate(self.devices):
            self._settings(device, number)
            run("ip", "-n", self.namespace(device), "-batch", "-",
                text="".join(f"link set {name} up\n" for name in ["lo", *self.interfaces(device)]))

    def _settings(self, device, number):
        """Layer-4 hash with a seed of its own for each switch, as on real switches."""
        settings = {"ip_forward": 0 if device.startswith("node") else 1,
                    "fib_multipath_hash_policy": 1, "conf/all/rp_filter": 0,
                    "conf/default/rp_filter": 0, "fib_multipath_hash_seed": 1000 + number}
        script = "".join(f"echo {value} > /proc/sys/net/ipv4/{name}\n"
                         for name, value in settings.items())
        self.inside(device, "sh", "-ec", script)

    def _remove(self):
        names = run("ip", "netns", "list", ok=(0, 1)).output.split("\n")
        for name in (line.split(" ")[0] for line in names):
            if name.startswith(self.prefix):
                run("ip", "netns", "delete", name, ok=(0, 1))

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
                self.start(device, [daemon, "-f", folder / "frr.conf", "-i", folder / f"{daemon}.pid",
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

    def sessions(self):
        """(established, all) over the whole network; each session counts at both ends."""
        up = total = 0
        for device in self.devices:
            peers = self.bgp(device, "show bgp summary json").get("ipv4Unicast", {}).get("peers", {})
            total += len(peers)
            up += sum(peer["state"] == "Established" for peer in peers.values())
        return up, total


def reach(myriad, scratch):
    """BGP comes up on every link, and every host reaches every other on all its addresses."""
    lab = Lab(myriad, scratch)
    start = time.monotonic()
    lab.start_frr()
    ends = 2 * len(lab.links)
    wait_for("all BGP sessions", lambda: lab.sessions() == (ends, ends), 40, 0.5)
    note(f"{ends // 2} BGP sessions up in {time.monotonic() - start:.1f} s")
    targets = {host: [lab.loopback(host), *lab.addresses(host)] for host in lab.hosts()}
    for host in lab.hosts():
        others = [address for other, found in targets.items() if other != host for address in found]
        script = "".join(f"ping -n -q -c 1 -W 2 {address} >/dev/null || echo {address}\n"
                         for address in others)
        def silent():
            return lab.inside(host, "sh", "-c", script, timeout=120).output.split()
        wait_for(f"{host} reaching all {len(others)} addresses", lambda: not silent(), 20, 0.5)
    note(f"{len(lab.hosts())} hosts reach each other on {len(others) * len(lab.hosts())} addresses")


main({"reach": reach})
