#!/usr/bin/env python3
"""Random faults in a 100,352-GPU design: every port's state and the number of moves.

    tests/verify/faults.py MYRIAD [SPEC]

5,000 swaps, 500 cuts and 200 ports that nobody looked at are planted in the cables of the compute
network; swaps may meet. The truth comes from wiring.py. The steps are done one by one, and must
end in the plan.
"""
import random
import sys
import tempfile

sys.dont_write_bytecode = True
from wiring import Checks, Wiring, plan

SEED = 20240611


def plant(wiring, swaps, cuts, hidden_nodes, hidden_cables):
    rng = random.Random(SEED)
    count = len(wiring.cables)
    for _ in range(swaps):
        wiring.swap(*rng.sample(range(count), 2))
    nodes = sorted({a[0] for a, _ in wiring.planned if a[0].startswith("node-")})
    gone = set(rng.sample(nodes, hidden_nodes))
    numbers = list(range(count))
    rng.shuffle(numbers)
    left = cuts
    for number in numbers:
        cable = wiring.cables[number]
        if cable[0][0] in gone or cable[1][0] in gone:
            continue
        if left:
            wiring.cut(number)
            left -= 1
        elif hidden_cables:
            wiring.hide(number)
            hidden_cables -= 1
    # A node that nobody asked has no rows at all; what its cables led to is not known either.
    for number, cable in enumerate(wiring.cables):
        if cable and (cable[0][0] in gone or cable[1][0] in gone):
            wiring.cut(number)


def do_steps(checks, wiring, steps):
    """Does what the list says, port by port, and compares with the plan."""
    found = wiring.found()

    def end(step, which):
        return step[f"{which}_device"].replace("/", "-", 1), step[f"{which}_port"]

    def unplug(port):
        far = found.pop(port)
        del found[far]
        return far

    def plug(a, z):
        if a in found or z in found:
            checks.true(f"step into a port in use: {a} {z}", False)
        found[a], found[z] = z, a

    for step in steps:
        at, to = end(step, "at"), end(step, "to")
        if step["do"] == "swap":
            far_at, far_to = unplug(at), unplug(to)
            plug(to, far_at)
            plug(at, far_to)
        elif step["do"] == "move":
            plug(to, unplug(at))
        elif step["do"] == "add":
            plug(at, to)
        else:
            checks.same("far end of a cable to take out", unplug(at), to)
    states = wiring.states()
    for port, peer in found.items():
        if wiring.plan.get(port) != peer:
            checks.same(f"after the repair, {port}", peer, wiring.plan.get(port))
    lacking = [port for port, state in states.items()
               if port not in found and state not in ("unseen", "extra")
               and "unseen" not in (states.get(wiring.plan[port]), state)]
    checks.same("ports still empty after the repair", lacking[:5], [])


def main():
    myriad = sys.argv[1]
    spec = sys.argv[2] if len(sys.argv) > 2 else "h100-100k"
    checks = Checks()
    with tempfile.TemporaryDirectory(prefix="myriad-verify-") as folder:
        design = plan(myriad, folder, spec)
        wiring = Wiring(myriad, design)
        large = len(wiring.cables) > 100000
        clean = wiring.verify(wiring.write_p2p(f"{folder}/clean.csv"), codes=(0,))
        checks.same("clean: right", clean["ports"]["right"], len(wiring.plan))
        if large:
            plant(wiring, 5000, 500, 12, 8)
        else:
            plant(wiring, 60, 12, 2, 3)
        path = wiring.write_p2p(f"{folder}/faults.csv")
        result = checks.verdict(wiring, "faults", path)
        do_steps(checks, wiring, result["repair"]["steps"])
        print(result["ports"], {key: result["repair"][key] for key in
                                ("moves", "adds", "removes", "equivalent", "relabel")})
    checks.end()


if __name__ == "__main__":
    main()
