#!/usr/bin/env python3
"""Clusters that grow: every id and name stays, and no more cables move than must.

    tests/plan/growth.py MYRIAD [--seed N] [--count N]

Random pairs of specs, of all topologies, with switches small enough that all ways of laying the one
design over the other can be tried. Nothing here knows how the program chooses: ids, names and ends
are read from design.json, and the fewest moves of the small ones are found by trying everything.
"""
import argparse
import collections
import concurrent.futures
import csv
import itertools
import json
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path

import bill_count

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
TRIES_MAX = 200000
SWITCH = """  tiny{ports}:
    order: TINY{ports}
    title: a switch of {ports} ports, for trying all ways
    technology: infiniband
    cages: {cages}
    form: osfp
    cage_gbps: 800
    port_gbps: 400
    splits: [200]
    breakout: splitter
    uplink_gbps: 400
    watts: 100
    rack_units: 1
    weight_kg: 5
"""
PORTS = (4, 6, 8, 12, 16, 24)
CATALOG = "switches:\n" + "".join(SWITCH.format(ports=n, cages=n // 2) for n in PORTS) + """
ethernet:
  tiny-access:
    order: TINY-ACCESS
    title: an access switch, for trying all ways
    access_ports: 4
    access_gbps: 25
    uplink_ports: 3
    uplink_gbps: 100
    watts: 10
    rack_units: 1
    weight_kg: 5
  tiny-above:
    order: TINY-ABOVE
    title: what stands above it
    access_ports: 6
    access_gbps: 100
    watts: 10
    rack_units: 1
    weight_kg: 5
"""


def run(myriad, *words):
    return subprocess.run([myriad, *map(str, words)], capture_output=True, text=True, check=False,
                          stdin=subprocess.DEVNULL, timeout=600)


# ---- random pairs of specs ----

def clos(rng, topology):
    ports = rng.choice(PORTS)
    keys = {"topology": topology, "switch": f"tiny{ports}"}
    if rng.random() < 0.5:
        keys["fill"] = rng.choice(("regular", "dense"))
    if rng.random() < 0.5:
        keys["oversubscription"] = rng.choice(("1", "2", "1.5", "3"))
    if rng.random() < 0.3:
        keys["tiers"] = rng.choice((2, 3))
    if rng.random() < 0.3:
        keys["fabric_manager_ports"] = rng.randint(1, 3)
    if rng.random() < 0.2:
        keys["planes"] = 1
    return keys


def dragonfly(rng, topology):
    size = rng.randint(2, 4)
    return {"topology": topology, "switch": "tiny16", "group_switches": size,
            "hosts_per_switch": rng.randint(1, 3), "global_ports": rng.randint(1, 3)}


def networks(rng, topology):
    """The networks of both specs; a torus has other dimensions in the second."""
    if topology == "torus":
        dims = [rng.randint(2, 3) for _ in range(rng.randint(2, 3))]
        more = [size + rng.randint(0, 2) for size in dims]
        rng.shuffle(more)
        keys = {"topology": "torus", "switch": "tiny24", "hosts_per_switch": 4,
                "trunk": rng.randint(1, 2)}
        return {**keys, "dims": dims}, {**keys, "dims": more}
    if topology == "access":
        keys = {"topology": "access", "access_switch": "tiny-access", "homes": 1,
                "aggregation_switch": "tiny-above"}
        tiers = rng.choice(((2, 2), (2, 2), (2, 3), (3, 3)))
        return [{**keys, "tiers": count} for count in tiers]
    keys = dragonfly(rng, topology) if "dragonfly" in topology else clos(rng, topology)
    return keys, keys


def spec(name, servers, server, nets, extra):
    lines = [f"name: {name}", f"servers: {servers}", f"server: {server}", "networks:"]
    for net, keys in nets.items():
        inner = ", ".join(f"{key}: {value}" for key, value in keys.items())
        lines.append(f"  {net}: {{{inner}}}")
    return "\n".join(lines + extra) + "\n"


def pair(rng):
    topology = rng.choice(("rail", "clos", "rail-only", "middle-of-rack", "dragonfly",
                           "dragonfly+", "torus", "access", "clos", "rail"))
    small, large = networks(rng, topology)
    server = rng.choice(("generic-1gpu", "h100-8gpu")) if rng.random() < 0.4 else "generic-1gpu"
    few = rng.randint(1, 24)
    many = few + rng.randint(0, 24)
    nets_a, nets_b = {"compute": small}, {"compute": large}
    if topology == "access":
        nets_a, nets_b = {"compute": {"switch": "mqm9790-ns2f"}, "oob": small}, \
                         {"compute": {"switch": "mqm9790-ns2f"}, "oob": large}
    extra = []
    if server == "h100-8gpu" and rng.random() < 0.6:
        keys = {"switch": "tiny24", "fill": rng.choice(("dense", "regular")),
                "extra_nodes": rng.randint(0, 4)}
        nets_a["storage"] = nets_b["storage"] = keys
        extra = [f"storage: {{capacity_tb: {rng.randint(1, 900)}, copies: 2}}"]
    if topology != "access" and rng.random() < 0.4: # switches have management ports then
        nets_a["oob"] = nets_b["oob"] = {"topology": "access", "homes": rng.randint(1, 2)}
    return (topology, spec("small", few, server, nets_a, extra),
            spec("large", many, server, nets_b, extra))


# ---- designs ----

class Design:
    """A design.json: devices, links and cables by id, and who is joined to whom."""

    def __init__(self, folder, networks_of):
        data = json.loads((Path(folder) / "design.json").read_text())
        self.types, self.networks = data["cable_types"], networks_of
        self.devices = {row["id"]: row for row in data["devices"]}
        self.order = [row["name"] for row in data["devices"]]
        self.links = {row["id"]: row for row in data["links"]}
        self.rows = data["links"]
        self.cables = collections.defaultdict(list)
        for row in data["links"]:
            self.cables[row["cable"]].append(row)

    def layer(self, net, layer):
        for row in self.rows:
            kind = self.types[row["type"]]
            if kind["network"] == net and kind["layer"] == layer:
                yield row

    def pairs(self, net, layer):
        found = collections.Counter((row["a"], row["b"]) for row in self.layer(net, layer))
        return found

    def named(self, net, kind):
        mark = "" if net == "compute" else net + "-"
        return [name for name in self.order if name.startswith(f"{kind}/{mark}")
                and (mark or not any(name.startswith(f"{kind}/{other}-")
                                     for other in ("storage", "service", "oob")))]


def ends(rows):
    return sorted((row["a"], row["a_port"], row["b"], row["b_port"]) for row in rows)


def check_kept(old, new, answer):
    """Ids and names stay; what is said to move is what has moved."""
    for key, row in old.devices.items():
        now = new.devices.get(key)
        assert now and now["name"] == row["name"] and now["part"] == row["part"], row
        assert now["first_port"] == row["first_port"], row
    assert len({row["name"] for row in new.devices.values()}) == len(new.devices)
    assert len(new.devices) == len(new.order) and len(new.links) == len(new.rows)
    assert all(key > max(old.devices) for key in new.devices if key not in old.devices)
    assert all(key > max(old.links) for key in new.links if key not in old.links)
    moved = {row["cable"] for row in answer["moves"]}
    assert len(moved) == answer["moved_cables"], "a cable is listed twice"
    for key, rows in old.cables.items():
        now = new.cables.get(key)
        if key in moved:
            assert not now or ends(rows) != ends(now), f"cable {key} did not move"
        else:
            assert now and set(ends(rows)) <= set(ends(now)), f"cable {key} moved unsaid"
            for row in rows:
                assert new.links[row["id"]]["a_port"] == row["a_port"], row
    by_net = sum(net["total"] for net in answer["moved_by_network"].values())
    assert by_net == answer["moved_cables"] >= answer["moved_at_least"]


def spread(pairs, side):
    rows = collections.defaultdict(list)
    for ends_of, count in pairs.items():
        rows[ends_of[side]].append(count)
    return sorted(sorted(row) for row in rows.values())


def check_shape(planned, grown, topology):
    """The grown design is the planned one, seen from each box."""
    for kind in planned.types:
        net, layer = kind["network"], kind["layer"]
        plan, grow = planned.pairs(net, layer), grown.pairs(net, layer)
        assert sum(plan.values()) == sum(grow.values()), (net, layer)
        if layer in ("leaf_spine", "spine_core"):
            assert spread(plan, 0) == spread(grow, 0), (net, layer)
            assert sorted(map(sum, spread(plan, 1))) == sorted(map(sum, spread(grow, 1)))
        if layer == "global":
            groups = [collections.Counter(frozenset(name.split("-")[0].split("/")[1]
                                                    for name in ends_of)
                                          for ends_of in found.elements())
                      for found in (plan, grow)]
            assert sorted(groups[0].values()) == sorted(groups[1].values())
        if layer == "host_leaf":
            mine, theirs = [collections.Counter((row["a"], row["a_port"])
                                                for row in design.layer(net, layer))
                            for design in (planned, grown)]
            assert sorted(mine.values()) == sorted(theirs.values()), "a host lost a cable"
            if topology in ("rail", "rail-only") and net == "compute":
                check_rails(planned, grown, net)
    used = collections.Counter()
    for row in grown.rows:
        used[row["a"], row["a_port"]] += 1
        used[row["b"], row["b_port"]] += 1
    assert max(used.values()) == 1, "a port is used twice"
    check_heads(grown)


def check_heads(grown):
    """The end of a cable that is not divided is in one cage; without a module, alone."""
    holders = collections.defaultdict(set)
    for key, rows in grown.cables.items():
        kind = grown.types[rows[0]["type"]]
        cages = {(row["b"], row["b_port"].split("/")[0]) for row in rows}
        if kind["layer"] == "host_leaf" and kind["legs"] > 1:
            assert len(cages) == len({row["b"] for row in rows}), f"cable {key} is in {cages}"
        for cage in cages:
            holders[cage].add((key, kind["layer"] == "host_leaf" and kind["legs"] > 1
                               and not kind["optic_b"]))
    for cage, cables in holders.items():
        assert len(cables) == 1 or not any(whole for _, whole in cables), (cage, cables)


def check_rails(planned, grown, net):
    """NICs that share a leaf in the plan share one in the grown design."""
    leaves = []
    for design in (planned, grown):
        sets = collections.defaultdict(set)
        for row in design.layer(net, "host_leaf"):
            if row["a"].startswith("node/"):
                sets[row["b"]].add((row["a"], row["a_port"]))
        leaves.append(sorted(map(sorted, sets.values())))
    assert leaves[0] == leaves[1], "a NIC is on another rail"


def check_install(old, new, folder, crews):
    """Done step by step, nothing is in the way, and in the end all is as it was designed."""
    stands = {row["name"] for row in old.devices.values()}
    plugged = {key: set(ends(rows)) for key, rows in old.cables.items()}
    taken = {end: key for key, rows in plugged.items() for row in rows
             for end in (row[:2], row[2:])}
    pulled = collections.defaultdict(list)
    with open(folder / "install.csv", encoding="ascii") as file:
        steps = list(csv.DictReader(file))
    for step in steps:
        if step["action"] == "stand":
            assert step["device"] not in stands, f"{step['device']} stands already"
            stands.add(step["device"])
            continue
        cable = int(step["cable"])
        pulled[int(step["day"]), int(step["crew"])].append(cable)
        for row in plugged.pop(cable, ()):
            del taken[row[:2]], taken[row[2:]]
        if step["action"] in ("remove", "unplug"):
            continue
        plugged[cable] = set(ends(new.cables[cable]))
        for row in plugged[cable]:
            assert row[0] in stands and row[2] in stands, f"cable {cable} has nowhere to go"
            for end in (row[:2], row[2:]):
                assert end not in taken, f"cable {cable} finds {end} taken"
                taken[end] = cable
    for key, rows in new.cables.items():
        assert plugged[key] == set(ends(rows)), f"cable {key} is not as designed"
    assert stands == {row["name"] for row in new.devices.values()}
    for (day, crew), cables in pulled.items():
        assert crew <= crews
        sheet = folder / "sheets" / f"day-{day:03}-crew-{crew:02}-pull.csv"
        with open(sheet, encoding="ascii") as file:
            listed = [int(row["cable"]) for row in csv.DictReader(file)]
        assert list(dict.fromkeys(listed)) == list(dict.fromkeys(cables)), sheet.name


# ---- the fewest moves, by trying everything ----

class TooMany(Exception):
    pass


def in_role(old, new, net, layer):
    """Installed links by pair, without those whose port plays another role now."""
    leaf_ups = {row["a_port"] for row in new.layer(net, "leaf_spine")}
    ups = {row["a_port"] for row in new.layer(net, "spine_core")}
    downs = {row["b_port"] for row in new.layer(net, "leaf_spine")}
    return collections.Counter(
        (row["a"], row["b"]) for row in old.layer(net, layer)
        if (row["b_port"] not in ups and row["a_port"] in leaf_ups
            if layer == "leaf_spine" else row["a_port"] not in downs and row["a_port"] in ups))


def kept_links(old, new, place):
    """Cables of one layer that stay when each installed box takes the place given."""
    return sum(min(count, new[place[a], place[b]] + (new[place[b], place[a]] if flip else 0))
               for (a, b), count, flip in old)


def injections(old, new):
    total = 1
    for i in range(len(old)):
        total *= len(new) - i
    if total > TRIES_MAX:
        raise TooMany
    yield from (dict(zip(old, order)) for order in itertools.permutations(new, len(old)))


def dense_rows(uplinks, columns):
    base, extra = divmod(uplinks, columns)
    for chosen in itertools.combinations(range(columns), extra):
        yield [base + (c in chosen) for c in range(columns)]


def best_dense(have, uplinks, columns):
    """Rows spread evenly, columns within one of each other: all of them are tried."""
    ways = 1
    for links in uplinks:
        ways *= len(list(dense_rows(links, columns)))
        if ways > TRIES_MAX:
            raise TooMany
    best = 0
    for rows in itertools.product(*(dense_rows(links, columns) for links in uplinks)):
        loads = [sum(row[c] for row in rows) for c in range(columns)]
        if max(loads) - min(loads) <= 1:
            kept = sum(min(have[r][c], row[c])
                       for r, row in enumerate(rows) for c in range(columns))
            best = max(best, kept)
    return best


def brute_two_tiers(old, new, net, low, high):
    leaf_a, leaf_b = old.named(net, low), new.named(net, low)
    spine_a, spine_b = old.named(net, high), new.named(net, high)
    have, want = in_role(old, new, net, "leaf_spine"), new.pairs(net, "leaf_spine")
    uplinks = [sum(want[leaf, spine] for spine in spine_b) for leaf in leaf_b]
    even = all(want[leaf, spine] == want[leaf, spine_b[0]] for leaf in leaf_b for spine in spine_b)
    meshed = all(want[leaf, spine] for leaf in leaf_b for spine in spine_b)
    if even or not meshed:
        fixed = dict(zip(leaf_a, leaf_b))
        links = [(ends_of, count, False) for ends_of, count in have.items()]
        return max(kept_links(links, want, {**fixed, **place})
                   for place in injections(spine_a, spine_b))
    matrix = [[have[leaf_a[r], spine_a[c]] if r < len(leaf_a) and c < len(spine_a) else 0
               for c in range(len(spine_b))] for r in range(len(leaf_b))]
    return best_dense(matrix, uplinks, len(spine_b))


def brute_three_tiers(old, new, net):
    """Spines and cores to all places at once; leaves keep their order."""
    fixed = dict(zip(old.named(net, "leaf"), new.named(net, "leaf")))
    lower = [(e, n, False) for e, n in in_role(old, new, net, "leaf_spine").items()]
    upper = [(e, n, False) for e, n in in_role(old, new, net, "spine_core").items()]
    want = new.pairs(net, "leaf_spine") + new.pairs(net, "spine_core")
    cores = list(injections(old.named(net, "core"), new.named(net, "core")))
    best = 0
    for tried, place in enumerate(injections(old.named(net, "spine"), new.named(net, "spine"))):
        if tried * len(cores) > TRIES_MAX:
            raise TooMany
        here = kept_links(lower, want, {**fixed, **place})
        best = max(best, here + max(kept_links(upper, want, {**place, **core}) for core in cores))
    return best


def brute_torus(old, new, net):
    links = [(e, n, True) for e, n in unordered(old.pairs(net, "local")).items()]
    want = unordered(new.pairs(net, "local"))
    return max(kept_links(links, want, place)
               for place in injections(old.named(net, "router"), new.named(net, "router")))


def unordered(pairs):
    found = collections.Counter()
    for (a, b), count in pairs.items():
        found[min(a, b), max(a, b)] += count
    return found


def brute_groups(old, new, net):
    """Between groups only the number of links counts; inside them all stays."""
    counts = []
    for design in (old, new):
        found = collections.Counter()
        for (a, b), count in design.pairs(net, "global").items():
            found[frozenset(name.split("/")[1].split("-")[0] for name in (a, b))] += count
        counts.append(found)
    group_a, group_b = (sorted({g for pair_of in found for g in pair_of}) for found in counts)
    inside = sum(old.pairs(net, "local").values()) + sum(old.pairs(net, "leaf_spine").values())
    if not group_a:
        return inside
    return inside + max(
        sum(min(count, counts[1][frozenset(place[g] for g in pair_of)])
            for pair_of, count in counts[0].items()) for place in injections(group_a, group_b))


def brute_hosts(old, new, net, topology, low):
    """Host cables that stay: by what rails say, or by how many hosts a leaf has."""
    leaf = dict(zip(old.named(net, low), new.named(net, low)))
    if topology in ("rail", "rail-only"):
        planned = {(row["a"], row["a_port"]): row["b"] for row in new.layer(net, "host_leaf")}
        cables = collections.defaultdict(list)
        others = collections.Counter(b for (a, _), b in planned.items()
                                     if not a.startswith("node/"))
        kept = 0
        for row in old.layer(net, "host_leaf"):
            cables[row["cable"]].append(row)
        for rows in cables.values():
            if rows[0]["a"].startswith("node/"):
                kept += all(planned.get((r["a"], r["a_port"])) == leaf[r["b"]] for r in rows)
            else: # alike among themselves
                stays = all(others[leaf[r["b"]]] > 0 for r in rows)
                kept += stays
                for row in rows:
                    others[leaf[row["b"]]] -= stays
        return kept
    have, want = (collections.Counter(rows[0]["b"] for rows in design.cables.values()
                                      if design.types[rows[0]["type"]]["network"] == net
                                      and design.types[rows[0]["type"]]["layer"] == "host_leaf")
                  for design in (old, new))
    if new.networks[net]["fill"] != "dense": # hosts by room; a lone switch had no uplinks
        legs = max(kind["legs"] for kind in new.types
                   if kind["network"] == net and kind["layer"] == "host_leaf")
        room = new.networks[net]["shape"]["leaf_down"] // legs
        return sum(min(count, room) for count in have.values())
    return sum(min(have[a], want[b]) for a, b in leaf.items())


def brute(old, new, net, topology):
    """The most cables of a network that can stay."""
    access = topology == "access"
    low, high = ("access", "agg") if access else ("leaf", "spine")
    if topology in ("torus", "dragonfly"):
        low = "router"
    hosts = brute_hosts(old, new, net, topology, low)
    if topology == "torus":
        return hosts + brute_torus(old, new, net)
    if "dragonfly" in topology:
        return hosts + brute_groups(old, new, net)
    if topology == "rail-only" or new.networks[net]["planes"] > 1:
        raise TooMany # many fabrics in one: see the others
    if new.named(net, "core") and not access:
        return hosts + brute_three_tiers(old, new, net)
    return hosts + (brute_two_tiers(old, new, net, low, high) if new.named(net, high) else 0)


# ---- one growth ----

def grow(myriad, folder, number, topology):
    """(None, 'refused', 'tried' or 'checked') or (what is wrong, _)."""
    small, large, catalog = (folder / name for name in (f"{number}a.yaml", f"{number}b.yaml",
                                                        "catalog.yaml"))
    designs, answers = [], []
    for path in (small, large):
        result = run(myriad, "plan", path, "--catalog", catalog, "--out", path.with_suffix(""),
                     "-o", "json")
        if result.returncode not in (0, 1):
            return None, "unplanned"
        answers.append(json.loads(result.stdout))
        designs.append(Design(path.with_suffix(""), answers[-1]["networks"]))
    out = folder / f"{number}g"
    result = run(myriad, "plan", "grow", small, large, "--catalog", catalog, "--out", out, "-o",
                 "json", "--crews", 1 + number % 3)
    if result.returncode in (1, 2):
        good = not result.stdout and "cannot grow from" in result.stderr and not out.exists()
        return (None if good else f"refused in a wrong form: {result.stderr}"), "refused"
    if result.returncode:
        return f"exit code {result.returncode}: {result.stderr[:1000]}", ""
    answer = json.loads(result.stdout)
    grown = Design(out, answers[1]["networks"])
    check_kept(designs[0], grown, answer)
    check_shape(designs[1], grown, topology)
    check_install(designs[0], grown, out, 1 + number % 3)
    assert not bill_count.differences(out), bill_count.differences(out)
    again = run(myriad, "design", out / "design.myr", "-o", "json")
    assert again.returncode == 0, again.stderr
    most = outcome = 0
    for net, shape in answers[0]["networks"].items():
        if not shape:
            continue
        cables = sum(1 for rows in designs[0].cables.values()
                     if designs[0].types[rows[0]["type"]]["network"] == net)
        try:
            most = brute(designs[0], designs[1], net, shape["topology"])
        except TooMany:
            continue
        outcome = 1
        moved = answer["moved_by_network"][net]["total"]
        if moved > cables - most:
            return f"{net} ({shape['topology']}): {moved} cables move, {cables - most} suffice", ""
    return None, "tried" if outcome else "checked"


def one(job):
    try:
        return grow(*job)
    except AssertionError as why:
        return f"does not hold: {why}", ""


def check_seed(myriad, folder):
    """Two published phases of one cluster; the figures are those of its own tables."""
    small, large = EXAMPLES / "h100-64.yaml", EXAMPLES / "h100-128.yaml"
    result = run(myriad, "plan", "grow", small, large, "--out", folder / "phase-2", "-o", "json")
    assert result.returncode == 0, result.stderr
    answer = json.loads(result.stdout)
    (later, first), moved = answer["alternatives"], answer["moved_by_network"]
    assert answer["cost"] == 28286200 == sum(line["total"] for line in answer["buy"])
    assert answer["moved_cables"] == answer["moved_at_least"] == 282
    assert moved["compute"]["leaf_spine"] == moved["compute"]["total"] == 256
    assert moved["storage"]["leaf_spine"] == moved["storage"]["total"] == 26
    by_leaf = collections.Counter(row["from_a"].split(":")[0] for row in answer["moves"]
                                  if row["network"] == "storage")
    assert sorted(by_leaf.values()) == [6, 6, 7, 7], by_leaf
    assert later["cost_later"] == 28286200 and later["moved_cables"] == 282
    assert first["extra_now"] == first["saved_later"] == 1872000 and first["switches_now"] == 9
    assert first["cost_later"] == 26414200 and first["moved_cables"] == 0
    assert first["avoided_by_network"]["compute"]["total"] == 256


def check_room(myriad, folder):
    """Into a room: racks and lengths are the plan's, cable by cable."""
    small, large = EXAMPLES / "h100-64.yaml", EXAMPLES / "h100-128-room.yaml"
    told = run(myriad, "plan", "grow", small, large, "--out", folder / "room")
    assert told.returncode == 0 and "those of the larger plan" in told.stdout, told.stderr
    assert run(myriad, "plan", large, "--out", folder / "planned").returncode == 0
    tables = []
    for name in ("room", "planned"):
        with open(folder / name / "cables.csv", encoding="ascii") as file:
            tables.append(collections.Counter(
                tuple(row[key] for key in ("network", "layer", "part", "a_rack", "b_rack",
                                           "length_m", "route_m")) for row in csv.DictReader(file)))
    assert tables[0] == tables[1], tables[0] - tables[1]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("myriad")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=200)
    args = parser.parse_args()
    myriad, rng = os.path.abspath(args.myriad), random.Random(args.seed)
    seen, failed, number = collections.Counter(), 0, 0
    with tempfile.TemporaryDirectory(prefix="myriad-grow-") as name:
        folder = Path(name)
        (folder / "catalog.yaml").write_text(CATALOG)
        check_seed(myriad, folder)
        check_room(myriad, folder)
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            while seen["tried"] + seen["checked"] < args.count and number < 10 * args.count:
                jobs = []
                for _ in range(20):
                    topology, small, large = pair(rng)
                    (folder / f"{number}a.yaml").write_text(small)
                    (folder / f"{number}b.yaml").write_text(large)
                    jobs.append((myriad, folder, number, topology))
                    number += 1
                for job, (wrong, outcome) in zip(jobs, pool.map(one, jobs)):
                    seen[outcome] += 1
                    if not wrong:
                        seen[job[3]] += outcome in ("tried", "checked")
                    else:
                        failed += 1
                        print(f"--seed {args.seed}, pair {job[2]}: {wrong}")
                        print(*((folder / f"{job[2]}{end}.yaml").read_text() for end in "ab"))
    print(f"grow: {dict(seen)}, {failed} failed")
    return 1 if failed or seen["tried"] + seen["checked"] < args.count else 0


if __name__ == "__main__":
    sys.exit(main())
