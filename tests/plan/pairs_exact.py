#!/usr/bin/env python3
"""The second bound of rooms against the truth: small rooms of which every placement is tried.

    tests/plan/pairs_exact.py MYRIAD [SEED [COUNT]]

Draws fabrics of all shapes that the bound has to know, regular and not: groups under leaves, tops,
cores above them, planes, things that two networks share, two buildings, trays that cross at one
row. The bound is nowhere above the least of all placements, and near it in the mean, so that it is
no empty one.
"""
import itertools
import random
import sys

import pairs

SERVER, SWITCH, LEAST_MEAN = ("8000", "8"), ("1500", "2"), 0.8


def two_tiers(rng):
    groups, leaves, tops = rng.randint(1, 2), rng.randint(1, 2), rng.randint(1, 2)
    each = rng.randint(1, 2)
    for g in range(groups):
        for leaf in range(leaves):
            for s in range(each if g == 0 else max(1, each - rng.randint(0, 1))):
                yield f"node/{g}-{s}", f"leaf/{g}-{leaf}", "compute"
            for top in range(tops):
                for _ in range(rng.choice((1, 1, 2))):
                    yield f"leaf/{g}-{leaf}", f"spine/{top}", "compute"


def three_tiers(rng):
    for g in range(2):
        for s in range(rng.randint(1, 2)):
            yield f"node/{g}-{s}", f"leaf/{g}", "compute"
        yield f"leaf/{g}", f"spine/{g}", "compute"
        yield f"spine/{g}", "core/0", "compute"


def planes(rng):
    for s in range(rng.randint(2, 4)):
        for plane in range(2):
            yield f"node/{s}", f"leaf/{plane}", "compute"
    for plane in range(2):
        yield f"leaf/{plane}", f"spine/{plane}", "compute"


def networks(rng):
    for s in range(rng.randint(2, 4)):
        yield f"node/{s}", f"leaf/{s % 2}", "compute"
        yield f"node/{s}", "leaf/s", "storage"
    yield "leaf/0", "spine/0", "compute"
    yield "leaf/1", "spine/0", "compute"


def draw_room(rng):
    kw, (rows, columns) = rng.choice((9, 10, 12, 17)), rng.choice(((1, 4), (2, 2), (2, 3), (3, 1)))
    room = {"rows": rows, "columns": columns, "rack_kw": kw, "rack_u": 42}
    how = rng.random()
    if how < 0.2:
        room.update(columns=1, buildings=[{"name": "a"}, {"name": "b"}],
                    distance_m=rng.choice((3, 30)))
    elif how < 0.4:
        room["trays"] = {"cross_rows": [1]}
    return room


def least_m(room, cables):
    """The best of all placements; None where nothing fits."""
    things = sorted({row[end] for row in cables for end in ("a_device", "b_device")})
    racks, way = pairs.racks_of(room), pairs.way_of(room)
    apart = [[way(one, other) for other in racks] for one in racks]
    ends = [(things.index(row["a_device"]), things.index(row["b_device"])) for row in cables]
    need = [tuple(map(int, SERVER if thing.startswith("node/") else SWITCH)) for thing in things]
    best = None
    for placed in itertools.product(range(len(racks)), repeat=len(things)):
        total = sum(apart[placed[a]][placed[b]] for a, b in ends)
        if best is not None and total >= best:
            continue
        watts, units = [0] * len(racks), [0] * len(racks)
        for at, (w, u) in zip(placed, need):
            watts[at] += w
            units[at] += u
        if max(watts) <= room["rack_kw"] * 1000 and max(units) <= room["rack_u"]:
            best = total
    return best


def main():
    myriad = sys.argv[1]
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 20261117
    count = int(sys.argv[3]) if len(sys.argv) > 3 else 24
    rng, failed, shares = random.Random(seed), [], []
    shapes = (two_tiers, three_tiers, planes, networks)
    for i in range(count):
        links = list(shapes[i % len(shapes)](rng))
        room = draw_room(rng)
        cables = [{"cable": str(k), "network": network, "a_device": a, "b_device": b}
                  for k, (a, b, network) in enumerate(links)]
        things = sorted({thing for a, b, _ in links for thing in (a, b)})
        count_racks = room["rows"] * room["columns"] * len(room.get("buildings", [0]))
        if count_racks ** len(things) > 300000:
            continue
        racks = [{"item": thing, "part": "x", "watts": watts, "units": units} for thing in things
                 for watts, units in [SERVER if thing.startswith("node/") else SWITCH]]
        least = least_m(room, cables)
        if least is None:
            continue
        found = pairs.ways_m(myriad, room, cables, racks)
        if found > least * 1.000001 + 1e-6:
            failed.append(f"{room} {links}: bound {found:.4f}, least {least:.4f}")
        if least > 0:
            shares.append(max(0, found) / least)
    mean = sum(shares) / max(1, len(shares))
    print(f"seed {seed}: {len(shares)} rooms, bound {100 * mean:.1f} % of the least in the mean, "
          f"{100 * min(shares, default=0):.1f} % at the least")
    if len(shares) < count / 4 or mean < LEAST_MEAN:
        failed.append("too few rooms, or too low a bound")
    print(*failed[:10], sep="\n")
    sys.exit(f"{len(failed)} failed" if failed else 0)


if __name__ == "__main__":
    main()
