#!/usr/bin/env python3
"""The sites of field.py: which there are, with their truth, and as many more as one likes.

    tests/verify/field_cases.py MYRIAD --write          the cases of tests/data/site that begin so
    tests/verify/field_cases.py MYRIAD --random 200 7   that many drawn sites, judged as the corpus
"""
import json
import random
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True
import corpus
import field
import field_ib
import field_lists
from wiring import STATES, Checks, Wiring, plan

SERVERS = 16
DESIGNS = {  # switch, server, more of the network's spec
    "dgx97": ("mqm9700-ns2f", "dgx-h100", ""), "ib97": ("mqm9700-ns2f", "h100-8gpu", ""),
    "dgxb": ("mqm9700-ns2f", "dgx-b200", ""),
    "ib87": ("mqm8700-hs2f", "a100-8gpu", ""), "half97": ("mqm9700-ns2f", "a100-8gpu", ""),
    "twin97": ("mqm9700-ns2f", "h100-8gpu-2x200", ""), "x34": ("q3400", "b300-8gpu-xdr", "16"),
    "sp4": ("sn5600", "h100-8gpu", "20"), "sp4-800": ("sn5600", "b300-8gpu-xdr", ""),
    "sp4-2p": ("sn5600", "b300-8gpu", "32"), "sp5": ("sn5640", "h100-8gpu", "16"),
    "sn47": ("sn4700", "h100-8gpu", ""), "sn47-half": ("sn4700", "a100-8gpu", ""),
    "sn54": ("sn5400", "h100-8gpu", "32"), "z98": ("z9864f-on", "h100-8gpu", "16"),
    "x6": ("dcs-7060x6-64pe", "dgx-h200", "16"), "qfx": ("qfx5240-64od", "h100-8gpu", "24"),
    "sn66": ("sn6600-ld", "b300-8gpu-xdr", "16"), "sn68": ("sn6810-ld", "b300-8gpu-xdr", "16"),
    "sp4-200": ("sn5600", "a100-8gpu", "16"),
}
INFINIBAND = ("dgx97", "dgxb", "ib97", "ib87", "half97", "twin97", "x34")


def spec_of(name):
    switch, server, down = DESIGNS[name]
    more = f", leaf_down: {down}" if down else ""
    return (f"name: {name}\nservers: {SERVERS}\nserver: {server}\naccept: [no-optics]\n"
            f"networks: {{compute: {{switch: {switch}{more}}}}}\n")


class Site(Wiring):
    """A wiring with its boxes and speeds, and what was looked at."""

    def __init__(self, myriad, design, name):
        super().__init__(myriad, design)
        self.name, self.box = name, field.BOXES[DESIGNS[name][0]]
        self.dark, self.slow, self.ambiguous, self.looked_at = {}, set(), set(), None

    def cables_there(self):
        return [tuple(cable) for cable in self.cables if cable]

    def rate(self, a, z):
        """Lanes and speed of a link, as it should be or half of it."""
        if self.box.chips > 1:
            return 1, "NDR" if frozenset((a, z)) in self.slow else "XDR"
        host = a if a[0].startswith("node-") else z
        halves = any(end[1].count("/") == 2 for end in (a, z))
        if frozenset((a, z)) in self.slow:
            return (1, "HDR") if halves else (2, "HDR")
        if self.name == "ib87" or (self.name == "half97" and host[0].startswith("node-")):
            return 4, "HDR"
        return (2 if halves else 4), "NDR"

    def seen_devices(self, found):
        return self.looked_at if self.looked_at else super().seen_devices(found)

    def states(self):
        states = super().states()
        return self.hear(states, self.looked_at) if self.looked_at else states

    def truth(self):
        states = self.states()
        for pair in [*self.slow, *self.dark]:
            for end in pair:
                states[end] = "degraded"
        return states


# --- faults

def uplinks(site):
    return [i for i, (a, z) in enumerate(site.planned)
            if not a[0].startswith("node-") and not z[0].startswith("node-")]


def nothing(site, draw):
    del site, draw


def swap_some(site, draw):
    """Exchanges of plugs anywhere, at either end."""
    for _ in range(draw.randrange(1, 5)):
        one, other = draw.sample(range(len(site.cables)), 2)
        a, z = site.cables[one], site.cables[other]
        if a and z and not {a[1], z[1]} & {None}:
            a[1], z[1] = z[1], a[1]


def rails(site, draw):
    """The NICs of one host in another order."""
    host = f"node-{draw.randrange(SERVERS):05d}"
    nics = [f"nic{n}" for n in range(8)]
    other = nics[:]
    draw.shuffle(other)
    site.permute({(host, a): (host, z) for a, z in zip(nics, other)})


def two_hosts(site, draw):
    """A cable of one host in another one's NIC, on another rail."""
    one, other = draw.sample(range(SERVERS), 2)
    a, z = (f"node-{one:05d}", f"nic{draw.randrange(4)}"), \
        (f"node-{other:05d}", f"nic{draw.randrange(4, 8)}")
    site.permute({a: z, z: a})


def cut_some(site, draw):
    for number in draw.sample(range(len(site.cables)), 3):
        site.cut(number)


def slow_some(site, draw):
    for number in draw.sample(range(len(site.cables)), 3):
        site.slow.add(frozenset(site.planned[number]))


def two_leaves(site, draw):
    leaves = sorted({d for d, _ in site.plan if d.startswith("leaf")})
    if len(leaves) < 3:
        return
    one, other = draw.sample(leaves, 2)
    each = {port for device, port in site.plan if device == one}
    site.permute({**{(one, p): (other, p) for p in each}, **{(other, p): (one, p) for p in each}})


FAULTS = {"nothing": nothing, "swaps": swap_some, "rails": rails, "two-hosts": two_hosts,
          "cuts": cut_some, "slow": slow_some, "two-leaves": two_leaves}


def unnamed(site):
    """Nobody can tell which NIC of which host is which."""
    site.ambiguous = {end for pair in site.planned for end in pair
                      if pair[0][0].startswith("node-")}


# --- one site: what there is to choose, and what is chosen

def systems_of(name, form):
    part = DESIGNS[name][0]
    if name in INFINIBAND:
        if form not in field_lists.LISTS:
            return ["plan"]
        out = ["plan", "mlnxos", "mlnxos-cli", "nvos"] if name != "x34" else ["plan", "nvos"]
        if name in ("dgx97", "ib97", "dgxb"):
            out += ["slash", "number", "library"]
        return [s for s in out if not (name in ("ib87",) and s in ("nvos",))]
    out = {"dcs-7060x6-64pe": ["eos", "sonic", "alias", "fboss"],
           "qfx5240-64od": ["junos", "alias"],
           "z9864f-on": ["sonic", "alias", "celestica"],
           "sn4700": ["sonic", "alias", "cumulus", "onyx"]}.get(
               part, ["sonic", "alias", "cumulus", "nxos"])
    if form == "sonic-table":
        return [s for s in out if s in ("sonic", "alias")]
    if form == "netq":
        return [s for s in out if s == "cumulus"] or ["cumulus"]
    return out + (["plan"] if form in field_lists.LISTS else [])


def nics_of(name, form):
    server = DESIGNS[name][1]
    if "2x200" in server or server == "b300-8gpu":  # two ports a card
        return ["plan", "mlx5", "bus", "netdev", "roce"] if name not in INFINIBAND else \
            ["plan", "mlx5", "hca", "bus"]
    if name in ("dgx97", "x6"):
        return ["dgx", "dgx-bus", "plan"] + (["dgx-cage"] if form in field_lists.LISTS else []) + (
            ["dgx-netdev"] if name == "x6" else ["dgx-hca"])
    if name in INFINIBAND:
        return ["plan", "mlx5", "hca", "bus1"]
    return ["plan", "mlx5", "netdev1", "rdma", "rail0", "rail1", "eth", "roce"]


def drawn(seed):
    draw = random.Random(f"field/{seed}")
    name = draw.choice(sorted(DESIGNS))
    forms = [*field_lists.LISTS] + ([*field_ib.FORMS] * 2 if name in INFINIBAND
                                    else [*field_lists.LLDP])
    form = draw.choice(forms)
    if form == "netq" and "cumulus" not in systems_of(name, "ptm"):
        form = "lldp"
    if form == "sonic-table" and "sonic" not in systems_of(name, "ptm"):
        form = "lldp0"
    if form == "ufm" and name in ("half97", "twin97", "ib87"):
        form = "lst"
    in_band = form in field_ib.FORMS
    mess = {word for word in ("case", "domain", "blanks", "turned", "oob", "sharp", "dos", "notes",
                              "alias-set") if draw.random() < 0.3}
    if form in ("ptm", "netq"):
        mess.discard("blanks")
    faults = [f for f in FAULTS if in_band and form != "ufm" or f != "slow"]
    return dict(name=name, form=form, system=draw.choice(systems_of(name, form)),
                nics=draw.choice(nics_of(name, form)), hosts=draw.choice(sorted(field.HOSTS)),
                managed=name == "x34" or (in_band and draw.random() < 0.4),
                mess=sorted(mess), fault=draw.choice(faults), seed=seed)


def make(myriad, folder, how):
    """Files and truth of one site."""
    site = Site(myriad, design_of(myriad, folder, how["name"]), how["name"])
    FAULTS[how["fault"]](site, random.Random(f"fault/{how['seed']}"))
    look = field.Look(site, how["system"], how["nics"], how["hosts"], how["managed"], how["mess"],
                      how.get("own_names", False))
    if how["form"] in field_lists.LLDP:
        site.looked_at = set(field.switches(site))
    writers = {**field_lists.LISTS, **field_lists.LLDP, **field_ib.FORMS}
    files = writers[how["form"]](site, look)
    if "factory" in how["mess"]:
        unnamed(site)
    states = site.truth()
    counts = {state: sum(found == state for found in states.values()) for state in STATES}
    return files, {
        "design": how["name"], "spec": spec_of(how["name"]), "fault": how["fault"],
        "options": how.get("options", []), "files": sorted({p.split("/")[0] for p in files}),
        "ports": counts, "moves": list(site.moves()),
        "splitters": how["name"] in ("half97", "twin97", "sn47-half"),
        "not_right": sorted([*port, state] for port, state in states.items() if state != "right"),
        "ambiguous": sorted(map(list, site.ambiguous))}


def design_of(myriad, folder, name):
    out = Path(folder) / name
    out.mkdir(exist_ok=True)
    path = out / "small" / "design.myr"
    return path if path.exists() else plan(myriad, out, spec_of(name))


def put(files, truth, out):
    for path, text in files.items():
        (out / path).parent.mkdir(parents=True, exist_ok=True)
        (out / path).write_text(text, encoding="utf-8", newline="")
    (out / "truth.json").write_text(json.dumps(truth, separators=(",", ":")) + "\n")


def judge_drawn(myriad, count, first):
    failed = 0
    with tempfile.TemporaryDirectory(prefix="myriad-field-") as folder:
        for seed in range(first, first + count):
            how = drawn(seed)
            files, truth = make(myriad, folder, how)
            out = Path(folder) / "site" / str(seed)
            put(files, truth, out)
            checks = Checks()
            try:
                corpus.judge(checks, myriad, folder, str(seed), truth, out)
            except SystemExit as stop:
                checks.failed.append(str(stop)[-300:])
            if checks.failed:
                failed += 1
                print(seed, {k: v for k, v in how.items() if k != "seed"})
                for line in checks.failed:
                    print("   ", line[:240])
    print(f"{count} sites, {failed} misread")
    return failed


FIRST_SEED, MOST_SEEDS = 1000, 400


def chosen():
    """Of the drawn sites those with a kind of file, a system or a design that none had before."""
    seen = set()
    for seed in range(FIRST_SEED, FIRST_SEED + MOST_SEEDS):
        how = drawn(seed)
        band = how["name"] in INFINIBAND
        kinds = {(band, how["form"]), (band, "port", how["system"]), how["name"],
                 (band, "nic", how["nics"]), (band, "fault", how["fault"])}
        if not kinds <= seen:
            seen |= kinds
            yield how


def write(myriad):
    with tempfile.TemporaryDirectory(prefix="myriad-field-") as folder:
        for how in chosen():
            files, truth = make(myriad, folder, how)
            out = corpus.DATA / f"field-{how['name']}-{how['form']}-{how['system']}"
            put(files, truth, out)


def main():
    myriad = sys.argv[1]
    if sys.argv[2] == "--write":
        write(myriad)
        return
    if sys.argv[2] == "--random":
        sys.exit(1 if judge_drawn(myriad, int(sys.argv[3]), int(sys.argv[4])) else 0)


if __name__ == "__main__":
    main()
