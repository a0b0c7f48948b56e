#!/usr/bin/env python3
"""Rooms, as a crew would look at them: from racks.csv, cables.csv and the spec alone.

    tests/plan/room.py MYRIAD [SEED [COUNT]]

- the published map of 126 racks comes out of the example's room file, rack by rack
- in seeded random rooms no rack carries more than it may, no two things share a unit, leaves stand
  inside their blocks, and every cable is as long as the way along the trays asks for
- no plan is below a lower bound that is computed here, of chains and by stars.py, and that is no
  more than the true least of very small rooms, which is found by trying everything; the shortest
  placement is nowhere longer than the aligned one, and not more than 5 % above the bound; where it
  is, pairs.py has a better one, unless the room is too large for it
- what a room gets wrong is a finding with its rule
"""
import csv
import json
import pathlib
import random
import subprocess
import sys
import tempfile
import xml.etree.ElementTree
from collections import Counter, defaultdict

import pairs
import stars

ROOT = pathlib.Path(__file__).resolve().parents[2]
FAILED = []
SLOWEST_S = 600
SMALL_RACKS = 100
SWITCH_W = {"mqm9790-ns2f": 1720, "sn5600": 2030}
SWITCH_U = {"mqm9790-ns2f": 1, "sn5600": 2}
SWITCH_KG = {"mqm9790-ns2f": 14.5, "sn5600": 29}


def check(what, held):
    if not held:
        FAILED.append(what)


def plan(myriad, spec, folder, expected_exit=(0, 1)):
    """The answer and the folder of files; the answer is None when the plan was refused."""
    path = folder / "spec.yaml"
    path.write_text(spec)
    out = folder / "out"
    done = subprocess.run([myriad, "plan", str(path), "--out", str(out), "-o", "json"],
                          capture_output=True, text=True, timeout=SLOWEST_S, check=False)
    if done.returncode == 2:
        return None, done.stderr
    check(f"exit code {done.returncode} of {spec!r}: {done.stderr[:300]}",
          done.returncode in expected_exit)
    return json.loads(done.stdout), out


def rows_of(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def column_of(name):
    number = 0
    for letter in name:
        number = number * 26 + ord(letter) - ord("A") + 1
    return number - 1


def rack_place(rack):
    """Column and row of a rack's name, both from 0."""
    letters = rack.rstrip("0123456789")
    return column_of(letters), int(rack[len(letters):]) - 1


class Room:
    """What the spec says, read by itself."""

    def __init__(self, rows, columns, pitch=(0.6, 1.2), aisle=(2, 1.2), drop=2.0, slack=(5, 1.0)):
        self.rows, self.columns = rows, columns
        self.pitch, self.aisle, self.drop, self.slack = pitch, aisle, drop, slack

    def point(self, column, row):
        every, width = self.aisle
        return (column * self.pitch[1] + (column // every) * width, row * self.pitch[0])

    def of_rack(self, rack):
        return self.point(*rack_place(rack))

    def route_m(self, a, b):
        (ax, ay), (bx, by) = self.of_rack(a), self.of_rack(b)
        way = abs(ax - bx) + abs(ay - by) + 2 * self.drop
        return way * (1 + self.slack[0] / 100) + self.slack[1]

    def points(self):
        return [self.point(c, r) for c in range(self.columns) for r in range(self.rows)]


def nearest_sum(points, places, k):
    """Least sum of the ways from one point to the k nearest places; each point has 'places'."""
    best = None
    for px, py in points:
        ways = sorted(abs(px - x) + abs(py - y) for x, y in points)
        full, rest = divmod(k, places)
        total = places * sum(ways[:full]) + (rest * ways[full] if rest else 0)
        best = total if best is None else min(best, total)
    return best


def cheapest_seats(points, places, k, weights, seats):
    """Least cost of switches that all k servers have chains to: 'seats' are how many a rack takes
    when so many of its servers are put out, from none on; those stand behind the k-th place."""
    offered = []
    for px, py in points:
        ways = sorted(abs(px - x) + abs(py - y) for x, y in points)
        full, rest = divmod(k, places)
        total = places * sum(ways[:full]) + (rest * ways[full] if rest else 0)
        last = ways[full] if rest else ways[full - 1]
        taken = 0
        for lost, all_of_them in enumerate(seats):
            offered += [total + lost * last] * max(0, all_of_them - taken)
            taken = max(taken, all_of_them)
    return sum(w * cost for w, cost in zip(sorted(weights, reverse=True), sorted(offered)))


def seats_of(shape_kw, server_kw, switch, places):
    """Switches in a rack of 60 units and 4 t that has put out 0, 1, 2 ... servers."""
    watts, units, kg = SWITCH_W[switch], SWITCH_U[switch], SWITCH_KG[switch]
    found = []
    for kept in range(places, -1, -1):
        left = (shape_kw * 1000 - kept * server_kw * 1000, 60 - kept * 8, 4000 - kept * 130)
        found.append(int(min(left[0] / watts + 1e-9, left[1] / units, left[2] / kg)))
    return found


def pairs_m(points, seats_most, leaves, spines):
    """No less than the ways from all of the leaves to all of the spines: together they need several
    racks, of so many seats at most, and sets that lie among each other are no nearer than that."""
    count = leaves + spines
    if seats_most >= count:
        return 0
    least = None
    for px, py in points:
        ways = sorted(abs(px - x) + abs(py - y) for x, y in points)
        full, rest = divmod(count, seats_most)
        total = seats_most * sum(ways[:full]) + (rest * ways[full] if rest else 0)
        least = total if least is None else min(least, total)
    kappa = min(leaves / spines, spines / leaves)
    return kappa * count * least / (2 + 2 * kappa)


def left_over_m(room, hosts, up, seats_most):
    """Uplinks that no chain uses, of leaves with few hosts: alike for all leaves of a group."""
    begun = [leaf for leaf in hosts if sum(up[leaf].values()) > sum(hosts[leaf].values())]
    if not begun:
        return 0
    spines = {spine for leaf in begun for spine in up[leaf]}
    least = min((1 - sum(hosts[leaf].values()) / sum(up[leaf].values())) * min(up[leaf].values())
                for leaf in begun)
    return least * pairs_m(room.points(), seats_most, len(begun), len(spines))


def one_block_m(room, hosts, up, places, seats):
    """One group alone: its leaves are what all servers share, and all uplinks are pairs."""
    servers = {server for below in hosts.values() for server in below}
    spines = {spine for above in up.values() for spine in above}
    if any(len(below) < len(servers) for below in hosts.values()) or not spines:
        return 0
    weights = [min(below.values()) for below in hosts.values()]
    least = min(min(up[leaf].values()) for leaf in hosts)
    return (cheapest_seats(room.points(), places, len(servers), weights, seats)
            + least * pairs_m(room.points(), seats[-1], len(hosts), len(spines)))


def chains_bound_m(room, cables, places, seats):
    """No placement goes below: every server has its share of the cables up to the top, as chains;
    all chains that end at a switch are at least as long as the ways from one rack to the nearest
    places of so many servers."""
    links_of = Counter(row["cable"] for row in cables)
    up = defaultdict(Counter)
    hosts = defaultdict(Counter)
    for row in cables:
        weight = 1 / links_of[row["cable"]]
        if row["layer"] == "host_leaf":
            hosts[row["b_device"]][row["a_device"]] += weight
        else:
            up[row["a_device"]][row["b_device"]] += weight
    arriving = {leaf: sum(below.values()) for leaf, below in hosts.items()}

    def share_up(switch):
        above = sum(up[switch].values()) if switch in up else 0
        return min(1, above / arriving[switch]) if above and arriving.get(switch) else 0

    for leaf in list(hosts):
        for spine, links in up.get(leaf, {}).items():
            part = links / sum(up[leaf].values()) * share_up(leaf) * arriving[leaf]
            arriving[spine] = arriving.get(spine, 0) + part
    ends = defaultdict(Counter)  # switch -> server -> weight of chains that end there

    def climb(switch, server, weight):
        going = share_up(switch)
        if weight * (1 - going) > 1e-12:
            ends[switch][server] += weight * (1 - going)
        for above, links in up.get(switch, {}).items():
            if going:
                climb(above, server, weight * going * links / sum(up[switch].values()))

    for leaf, below in hosts.items():
        for server, weight in below.items():
            if server.startswith("node/"):
                climb(leaf, server, weight)
    servers = {server for chains in ends.values() for server in chains}
    known, total, shared = {}, 0, []
    for chains in ends.values():
        k = len(chains)
        if k > 1 and k == len(servers):
            shared.append(min(chains.values()))
        elif k > 1:
            known.setdefault(k, None)
            if known[k] is None:
                known[k] = nearest_sum(room.points(), places, k)
            total += min(chains.values()) * known[k]
    total += cheapest_seats(room.points(), places, len(servers), shared, seats)
    total += left_over_m(room, hosts, up, seats[-1])
    total = max(total, one_block_m(room, hosts, up, places, seats))
    return with_drops(room, total, len(links_of))


def with_drops(room, ways, count):
    """Cables of so many ways together: two drops each, and slack."""
    return (1 + room.slack[0] / 100) * (ways + count * 2 * room.drop) + count * room.slack[1]


def check_racks(what, racks, kw, units):
    watts, taken = Counter(), defaultdict(set)
    for row in racks:
        watts[row["rack"]] += int(row["watts"])
        for unit in range(int(row["u"]), int(row["u"]) + int(row["units"])):
            check(f"{what}: unit {unit} of {row['rack']} is taken twice",
                  unit not in taken[row["rack"]])
            check(f"{what}: unit {unit} of {row['rack']} is not there", 1 <= unit <= units)
            taken[row["rack"]].add(unit)
    for rack, used in watts.items():
        check(f"{what}: {rack} draws {used} W of {kw} kW", used <= kw * 1000)


def check_lengths(what, room, cables):
    longest = {}
    for row in cables:
        way = room.route_m(row["a_rack"], row["b_rack"])
        longest[row["cable"]] = max(longest.get(row["cable"], 0), way)
    for row in cables:
        route = float(row["route_m"])
        check(f"{what}: cable {row['cable']} has {route} m, {longest[row['cable']]:.3f} by hand",
              abs(route - longest[row["cable"]]) < 0.0151)
        if row["part"]:
            check(f"{what}: cable {row['cable']} of {row['length_m']} m is shorter than its way",
                  float(row["length_m"]) >= route - 0.01)
    return sum(longest.values())


def check_blocks(what, cables, racks, place, rows):
    """Aligned, a block is a stretch of racks in their order, and its leaves stand in it or right
    behind it. Else a leaf stands between the first and the last row and column of the servers below
    it, or in a rack of its own right beside them."""
    rack_of = {row["item"]: row["rack"] for row in racks}
    below = defaultdict(list)

    def axes(rack):
        column, row = rack_place(rack)
        return [column * rows + rows - 1 - row] if place == "aligned" else [column, row]

    for row in cables:
        if row["layer"] == "host_leaf" and row["a_device"].startswith("node/"):
            below[row["b_device"]].append(axes(row["a_rack"]))
    for leaf, places in below.items():
        at = axes(rack_of[leaf])
        inside = all(min(p[i] for p in places) - 1 <= at[i] <= max(p[i] for p in places) + 1
                     for i in range(len(at)))
        check(f"{what}: {leaf} in {rack_of[leaf]} stands outside its block", inside)


def seed_map(myriad, folder, servers):
    text = (ROOT / "examples" / "h100-128-room.yaml").read_text()
    text = text.replace("servers: 128", f"servers: {servers}")
    text = text.replace("rooms/", str(ROOT / "examples" / "rooms") + "/")
    answer, out = plan(myriad, text, folder)
    racks = rows_of(out / "racks.csv")
    what = f"the map of {servers}"
    extra = 0
    for row in racks:
        column, at = rack_place(row["rack"])
        if row["item"].startswith("node/"):
            number = int(row["item"][5:]) + 1
            if number <= 126:
                check(f"{what}: GPU{number:03} in {row['rack']}",
                      number == 14 * column + 15 - (at + 1))
            else:
                extra += 1
    check(f"{what}: servers beyond 126", extra == max(0, servers - 126))
    leaves = Counter(row["rack"] for row in racks if row["item"].startswith("leaf/p0-g"))
    check(f"{what}: leaves",
          leaves == Counter({f"{c}{r}": 2 for c in "BDFH" for r in range(7, 11)}))
    spines = Counter(row["rack"] for row in racks if row["item"].startswith("spine/p0-")
                     and row["part"] == "mqm9790-ns2f" and not row["item"].startswith("spine/s"))
    for r in range(3, 11):
        check(f"{what}: spines in E{r}", spines[f"E{r}"] >= 2)
    mixed = [f for f in answer["findings"] if f["rule"] == "room-mixed-power"]
    check(f"{what}: mixed power", len(mixed) == (servers > 126))
    watts = Counter()
    for row in racks:
        watts[row["rack"]] += int(row["watts"])
    above = [rack for rack, used in watts.items() if used > 15000]
    check(f"{what}: {above} draw more than 15 kW", len(above) == max(0, servers - 126))
    if mixed:
        check(f"{what}: the finding says (20, 10)", "(20, 10)" in mixed[0]["message"])
        check(f"{what}: room", answer["room"]["racks_mixed_power"] == 4)
        check(f"{what}: total", answer["totals"]["cost"] == 76967300)
    xml.etree.ElementTree.parse(out / "racks.svg")


def random_room(rng):
    rows, columns = rng.randint(4, 16), rng.randint(3, 16)
    server_kw = rng.choice([6.5, 10, 10.2, 14.3])
    kw = rng.choice([k for k in (12, 15, 20, 30, 44) if k >= server_kw])
    servers = max(4, int(rows * columns * (kw // server_kw) * rng.uniform(0.2, 0.75)))
    return rows, columns, kw, server_kw, min(servers, 500), rng.choice(list(SWITCH_W))


def first_bound(shape, cables, enough):
    """That of the chains; of the stars as well, unless the chains show 'enough'."""
    rows, columns, kw, server_kw, _, switch = shape
    room = Room(rows, columns)
    places = min(int(kw / server_kw + 1e-9), 60 // 8, 4000 // 130)  # kW, units, kg
    seats = seats_of(kw, server_kw, switch, places)
    chains = chains_bound_m(room, cables, places, seats)
    fabric = stars.Fabric(cables)
    ways = stars.ways_m(fabric, room.points(), seats[::-1]) if chains < enough else None
    return chains if ways is None else max(chains, with_drops(room, ways, fabric.cables))


def second_bound(what, myriad, shape, files, total):
    """That of pairs.py, unless it shows 5 % sooner; 0 where there is none."""
    rows, columns, kw, _, _, _ = shape
    room, (cables, racks) = Room(rows, columns), files
    count = len({row["cable"] for row in cables})
    enough = (total / 1.05 - with_drops(room, 0, count)) / (1 + room.slack[0] / 100)
    ways = pairs.ways_m(myriad, {"rows": rows, "columns": columns, "rack_kw": kw, "rack_u": 60},
                        cables, racks, enough)
    if ways is None:
        return 0
    bound = with_drops(room, ways, count)
    check(f"{what}: {total:.1f} m is below the second bound of {bound:.1f}", total >= bound)
    return bound


def look_at(myriad, folder, shape):
    """One room, placed both ways; returns how far the shortest one is above the better bound, and
    how far it may be; or None. The second bound takes seconds in a small room, and minutes in a
    large one or under a sanitizer."""
    rows, columns, kw, server_kw, servers, switch = shape
    room, totals, over = Room(rows, columns), {}, None
    for place in ("aligned", "shortest"):
        spec = (f"servers: {servers}\nserver: h100-8gpu\n"
                f"networks: {{compute: {{switch: {switch}}}}}\n"
                f"room: {{rows: {rows}, columns: {columns}, rack_kw: {kw}, rack_u: 60, "
                f"rack_kg: 4000, server_kw: {server_kw}, place: {place}}}\n")
        what = repr(spec)
        answer, out = plan(myriad, spec, folder)
        if answer is None:
            check(f"{what}: {out}", "the room is too small" in out)
            continue
        racks, cables = rows_of(out / "racks.csv"), rows_of(out / "cables.csv")
        mixed = answer["room"]["racks_mixed_power"]
        check_racks(what, racks, 2 * kw if mixed else kw, 60)
        check_blocks(what, cables, racks, place, rows)
        total = check_lengths(what, room, cables)
        check(f"{what}: cable_m {answer['room']['cable_m']}, {total:.1f} by hand",
              abs(answer["room"]["cable_m"] - total) < 0.001 * total + 1)
        totals[place] = total
        if place == "shortest" and not mixed:
            places = min(int(kw / server_kw + 1e-9), 60 // 8)
            beside = seats_of(kw, server_kw, switch, places)[0]
            scarce = places == 1 or 1 <= beside <= 3
            small = rows * columns <= SMALL_RACKS
            limit = 0.08 if scarce and not small else 0.05
            said = first_bound(shape, cables, total / (1 + limit))
            check(f"{what}: {total:.1f} m is below the bound of {said}", total >= said * 0.9999)
            second = (second_bound(what, myriad, shape, (cables, racks), total)
                      if total > (1 + limit) * said else 0)
            over = total / max(said, second) - 1, limit
            if second:
                print(f"{what}: {100 * total / said - 100:.1f} % above the first bound, "
                      f"{100 * total / second - 100:.1f} % above the second one")
    if len(totals) == 2:
        check(f"{shape}: shortest {totals['shortest']:.0f} m, aligned {totals['aligned']:.0f} m",
              totals["shortest"] <= totals["aligned"] * 1.0001)
    return over


def tiny_rooms(myriad, folder):
    """Three racks, or four: the bound is below the least of all placements, the plan near it."""
    rooms = ((3, 1, 60, 9), (1, 3, 60, 10), (3, 1, 44, 9), (2, 2, 44, 8))
    for rows, columns, kw, servers in rooms:
        spec = (f"servers: {servers}\nserver: h100-8gpu\nnetworks: {{compute: {{switch: "
                f"mqm9790-ns2f, tiers: 2}}}}\nroom: {{rows: {rows}, columns: {columns}, "
                f"rack_kw: {kw}, rack_u: 60, rack_kg: 4000, server_kw: 10, place: shortest}}\n")
        answer, out = plan(myriad, spec, folder)
        if answer is None:
            check(f"tiny room {rows} x {columns}: {out}", False)
            continue
        room, fabric = Room(rows, columns), stars.Fabric(rows_of(out / "cables.csv"))
        places = min(kw // 10, 60 // 8)
        seats = seats_of(kw, 10, "mqm9790-ns2f", places)[::-1]
        least = with_drops(room, stars.exact_m(fabric, room.points(), seats), fabric.cables)
        ways, got = stars.ways_m(fabric, room.points(), seats), answer["room"]["cable_m"]
        said = with_drops(room, ways, fabric.cables)
        check(f"tiny room {rows} x {columns}: bound {said}, least {least:.2f}",
              least * 0.95 <= said <= least * 1.0001)
        check(f"tiny room {rows} x {columns}: plan {got}, least {least:.2f}",
              least * 0.9999 <= got <= least * 1.01)
        ways = pairs.ways_m(myriad, {"rows": rows, "columns": columns, "rack_kw": kw, "rack_u": 60},
                            *(rows_of(out / name) for name in ("cables.csv", "racks.csv")))
        second = with_drops(room, ways, fabric.cables)
        check(f"tiny room {rows} x {columns}: second bound {second:.2f}, least {least:.2f}",
              least * 0.98 <= second <= least * 1.0001)


def within(what, found, share=0):
    """Each room within 5 % of the better bound. Where a rack holds one server, or has power for
    1 to 3 switches beside its servers, switches spread over the room, which the first bound
    sees only in part (docs/measurements.md): 8 % of that one there, unless the room is small. Of
    all drawn ones a share is within 5 %."""
    for over, limit in found:
        check(f"{what}, {100 * over:.1f} % above the bound", over <= limit)
    near = sum(over <= 0.05 for over, _ in found)
    check(f"{what}, {near} of {len(found)} within 5 %: {found}", near >= share * len(found))


def random_rooms(myriad, folder, seed, count):
    """Any room: groups may be begun with few servers, whose leaves have all their uplinks."""
    rng = random.Random(seed)
    found = [look_at(myriad, folder, random_room(rng)) for _ in range(count)]
    return [over for over in found if over is not None]


def full_rooms(myriad, folder, seed, count):
    """Rail groups that are full, in rooms that are mostly so."""
    rng = random.Random(seed)
    found = []
    for _ in range(count):
        switch = rng.choice(list(SWITCH_W))
        servers = {"mqm9790-ns2f": 32, "sn5600": 64}[switch] * rng.randint(2, 5)
        server_kw = rng.choice([6.5, 10, 10.2, 14.3])
        kw = rng.choice([k for k in (15, 20, 30, 44, 60) if k >= server_kw])
        rows = rng.randint(6, 20)
        racks = servers / (kw // server_kw) / rng.uniform(0.4, 0.9)
        shape = rows, max(2, int(racks / rows) + 1), kw, server_kw, servers, switch
        found.append(look_at(myriad, folder, shape))
    return [over for over in found if over is not None]


def few_crossings(myriad, folder):
    """Trays that cross at the first row and at one more alone: the bound knows of the detours."""
    rows, columns, kw, servers, crossings = 9, 7, 15, 40, (1, 6)
    spec = (f"servers: {servers}\nserver: h100-8gpu\nnetworks: {{compute: {{switch: "
            f"mqm9790-ns2f}}}}\nroom: {{rows: {rows}, columns: {columns}, rack_kw: {kw}, "
            f"rack_u: 60, rack_kg: 4000, server_kw: 10, place: shortest, "
            f"trays: {{cross_rows: {list(crossings)}}}}}\n")
    answer, out = plan(myriad, spec, folder)
    if answer is None:
        check(f"few crossings: {out}", False)
        return
    room, cables = Room(rows, columns), rows_of(out / "cables.csv")

    def way(one, other):
        if one[0] == other[0]:
            return abs(one[1] - other[1])
        return abs(one[0] - other[0]) + min(abs(one[1] - room.pitch[0] * (row - 1))
                                            + abs(other[1] - room.pitch[0] * (row - 1))
                                            for row in crossings)

    fabric, seats = stars.Fabric(cables), seats_of(kw, 10, "mqm9790-ns2f", 1)[::-1]
    straight, crossed = (with_drops(room, stars.ways_m(fabric, room.points(), seats, metric),
                                    fabric.cables) for metric in (stars.straight, way))
    got = answer["room"]["cable_m"]
    check(f"few crossings: bound {crossed:.1f}, straight {straight:.1f}", crossed > straight)
    total = sum({row["cable"]: with_drops(room, way(room.of_rack(row["a_rack"]),
                                                    room.of_rack(row["b_rack"])), 1)
                 for row in cables}.values())
    check(f"few crossings: cable_m {got}, by hand {total:.1f}", abs(got - total) < 0.001 * total)
    within("few crossings", [(got / crossed - 1, 0.05)])


# What a room gets wrong, and the rule that says so.
FINDINGS = [
    ("tray-full", "servers: 64\nroom: {rows: 8, columns: 8,"
                  " trays: {width_mm: 10, height_mm: 10}}\n"),
    ("feed-overload", "servers: 8\nroom: {rows: 4, columns: 4,"
                      " power: [{name: a, kw: 50, rows: 1-4}, {name: b, kw: 500, rows: 1-4}]}\n"),
    ("feed-single", "servers: 8\nroom: {rows: 4, columns: 4, power: [{name: a, rows: 1-4}]}\n"),
    ("feed-none", "servers: 16\nroom: {rows: 4, columns: 4, rack_kw: 20,"
                  " power: [{name: a, rows: 1-1}]}\n"),
    ("cooling-overload", "servers: 8\nroom: {rows: 4, columns: 4,"
                         " cooling: [{name: chiller, kw: 1}, {name: d, rows: 1-4},"
                         " {name: c, rows: 1-4, parents: [chiller]}]}\n"),
    ("patch-panels", "servers: 64\nroom: {rows: 8, columns: 10, trunks: {}}\n"),
    ("pfc-headroom", "servers: 512\nnetworks: {compute: {switch: sn5600, nic_gbps: 400}}\n"
                     "room: {rows: 20, columns: 30, rack_kw: 20, drop_m: 20, slack: {m: 20},"
                     " lossless_classes: 4}\n"),
]


def findings(myriad, folder):
    for rule, spec in FINDINGS:
        answer, out = plan(myriad, spec, folder)
        if answer is None:
            check(f"{rule}: refused: {out}", False)
            continue
        found = {f["rule"]: f for f in answer["findings"]}
        check(f"{rule} is not among {sorted(found)}", rule in found)
        check(f"{rule} has no remedy", rule in found and found[rule]["remedy"])


def buildings(myriad, folder):
    spec = ("servers: 256\nserver: h100-8gpu\n"
            "networks: {compute: {switch: mqm9790-ns2f, tiers: 3}}\n"
            "room: {rows: 10, columns: 18, rack_kw: 15, place: shortest, distance_m: 120,"
            " buildings: [{name: east}, {name: west}]}\n")
    answer, out = plan(myriad, spec, folder)
    room = Room(10, 18)
    crossing = Counter()
    for row in rows_of(out / "cables.csv"):
        a, b = row["a_rack"].split("/"), row["b_rack"].split("/")
        way = room.route_m(a[1], b[1])
        if a[0] != b[0]:
            crossing[row["layer"]] += 1
            corner = sum(room.of_rack(a[1])) + sum(room.of_rack(b[1])) + 120 + 2 * room.drop
            way = corner * 1.05 + 1
        check(f"buildings: cable {row['cable']} {row['route_m']} m, {way:.3f} by hand",
              abs(float(row["route_m"]) - way) < 0.0151)
    check(f"buildings: cables between them {crossing}", set(crossing) == {"spine_core"})
    check("buildings: in the answer", answer["room"]["buildings"] == 2)


def old_file(myriad):
    """A design of before there were rooms is still read."""
    path = ROOT / "tests" / "data" / "design-before-rooms.myr"
    done = subprocess.run([myriad, "design", str(path), "-o", "json"], capture_output=True,
                          text=True, timeout=SLOWEST_S, check=False)
    check(f"old file: exit code {done.returncode} {done.stderr}", done.returncode == 0)
    if done.returncode == 0:
        answer = json.loads(done.stdout)
        check("old file: it is the one", answer["name"] == "before-rooms")
        check("old file: it has a room", answer.get("room", None) is None)


def main():
    myriad = sys.argv[1]
    seeds = [int(sys.argv[2])] if len(sys.argv) > 2 else [20240523]
    count = int(sys.argv[3]) if len(sys.argv) > 3 else 2
    with tempfile.TemporaryDirectory(prefix="myriad-room-") as name:
        folder = pathlib.Path(name)
        for servers in (126, 128):
            seed_map(myriad, folder, servers)
        findings(myriad, folder)
        buildings(myriad, folder)
        # Six columns of ten; and groups of few servers, with more leaves than racks of them.
        small = [(10, 6, 15, 10, 32, "mqm9790-ns2f"), (10, 6, 20, 10.2, 50, "mqm9790-ns2f"),
                 (10, 6, 15, 10, 56, "mqm9790-ns2f"), (6, 10, 30, 14.3, 64, "sn5600")]
        within("6 x 10", [look_at(myriad, folder, shape) for shape in small])
        within("begun groups", [look_at(myriad, folder, (16, 10, 12, 10.2, n, "mqm9790-ns2f"))
                                for n in (33, 97)])
        # More than 5 % above the first bound, which the second one shows to be too low. With
        # a seed of one's own, another such room: its second bound takes as long as all else here.
        scarce = [(5, 10, 12, 10, 36, "mqm9790-ns2f"), (7, 12, 15, 6.5, 96, "mqm9790-ns2f")]
        within("scarce seats", [look_at(myriad, folder, shape)
                                for shape in scarce[:2 if len(sys.argv) > 2 else 1]])
        tiny_rooms(myriad, folder)
        few_crossings(myriad, folder)
        over, full = [], []
        for seed in seeds:
            over += random_rooms(myriad, folder, seed, count)
            full += full_rooms(myriad, folder, seed, count)
        within("any room", over, 0.75)
        within("full groups", full, 0.75)
    old_file(myriad)
    print("seeds", *seeds)
    print("above the bound:", " ".join(f"{100 * x:.1f} %" for x, _ in over))
    print("of full groups:", " ".join(f"{100 * x:.1f} %" for x, _ in full))
    for line in FAILED[:20]:
        print(line)
    sys.exit(f"{len(FAILED)} failed" if FAILED else 0)


if __name__ == "__main__":
    main()
