#!/usr/bin/env python3
"""Sites once more, by a third hand: other designs, other names, other habits of the same tools.

    tests/verify/third.py MYRIAD [COUNT [FIRST]]     sites drawn by seeds, judged
    tests/verify/third.py MYRIAD --keep SEED...      into tests/data/site, as corpus.py reads them

Nothing of spell.py, field.py or the readers is used; the truth is wiring.py's. Half of the sites
have switches under names that the design does not know. What must hold for each: never "as planned"
where something is miswired or unseen; no port that is right in a step, called wrong, missing or
extra; no port that is not right called right. Where model and system are known 98 of 100 ports are
read.
"""
import json
import random
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True
import third_files
from wiring import ROOT, STATES, Wiring, call, plan

READ_LEAST = 0.98
DESIGNS = {  # servers, server, switch, leaf_down, cages, lanes of a cage, InfiniBand
    "t-ndr": (24, "h100-8gpu", "mqm9790-ns2f", 12, 32, 8, True),
    "t-hdr": (20, "a100-8gpu", "qm8790", 10, 40, 4, True),
    "t-xdr": (24, "b300-8gpu-xdr", "q3400", 12, 72, 8, True),
    "t-sn56": (24, "h100-8gpu", "sn5600", 12, 64, 8, False),
    "t-sn56-800": (20, "b300-8gpu-xdr", "sn5600", 10, 64, 8, False),
    "t-7060": (24, "h100-8gpu", "dcs-7060x6-64pe", 24, 64, 8, False),
    "t-z98": (32, "h100-8gpu", "z9864f-on", 16, 64, 8, False),
    "t-qfx": (18, "h100-8gpu", "qfx5240-64od", 9, 64, 8, False),
}
SYSTEMS = {"t-sn56": ("cumulus", "sonic", "alias"), "t-sn56-800": ("cumulus", "sonic", "alias"),
           "t-7060": ("eos", "eos-short", "sonic"), "t-z98": ("sonic", "alias", "os10"),
           "t-qfx": ("junos",), "t-ndr": ("mlnx", "ufm", "number"), "t-hdr": ("mlnx", "number"),
           "t-xdr": ("nvos",)}


def spec_of(name):
    servers, server, switch, down, *_ = DESIGNS[name]
    return (f"name: {name}\nservers: {servers}\nserver: {server}\naccept: [no-optics]\n"
            f"networks: {{compute: {{switch: {switch}, leaf_down: {down}}}}}\n")


class Site(Wiring):
    def __init__(self, myriad, design, name):
        super().__init__(myriad, design)
        self.name = name
        self.servers, *_, self.cages, self.lanes, self.infiniband = DESIGNS[name]
        self.slow, self.silent, self.told = set(), set(), None

    def is_switch(self, device):
        return not device.startswith("node-")

    def switches(self):
        return sorted({device for device, _ in self.plan if self.is_switch(device)})

    def there(self):
        return [tuple(cable) for cable in self.cables if cable]

    def seen_devices(self, found):
        return self.told if self.told is not None else super().seen_devices(found)

    def states(self):
        states = super().states()
        return states if self.told is None else self.hear(states, self.told)

    def truth(self):
        states = self.states()
        for pair in self.slow:
            for end in pair:
                states[end] = "degraded" if states[end] == "right" else states[end]
        return states


# --- what went wrong

def fault_none(site, draw):
    del site, draw


def fault_uplinks(site, draw):
    """Two uplinks of one leaf in each other's place: the spines' ports have the same numbers."""
    leaf = draw.choice([d for d in site.switches() if d.startswith("leaf")])
    ups = [i for i, (a, z) in enumerate(site.planned)
           if leaf in (a[0], z[0]) and site.is_switch(a[0]) and site.is_switch(z[0])]
    one, other = draw.sample(ups, 2)
    near = site.cables[one].index(next(e for e in site.cables[one] if e[0] == leaf))
    site.cables[one][near], site.cables[other][near] = \
        site.cables[other][near], site.cables[one][near]


def fault_shift(site, draw):
    """Four hosts' plugs one port too far, round."""
    leaf = draw.choice([d for d in site.switches() if d.startswith("leaf")])
    ports = [(a, z) for a, z in site.planned if leaf in (a[0], z[0])
             and not (site.is_switch(a[0]) and site.is_switch(z[0]))]
    first = draw.randrange(len(ports) - 3)
    ends = [a if a[0] == leaf else z for a, z in ports[first:first + 4]]
    site.permute(dict(zip(ends, ends[1:] + ends[:1])))


def fault_rails(site, draw):
    host = f"node-{draw.randrange(site.servers):05d}"
    one, other = draw.sample(range(8), 2)
    site.permute({(host, f"nic{one}"): (host, f"nic{other}"),
                  (host, f"nic{other}"): (host, f"nic{one}")})


def fault_cut(site, draw):
    for number in draw.sample(range(len(site.cables)), 2):
        site.cut(number)


def fault_anywhere(site, draw):
    for _ in range(3):
        one, other = draw.sample(range(len(site.cables)), 2)
        site.swap(one, other)


def fault_slow(site, draw):
    for number in draw.sample(range(len(site.cables)), 2):
        site.slow.add(frozenset(site.planned[number]))


FAULTS = {"none": fault_none, "uplinks": fault_uplinks, "shift": fault_shift, "rails": fault_rails,
          "cut": fault_cut, "anywhere": fault_anywhere, "slow": fault_slow}

HOSTS = ("aws", "rack", "dell", "corp", "shout", "short", "own")
NICS = ("mlx5", "ens", "enp", "hca", "own", "ib", "rocep")
SWITCHES = ("own", "sea", "plain", "row")


def drawn(seed):
    draw = random.Random(f"third/{seed}")
    name = draw.choice(sorted(DESIGNS))
    infiniband = DESIGNS[name][-1]
    forms = third_files.BAND if infiniband else third_files.NEIGHBOURS
    form = draw.choice([*forms, *forms, *third_files.LISTS])
    if form == "netq" and "cumulus" not in SYSTEMS[name]:
        form = "lldp"
    if form == "sonic-table" and "sonic" not in SYSTEMS[name]:
        form = "lldp0"
    if form == "ufm" and name == "t-hdr":
        form = "lst"
    system = draw.choice(SYSTEMS[name])
    system = "cumulus" if form == "netq" else "sonic" if form == "sonic-table" else system
    faults = [f for f in FAULTS if f != "slow" or form in third_files.BAND and form != "ufm"]
    nics = [n for n in NICS if (n in ("hca", "ib", "mlx5", "own")) == infiniband or n == "mlx5"]
    return dict(seed=seed, name=name, form=form, system=system, fault=draw.choice(faults),
                hosts=draw.choice(HOSTS), nics=draw.choice(nics),
                switches=draw.choice(("own", draw.choice(SWITCHES[1:]))),
                habits=sorted(h for h in ("domain", "capitals", "blanks", "sharp", "oob", "quiet",
                                          "turned") if draw.random() < 0.3))


def hide_one(site, draw):
    """A leaf that does not answer: what its hosts are plugged into nobody tells."""
    leaf = draw.choice([d for d in site.switches() if d.startswith("leaf")])
    for number, cable in enumerate(site.cables):
        if cable and leaf in (cable[0][0], cable[1][0]) and \
                not (site.is_switch(cable[0][0]) and site.is_switch(cable[1][0])):
            site.hide(number)
    site.silent = {leaf}


def make(myriad, folder, how):
    site = Site(myriad, design_of(myriad, folder, how["name"]), how["name"])
    draw = random.Random(f"third/fault/{how['seed']}")
    FAULTS[how["fault"]](site, draw)
    if how["form"] in third_files.NEIGHBOURS:
        if "quiet" in how["habits"] and how["fault"] in ("none", "rails", "uplinks"):
            hide_one(site, draw)
        site.told = set(site.switches()) - site.silent
    files = third_files.FORMS[how["form"]](site, third_files.Names(site, how))
    return site, files


def design_of(myriad, folder, name):
    out = Path(folder) / name
    out.mkdir(exist_ok=True)
    path = out / "small" / "design.myr"
    return path if path.exists() else plan(myriad, out, spec_of(name))


def put(files, out):
    for path, text in files.items():
        (out / path).parent.mkdir(parents=True, exist_ok=True)
        (out / path).write_text(text, encoding="utf-8", newline="")


def judge(site, names):
    """(what is false, share of the ports that were read)"""
    result = site.verify(*names)
    found = site.listed_states(*names)
    truth = site.truth()
    false = []
    if result["clean"] and any(state != "right" for state in truth.values()):
        false.append("false 'as planned'")
    unread = 0
    for port, state in truth.items():
        said = found.get(port, "right")
        if said == state:
            continue
        if said in ("unread", "unseen"):
            unread += 1
        else:
            false.append(f"{port}: {said}, is {state}")
    false += [f"{port}: {state}, is not there" for port, state in found.items()
              if port not in truth and state not in ("unread", "unseen")]
    touched = {(step[f"{end}_device"].replace("/", "-", 1), step[f"{end}_port"])
               for step in result["repair"]["steps"] for end in ("at", "to")
               if step[f"{end}_device"]}
    false += [f"moved: {port}" for port in sorted(touched) if truth.get(port) == "right"]
    moves = [result["repair"][key] for key in ("moves", "adds", "removes")]
    if not unread and moves != list(site.moves()):
        false.append(f"moves {moves}, are {site.moves()}")
    return false, 1 - unread / len(truth)


def run(myriad, count, first):
    bad, least, own_read, own_all = 0, 1.0, 0, 0
    with tempfile.TemporaryDirectory(prefix="myriad-third-") as folder:
        for seed in range(first, first + count):
            how = drawn(seed)
            site, files = make(myriad, folder, how)
            out = Path(folder) / "site" / str(seed)
            put(files, out)
            try:
                false, share = judge(site, [out / n for n in
                                            sorted({p.split("/")[0] for p in files})])
            except SystemExit as stop:
                false, share = [str(stop)[-300:]], 0.0
            named = how["switches"] == "own"
            least = min(least, share) if named else least
            own_all += not named
            own_read += not named and share >= READ_LEAST
            if false or (share < READ_LEAST):
                bad += bool(false) or named
                print({k: v for k, v in how.items()}, f"read {share:.3f}")
                for line in false[:3]:
                    print("   ", line[:240])
    print(f"{count} sites: {bad} misread; known switches: {100 * least:.1f} % read at least; "
          f"own names: {own_read} of {own_all} read")
    return bad


def keep(myriad, seeds):
    with tempfile.TemporaryDirectory(prefix="myriad-third-") as folder:
        for seed in seeds:
            how = drawn(seed)
            site, files = make(myriad, folder, how)
            states = site.truth()
            truth = {"design": how["name"], "spec": spec_of(how["name"]), "fault": how["fault"],
                     "options": [], "files": sorted({p.split("/")[0] for p in files}),
                     "ports": {s: sum(v == s for v in states.values()) for s in STATES},
                     "moves": list(site.moves()), "splitters": False,
                     "not_right": sorted([*p, s] for p, s in states.items() if s != "right"),
                     "ambiguous": []}
            out = ROOT / "tests/data/site" / f"third-{how['name'][2:]}-{how['form']}-{seed}"
            put({**files, "truth.json": json.dumps(truth, separators=(",", ":")) + "\n"}, out)


def main():
    myriad, words = sys.argv[1], sys.argv[2:]
    if words[:1] == ["--keep"]:
        keep(myriad, map(int, words[1:]))
        return
    count = int(words[0]) if words else 20
    sys.exit(1 if run(myriad, count, int(words[1]) if len(words) > 1 else 1) else 0)


if __name__ == "__main__":
    main()
