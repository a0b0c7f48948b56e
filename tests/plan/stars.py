"""A lower bound of a room from cables.csv alone: what no placement can go below.

ways_m() cuts the cables of fabrics of two tiers into stars. The way over a third rack is never
shorter than the direct one, so every part of a cable goes to one path: a share a of what leads up
from a leaf begins at servers and ends at the top, b leads from the leaf to the top, c the same seen
from the leaf, d from one top through the leaf to another, e from one leaf through a top to another;
a + b + c + d + e <= 1. Each switch is then the centre of a star with paths of one weight w to each
kind of thing. For any prices p of the kinds

    ways of a star >= sum of p x count - sum over racks of max(sum of (p - w x way) x taken)

where the maximum goes over what a rack can take (Lagrange's bound). The sum over all stars is
concave in shares and prices together; the ellipsoid method finds the best ones, and the bound is
what they give with every centre in the cheapest seat of the room. exact_m() tries all placements of
a very small room, as counts by rack.
"""
import itertools
import math
from collections import Counter, defaultdict

SHARES = 5  # of an uplink: server-top, leaf-top, top-leaf, top-top, leaf-leaf
ROUNDS = 8


class Fabric:
    """Leaves by class, with the least of each class."""

    def __init__(self, cables):
        links = Counter(row["cable"] for row in cables)
        self.cables = len(links)
        hosts, up = defaultdict(Counter), defaultdict(Counter)
        for row in cables:
            below, above = row["a_device"], row["b_device"]
            side = hosts[above] if row["layer"] == "host_leaf" else up[below]
            side[below if row["layer"] == "host_leaf" else above] += 1 / links[row["cable"]]
        self.hosts, self.up = hosts, up
        self.tops = sorted({top for leaf in up for top in up[leaf]})
        self.flat = all(leaf in hosts for leaf in up) and all(
            len(up[leaf]) == len(self.tops) for leaf in hosts) and bool(self.tops)
        classes = defaultdict(list)
        for leaf, below in hosts.items():
            key = (len(below), sum(below.values()), min(up[leaf].values(), default=0))
            classes[key].append(leaf)
        self.classes = []
        for (servers, total, least), leaves in sorted(classes.items(), key=lambda c: c[1]):
            of_server = Counter()
            for leaf in leaves:
                of_server.update(hosts[leaf])
            self.classes.append({"leaves": len(leaves), "each": servers, "hosts": total,
                                 "cable": min(min(hosts[leaf].values()) for leaf in leaves),
                                 "top": least, "servers": len(of_server),
                                 "of_server": min(of_server.values())})


def straight(one, other):
    return abs(one[0] - other[0]) + abs(one[1] - other[1])


def rings(points, at, way=straight):
    found = Counter(round(way(points[at], point), 4) for point in points)
    own = [(0.0, 1)]
    return own + sorted((d, n) for d, n in found.items() if d > 0)


def gains(kinds, prices, seats, mm, centre):
    """What a rack takes: (sum, kind of servers, how many, kind of switches, how many)."""
    server = min(((w * mm - p, k) for k, ((n, w, is_server), p) in enumerate(zip(kinds, prices))
                  if is_server), default=(0, None))
    switch = min(((w * mm - p, k) for k, ((n, w, is_server), p) in enumerate(zip(kinds, prices))
                  if not is_server), default=(0, None))
    best = None
    for servers, places in enumerate(seats):
        if places >= centre:
            total = servers * min(0, server[0]) + (places - centre) * min(0, switch[0])
            if best is None or total < best[0]:
                best = (total, server[1] if server[0] < 0 else None, servers,
                        switch[1] if switch[0] < 0 else None, places - centre)
    return best


def value(kinds, prices, seats, around):
    """Value of a star, and its slopes by weight and by price of each kind."""
    total = sum(p * n for (n, _, _), p in zip(kinds, prices))
    moment, over = [0.0] * len(kinds), [float(n) for n, _, _ in kinds]
    for mm, racks in around:
        gain, server, servers, switch, switches = gains(kinds, prices, seats, mm, mm == 0)
        total += racks * gain
        for kind, taken in ((server, servers), (switch, switches)):
            if kind is not None:
                moment[kind] += racks * taken * mm
                over[kind] -= racks * taken
    return total, moment, over


class Model:
    """Stars whose weights are linear in the shares of the classes; prices follow the shares."""

    def __init__(self, fabric, points, seats, way):
        self.seats, self.points, self.way = seats, points, way
        self.tops = len(fabric.tops)
        self.shares = SHARES * len(fabric.classes)
        self.stars = []  # (centres, [(count, is_server, fixed, {share: by}, most)])
        top, more = [], {}
        for i, one in enumerate(fabric.classes):
            a = SHARES * i
            up = one["top"] * self.tops
            top.append((one["servers"], True, 0, {a: one["of_server"] * one["top"] / one["hosts"]},
                        one["of_server"] * min(one["hosts"], up) / one["hosts"] / self.tops))
            top.append((one["leaves"], False, 0, {a + 1: one["top"]}, one["top"] / 2))
            if self.tops > 1:
                more[a + 3] = one["leaves"] * one["top"] / (2 * (self.tops - 1))
            kinds = [(one["each"], True, one["cable"], {a: -one["cable"] * up / one["hosts"]},
                      one["cable"]),
                     (self.tops, False, 0, {a + 2: one["top"]}, one["top"] / 2)]
            if one["leaves"] > 1:
                kinds.append((one["leaves"] - 1, False, 0,
                              {a + 4: up / (2 * (one["leaves"] - 1))}, one["top"] / 2))
            self.stars.append((one["leaves"], kinds))
        if more:
            top.append((self.tops - 1, False, 0, more, fabric.classes[0]["top"] / 2))
        self.stars.insert(0, (self.tops, top))
        self.chains = [min(1, one["hosts"] / (one["top"] * self.tops)) for one in fabric.classes]
        self.count = self.shares + sum(len(kinds) for _, kinds in self.stars)
        at = min(range(len(points)), key=lambda r: sum(way(points[r], point) for point in points))
        self.around = rings(points, at, way)
        self.reach, places = 1.0, 0
        for mm, racks in self.around:
            if places < sum(one["servers"] for one in fabric.classes):
                self.reach = 1.5 * mm + 0.6
            places += racks * (len(seats) - 1)

    def star(self, x, at):
        """Kinds with their weights, prices, and where the prices begin."""
        put = self.shares + sum(len(kinds) for _, kinds in self.stars[:at])
        kinds, prices = [], []
        for k, (count, is_server, fixed, by, most) in enumerate(self.stars[at][1]):
            weight = fixed + sum(x[var] * factor for var, factor in by.items())
            kinds.append((count, max(0, weight), is_server))
            prices.append(x[put + k] * most * self.reach)
        return kinds, prices, put

    def total(self, x):
        total, slope = 0, [0.0] * self.count
        for at, (centres, spec) in enumerate(self.stars):
            kinds, prices, put = self.star(x, at)
            one, moment, over = value(kinds, prices, self.seats, self.around)
            total += centres * one
            for k, (_, _, _, by, most) in enumerate(spec):
                for var, factor in by.items():
                    slope[var] += centres * moment[k] * factor
                slope[put + k] += centres * over[k] * most * self.reach
        return total, slope

    def broken(self, x):
        """A limit that x does not keep: how far it is off, and the way back."""
        low = min(range(self.count), key=lambda i: x[i])
        if x[low] < 0:
            return -x[low], {low: 1.0}
        for i, chains in enumerate(self.chains):
            a = SHARES * i
            if x[a] > chains + 1e-12:
                return x[a] - chains, {a: -1.0}
            if sum(x[a:a + SHARES]) > 1 + 1e-12:
                return sum(x[a:a + SHARES]) - 1, {a + k: -1.0 for k in range(SHARES)}
        return None

    def search(self):
        """The best shares and prices by the ellipsoid method."""
        n = self.count
        x = [0.5] * n
        for i, chains in enumerate(self.chains):
            x[SHARES * i:SHARES * i + SHARES] = [0.8 * chains] + [(1 - 0.8 * chains) / 5] * 4
        shape = [[0.5 if i == k else 0.0 for k in range(n)] for i in range(n)]
        best, best_x = -math.inf, x
        for _ in range(ROUNDS * n * n):
            limit = self.broken(x)
            if limit:
                off, back = limit
                slope = [back.get(i, 0.0) for i in range(n)]
            else:
                total, slope = self.total(x)
                if total > best:
                    best, best_x = total, x
                off = best - total
            used = [i for i in range(n) if slope[i]]
            along = [sum(row[i] * slope[i] for i in used) for row in shape]
            square = sum(along[i] * slope[i] for i in used)
            if square <= 0 or off / math.sqrt(square) >= 1:
                break
            deep = off / math.sqrt(square)
            step = (1 + n * deep) / (n + 1) / math.sqrt(square)
            grow = n * n * (1 - deep * deep) / (n * n - 1)
            shrink = 2 * (1 + n * deep) / ((n + 1) * (1 + deep)) / square
            x = [at + step * way for at, way in zip(x, along)]
            shape = [[grow * (cell - shrink * a * b) for cell, b in zip(row, along)]
                     for row, a in zip(shape, along)]
        return best_x

    def least(self, x):
        """All centres in the cheapest seats of the room: a bound for every x within limits."""
        sum_of_all = 0
        for at, (centres, _) in enumerate(self.stars):
            kinds, prices, _ = self.star(x, at)
            offers = []
            for rack in range(len(self.points)):
                around = rings(self.points, rack, self.way)[1:]
                base = value(kinds, prices, self.seats, around)[0]
                steps = []
                for most in range(len(self.seats) - 1, -1, -1):
                    if self.seats[most] >= 1:
                        mine = gains(kinds, prices, self.seats[:most + 1], 0, 1)[0]
                        steps.append((self.seats[most], base + mine))
                offers += hull_steps(steps)
            offers.sort()
            left, total = centres, 0
            for cost, count in offers:
                taken = min(left, count)
                total += taken * cost
                left -= taken
            sum_of_all += max(0, total)
        return sum_of_all


def hull_steps(steps):
    """n seats cost n times their price each: the lower hull, as (cost of a seat, seats)."""
    hull = [(0, 0.0)]
    for seats, price in steps:
        point = (seats, seats * price)
        if seats <= hull[-1][0]:
            continue
        while len(hull) > 1 and ((hull[-1][1] - hull[-2][1]) * (point[0] - hull[-1][0])
                                 >= (point[1] - hull[-1][1]) * (hull[-1][0] - hull[-2][0])):
            hull.pop()
        hull.append(point)
    return [((b[1] - a[1]) / (b[0] - a[0]), b[0] - a[0]) for a, b in zip(hull, hull[1:])]


def ways_m(fabric, points, seats, way=straight):
    """seats[a]: switches that a rack takes beside a servers. None where there are more tiers."""
    if not fabric.flat or len(fabric.classes) > 3:
        return None
    model = Model(fabric, points, seats, way)
    return model.least(model.search())


def exact_m(fabric, points, seats):
    """The least ways of all placements of one class of leaves, of servers and of tops."""
    assert fabric.flat and len(fabric.classes) == 1
    racks = range(len(points))
    apart = [[abs(ax - bx) + abs(ay - by) for bx, by in points] for ax, ay in points]

    def deals(count):
        for cuts in itertools.combinations_with_replacement(range(count + 1), len(points) - 1):
            edges = (0,) + cuts + (count,)
            yield tuple(edges[r + 1] - edges[r] for r in racks)

    def pull(deal):
        return [sum(n * apart[q][r] for q, n in enumerate(deal) if n) for r in racks]

    best = math.inf
    tops = [(deal, pull(deal)) for deal in deals(len(fabric.tops))]
    for servers in deals(fabric.classes[0]["servers"]):
        if max(servers) >= len(seats):
            continue
        room = [seats[n] for n in servers]
        to_servers = pull(servers)
        for deal, to_tops in tops:
            left = [room[r] - deal[r] for r in racks]
            if min(left) < 0:
                continue
            one = fabric.classes[0]
            each = [one["cable"] * to_servers[r] + one["top"] * to_tops[r] for r in racks]
            total, need = 0, one["leaves"]
            for r in sorted(racks, key=lambda r: each[r]):
                taken = min(left[r], need)
                total += taken * each[r]
                need -= taken
            best = min(best, total if need == 0 else math.inf)
    return best
