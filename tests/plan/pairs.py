"""A second lower bound of a room, stronger and far slower than the program's own.

Where every thing stands is not asked; only how often pairs of things stand in each pair of racks.
Things that are alike are one class (servers, leaves, tops of two tiers) and pairs that are alike
one orbit (a server and a leaf of its group, of another one, ...). The mean over all ways to
exchange things that are alike gives for any placement numbers Y(orbit, rack, rack) with

- sum over q of Y(r, q) = partners x things of the class in r, and Y(r, q) = Y(q, r) turned round
- what the partners of things in r take in q is no more than q carries, for each of them
- for every line that cuts the room: when a is left of it and c is right of it, then so is a and
  not b, or b and not c; for triples that cables connect (a server, its leaf, a top; ...)

The least length of all such numbers is a linear programme (Adams and Johnson's, with the lines).
Rooms that are their own mirror image have such numbers that are so, too. What is returned is the
value of the dual solution with what it lacks taken off, so that it holds however well or badly the
programme was solved. None: not a fabric of two tiers and alike groups, too large, or no scipy.
"""
from collections import Counter, defaultdict

try:
    import numpy as np
    import scipy.sparse as sparse
    from scipy.optimize import linprog
except ImportError:
    np = None

PAIRS_MOST = 20000  # variables, after mirroring: a few of them more take minutes


class Fabric:
    """Groups of servers under leaves under tops, in one plane or several that are alike."""

    def __init__(self, cables):
        legs = Counter(row["cable"] for row in cables)
        self.cables = len(legs)
        self.hosts, self.up = defaultdict(Counter), defaultdict(Counter)
        for row in cables:
            host = row["layer"] == "host_leaf"
            side, at = (self.hosts, "b_device") if host else (self.up, "a_device")
            side[row[at]][row["a_device" if host else "b_device"]] += 1 / legs[row["cable"]]
        self.layers = {row["layer"] for row in cables}
        self.planes = {frozenset(tops) for tops in self.up.values()}
        self.groups = defaultdict(list)  # servers of a group: its leaves
        for leaf, below in self.hosts.items():
            self.groups[frozenset(below)].append(leaf)

    def is_even(self):
        tops = [top for plane in self.planes for top in plane]
        servers = [server for group in self.groups for server in group]
        of_plane = [Counter(frozenset(self.up[leaf]) for leaf in leaves)
                    for leaves in self.groups.values()]
        return (self.layers == {"host_leaf", "leaf_spine"} and set(self.up) == set(self.hosts)
                and len(set(tops)) == len(tops) and len(set(servers)) == len(servers)
                and len({len(plane) for plane in self.planes}) == 1
                and all(len(count) == len(self.planes) and len(set(count.values())) == 1
                        for count in of_plane))

    def kinds(self):
        """Groups of one size: how many, their servers, leaves of a plane, least of their cables."""
        found = defaultdict(list)
        for servers, leaves in self.groups.items():
            found[len(servers), len(leaves) // len(self.planes)].append(leaves)
        return [{"groups": len(groups), "servers": servers, "leaves": leaves,
                 "host": min(min(self.hosts[x].values()) for group in groups for x in group),
                 "up": min(min(self.up[x].values()) for group in groups for x in group)}
                for (servers, leaves), groups in sorted(found.items())]


class Orbits:
    """Classes of things, with their number, and pairs of them: partners that one thing has."""

    def __init__(self, fabric):
        self.kinds, planes = fabric.kinds(), len(fabric.planes)
        tops = len(next(iter(fabric.planes)))
        self.count, self.partners = {"T": planes * tops}, {}
        for i, kind in enumerate(self.kinds):
            self.count[f"S{i}"] = kind["groups"] * kind["servers"]
            self.count[f"L{i}"] = kind["groups"] * kind["leaves"] * planes
        for one in self.count:
            for other in self.count:
                self.add(one, other, planes, tops)
        self.partners = {orbit: n for orbit, n in self.partners.items() if n > 0}

    def add(self, one, other, planes, tops):
        """Orbits are named by group and plane: (s)ame, (o)ther, or - where there is none."""
        def size(what, group):
            kind = self.kinds[int(what[1:])]
            each = kind["servers"] if what[0] == "S" else kind["leaves"]
            return each * (1 if group == "s" else kind["groups"] - 1)
        if other == "T":
            each, groups = {"-": tops}, "-"
        elif one == "T" or one[1:] != other[1:]:
            each = {"-": size(other, "s") * self.kinds[int(other[1:])]["groups"]}
            groups = "-"
        else:
            each, groups = {group: size(other, group) for group in "so"}, "so"
        planed = "S" not in (one[0], other[0])
        for group in groups:
            for plane in "so" if planed else "-":
                many = planes - 1 if plane == "o" else 1 if planed or other[0] == "S" else planes
                own = one == other and group in "s-" and plane in "s-"
                self.partners[one, other, group + plane] = each[group] * many - own

    def triples(self):
        """(a, c), (a, b), (b, c): pairs of three things, in the classes of one kind or two."""
        found = []
        for i in range(len(self.kinds)):
            s, l, t = f"S{i}", f"L{i}", "T"
            to_top, down, back = (s, t, "--"), (s, l, "s-"), (l, s, "s-")
            found += [(to_top, down, (l, t, "-s")), (to_top, (s, s, "s-"), to_top),
                      ((s, s, "s-"), down, back), ((s, l, "o-"), (s, s, "o-"), down),
                      (to_top, down, (l, t, "-o"))]
            found += [((s, l, "o-"), down, (l, l, "o" + p)) for p in "so"]
            found += [((l, l, "s" + p), back, down) for p in "so"]
            found += [((l, t, "-" + p), back, to_top) for p in "so"]
            found += [((t, t, "-" + p), (t, s, "--"), to_top) for p in "so"]
            found += [((t, t, "-s"), (t, l, "-s"), (l, t, "-s")),
                      ((t, t, "-o"), (t, l, "-s"), (l, t, "-o"))]
            found += [((l, l, g + "s"), (l, t, "-s"), (t, l, "-s")) for g in "so"]
            found += [((l, l, g + "o"), (l, t, "-s"), (t, l, "-o")) for g in "so"]
            found += [((l, f"L{j}", "-s"), (l, t, "-s"), (t, f"L{j}", "-s"))
                      for j in range(len(self.kinds)) if j != i]
        return [t for t in found if all(orbit in self.partners for orbit in t)]


def facets(seats):
    """The hull of what a rack takes, seats[a] switches beside a servers: x + by * a <= most."""
    hull = []
    for point in enumerate(seats):
        while len(hull) > 1 and ((hull[-1][1] - hull[-2][1]) * (point[0] - hull[-1][0])
                                 <= (point[1] - hull[-1][1]) * (hull[-1][0] - hull[-2][0])):
            hull.pop()
        hull.append(point)
    slopes = [(s + (s - v) / (b - a) * a, (s - v) / (b - a))
              for (a, s), (b, v) in zip(hull, hull[1:])]
    return [(most, by, 1.0) for most, by in slopes] + [(len(seats) - 1.0, 1.0, 0.0)]


class Rows:
    """Constraints, collected as triplets."""

    def __init__(self):
        self.rows, self.columns, self.values, self.right, self.count = [], [], [], [], 0

    def add(self, terms, right):
        """'terms': (rows from 0, columns, values); as many rows as 'right' has."""
        for rows, columns, values in terms:
            self.rows.append(rows + self.count)
            self.columns.append(columns)
            self.values.append(np.broadcast_to(values, len(columns)).astype(float))
        self.right.append(right)
        self.count += len(right)

    def matrix(self, merge):
        """With columns merged; rows that have become alike stay once."""
        found = sparse.csr_matrix((np.concatenate(self.values),
                                   (np.concatenate(self.rows), np.concatenate(self.columns))),
                                  shape=(self.count, merge.shape[0])) @ merge
        right = np.concatenate(self.right)
        key = found @ np.random.default_rng(16).random(found.shape[1]) + 1000 * right
        _, first = np.unique(np.round(key, 8), return_index=True)
        return found[first], right[first]


class Programme:
    def __init__(self, orbits, points, seats):
        self.orbits, self.points, self.racks = orbits, points, len(points)
        self.here = np.arange(self.racks)
        self.r, self.q = (x.ravel() for x in np.meshgrid(self.here, self.here, indexing="ij"))
        self.at, self.pair, self.size = {}, {}, 0
        for one in orbits.count:
            self.at[one] = self.size + self.here
            self.size += self.racks
        for orbit in orbits.partners:
            self.number(orbit)
        self.equal, self.limit = Rows(), Rows()
        self.seats = seats

    def number(self, orbit):
        """Variables by rack and rack; the same ones turned round."""
        one, other, how = orbit
        if (other, one, how) in self.pair:
            self.pair[orbit] = self.pair[other, one, how].reshape(self.racks, -1).T.ravel()
            return
        low, high = np.minimum(self.r, self.q), np.maximum(self.r, self.q)
        index = low * self.racks + high if one == other else self.r * self.racks + self.q
        used, self.pair[orbit] = np.unique(index, return_inverse=True)
        self.pair[orbit] = self.pair[orbit] + self.size
        self.size += len(used)

    def add_counts(self):
        for one, count in self.orbits.count.items():
            self.equal.add([(0 * self.here, self.at[one], 1)], np.array([float(count)]))
        for orbit, partners in self.orbits.partners.items():
            self.equal.add([(self.r, self.pair[orbit], 1),
                            (self.here, self.at[orbit[0]], -partners)], np.zeros(self.racks))

    def add_racks(self, most, server, switch):
        needs = {one: server if one[0] == "S" else switch for one in self.orbits.count}
        self.limit.add([(self.here, self.at[one], needs[one]) for one in needs],
                       np.full(self.racks, most))
        every = np.arange(len(self.r))
        for one in needs:
            terms = [(every, self.pair[orbit], needs[orbit[1]]) for orbit in self.orbits.partners
                     if orbit[0] == one]
            left = most - np.where(self.r == self.q, needs[one], 0)
            self.limit.add(terms + [(every, self.at[one][self.r], -left)], np.zeros(len(self.r)))

    def add_lines(self):
        pairs = {orbit: self.orbits.count[orbit[0]] * n
                 for orbit, n in self.orbits.partners.items()}
        for axis in (0, 1):
            for line in np.unique(self.points[:, axis])[1:]:
                left = self.points[:, axis] < line
                for side in (left, ~left):
                    apart = np.flatnonzero(side[self.r] & ~side[self.q])
                    for whole, *parts in self.orbits.triples():
                        terms = [(0 * apart, self.pair[whole][apart], 100 / pairs[whole])]
                        terms += [(0 * apart, self.pair[part][apart], -100 / pairs[part])
                                  for part in parts]
                        self.limit.add(terms, np.zeros(1))

    def cost(self):
        way = np.abs(self.points[self.r] - self.points[self.q]).sum(1)
        found = np.zeros(self.size)
        for i, kind in enumerate(self.orbits.kinds):
            np.add.at(found, self.pair[f"S{i}", f"L{i}", "s-"], kind["host"] * way)
            np.add.at(found, self.pair[f"L{i}", "T", "-s"], kind["up"] * way)
        return found

    def most(self):
        """No variable is above this in any placement."""
        found = np.zeros(self.size)
        for one, count in self.orbits.count.items():
            found[self.at[one]] = count
        for orbit, index in self.pair.items():
            found[index] = self.orbits.count[orbit[0]] * self.orbits.partners[orbit]
        return found

    def mirror(self):
        """Which variables are one where the room is its own mirror image."""
        known = {tuple(np.round(point, 4)): i for i, point in enumerate(self.points)}
        least = np.arange(self.size)
        for axis in (0, 1):
            turned = self.points.copy()
            turned[:, axis] = turned[:, axis].max() + turned[:, axis].min() - turned[:, axis]
            to = np.array([known.get(tuple(np.round(point, 4)), -1) for point in turned])
            if (to < 0).any():
                continue
            image = np.arange(self.size)
            for index in self.at.values():
                image[index] = index[to]
            for index in self.pair.values():
                image[index] = index[to[self.r] * self.racks + to[self.q]]
            least = np.minimum(least, least[image])
        used, merged = np.unique(least, return_inverse=True)
        return sparse.csr_matrix((np.ones(self.size), (np.arange(self.size), merged)),
                                 shape=(self.size, len(used)))

    def least_m(self, seconds):
        merge = self.mirror()
        if merge.shape[1] > PAIRS_MOST:
            return None
        self.add_counts()
        for facet in facets(self.seats):
            self.add_racks(*facet)
        self.add_lines()
        (equal, count), (limit, most) = self.equal.matrix(merge), self.limit.matrix(merge)
        cost = merge.T @ self.cost()
        done = linprog(cost, A_eq=equal, b_eq=count, A_ub=limit, b_ub=most, bounds=(0, None),
                       method="highs-ipm", options={"time_limit": seconds})
        if done.status != 0:
            return None
        prices, scarce = done.eqlin.marginals, np.minimum(done.ineqlin.marginals, 0)
        left = cost - equal.T @ prices - limit.T @ scarce
        # the mirrored variables together: no more than so many things or pairs there are
        return float(prices @ count + scarce @ most
                     + np.minimum(left, 0) @ (merge.T @ self.most()))


def seats_of(racks, room):
    """Switches that a rack takes beside 0, 1 ... servers, by watts and units of racks.csv."""
    need = {}
    for row in racks:
        kind = row["item"].split("/")[0]
        kind = {"node": 0, "leaf": 1, "spine": 1}.get(kind)
        if kind is not None:
            watts, units = need.get(kind, (1e9, 1e9))
            need[kind] = min(watts, int(row["watts"])), min(units, int(row["units"]))
    (watts, units), (switch_watts, switch_units) = need[0], need[1]
    limit, high = room["rack_kw"] * 1000 + 0.5, room.get("rack_u", 42)
    return [int(min((limit - a * watts) // switch_watts, (high - a * units) // switch_units))
            for a in range(int(min(limit // watts, high // units)) + 1)]


def ways_m(cables, points, seats, seconds=120):
    """The least ways of all cables; 'seats' are switches that a rack takes beside 0, 1 ... servers.
    None where there is no such bound, or it is not found in time."""
    fabric = Fabric(cables)
    if np is None or not fabric.is_even():
        return None
    orbits = Orbits(fabric)
    if len(orbits.partners) * len(points) ** 2 > 8 * PAIRS_MOST:
        return None
    return Programme(orbits, np.array(points, float), seats).least_m(seconds)
