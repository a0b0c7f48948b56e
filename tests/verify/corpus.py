#!/usr/bin/env python3
"""Site files in the spellings of real tools, each with its truth.

    tests/verify/corpus.py MYRIAD            reads every case of tests/data/site, and judges
    tests/verify/corpus.py MYRIAD --write    writes the cases anew

A case is a folder: the files, and truth.json with the spec, the options, the state of every port
that is not right, the fewest moves, and the ports that nobody could tell ("ambiguous"). The truth
comes from wiring.py; what is written from spell.py. Neither shares anything with the readers.
"""
import json
import os
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True
import spell
import spell_more
from wiring import ROOT, STATES, Checks, Wiring, call, plan

DATA = ROOT / "tests/data/site"
READ_LEAST = 0.98
EVERY = int(os.environ.get("MYRIAD_EVERY", "1"))  # one in so many

SPECS = {
    "ib400": "servers: 16\nserver: h100-8gpu\nnetworks: {compute: {switch: mqm9790-ns2f}}\n",
    "ib200": "servers: 16\nserver: a100-8gpu\naccept: [no-optics]\n"
             "networks: {compute: {switch: mqm9790-ns2f, tiers: 2}}\n",
    "hdr": "servers: 16\nserver: a100-8gpu\nnetworks: {compute: {switch: qm8790}}\n",
    "xdr": "servers: 16\nserver: b300-8gpu-xdr\naccept: [no-optics]\n"
           "networks: {compute: {switch: q3400, leaf_down: 16}}\n",
    "eth400": "servers: 16\nserver: h100-8gpu\n"
              "networks: {compute: {switch: sn5600, leaf_down: 20}}\n",
    "eth800": "servers: 16\nserver: b300-8gpu-xdr\naccept: [no-optics]\n"
              "networks: {compute: {switch: sn5600}}\n",
    "eth200": "servers: 16\nserver: a100-8gpu\naccept: [no-optics]\n"
              "networks: {compute: {switch: sn5600, leaf_down: 16}}\n",
    "qsfp": "servers: 16\nserver: a100-8gpu\naccept: [no-optics]\n"
            "networks: {compute: {switch: eth-12t8-64x200}}\n",
    "odd": "servers: 14\nserver: h100-8gpu\nnetworks: {compute: {switch: mqm9790-ns2f, "
           "leaf_down: 7}}\n",
}
BOXES = {
    "ib400": spell.Box(2, cages=32), "ib200": spell.Box(2, cages=32), "odd": spell.Box(2, cages=32),
    "hdr": spell.Box(1, lanes=4, cages=40), "xdr": spell.Box(2, cages=72), "eth400": spell.Box(2),
    "eth800": spell.Box(1), "eth200": spell.Box(4), "qsfp": spell.Box(1, lanes=4),
}
SPEEDS = {"ib400": "4xNDR", "odd": "4xNDR", "ib200": "4xHDR", "hdr": "4xHDR", "xdr": "4xXDR"}


class Site(Wiring):
    """A wiring whose links have speeds, and planes that may be dark."""

    def __init__(self, myriad, design, name):
        super().__init__(myriad, design)
        self.name, self.box, self.speed = name, BOXES[name], SPEEDS.get(name, "")
        self.slow, self.dark, self.ambiguous, self.partial = {}, {}, set(), False
        self.options = []
        if name == "ib200":  # hosts at 200, uplinks at 400
            for a, z in self.planned:
                if not a[0].startswith("node-"):
                    self.slow[frozenset((a, z))] = "4xNDR"

    def cables_there(self):
        return [tuple(cable) for cable in self.cables if cable]

    def truth(self):
        states = self.states()
        for pair in self.dark:
            for end in pair:
                states[end] = "degraded"
        return states


# --- faults

def nothing(site):
    del site


def swap_uplinks(site):
    ups = [i for i, (a, _) in enumerate(site.planned) if a[0].startswith("leaf")]
    site.swap(ups[3], ups[len(ups) // 2])
    site.swap(ups[5], ups[-2])


def reversed_rails(site, host="node-00003"):
    site.permute({(host, f"nic{n}"): (host, f"nic{7 - n}") for n in range(8)})


def swapped_nics(site):
    """Two hosts have each other's cable, on different rails."""
    a, z = ("node-00002", "nic1"), ("node-00007", "nic5")
    site.permute({a: z, z: a})


def cuts(site):
    for number in (4, 77, len(site.cables) - 3):
        site.cut(number)


def leaf_pair(site):
    one, other = "leaf-p0-g0-r2", "leaf-p0-g0-r5"
    ports = {port for device, port in site.plan if device == one}
    site.permute({**{(one, p): (other, p) for p in ports}, **{(other, p): (one, p) for p in ports}})


def all_of_it(site):
    reversed_rails(site, "node-00011")
    swapped_nics(site)
    cuts(site)


def unnamed_nics(site):
    """Nobody can tell which NIC of which host is which."""
    site.ambiguous = {end for pair in site.planned for end in pair
                      if pair[0][0].startswith("node-")}


def three_hosts(site):
    """The others agree on what NICs are called: these three are cabled otherwise."""
    for host in ("node-00001", "node-00004", "node-00009"):
        reversed_rails(site, host)


def dark_plane(site):
    site.dark[frozenset(site.planned[20])] = 3


def half_built(site):
    """Only the first half of the hosts' cables is there, and somebody says so."""
    hosts = [i for i, (a, _) in enumerate(site.planned) if a[0].startswith("node-")]
    for number in hosts[len(hosts) // 2:]:
        site.hide(number)
    site.partial, site.options = True, ["--partial"]


FAULTS = {f.__name__.replace("_", "-"): f for f in (
    nothing, swap_uplinks, reversed_rails, swapped_nics, cuts, leaf_pair, all_of_it, three_hosts,
    unnamed_nics, dark_plane, half_built)}


# --- cases: name, design, faults, and who writes the files

def lists(form=spell.p2p, **names):
    return lambda site: form(site, spell.Speller(site.box, **names))


def infiniband(form, nics="mlx5", hosts="gpu", switches="own", **more):
    fabric = {key: more.pop(key) for key in ("header", "factory") if key in more}
    return lambda site: form(site, spell.IbFabric(site, site.box, nics, hosts, switches, **fabric),
                             **more)


def cases():
    ethernet = [("eth400", "sonic"), ("eth400", "sonic-alias"), ("eth400", "cumulus"),
                ("eth400", "eos"), ("eth400", "nx-os"), ("eth400", "junos"),
                ("eth400", "celestica"), ("eth800", "sonic"), ("eth800", "sonic-alias"),
                ("eth800", "cumulus"),
                ("eth800", "eos"), ("eth800", "eos-plain"), ("eth800", "nx-os-short"),
                ("eth800", "junos"), ("eth800", "onyx"), ("eth200", "sonic"),
                ("eth200", "eos-short"), ("eth200", "fboss"), ("qsfp", "sonic"),
                ("qsfp", "cumulus")]
    faults = ["nothing", "swap-uplinks", "reversed-rails", "swapped-nics", "cuts", "leaf-pair",
              "all-of-it"]
    for number, (design, system) in enumerate(ethernet):
        nics = ["own", "mlx5", "enp", "rdma", "rail", "capitals"][number % 6]
        hosts = ["own", "gpu", "domain", "capitals", "own-domain", "slash"][number % 6]
        if design != "eth400" and nics == "own" and hosts == "gpu":
            nics = "mlx5"
        yield f"{design}-{system}", design, faults[number % 7], lists(
            ports=system, nics=nics, hosts=hosts)
    yield "eth400-messy", "eth400", "nothing", lambda site: spell.p2p(
        site, spell.Speller(site.box, ports="sonic", nics="eth", hosts="capitals"), messy=True)
    yield "eth400-eth0", "eth400", "reversed-rails", lists(ports="eos", nics="eth", hosts="gpu")
    yield "eth800-netbox-import", "eth800", "swapped-nics", lists(
        spell.netbox_import, ports="junos", nics="enp", hosts="gpu")
    yield "eth800-netbox-export", "eth800", "cuts", lists(
        spell.netbox_export, ports="nx-os", nics="mlx5", hosts="domain")
    yield "eth800-ptm", "eth800", "swap-uplinks", lists(
        spell.ptm, ports="cumulus", nics="enp", hosts="own")
    yield "eth800-netq", "eth800", "reversed-rails", lists(
        spell.netq, ports="cumulus", nics="enp", hosts="gpu")
    for shape in ("json", "json0"):
        yield f"eth800-lldp-{shape}", "eth800", "swapped-nics", lists(
            lambda site, speller, shape=shape: spell.lldp(site, speller, shape),
            ports="sonic-alias", nics="enp", hosts="gpu")
    yield "eth800-lldp-mac", "eth800", "unnamed-nics", lists(
        lambda site, speller: spell.lldp(site, speller, mac=True), ports="sonic-alias", nics="enp")
    yield "eth800-sonic-table", "eth800", "leaf-pair", lambda site: spell.sonic_table(
        site, spell.Speller(site.box, ports="sonic", nics="mlx5", hosts="gpu"),
        spell.Speller(site.box, ports="sonic-alias", nics="mlx5", hosts="gpu"))
    yield "eth400-half-built", "eth400", "half-built", lists(ports="cumulus", nics="mlx5")
    yield "eth400-three-hosts", "eth400", "three-hosts", lists(ports="cumulus", nics="mlx5")
    yield from dgx_cases()
    yield from infiniband_cases()
    yield from other_ethernet_cases()
    yield from other_infiniband_cases()


def dgx_cases():
    for number, nics in enumerate(("dgx-cages", "dgx-slashes", "dgx")):
        yield f"eth400-{nics}", "eth400", ["three-hosts", "reversed-rails", "nothing"][
            number], lists(ports="sonic-alias", nics=nics, hosts="gpu")
    yield "ib400-dgx", "ib400", "three-hosts", infiniband(spell.ibnetdiscover, "dgx")
    yield "ib400-dgx-hca", "ib400", "reversed-rails", infiniband(spell.ib_lines, "dgx-hca")


def infiniband_cases():
    ports = ("own", "mlnx-os", "mlnx-cli", "ufm", "ib-number", "nvos", "library")
    faults = ["nothing", "swap-uplinks", "reversed-rails", "swapped-nics", "cuts", "leaf-pair",
              "all-of-it"]
    for number, system in enumerate(ports):
        yield f"ib400-list-{system}", "ib400", faults[number], lists(
            ports=system, nics="mlx5", hosts="gpu", switches="managed" if number % 2 else "own")
    for number, system in enumerate(("mlnx-os", "mlnx-cli", "cumulus")):
        yield f"hdr-list-{system}", "hdr", faults[number + 2], lists(ports=system, nics="hca",
                                                                     hosts="own")
    forms = {"ibnetdiscover": spell.ibnetdiscover, "ib-lines": spell.ib_lines,
             "iblinkinfo": spell.iblinkinfo, "net-dump": spell.net_dump, "lst": spell.ib_list}
    number = 0
    for design in ("ib400", "hdr"):
        for form, write in forms.items():
            switches = ["own", "managed", "blanks", "domain", "capitals"][number % 5]
            nics = ["mlx5", "hca", "pci", "own"][number % 4]
            hosts = ["gpu", "domain", "own", "capitals"][number % 4]
            yield f"{design}-{form}", design, faults[(number + 1) % 7], infiniband(
                write, nics, hosts, switches)
            number += 1
    yield "ib200-ibnetdiscover", "ib200", "all-of-it", infiniband(spell.ibnetdiscover)
    yield "ib200-ibnetdiscover-right", "ib200", "nothing", infiniband(spell.ibnetdiscover)
    yield "odd-ibnetdiscover", "odd", "nothing", infiniband(spell.ibnetdiscover)
    yield "odd-lst", "odd", "swap-uplinks", infiniband(spell.ib_list, "own", "own")
    yield "ib400-three-hosts", "ib400", "three-hosts", infiniband(spell.ibnetdiscover)
    yield "ib400-factory", "ib400", "unnamed-nics", infiniband(spell.ibnetdiscover, factory=True)
    for forms in (("mlnx-os", "ufm", "ib-number"), ("nvos",)):
        yield f"ib400-ufm-{forms[0]}", "ib400", "swapped-nics", infiniband(spell.ufm, forms=forms)
    yield "xdr-four-chips", "xdr", "nothing", infiniband(spell.four_chips, header=145)
    yield "xdr-dark-plane", "xdr", "dark-plane", infiniband(spell.four_chips, header=145)
    yield "xdr-swaps", "xdr", "all-of-it", infiniband(spell.four_chips, header=145)
    yield "xdr-ufm", "xdr", "cuts", infiniband(spell.ufm, forms=("nvos",))


FAULTS_IN_TURN = ("nothing", "swap-uplinks", "reversed-rails", "swapped-nics", "cuts", "leaf-pair",
                  "all-of-it")


def other_ethernet_cases():
    """Systems of further vendors, names of a site's own, and lists with more than the fabric."""
    boxes = [("eth400", "huawei"), ("eth800", "h3c"), ("eth400", "ruijie"), ("eth800", "ios-xr"),
             ("eth200", "srlinux"), ("eth400", "sros"), ("eth800", "os10"), ("eth400", "eos-words"),
             ("eth200", "h3c"), ("eth800", "huawei"), ("eth400", "ios-xr"), ("eth400", "os10")]
    for number, (design, system) in enumerate(boxes):
        yield f"{design}-other-{system}", design, FAULTS_IN_TURN[number % 7], lists(
            ports=system, nics=["bnxt", "ens", "arm", "rocep", "slot"][number % 5],
            hosts=["serial", "rack", "manager", "shouted"][number % 4],
            switches=["own", "capitals", "domain"][number % 3])
    yield "eth800-with-oob", "eth800", "swap-uplinks", lists(
        spell_more.p2p_with_oob, ports="sonic", nics="ens", hosts="rack")
    yield "eth400-cvt-sheet", "eth400", "reversed-rails", lists(
        spell_more.cvt_sheet, ports="cumulus", nics="count", hosts="manager")
    yield "eth400-cvt-links", "eth400", "cuts", lists(
        spell_more.cvt_links, ports="sonic-alias", nics="rail", hosts="shouted")
    yield "eth400-netbox-full", "eth400", "all-of-it", lists(
        spell_more.netbox_full, ports="eos", nics="ens", hosts="rack")
    yield "eth800-netbox-view", "eth800", "leaf-pair", lists(
        spell_more.netbox_view, ports="junos", nics="mlx5", hosts="serial")
    for form, design, system, fault in (("ifname", "eth400", "eos", "swapped-nics"),
                                        ("ifname", "eth800", "huawei", "nothing"),
                                        ("index", "eth400", "junos", "swap-uplinks"),
                                        ("hosts-mac", "eth400", "cumulus", "reversed-rails"),
                                        ("one-file", "eth800", "nx-os", "leaf-pair")):
        write = getattr(spell_more, f"lldp_{form.replace('-', '_')}")
        yield f"{design}-lldp-{form}-{system}", design, fault, lists(
            write, ports=system, nics="ens", hosts="rack")
    yield "eth800-sonic-table-oob", "eth800", "nothing", lambda site: spell_more.sonic_table_oob(
        site, spell.Speller(site.box, ports="sonic", nics="ens", hosts="manager"),
        spell.Speller(site.box, ports="sonic-alias", nics="ens", hosts="manager"))
    yield "eth400-netq-filled", "eth400", "swapped-nics", lists(
        spell_more.netq_filled, ports="cumulus", nics="ens", hosts="shouted")
    yield "eth800-ptm-plain", "eth800", "reversed-rails", lists(
        spell_more.ptm_plain, ports="cumulus", nics="ens", hosts="rack")


def other_infiniband_cases():
    for number, (design, system) in enumerate((("ib400", "ib-p"), ("ib400", "ib-port"),
                                               ("hdr", "ib-p"))):
        yield f"{design}-list-{system}", design, FAULTS_IN_TURN[number + 1], lists(
            ports=system, nics="ib", hosts="rack", switches="managed" if number else "own")
    for number, (form, design, nics) in enumerate((
            ("topo", "ib400", "mlx5"), ("topo", "hdr", "ib"), ("ufm_filled", "ib400", "mlx5"),
            ("iblinkinfo_lines", "ib400", "mlx5"), ("iblinkinfo_lines", "hdr", "hca"))):
        yield f"{design}-{form.replace('_', '-')}", design, FAULTS_IN_TURN[(number + 2) % 7], \
            infiniband(getattr(spell_more, form), nics, ["rack", "serial"][number % 2])
    # Switches that the design does not know by name: what changed places is not to be seen then.
    for number, (form, design) in enumerate((("ib_lines", "hdr"), ("net_dump", "ib400"),
                                             ("ib_list", "ib400"), ("topo", "ib400"))):
        yield f"{design}-site-names-{form.replace('_', '-')}", design, \
            FAULTS_IN_TURN[(number + 2) % 5], infiniband(
                getattr(spell if hasattr(spell, form) else spell_more, form), "mlx5",
                "serial", "managed-site" if number % 2 else "site")
    yield "ib400-ufm-guids", "ib400", "unnamed-nics", infiniband(spell_more.ufm_guids)
    yield "odd-topo", "odd", "all-of-it", infiniband(spell_more.topo, "hca", "rack")



def design_of(myriad, folder, name, spec=None):
    out = Path(folder) / name
    out.mkdir(exist_ok=True)
    path = out / "small" / "design.myr"
    return path if path.exists() else plan(myriad, out, spec or f"name: {name}\n{SPECS[name]}")


def write(myriad, folder):
    for name, design, fault, make in cases():
        site = Site(myriad, design_of(myriad, folder, design), design)
        FAULTS[fault](site)
        out = DATA / name
        for path, text in make(site).items():
            (out / path).parent.mkdir(parents=True, exist_ok=True)
            (out / path).write_text(text, encoding="utf-8")
        states = site.truth()
        counts = {state: sum(found == state for found in states.values()) for state in STATES}
        truth = {"design": design, "spec": f"name: {design}\n{SPECS[design]}", "fault": fault,
                 "options": site.options, "files": sorted({p.split("/")[0] for p in make(site)}),
                 "ports": counts, "moves": list(site.moves()),
                 "not_right": sorted([*port, state] for port, state in states.items()
                                     if state != "right"),
                 "ambiguous": sorted(map(list, site.ambiguous))}
        text = json.dumps(truth, separators=(",", ":"))
        (out / "truth.json").write_text(text + "\n", encoding="utf-8")


# --- the judge

def judge(checks, myriad, folder, name, truth, data=None):
    design = design_of(myriad, folder, truth["design"], truth["spec"])
    wiring = Wiring(myriad, design)
    files = [(data or DATA / name) / file for file in truth["files"]]
    result = wiring.verify(*files, options=truth["options"])
    found = wiring.listed_states(*files, options=truth["options"])
    expected = {(device, port): state for device, port, state in truth["not_right"]}
    ambiguous = {tuple(port) for port in truth["ambiguous"]}
    total = len(wiring.plan)
    unread = {port for port, state in found.items() if state == "unread"}
    checks.same(f"{name}: unread that can be told", sorted(unread - ambiguous)[:3], [])
    checks.true(f"{name}: {len(unread)} of {total} unread",
                len(unread - ambiguous) <= (1 - READ_LEAST) * total)
    other = [(port, found.get(port, "right"), expected.get(port, "right"))
             for port in sorted(found.keys() | expected.keys())
             if found.get(port) != expected.get(port) and port not in ambiguous]
    checks.same(f"{name}: states", other[:3], [])
    planned = not expected and not ambiguous
    checks.same(f"{name}: as planned", result["clean"],
                planned or (truth["options"] == ["--partial"] and
                            set(expected.values()) == {"unseen"}))
    repair = result["repair"]
    if truth.get("splitters"):  # several legs may move as one plug
        checks.true(f"{name}: moves, at most", repair["moves"] <= truth["moves"][0])
    elif not ambiguous:
        checks.same(f"{name}: moves", [repair["moves"], repair["adds"], repair["removes"]],
                    truth["moves"])
    # A port that is right, or that nobody can tell, is in no step.
    touched = {(step[f"{end}_device"].replace("/", "-", 1), step[f"{end}_port"])
               for step in repair["steps"] for end in ("at", "to") if step[f"{end}_device"]}
    false = {port for port in touched if port in wiring.plan and
             (expected.get(port, "right") == "right" or port in ambiguous)}
    checks.same(f"{name}: false moves", sorted(false)[:3], [])


def main():
    myriad = sys.argv[1]
    with tempfile.TemporaryDirectory(prefix="myriad-corpus-") as folder:
        if "--write" in sys.argv:
            write(myriad, folder)
            return
        checks = Checks()
        names = sorted(path.parent.name for path in DATA.glob("*/truth.json"))
        checks.true(f"{len(names)} cases, at least 60", len(names) >= 60)
        for name in sys.argv[2:] or names[::EVERY]:
            truth = json.loads((DATA / name / "truth.json").read_text())
            judge(checks, myriad, folder, name, truth)
        checks.end()


if __name__ == "__main__":
    main()
