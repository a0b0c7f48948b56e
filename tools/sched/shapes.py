"""Traces of shapes that no public one has, for `sched replay`: python3 shapes.py SHAPE SEED > t.csv

half:  many short jobs (median 11 min) at a load of 0.8, a gang of half the cluster every five days
burst: a day's jobs all come in one morning
odd:   sizes that are no powers of two
equal: every job runs for an hour
giant: half of the work is in gangs of a quarter to three quarters of the cluster
tenants: 40,000 jobs of 1,000 tenants in two days, for 384 nodes: twice what they hold

The others are for 64 nodes of 8 GPUs, 8 a leaf. The same shape and seed give the same trace
everywhere.
"""
import math
import random
import sys

GPUS = 512
DAY_S = 86400
TENANTS = 4


def length_s(rng, median_s, sigma, most_s):
    return max(1, int(min(median_s * math.exp(rng.gauss(0, sigma)), most_s)))


def fill(rng, days, load, draw, arrive=None):
    """Jobs that are drawn until their work makes the load, and come at any time of the days."""
    rows, work, end_s = [], 0, days * DAY_S
    while work < GPUS * end_s * load:
        seconds, gpus = draw(rng)
        work += seconds * gpus
        rows.append([seconds, gpus, rng.randrange(TENANTS)])
    return [(int(arrive(rng, days) if arrive else rng.random() * end_s), *row) for row in rows]


def pick(rng, sizes):
    return rng.choices(list(sizes), list(sizes.values()))[0]


def half(rng):
    def short(rng):
        return (length_s(rng, 660, 1.3, 2 * DAY_S),
                pick(rng, {1: 50, 2: 15, 4: 15, 8: 15, 16: 5}))

    rows = fill(rng, 40, 0.8, short)
    for k in range(1, 8):
        rows.append((int(k * 5 * DAY_S + rng.random() * DAY_S / 2),
                     length_s(rng, 4 * 3600, 0.5, DAY_S), GPUS // 2, 0))
    return rows


def burst(rng):
    def draw(rng):
        return (length_s(rng, 1800, 1.6, 3 * DAY_S),
                pick(rng, {1: 40, 2: 12, 4: 12, 8: 20, 16: 8, 32: 5, 64: 3}))

    def morning(rng, days):
        return rng.randrange(days) * DAY_S + rng.gauss(9 * 3600, 2400) % DAY_S

    return fill(rng, 20, 0.6, draw, morning)


def odd(rng):
    sizes = {1: 20, 3: 10, 5: 10, 6: 10, 7: 8, 9: 8, 11: 6, 12: 6, 17: 6, 20: 5, 24: 5, 33: 3,
             48: 3}
    return fill(rng, 20, 0.7,
                lambda rng: (length_s(rng, 2400, 1.5, 3 * DAY_S), pick(rng, sizes)))


def equal(rng):
    sizes = {1: 30, 2: 15, 4: 15, 8: 20, 16: 10, 32: 6, 64: 4}
    return fill(rng, 10, 0.75, lambda rng: (3600, pick(rng, sizes)))


def giant(rng):
    def draw(rng):
        if rng.random() < 0.004:
            return (length_s(rng, 3 * 3600, 0.8, 7 * DAY_S),
                    rng.choice([128, 192, 256, 320, 384]))
        return (length_s(rng, 1200, 1.5, 2 * DAY_S),
                pick(rng, {1: 45, 2: 15, 4: 15, 8: 18, 16: 7}))

    return fill(rng, 20, 0.7, draw)


def tenants(rng):
    def draw():
        return (int(rng.random() * 2 * DAY_S), length_s(rng, 2981, 1.5, 10 * DAY_S),
                pick(rng, {1: 3, 2: 2, 4: 1, 8: 2, 16: 1, 32: 1}), rng.randrange(1000))

    return [draw() for _ in range(40000)]


SHAPES = {"half": half, "burst": burst, "odd": odd, "equal": equal, "giant": giant,
          "tenants": tenants}


def trace(shape, seed):
    """The text of a trace."""
    rows = sorted(SHAPES[shape](random.Random(seed)))
    return "submit_s,duration_s,num_gpus,vc\n" + "".join(
        f"{submit},{seconds},{gpus},t{tenant}\n" for submit, seconds, gpus, tenant in rows)


def main():
    if len(sys.argv) != 3 or sys.argv[1] not in SHAPES or not sys.argv[2].isdigit():
        sys.exit(f"shapes.py: one of {', '.join(SHAPES)} and a seed are expected")
    sys.stdout.write(trace(sys.argv[1], int(sys.argv[2])))


if __name__ == "__main__":
    main()
