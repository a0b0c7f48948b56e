"""A lower bound on the ways of all cables that looks at pairs of racks (tests/plan/pairs/pairs.h).

ways_m() writes down the room for the program pairs, from cables.csv, racks.csv and the room of the
spec: what racks carry, how far they are apart, which things there are and what connects them. It
knows nothing of where the things stand. Limits of weight are left out, and so are power strips:
both can only make the bound lower. None where the programme would be too large.
"""
import subprocess
from collections import Counter
from pathlib import Path

WORK = 3e9  # numbers by rack, rack and class of pairs that are looked at: 10 to 30 s
SLOWEST_S = 3600


def hull(seats):
    """What a rack takes, seats[a] beside a servers, as lines above it: seats + by * a <= most."""
    found = []
    for point in enumerate(seats):
        while len(found) > 1 and ((found[-1][1] - found[-2][1]) * (point[0] - found[-1][0])
                                  <= (point[1] - found[-1][1]) * (found[-1][0] - found[-2][0])):
            found.pop()
        found.append(point)
    return [(s + (s - v) / (b - a) * a, (s - v) / (b - a))
            for (a, s), (b, v) in zip(found, found[1:])] or [(seats[0], 0.0)]


def facets(kinds, watts, units):
    """Limits of a rack that hold whatever it carries: (need of each kind, most). 'kinds' are
    (is no server, W, U)."""
    servers = [kind for kind in kinds if not kind[0]]
    others = [kind for kind in kinds if kind[0]]
    server_watts, server_units = min(k[1] for k in servers), min(k[2] for k in servers)
    most = int(min(watts // server_watts, units // server_units))
    left = [(watts - a * server_watts, units - a * server_units) for a in range(most + 1)]
    found = [([float(not kind[0]) for kind in kinds], float(most))]

    def add(measure, seats):
        found.extend(([measure(kind) if kind[0] else by for kind in kinds], limit)
                     for limit, by in hull(seats))

    for least in sorted({kind[1] for kind in others if kind[1] >= 1000}):
        large = [kind for kind in others if kind[1] >= least]
        units_least = min(kind[2] for kind in large)
        add(lambda kind, large=large: float(kind in large),
            [float(min(w // least, u // units_least)) for w, u in left])
    if len(others) > 1:
        add(lambda kind: kind[1] / 1000, [w / 1000 for w, _ in left])
        add(lambda kind: float(kind[2]), [float(u) for _, u in left])
    return found


def racks_of(room):
    """Building, x, y, and the places between which lines lie: ways to the other building go by the
    corner of the first rack in both, so the two stand there back to back."""
    rows, columns, count = room["rows"], room["columns"], len(room.get("buildings", [None]))
    pitch, aisles = room.get("pitch_m", {}), room.get("aisles", {})
    every, wide = aisles.get("every", 2), aisles.get("width_m", 1.2)
    found = []
    for building in range(count):
        for i in range(columns):
            for j in range(rows):
                turned = count > 1 and building == 0
                column, row = (columns - 1 - i, rows - 1 - j) if turned else (i, j)
                found.append((building,
                              column * pitch.get("column", 1.2) + column // every * wide,
                              row * pitch.get("row", 0.6),
                              building * columns + i, building * rows + j))
    return found


def way_of(room):
    crossings, pitch = room.get("trays", {}).get("cross_rows"), room.get("pitch_m", {})

    def way(one, other):
        if one[0] != other[0]:
            return sum(one[1:3]) + sum(other[1:3]) + room["distance_m"]
        if crossings and one[1] != other[1]:
            return abs(one[1] - other[1]) + min(
                abs(one[2] - y) + abs(other[2] - y)
                for y in (pitch.get("row", 0.6) * (row - 1) for row in crossings))
        return abs(one[1] - other[1]) + abs(one[2] - other[2])
    return way


def room_text(room, cables, racks):
    """What the program reads."""
    parts = {row["item"]: row for row in racks}
    legs, cable_of, networks = Counter(row["cable"] for row in cables), Counter(), {}
    for row in cables:
        if not row["a_device"].startswith("pdu/"):
            cable_of[row["a_device"], row["b_device"]] += 1 / legs[row["cable"]]
            networks.setdefault(row["b_device"], set()).add(row["network"])
    things = sorted({thing for pair in cable_of for thing in pair})
    kind_of = {thing: (not thing.startswith("node/"), int(parts[thing]["watts"]),
                       int(parts[thing]["units"])) for thing in things}
    mark_of = {thing: (thing.split("/")[0], parts[thing]["part"],
                       *sorted(networks.get(thing, ()))) for thing in things}
    kinds, marks = sorted(set(kind_of.values())), sorted(set(mark_of.values()))
    limits = facets(kinds, int(room["rack_kw"] * 1000 + 0.5), room.get("rack_u", 42))
    points, way = racks_of(room), way_of(room)
    number = {thing: i for i, thing in enumerate(things)}
    lines = [(len(kinds), len(limits), len(points), len(things), len(cable_of))]
    lines += [(*need, most) for need, most in limits]
    lines += [(x, y, 1) for _, _, _, x, y in points]
    lines += [[f"{way(one, other):.4f}" for other in points] for one in points]
    lines += [(kinds.index(kind_of[thing]), marks.index(mark_of[thing])) for thing in things]
    lines += [(number[a], number[b], f"{n:.6f}") for (a, b), n in cable_of.items()]
    return "".join(" ".join(map(str, line)) + "\n" for line in lines)


def ways_m(myriad, room, cables, racks, enough=1e300, work=WORK):
    """The least ways of all cables; less may do where that is 'enough'. None: too large."""
    program = Path(myriad).resolve().parent.parent / "tests" / "plan-pairs"
    done = subprocess.run([program, f"{work:.0f}", f"{enough:.9g}"], capture_output=True, text=True,
                          input=room_text(room, cables, racks), timeout=SLOWEST_S, check=False)
    if done.returncode not in (0, 1):
        raise RuntimeError(f"pairs: exit {done.returncode}: {done.stderr}")
    return float(done.stdout) if done.returncode == 0 else None
