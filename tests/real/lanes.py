#!/usr/bin/env python3
"""Lanes as OpenSM hands them out: no circle of buffers in any of them, on fabrics without tiers.

The settings that 'route apply' writes are given to OpenSM; forwarding tables and lane maps are its
own dumps, service levels its own answers to every pair of hosts.
"""
import random
import sys

from parts import Ibsim, Path, expect, main, need, note, os, plan, re, run, subprocess, wait_for

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "site"))
import dependency  # noqa: E402

SPEC = "name: {}\nservers: {}\nserver: h100-8gpu\nnetworks:\n  compute: {{switch: mqm9790, {}}}\n"
FABRICS = {
    "torus": SPEC.format("torus", 8, "topology: torus, dims: [4, 4, 2], trunk: 2"),
    "torus-2d": SPEC.format("torus-2d", 5, "topology: torus, dims: [5, 4], hosts_per_switch: 2"),
    "dragonfly": SPEC.format("dragonfly", 9, "topology: dragonfly, group_switches: 4, "
                             "hosts_per_switch: 2, global_ports: 2"),
    "dragonfly+": SPEC.format("dragonfly-plus", 8, "topology: dragonfly+, group_switches: 4, "
                              "hosts_per_switch: 4, global_ports: 4"),
}
SAFE = {"torus-2QoS", "dfsssp", "nue"}


class Manager:
    """OpenSM running on a simulated fabric, after its first sweep."""

    def __init__(self, scratch, fabric, settings):
        self.scratch, self.fabric = scratch, fabric
        self.folder = fabric.folder / scratch.unique("opensm")
        self.folder.mkdir()
        env = {**os.environ, **fabric.env, "OSM_CACHE_DIR": str(self.folder),
               "OSM_TMP_DIR": str(self.folder)}
        flush = self.folder / "opensm.conf"
        flush.write_text(settings.read_text() + "force_log_flush TRUE\n")
        self.log = self.folder / "opensm.log"
        self.process = scratch.start(
            ["opensm", "-F", flush, "-f", self.log, "-D", "0x43", "--dump_files_dir", self.folder],
            env=env, cwd=self.folder,  # the simulator's client leaves a folder where it is killed
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_for("the first sweep", lambda: self.log.exists() and "SUBNET UP" in self.text())

    def text(self):
        return self.log.read_text(errors="replace")

    def engine(self):
        used = re.findall(r"osm_ucast_mgr_process: (\S+) tables configured", self.text())
        return used[-1] if used else None

    def dump(self, name):
        return (self.folder / name).read_text(errors="replace")

    def lids(self):
        """{port GUID: LID} of hosts, and the manager's own LID."""
        rows = re.findall(r"\{ (CA|CA-SM) Ports:\S+ .*?PortGUID:([0-9a-f]+) .*?LID:([0-9A-Fa-f]+) ",
                          self.dump("opensm-subnet.lst"))
        found = {int(guid, 16): int(lid, 16) for _, guid, lid in rows}
        manager = {int(lid, 16) for kind, _, lid in rows if kind == "CA-SM"}
        expect(len(manager) == 1, f"managers {manager}")
        return found, manager.pop()

    def levels(self):
        """{(source port GUID, destination port GUID): service level} of all pairs of hosts."""
        lids, manager = self.lids()
        names = {lid: guid for guid, lid in lids.items()}
        asked = run(sys.executable, Path(__file__).with_name("umad_paths.py"), timeout=120,
                    env=self.fabric.env, cwd=self.folder,
                    text=" ".join(map(str, [manager, *lids.values()])))
        found = {}
        for line in asked.output.splitlines():
            source, target, level = map(int, line.split())
            found[names[source], names[target]] = level
        expect(len(found) == len(lids) ** 2, f"{len(found)} answers for {len(lids)} hosts")
        return found

    def lanes(self):
        """{(device GUID, in, out): lanes by service level}."""
        found, here = {}, None
        for line in self.dump("opensm-sl2vl.dump").splitlines():
            head = re.match(r"(?:Channel Adapter|Switch) 0x([0-9a-f]+)", line)
            row = re.match(r"(\d+)\s+(\d+)\s+: ([\d ]+)$", line)
            if head:
                here = int(head.group(1), 16)
            elif row:
                found[here, int(row.group(1)), int(row.group(2))] = \
                    list(map(int, row.group(3).split()))
        return found


def judge(manager, fabric):
    """Every pair of hosts along OpenSM's tables and lanes; returns pairs and lanes used."""
    egress = dependency.tables(manager.dump("opensm-lfts.dump"))
    levels, maps = manager.levels(), manager.lanes()
    used, pairs = set(), 0
    for (source, target), level in levels.items():
        if source == target or source not in fabric.hosts or target not in fabric.hosts:
            continue
        expect(level >= 0, f"no path from {source:x} to {target:x}")

        def lane(switch, came_by, port, level=level):
            return maps[switch, came_by, port][level]
        arrived = fabric.walk(fabric.hosts[source], target,
                              lambda switch, to: egress[switch].get(to), lane)
        expect(arrived, f"the tables do not lead from {source:x} to {target:x}")
        pairs += 1
    used = {node[2] for node in fabric.edges}
    wrong = fabric.cycle()
    expect(not wrong, f"{wrong} buffers wait for each other")
    return pairs, len(used)


def failures(draw, ends, spared):
    """Some links between switches, and now and then a whole switch: not that of the manager."""
    switches = sorted({end[0] for end in ends.values()} | {end[2] for end in ends.values()})
    dead = draw.sample(sorted(ends), draw.randint(1, 3))
    if draw.random() < 0.3:
        dead.append(draw.choice([name for name in switches if name != spared]))
    return dead


def judged(myriad, scratch, kind, draw):
    design = plan(myriad, scratch, FABRICS[kind], kind)
    files = scratch.path / scratch.unique("net")
    run(myriad, "export", "ibsim", design, "--out", files)
    links, switches = dependency.netlist(files.read_text())
    ends = dependency.switch_links(
        run(myriad, "route", "failover", design, "--all", "-o", "json").output)
    names = dependency.Names(ends, files.read_text())
    first = links[min(end for end in links if end[0] not in switches)][0]  # where OpenSM runs
    spared = next(name for name, guid in names.devices.items() if guid == first)
    dead = failures(draw, ends, spared.replace("-", "/", 1)) if draw else []
    settings = scratch.path / scratch.unique("conf")
    report = run(myriad, "route", "apply", design, "--out", settings, "-o", "json",
                 *(["--dead", ",".join(dead)] if dead else []))
    fabric = Ibsim(scratch, files)
    for device, port in sorted(names.ends(dead)):
        fabric.console(f'Unlink "S-{device:016x}"[{port}]')
    if '"engine": "file"' in report.output:
        settings.rename(settings.with_suffix(".lfts"))
        settings.write_text(f"routing_engine file,no_fallback\n"
                            f"lfts_file {settings.with_suffix('.lfts')}\n")
    manager = Manager(scratch, fabric, settings)
    engine = manager.engine()
    expect(engine in SAFE | {"file"}, f"OpenSM used {engine}")
    pairs, lanes = judge(manager, dependency.Fabric(links, switches, names.ends(dead)))
    scratch.stop(manager.process, 0)
    scratch.stop(fabric.process)
    return f"{engine}: {pairs} pairs on {lanes} lanes without {' '.join(dead) or 'a failure'}"


def intact(myriad, scratch):
    """Nothing is dead."""
    need("ibsim", "opensm")
    for kind in FABRICS:
        note(f"{kind}: {judged(myriad, scratch, kind, None)}")


def broken(myriad, scratch):
    """Links and switches die, and what is written for what is left holds."""
    need("ibsim", "opensm")
    count = int(os.environ.get("MYRIAD_LANES", "2"))
    for kind in FABRICS:
        for seed in range(count):
            done = judged(myriad, scratch, kind, random.Random(f"{kind} {seed}"))
            note(f"{kind}, failure {seed}: {done}")


main({"intact": intact, "broken": broken})
