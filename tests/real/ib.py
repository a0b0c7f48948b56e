#!/usr/bin/env python3
"""InfiniBand as it really behaves: ibsim, OpenSM and the diagnostic tools on exported fabrics."""
import random

from parts import Ibsim, ROOT, expect, json, main, note, os, plan, re, run, time

SPEC = """\
name: h100-{0}
servers: {0}
server: h100-8gpu
networks:
  compute: {{switch: mqm9790-ns2f}}
"""

# spec, NICs, switches, links. OpenSM's time grows with the square: the large one is for discovery.
FABRICS = [("h100-64", 512, 24, 1024), (SPEC.format(128), 1024, 48, 2048)]
LARGE = [(SPEC.format(256), 2048, 96, 4096)]


def export(myriad, scratch, design, form):
    out = scratch.path / scratch.unique(form)
    run(myriad, "export", form, design, "--out", out)
    return out


def plan_fabric(myriad, scratch, spec):
    return plan(myriad, scratch, spec, re.search(r"h100-\d+", spec).group())


def discover(fabric, scratch):
    """What ibnetdiscover prints, as a file."""
    path = scratch.path / scratch.unique("discovered")
    path.write_text(fabric.tool("ibnetdiscover"))
    return path


def verify(myriad, design, found, *options, ok=(0,)):
    """The simulator knows no NDR: its HDR stands for it, unless a test says otherwise."""
    speeds = [] if "--speed-map" in options else ["--speed-map", "HDR=400"]
    done = run(myriad, "verify", design, "--from", "ibnetdiscover", found, "-o", "json", *speeds,
               *options, ok=ok)
    return json.loads(done.output)


def bring_up(myriad, scratch):
    """OpenSM brings the exported fabrics up with ftree and with updn, and all of it is there."""
    for spec, nics, switches, _ in FABRICS:
        design = plan_fabric(myriad, scratch, spec)
        guids = export(myriad, scratch, design, "opensm")
        fabric = Ibsim(scratch, export(myriad, scratch, design, "ibsim"))
        settings = (guids / "opensm.conf").read_text()
        for engine in ("ftree", "updn"):
            start = time.monotonic()
            only = re.sub("routing_engine .*", f"routing_engine {engine},no_fallback", settings)
            (guids / f"{engine}.conf").write_text(only)
            fabric.opensm(engine, "-F", f"{engine}.conf", folder=guids)
            note(f"{nics} NICs: {engine} up in {time.monotonic() - start:.1f} s, no errors")
        fabric.opensm("ftree", "-F", "opensm.conf", folder=guids)
        seen = fabric.tool("ibnetdiscover", "--node-name-map", guids / "node-name-map")
        found = [len(re.findall(rf"^{kind}\s", seen, re.M)) for kind in ("Ca", "Switch")]
        expect(found == [nics, switches], f"discovered {found} NICs and switches")
        speeds = set(re.findall(r" (\d+x\w+)$", seen, re.M))
        expect(speeds == {"4xHDR"}, f"link speeds {speeds}")
        scratch.stop(fabric.process)


def clean(myriad, scratch):
    """What ibnetdiscover finds verifies clean, slower speeds and all, and binds every GUID."""
    for spec, nics, switches, links in FABRICS:
        design = plan_fabric(myriad, scratch, spec)
        fabric = Ibsim(scratch, export(myriad, scratch, design, "ibsim"))
        found = discover(fabric, scratch)
        report = verify(myriad, design, found)
        expect(report["ports"]["right"] == 2 * links and report["repair"]["moves"] == 0 and
               sum(report["ports"].values()) == 2 * links, f"{report['ports']}")
        report = verify(myriad, design, found, "--speed-map", "HDR=200", ok=(1,))
        expect(report["ports"]["degraded"] == 2 * links, f"slow everywhere: {report['ports']}")
        binding = scratch.path / scratch.unique("binding")
        run(myriad, "bind", design, "--from", "ibnetdiscover", found, "--out", binding)
        bound = re.findall(r"\bguid: 0x([0-9a-f]+)", binding.read_text())
        expect(len(set(bound)) == len(bound) == nics + switches, f"{len(bound)} GUIDs bound")
        report = verify(myriad, design, found, "--binding", binding)
        expect(report["ports"]["right"] == 2 * links, f"with the binding: {report['ports']}")
        note(f"{nics} NICs: {2 * links} ports right, {len(bound)} GUIDs bound")
        scratch.stop(fabric.process)


class Netlist:
    """An exported netlist, to be edited: its links as pairs of (device, port)."""

    def __init__(self, path):
        self.lines = path.read_text().split("\n")
        self.where = {}  # (device, port) -> number of its line
        device = None
        for number, line in enumerate(self.lines):
            head = re.match(r'(?:Ca|Switch)\s+\d+ "([^"]+)"', line)
            port = re.match(r"\[(\d+)\]", line)
            if head:
                device = head.group(1)
            elif port:
                self.where[device, int(port.group(1))] = number
        self.peers = {end: self.peer(end) for end in self.where}

    def peer(self, end):
        found = re.search(r'\t"([^"]+)"\[(\d+)\]', self.lines[self.where[end]])
        return found.group(1), int(found.group(2))

    def fabric_links(self):
        """Links between switches, from the lower end."""
        return sorted((a, b) for a, b in self.peers.items()
                      if a[0].startswith("S") and b[0].startswith("S") and a < b)

    def connect(self, a, b):
        for here, there in ((a, b), (b, a)):
            number = self.where[here]
            self.lines[number] = re.sub(r'\t"[^"]+"\[\d+\]', f'\t"{there[0]}"[{there[1]}]',
                                        self.lines[number])

    def swap(self, first, second):
        """The plugs at the upper ends of two cables are exchanged."""
        (a, b), (c, d) = first, second
        self.connect(a, d)
        self.connect(c, b)

    def slow(self, link, speed):
        for end in link:
            number = self.where[end]
            self.lines[number] = re.sub(r"\d+x[A-Z]+$", speed, self.lines[number])

    def write(self, path):
        path.write_text("\n".join(self.lines))
        return path


def faults(myriad, scratch):
    """Links swapped, cut and degraded are found, and the repair has exactly as many moves."""
    for spec, _, _, links in FABRICS:
        design = plan_fabric(myriad, scratch, spec)
        netlist = Netlist(export(myriad, scratch, design, "ibsim"))
        draw = random.Random(links)
        picked = draw.sample(netlist.fabric_links(), 12 + 3 + 4)
        swapped, slow, cut = picked[:12], picked[12:15], picked[15:]
        for first, second in zip(swapped[::2], swapped[1::2]):
            netlist.swap(first, second)
        for link, speed in zip(slow, ("1xHDR", "4xEDR", "2xHDR")):
            netlist.slow(link, speed)
        fabric = Ibsim(scratch, netlist.write(scratch.path / scratch.unique("faults")))
        before = verify(myriad, design, discover(fabric, scratch), ok=(1,))
        expect(before["ports"]["missing"] == 0, f"before the cuts: {before['ports']}")
        for (device, port), _ in cut:
            fabric.console(f'Unlink "{device}"[{port}]')
        report = verify(myriad, design, discover(fabric, scratch), ok=(1,))
        ports, repair = report["ports"], report["repair"]
        wanted = {"right": 2 * (links - 19), "wrong": 24, "missing": 8, "unseen": 0, "extra": 0,
                  "degraded": 6, "unread": 0}
        expect(ports == wanted, f"{ports}, not {wanted}")
        # Six exchanged pairs take six moves; cut links need cables, not moves.
        expect(repair["moves"] == repair["lower_bound"] == 6 and repair["exact"],
               f"moves {repair['moves']}, at least {repair['lower_bound']}")
        note(f"{2 * links} ports: 6 swaps, 4 cuts, 3 slow links found; {repair['moves']} moves, "
             f"exact")
        for (device, port), _ in cut:
            fabric.console(f'ReLink "{device}"[{port}]')
        after = verify(myriad, design, discover(fabric, scratch), ok=(1,))
        expect(after["ports"] == before["ports"], f"after mending the cuts: {after['ports']}")
        scratch.stop(fabric.process)


class Hosts(Netlist):
    """The netlist of an export whose hosts have ordinary names: "gpu0001 mlx5_0"."""

    def __init__(self, path, form):
        super().__init__(path)
        text = "\n".join(self.lines)
        self.nics = {}  # (node, nic) -> (id, 1)
        for name, node, nic in re.findall(r'^Ca\s+1 "([^"]+)"\s+# "node-(\d+)-nic(\d+)"', text,
                                          re.M):
            self.nics[int(node), int(nic)] = (name, 1)
        self.leaves = {name: number for number, name in re.findall(
            r'^Switch\s+\d+ "([^"]+)"\s+# "(leaf-[^"]+)"', text, re.M)}
        self.lines = re.sub(r"node-(\d+)-nic(\d+)", lambda m: form(int(m[1]), int(m[2])),
                            text).split("\n")

    def cross(self, one, other):
        """Two NICs have each other's cables."""
        a, b = self.nics[one], self.nics[other]
        far_a, far_b = self.peer(a), self.peer(b)
        self.connect(a, far_b)
        self.connect(b, far_a)

    def exchange(self, one, other):
        """All cables of two leaves change places, port by port."""
        a, b = self.leaves[one], self.leaves[other]
        ports = sorted(port for device, port in self.where if device == a)
        far = {(leaf, port): self.peer((leaf, port)) for leaf in (a, b) for port in ports}
        for port in ports:
            self.connect((a, port), far[b, port])
            self.connect((b, port), far[a, port])


FORMS = {"mlx5": lambda node, nic: f"gpu{node + 1:04d} mlx5_{nic}",
         "HCA": lambda node, nic: f"node-{node:05d} HCA-{nic + 1}"}


def cut_and_slow(myriad, scratch, design, links, netlist):
    """Cables of hosts and switches that are slow or gone, with ordinary names of hosts."""
    slow = [(netlist.nics[7, 2], netlist.peer(netlist.nics[7, 2])), netlist.fabric_links()[11]]
    cut = [(netlist.nics[9, 5], netlist.peer(netlist.nics[9, 5])), netlist.fabric_links()[100]]
    for link, speed in zip(slow, ("4xEDR", "1xHDR")):
        netlist.slow(link, speed)
    fabric = Ibsim(scratch, netlist.write(scratch.path / scratch.unique("ill")))
    for (device, port), _ in cut:
        fabric.console(f'Unlink "{device}"[{port}]')
    report = verify(myriad, design, discover(fabric, scratch), ok=(1,))
    scratch.stop(fabric.process)
    ports, repair = report["ports"], report["repair"]
    expect([ports[state] for state in ("right", "wrong", "missing", "degraded", "unread")] ==
           [2 * links - 8, 0, 4, 4, 0], f"cut and slow: {ports}")
    expect((repair["moves"], repair["adds"]) == (0, 2), f"cut and slow: {repair['moves']} moves")


def hosts(myriad, scratch):
    """Hosts with names of their own: reversed rails, crossed NICs, leaves that changed places."""
    judge_hosts(myriad, scratch, FABRICS[:1])


def hosts_2048(myriad, scratch):
    """The same of 2,048 NICs, which takes a while."""
    judge_hosts(myriad, scratch, LARGE)


def judge_hosts(myriad, scratch, fabrics):
    for spec, nics, _, links in fabrics:
        design = plan_fabric(myriad, scratch, spec)
        exported = export(myriad, scratch, design, "ibsim")
        for form, name in FORMS.items():
            def found(netlist):
                fabric = Ibsim(scratch, netlist.write(scratch.path / scratch.unique("hosts")))
                text = discover(fabric, scratch)
                scratch.stop(fabric.process)
                return text

            def judge(what, netlist, wrong, moves, ok=(1,)):
                report = verify(myriad, design, found(netlist), ok=ok)
                ports = report["ports"]
                expect(ports["wrong"] == wrong and ports["right"] == 2 * links - wrong and
                       report["repair"]["moves"] == moves,
                       f"{form}, {what}: {ports}, {report['repair']['moves']} moves")
                return report

            judge("as planned", Hosts(exported, name), 0, 0, ok=(0,))
            netlist = Hosts(exported, name)
            for node in (3, 17, 30):
                for nic in range(4):
                    netlist.cross((node, nic), (node, 7 - nic))
            report = judge("reversed rails", netlist, 48, 12)
            expect(report["identity"]["deviating"] == ["node/00003", "node/00017", "node/00030"],
                   f"deviating: {report['identity']['deviating']}")
            netlist = Hosts(exported, name)
            netlist.cross((2, 1), (40, 6))
            judge("crossed NICs", netlist, 4, 1)
            netlist = Hosts(exported, name)
            netlist.exchange("leaf-p0-g0-r2", "leaf-p0-g0-r5")
            report = judge("leaves that changed places", netlist, 256, 64)
            expect([p["kind"] for p in report["patterns"]] == ["leaf-pair-exchanged"],
                   f"{report['patterns'][:3]}")
            netlist = Hosts(exported, name)
            for node in range(12):
                for nic in range(4):
                    netlist.cross((node, nic), (node, 7 - nic))
            cut_and_slow(myriad, scratch, design, links, Hosts(exported, name))
            if nics == 512:  # twelve of 64: the others are the habit, whether or not it is told
                report = verify(myriad, design, found(netlist), ok=(1,))
                expect(report["ports"]["wrong"] == 192 and report["ports"]["unread"] == 0 and
                       report["repair"]["moves"] == 48, f"a majority: {report['ports']}")
                told = [word for nic in range(8)
                        for word in ("--hca-map", f"{name(0, nic).split(' ')[1]}=nic{nic}")]
                report = verify(myriad, design, found(netlist), *told, ok=(1,))
                expect(report["ports"]["wrong"] == 192 and report["repair"]["moves"] == 48,
                       f"told: {report['ports']}")
            note(f"{nics} NICs called '{name(0, 0)}': as planned, 3 hosts' rails, 2 NICs, "
                 "2 leaves, 2 cuts, 2 slow links")


def partitions(myriad, scratch):
    """OpenSM gives every port the keys of its tenant, and nobody else's."""
    design = plan_fabric(myriad, scratch, FABRICS[0][0])
    folder = scratch.path / scratch.unique("tenants")
    folder.mkdir()
    (folder / "tenants.csv").write_text('tenant,nodes\nresearch,0-31\nproduct,"32-40,44"\n')
    run(myriad, "export", "partitions", design, "--tenants", folder / "tenants.csv", "--out",
        folder / "partitions.conf")
    guids = export(myriad, scratch, design, "opensm")
    fabric = Ibsim(scratch, export(myriad, scratch, design, "ibsim"))
    fabric.opensm("ftree", "-F", "opensm.conf", "-P", folder / "partitions.conf", folder=guids)
    found = fabric.tool("ibnetdiscover")
    wanted = {0: "0x8001", 31: "0x8001", 32: "0x8002", 40: "0x8002", 44: "0x8002", 41: None}
    for node, key in wanted.items():
        lid = re.search(rf'"node-{node:05d}-nic3" lid (\d+)', found).group(1)
        table = set(re.findall("0x[0-9a-f]{4}", fabric.tool("smpquery", "pkeys", lid, "1")))
        expect({"0x8001", "0x8002"} & table == ({key} if key else set()) and
               {"0x7fff", "0xffff"} & table, f"node {node} has the keys {sorted(table)}")
    scratch.stop(fabric.process)
    note(f"{len(wanted)} nodes have the keys of their tenants")


def read_tables(text):
    """{switch GUID: {destination port GUID: egress}} of dump_lfts, or of a file for OpenSM."""
    tables, switch = {}, None
    for line in text.split("\n"):
        head = re.match(r"Unicast lids .* guid 0x([0-9a-f]+)", line)
        row = re.match(r"0x[0-9a-f]+ (\d+)\s.*portguid 0x([0-9a-f]+)", line)
        if head:
            switch = tables.setdefault(int(head.group(1), 16), {})
        elif row and switch is not None:
            switch[int(row.group(2), 16)] = int(row.group(1))
    return tables


def load(myriad, design, *options, verb=("route",)):
    return json.loads(run(myriad, *verb, design, *options, "-o", "json").output)


def shift(scratch, nodes, step):
    """Every NIC sends to its sister 'step' nodes on: what fat-tree routing is made for."""
    path = scratch.path / scratch.unique("shift")
    path.write_text("from,to\n" + "".join(
        f"node/{node:05}:nic{rail},node/{(node + step) % nodes:05}:nic{rail}\n"
        for node in range(nodes) for rail in range(8)))
    return path


def tables(myriad, scratch):
    """OpenSM's own tables are read back, and the load they give is compared with ours."""
    for spec, nics, _, _ in FABRICS:
        design = plan_fabric(myriad, scratch, spec)
        guids = export(myriad, scratch, design, "opensm")
        fabric = Ibsim(scratch, export(myriad, scratch, design, "ibsim"))
        for engine in ("ftree", "updn"):
            fabric.opensm(engine, "-a", guids / "root_guids.txt", "-u", guids / "cn_guids.txt")
            dumped = scratch.path / scratch.unique("lfts")
            dumped.write_text(fabric.tool("dump_lfts"))
            for name, flows in (("permutation", ["--permutation", "7"]),
                                ("shift", ["--flows", shift(scratch, nics // 8, 32)])):
                theirs = load(myriad, design, *flows, "--dump", dumped,
                              verb=("route", "tables"))
                ours = load(myriad, design, *flows, "--policy", "static")
                best = load(myriad, design, *flows, "--policy", "planned")
                expect(theirs["unroutable"] == theirs["unknown"] == 0,
                       f"{theirs['unroutable']} flows without a path, {theirs['unknown']} unknown")
                # All take shortest paths: the load is the same, and differs by how it lies.
                total = [round(found["mean_link_load"] * found["loaded_channels"])
                         for found in (theirs, ours, best)]
                expect(len(set(total)) == 1, f"total load {total}")
                most = [round(found["max_link_load"]) for found in (theirs, ours, best)]
                expect(most[2] == 1 and (name == "permutation" or most == [1, 1, 1]),
                       f"{name}: at most {most}")
                note(f"{nics} NICs, {name}, at most on a link: OpenSM {engine} {most[0]}, "
                     f"our static {most[1]}, planned {most[2]}")
        scratch.stop(fabric.process)


def lids(discovered):
    """LIDs of NICs by name."""
    found = re.findall(r'^Ca\t1 "[^"]+"\t\t# "([^"]+)"\n\[1\]\S* \t\S+\t\t# lid (\d+)', discovered,
                       re.M)
    return {name: int(lid) for name, lid in found}


def egress_of(hop):
    """("leaf-p0-g0-r0", 33) for "leaf/p0-g0-r0:17/1": two ports in a cage."""
    device, port = hop.split(":")
    cage, half = map(int, port.split("/"))
    return device.replace("/", "-"), 2 * (cage - 1) + half


def trace(fabric, source, target):
    """The egress port at each switch, as ibtracert follows the tables in the switches."""
    text = fabric.tool("ibtracert", source, target)
    hops = re.findall(r'^\[(\d+)\] -> .*"([^"]+)"$', text, re.M)
    # Each line has the port that the device before it sends from, then the device itself.
    devices = [name for _, name in hops]
    return [(device, int(port)) for device, (port, _) in zip(devices, hops[1:])]


def file_routing(myriad, scratch):
    """Planned tables given to OpenSM as a file are what the switches have and ibtracert shows."""
    for spec, nics, switches, _ in FABRICS:
        design = plan_fabric(myriad, scratch, spec)
        fabric = Ibsim(scratch, export(myriad, scratch, design, "ibsim"))
        binding, written = scratch.path / scratch.unique("b"), scratch.path / scratch.unique("lfts")
        run(myriad, "bind", design, "--from", "ibnetdiscover", discover(fabric, scratch), "--out",
            binding)
        report = load(myriad, "apply", design, "--permutation", "3", "--binding", binding, "--out",
                      written)
        expect(report["planned"] == report["flows"] == nics, f"{report['planned']} planned")
        expect(report["max_link_load"] == 1, f"maximum load {report['max_link_load']}")
        fabric.opensm("file", "-U", written)
        wanted = read_tables(written.read_text())
        have = read_tables(fabric.tool("dump_lfts"))
        hosts = {guid for table in wanted.values() for guid in table} - set(wanted)
        differ = sum(have[switch].get(guid) != wanted[switch][guid]
                     for switch in wanted for guid in hosts)
        expect(len(wanted) == switches and len(hosts) == nics and differ == 0,
               f"{differ} entries of {len(wanted)} switches differ")
        lid = lids(fabric.tool("ibnetdiscover"))
        flows = random.Random(1).sample(report["paths"], 40)
        for flow in flows:
            ends = [lid[flow[end].replace("/", "-").replace(":", "-")] for end in ("from", "to")]
            expect(trace(fabric, *ends) == [egress_of(hop) for hop in flow["egress"]],
                   f"{flow}: {trace(fabric, *ends)}")
        note(f"{nics} NICs: {len(wanted) * len(hosts)} entries in {switches} switches as planned, "
             f"{len(flows)} flows traced, load 1")
        scratch.stop(fabric.process)


BLOCK = re.compile(r"^```(sh|yaml) ?(\S*)\n(.*?)^```$", re.M | re.S)
TOOLS = re.compile(r"\b(opensm -|ibsim -|ibnetdiscover >|dump_lfts >|ibqueryerrors >)")


def told(document):
    """The commands of those blocks that meet a fabric, and the files that other blocks are."""
    for kind, name, text in BLOCK.findall((ROOT / "docs" / document).read_text()):
        if kind == "yaml":
            yield name, text
            continue
        joined = re.sub(r"\\\n\s*", "", re.sub(r"^#.*\n", "", text, flags=re.M))
        if TOOLS.search(joined) or "--out out/" in joined:
            for command in joined.splitlines():
                yield None, command


def started(fabric, folder, command):
    """OpenSM as the document starts it, for one sweep: the first engine asked for is used."""
    inner = re.match(r"\(cd (\S+) && (.*)\)$", command)
    where, words = (folder / inner.group(1), inner.group(2)) if inner else (folder, command)
    words = words.split()[1:]
    if "-F" in words:
        settings = (where / words[words.index("-F") + 1]).read_text()
        engine = re.search(r"^routing_engine ([^,\n]+)", settings, re.M).group(1)
    else:
        engine = words[words.index("-R") + 1].split(",")[0]
    fabric.opensm(engine, *words, folder=where)
    note(f"{command}: {engine}")


def documents(myriad, scratch):
    """Every command of the documents that meets a fabric, as it stands there."""
    folder = scratch.path / "reader"
    folder.mkdir()
    (folder / "examples").symlink_to(ROOT / "examples")
    (folder / "myriad").symlink_to(myriad)
    env = {"PATH": f"{folder}:{os.environ['PATH']}:/usr/sbin"}
    fabric, count = None, 0
    for document in ("export.md", "verify.md"):
        for name, text in told(document):
            if name is not None:
                if name:
                    (folder / name).write_text(text)
                continue
            command = re.sub(r"^LD_PRELOAD=\S+ ", "", text)
            # Ours meets no fabric, and a sanitizer's build takes no other library in front.
            met = bool(TOOLS.search(command)) and not command.startswith("myriad ")
            count += met
            design = re.search(r"out/(\S+)/design.myr --for opensm", command)
            if command.startswith("ibsim"):
                fabric = Ibsim(scratch, folder / command.split()[-1], command.split()[1:-1])
            elif re.match(r"(\(cd \S+ && )?opensm ", command):
                if not fabric:
                    run(myriad, "export", "ibsim", folder / "out/h100-64/design.myr", "--out",
                        folder / "fabric.net")
                    fabric = Ibsim(scratch, folder / "fabric.net")
                started(fabric, folder, command)
            else:
                status = re.search(r"#.*\bexit (\d+)", command)
                run("bash", "-c", command, cwd=folder, timeout=120,
                    ok=(int(status.group(1)) if status else 0,),
                    env={**env, **(fabric.env if fabric and met else {})})
            if design and "torus" in command:
                run(myriad, "export", "ibsim", folder / "out/torus/design.myr", "--out",
                    folder / "torus.net")
                fabric = Ibsim(scratch, folder / "torus.net")
            elif design:
                run(myriad, "export", "ibsim", folder / "out/h100-64/design.myr", "--out",
                    folder / "fabric.net")
                fabric = Ibsim(scratch, folder / "fabric.net")
    expect(count >= 6, f"only {count} commands met a fabric")
    note(f"{count} commands of the documents ran")


main({"documents": documents, "bring-up": bring_up, "clean": clean, "faults": faults,
      "tables": tables, "file-routing": file_routing, "hosts": hosts,
      "hosts-2048": hosts_2048, "partitions": partitions})
