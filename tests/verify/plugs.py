#!/usr/bin/env python3
"""Random miswirings of splitters, held against a search over all states, and done plug by plug.

    tests/verify/plugs.py MYRIAD [CASES [SEED]]

A splitter has one head, in a connector of a switch, and a leg to each of two hosts. One move is an
exchange of two heads, a head moved to a free connector, or an exchange of two legs at their hosts.
How far every state of a few splitters is from the plan is found once, breadth first. Then states
are drawn, written as a list, and verify must need as many moves; its steps are done one by one as
hands would do them, and must end in the plan.
"""
import collections
import itertools
import json
import random
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True
from wiring import Checks, Wiring, call, plan

SPEC = ("name: plugs\nservers: 4\nserver: a100-8gpu\naccept: [no-optics]\n"
        "networks: {compute: {switch: mqm9790-ns2f, leaf_down: 8}}\n")
LEGS = 2


def neighbours(state):
    """States that one move leads to: a head is a pair of legs, None an empty connector."""
    for a, b in itertools.combinations(range(len(state)), 2):
        if state[a] != state[b]:
            heads = list(state)
            heads[a], heads[b] = heads[b], heads[a]
            yield tuple(heads)
    legs = [(c, i) for c, head in enumerate(state) if head for i in range(LEGS)]
    for (c, i), (d, j) in itertools.combinations(legs, 2):
        heads = [list(head) if head else None for head in state]
        heads[c][i], heads[d][j] = heads[d][j], heads[c][i]
        yield tuple(tuple(head) if head else None for head in heads)


def distances(heads, spare):
    """Moves from every state to the plan, in which head i has legs 2i and 2i + 1."""
    start = tuple((LEGS * i, LEGS * i + 1) for i in range(heads)) + (None,) * spare
    far, queue = {start: 0}, collections.deque([start])
    while queue:
        state = queue.popleft()
        for there in neighbours(state):
            if there not in far:
                far[there] = far[state] + 1
                queue.append(there)
    return far


def split(port):
    return port.rsplit("/", 1)


class Bench:
    def __init__(self, myriad, folder):
        self.myriad = myriad
        self.design = plan(myriad, folder, SPEC)
        self.wiring = Wiring(myriad, self.design)
        self.file = Path(folder) / "found.csv"
        down = [(device, port) for device, port in self.wiring.plan if port.count("/") == 2]
        self.connectors = sorted({(device, split(port)[0]) for device, port in down})
        leaves = sorted({device for device, _ in self.connectors})
        self.spares = [(leaf, "2/1") for leaf in leaves]
        assert not set(self.spares) & set(self.connectors)

    def slots(self, connector):
        return [(connector[0], f"{connector[1]}/{leg}") for leg in (1, 2)]

    def found(self, connectors, state):
        """The wiring with the legs of these connectors as the state has them."""
        hosts = [self.wiring.plan[slot] for c in connectors if c not in self.spares
                 for slot in self.slots(c)]
        found = dict(self.wiring.plan)
        for connector in connectors:
            for slot in self.slots(connector):
                found.pop(slot, None)
        for connector, head in zip(connectors, state):
            for slot, leg in zip(self.slots(connector), head or ()):
                found[slot], found[hosts[leg]] = hosts[leg], slot
        return found

    def verify(self, found):
        rows = ["A-Node,A-Port,Z-Node,Z-Port"]
        rows += [f"{a[0]},{a[1]},{z[0]},{z[1]}" for a, z in found.items() if a < z]
        self.file.write_text("\n".join(rows) + "\n")
        return json.loads(call(self.myriad, "verify", self.design, self.file, "-o", "json",
                               codes=(0, 1)))


def do_steps(bench, found, steps):
    """What is wrong with the list of steps; None when it ends in the plan."""
    found = dict(found)

    def end(step, which):
        return step[f"{which}_device"].replace("/", "-", 1), step[f"{which}_port"]

    def move(a, b):
        far_a, far_b = found.pop(a, None), found.pop(b, None)
        for port, far in ((b, far_a), (a, far_b)):
            if far:
                found[port], found[far] = far, port

    for step in steps:
        a, b = end(step, "at"), end(step, "to")
        if step["do"] not in ("swap", "move"):
            return f"{step['do']} is no exchange of plugs"
        if step["do"] == "move" and b in found:
            return f"{b} is in use"
        if step["legs"] > 1:
            for slot in range(step["legs"]):
                move(*((device, f"{split(port)[0]}/{slot + 1}") for device, port in (a, b)))
        elif a[1].count("/") == 2 or b[1].count("/") == 2:
            return f"{a} and {b} share their plugs with others"
        else:
            move(a, b)
    return None if found == bench.wiring.plan else "the steps do not end in the plan"


def main():
    myriad = sys.argv[1]
    cases, seed = (int(word) for word in (sys.argv[2:] + ["150", "1"][len(sys.argv) - 2:]))
    rng = random.Random(seed)
    checks = Checks()
    tables = [distances(3, 0), distances(2, 1), distances(3, 1), distances(2, 0)]
    with tempfile.TemporaryDirectory(prefix="myriad-plugs-") as folder:
        bench = Bench(myriad, folder)
        for case in range(cases):
            table = tables[case % len(tables)]
            state = rng.choice(list(table))
            spare = state.count(None)
            connectors = rng.sample(bench.connectors, len(state) - spare) + \
                rng.sample(bench.spares, spare)
            found = bench.found(connectors, state)
            result = bench.verify(found)
            repair = result["repair"]
            what = f"seed {seed}, case {case}: {connectors} {state}"
            checks.same(f"{what}: moves", repair["moves"], table[state])
            checks.same(f"{what}: exact", repair["exact"], True)
            checks.same(f"{what}: steps", do_steps(bench, found, repair["steps"]), None)
    checks.end()


if __name__ == "__main__":
    main()
