#!/usr/bin/env python3
"""Work orders of a miswired hall: every cell against the plan's own lists, done plug by plug.

    tests/verify/orders.py MYRIAD

Faults are planted in a design with a room. What an order says of a cable must stand in the plan's
cables.csv and labels.csv; the orders, done one by one, end in the plan; no two crews open one cage.
Then half of them are done, other faults are planted, some of what is wrong goes out of sight, and
the second run must tell the three apart. Codes are decoded by codes.py.
"""
import collections
import csv
import json
import random
import re
import subprocess
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True
from wiring import Checks, Wiring, call, plan

SEED = 20261116
CREWS = 3
SPLIT = ("name: split\nservers: 4\nserver: a100-8gpu\naccept: [no-optics]\n"
         "networks: {compute: {switch: mqm9790-ns2f, leaf_down: 8}}\n")


def dashed(device):
    return device.replace("/", "-", 1)


class Lists:
    """What the plan's own files say of ports and cables."""

    def __init__(self, folder):
        self.where, self.cable, self.flag, self.rows = {}, {}, {}, {}
        with open(folder / "cables.csv", encoding="utf-8") as file:
            for row in csv.DictReader(file):
                for end in "ab":
                    port = dashed(row[f"{end}_device"]), row[f"{end}_port"]
                    self.cable[port] = row["cable"]
                    if "a_rack" in row:
                        self.where[port[0]] = row[f"{end}_rack"], row[f"{end}_u"]
                self.rows[row["cable"]] = row
        with open(folder / "labels.csv", encoding="utf-8") as file:
            for row in csv.DictReader(file):
                self.flag[dashed(row["device"]), row["port"]] = row["label"]


def end(order, prefix, suffix=""):
    device = order[f"{prefix}device{suffix}"]
    return (dashed(device), order[f"{prefix}port{suffix}"]) if device else None


def check_places(checks, lists, order):
    for prefix, suffix in (("", ""), ("to_", ""), ("other_end_", ""), ("other_end_", "_2")):
        port = end(order, prefix, suffix)
        if port and lists.where:
            place = order[f"{prefix}rack{suffix}"], str(order[f"{prefix}u{suffix}"])
            checks.same(f"order {order['order']}: place of {port}", place, lists.where[port[0]])


def check_cable(checks, wiring, lists, order, suffix):
    """The cable of a plug is the one that the plan has at its other end."""
    far, number = end(order, "other_end_", suffix), order[f"cable{suffix}"]
    what = f"order {order['order']}{suffix}"
    if order["do"] == "remove" or not far or far not in wiring.plan:
        checks.same(f"{what}: no cable of the plan", number, None)
        return
    checks.same(f"{what}: cable", number, lists.cable[far])
    checks.same(f"{what}: flag", order[f"label{suffix}"], lists.flag[wiring.plan[far]])
    row = lists.rows[number]
    checks.same(f"{what}: length", order[f"length{suffix}_m"], float(row["length_m"]))
    checks.same(f"{what}: part", order[f"part{suffix}"], row["part"] or None)
    colours = {"copper": "black", "multimode": "aqua", "singlemode": "yellow"}
    checks.same(f"{what}: colour", order[f"colour{suffix}"], colours[row["medium"]])


def cage_of(port):
    return port[0], port[1].split("/")[0]


def check_cages(checks, found, orders):
    """One cage, one crew; and whoever shares it with a plug is named."""
    crews = collections.defaultdict(set)
    state = dict(found)
    for order in orders:
        mine = {port for port in (end(order, ""), end(order, "to_")) if port}
        for port in mine:
            crews[cage_of(port)].add(order["crew"])
        legs = {(port[0], f"{port[1].rsplit('/', 1)[0]}/{leg}") for port in mine
                for leg in range(1, order["legs"] + 1)} if order["legs"] > 1 else mine
        expected = {port for port in state if port[0].split("-")[0] != "node"
                    and cage_of(port) in map(cage_of, mine) and port not in legs}
        listed = {(dashed(word.split()[0]), word.split()[1])
                  for word in (order["same_cage"] or "").split("; ") if word}
        checks.same(f"order {order['order']}: same cage", sorted(listed), sorted(expected))
    checks.same("cages that two crews open", [c for c, who in crews.items() if len(who) > 1], [])


def do_orders(checks, found, orders):
    """As hands would do them; returns what is there then."""
    found = dict(found)

    def move(a, b):
        far_a, far_b = found.pop(a, None), found.pop(b, None)
        for port, far in ((b, far_a), (a, far_b)):
            if far:
                found[port], found[far] = far, port

    for order in orders:
        a, b, far = end(order, ""), end(order, "to_"), end(order, "other_end_")
        if order["after"]:
            checks.true(f"order {order['order']} waits for a later one",
                        order["after"] < order["order"])
        if order["do"] == "add":
            found[a], found[far] = far, a
        elif order["do"] == "remove":
            del found[found.pop(a)]
        elif order["legs"] > 1:
            for leg in range(1, order["legs"] + 1):
                move(*((d, f"{p.rsplit('/', 1)[0]}/{leg}") for d, p in (a, b)))
        elif order["do"] != "inspect":
            checks.same(f"order {order['order']}: other end of {a}", found.get(a), far)
            checks.true(f"order {order['order']}: {b} is in use",
                        order["do"] == "swap" or b not in found)
            move(a, b)
    return found


class Hall:
    def __init__(self, checks, myriad, folder, design):
        self.checks, self.myriad, self.folder, self.design = checks, myriad, folder, design
        self.wiring = Wiring(myriad, design)
        self.lists = Lists(design.parent)
        self.out = folder / f"orders-{design.parent.name}"

    def run(self, found, *options, hidden=()):
        path = self.folder / "found.csv"
        rows = ["A-Node,A-Port,Z-Node,Z-Port"]
        rows += [f"{a[0]},{a[1]},{z[0]},{z[1]}" for a, z in sorted(found.items()) if a < z]
        rows += [f"{device},{port},?," for device, port in hidden]
        path.write_text("\n".join(rows) + "\n")
        text = call(self.myriad, "verify", "orders", self.design, path, "--out", self.out, "-o",
                    "json", "--crews", CREWS, *options, codes=(0, 1))
        return json.loads(text)

    def judge(self, found, answer):
        orders = answer["orders"]
        for order in orders:
            check_places(self.checks, self.lists, order)
            check_cable(self.checks, self.wiring, self.lists, order, "")
            if order["do"] == "swap":
                check_cable(self.checks, self.wiring, self.lists, order, "_2")
        check_cages(self.checks, found, orders)
        for crew in range(1, CREWS + 1):
            walk = [order["walk"] for order in orders if order["crew"] == crew]
            self.checks.same(f"crew {crew}: walk", walk, list(range(1, len(walk) + 1)))
        self.checks.same("numbers", [order["order"] for order in orders],
                         list(range(1, len(orders) + 1)))

    def faults(self, found):
        """Links of the plan that are not there, by their first end."""
        return {frozenset((a, z)) for a, z in self.wiring.plan.items() if found.get(a) != z}


def links(faults):
    return {frozenset(((dashed(f["device"]), f["port"]), (dashed(f["peer_device"]),
                                                          f["peer_port"])))
            for f in faults if f["peer_device"] and f["state"] != "rogue"}


def exchange(found, a, b):
    far_a, far_b = found[a], found[b]
    found[a], found[far_b], found[b], found[far_a] = far_b, a, far_a, b


def plant(rng, found, swaps, cuts, untouched=()):
    ups = sorted(port for port in found if port[0].startswith("leaf") and port not in untouched
                 and not found[port][0].startswith("node"))
    for _ in range(swaps):
        a, b = rng.sample(ups, 2)
        if found[a] != b:
            exchange(found, a, b)
    for a in rng.sample(ups, cuts):
        if a in found:
            del found[found.pop(a)]
    host = {n: (f"node-{rng.randrange(100):05d}", f"nic{n}") for n in range(8)}
    for n in range(4):
        exchange(found, host[n], host[7 - n])


def check_sheets(checks, hall, answer):
    """The files say what the answer does, in both languages."""
    with open(hall.out / "orders.csv", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    checks.same("rows of the list", len(rows), len(answer["orders"]))
    for row, order in zip(rows, answer["orders"]):
        checks.same("a row and its order", [row["sentence"], row["cable"], row["code"]],
                    [order["sentence"], order["cable"] or "", order["code"]])
    chinese = (hall.out / "orders.zh.csv").read_bytes()
    checks.true("a mark for spreadsheets", chinese.startswith(b"\xef\xbb\xbf"))
    checks.same("rows in Chinese", len(list(csv.reader(chinese.decode("utf-8-sig").splitlines()))),
                len(rows) + 1)
    for name, word in (("orders.html", "Other end"), ("orders.zh.html", "另一端")):
        text = (hall.out / name).read_text(encoding="utf-8")
        checks.same(f"{name}: codes", len(re.findall('<svg class="qr"', text)), len(rows))
        checks.true(f"{name}: words", word in text)
        checks.true(f"{name}: the wait", " 10 s" in text or " 10 秒" in text)


def check_bad_states(checks, hall):
    """A state that is broken, or of another design: one line, exit 2, nothing written."""
    good = (hall.out / "state.csv").read_text()
    for name, text, words in (
            ("other", good.replace("h100-128-room", "elsewhere"), "is of the design 'elsewhere'"),
            ("head", "colour,size\n1,2\n", "not the state of work orders"),
            ("run", good.replace(",,,,,", ",,,,,-", 1), "number of a run"),
            ("state", good.replace(",wrong,", ",wrung,", 1), "is no state"),
            ("short", good + "fault,a\n", "columns"),
            ("late", re.sub(r",wrong,\d+\n", ",wrong,99\n", good, count=1), "number of a run"),
            ("empty", "", "ends early")):
        path = hall.folder / "bad.csv"
        path.write_text(text)
        done = subprocess.run([hall.myriad, "verify", "orders", hall.design,
                               hall.folder / "found.csv", "--state", path, "--out",
                               hall.folder / "never"], capture_output=True, text=True, check=False)
        checks.same(f"bad state '{name}': exit", done.returncode, 2)
        checks.true(f"bad state '{name}': {done.stderr}", words in done.stderr and
                    len(done.stderr.splitlines()) <= 2)
        checks.true(f"bad state '{name}': written", not (hall.folder / "never").exists())


def hall_of_racks(checks, myriad, folder):
    rng = random.Random(SEED)
    hall = Hall(checks, myriad, folder, plan(myriad, folder, "h100-128-room"))
    found = dict(hall.wiring.plan)
    plant(rng, found, 14, 3)
    answer = hall.run(found)
    hall.judge(found, answer)
    checks.same("first run", answer["run"], 1)
    checks.same("all is new", links(answer["since"]["new"]), hall.faults(found))
    checks.same("done", do_orders(checks, found, answer["orders"]), hall.wiring.plan)
    check_sheets(checks, hall, answer)

    # Half of it is done, something new comes, and a cable that is wrong goes out of sight.
    before = hall.faults(found)
    last = next(i for i in range(len(answer["orders"]) // 2, len(answer["orders"]) + 1)
                if i == len(answer["orders"]) or not answer["orders"][i]["after"])
    now = do_orders(checks, found, answer["orders"][:last])
    lost = sorted(next(iter(hall.faults(now) & before)))
    hidden = set(lost)
    for port in lost:
        if port in now:
            hidden.add(now[port])
            del now[now.pop(port)]
    plant(rng, now, 2, 1, {port for pair in hall.faults(now) for port in pair})
    hidden -= set(now)
    second = hall.run(now, hidden=sorted(hidden))
    since, bad = second["since"], hall.faults(now)
    blind = {pair for pair in bad if not any(port in now for port in pair) and pair & hidden}
    checks.same("second run", second["run"], 2)
    checks.same("mended", links(since["mended"]), before - bad)
    checks.same("new", links(since["new"]), bad - before - blind)
    checks.same("not seen any more", links(since["not_seen"]), before & blind)
    old = {f["since_run"] for f in since["open"] if links([f]) & before}
    checks.same("runs of the old ones", old, {1})
    painted = hall.run(now, "--colour", "fabric=violet", hidden=sorted(hidden))
    third = painted["since"]
    kinds = {order["colour"] for order in painted["orders"] if order["cable"]}
    checks.true(f"colours of a layer: {kinds}", "violet" in kinds and kinds <= {"violet", "yellow",
                                                                            "aqua", "black"})
    checks.same("nothing happened", [len(third["mended"]), len(third["new"]),
                                     len(third["open"])], [0, 0, len(since["open"])])
    check_bad_states(checks, hall)


def heads_of_splitters(checks, myriad, folder):
    hall = Hall(checks, myriad, folder, plan(myriad, folder, SPLIT))
    legs = sorted(port for port in hall.wiring.plan if port[1].count("/") == 2)
    heads = sorted({(device, port.rsplit("/", 1)[0]) for device, port in legs})
    found = dict(hall.wiring.plan)
    for leg in (1, 2):
        exchange(found, *((device, f"{head}/{leg}") for device, head in (heads[0], heads[3])))
    exchange(found, found[(heads[3][0], f"{heads[3][1]}/1")], found[(heads[5][0],
                                                                      f"{heads[5][1]}/2")])
    answer = hall.run(found)
    hall.judge(found, answer)
    checks.same("a head and two legs", [o["legs"] for o in answer["orders"]], [2, 1])
    checks.same("done", do_orders(checks, found, answer["orders"]), hall.wiring.plan)


def main():
    checks = Checks()
    with tempfile.TemporaryDirectory(prefix="myriad-orders-") as folder:
        hall_of_racks(checks, sys.argv[1], Path(folder))
        heads_of_splitters(checks, sys.argv[1], Path(folder))
    checks.end()


if __name__ == "__main__":
    main()
