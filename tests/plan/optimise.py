#!/usr/bin/env python3
"""plan optimise against a brute force that plans and prices every candidate in full.

    tests/plan/optimise.py MYRIAD [SEED [COUNT]]

The brute force writes a spec for every combination of choices, runs `myriad plan` on it, reads what
it costs, draws and carries from the plan, and picks by itself. It knows nothing of the search.
"""
import concurrent.futures
import csv
import itertools
import json
import pathlib
import random
import subprocess
import sys
import tempfile

FAILED = []
SLOWEST_S = 600
SWITCHES = ["mqm9790-ns2f", "sn5600", "mqm9700-ns2f", "q3400-ra"]
MONEY = ("capex", "cost_of_years")
SPREAD = ("capex", "cost_of_years", "power_kw", "bandwidth_per_gpu_gbps", "blast_gpus",
          "moved_cables")


def check(what, held):
    if not held:
        FAILED.append(what)


def random_case(rng):
    choices = {}
    axes = {
        "switch": rng.sample(SWITCHES[:3], rng.randint(1, 3)),
        "topology": rng.sample(["rail", "clos", "rail-only"], rng.randint(1, 2)),
        "tiers": rng.sample([1, 2, 3], rng.randint(1, 2)),
        "fill": rng.sample(["regular", "dense"], rng.randint(1, 2)),
        "oversubscription": rng.sample([1, 2, 3], rng.randint(1, 2)),
        "cooling": rng.sample(["air", "cold-plate", "immersion"], rng.randint(1, 2)),
    }
    for axis in rng.sample(sorted(axes), rng.randint(1, 3)):
        choices[axis] = axes[axis]
    servers = rng.choice([2, 5, 8, 16, 31, 33, 64, 70, 130])
    base = [f"servers: {servers}", "server: h100-8gpu"]
    prices = {"mqm9790-ns2f": 208000, "mqm9700-ns2f": rng.choice([190000, 240000]),
              "sn5600": rng.choice([150000, 300000, 500000])}
    if rng.random() < 0.15:
        del prices["sn5600"]
    base.append("prices: {book: cn-2024-05, parts: {"
                + ", ".join(f"{k}: {v}" for k, v in prices.items()) + "}}")
    networks = {"compute": {}}
    if rng.random() < 0.4:
        networks["oob"] = {}
    if rng.random() < 0.3:
        networks["storage"] = {}
        base.append("storage: {capacity_tb: 500}")
    base.append("supplied: [servers]")
    if rng.random() < 0.2:
        base.append("facility: {bill: true}")
        prices.update({"cooling-cdu": rng.choice([200000, 900000]), "cooling-manifold": 4000,
                       "cooling-connector": 900, "cooling-coolant": 60, "cooling-tank": 80000,
                       "cooling-air-unit": rng.choice([50000, 300000])})
        base[2] = ("prices: {book: cn-2024-05, parts: {"
                   + ", ".join(f"{k}: {v}" for k, v in prices.items()) + "}}")
    grow_to = servers * 2 if servers <= 64 and rng.random() < 0.3 else None
    objective = rng.choice(["capex", "cost_of_years", "power_kw", "bandwidth_per_gpu_gbps",
                            "blast_gpus", "racks", "hops"] + ["moved_cables"] * bool(grow_to))
    limits = {}
    if rng.random() < 0.4:
        limits["power_kw_max"] = round(servers * rng.uniform(11, 17), 1)
    if rng.random() < 0.4:
        limits["bandwidth_per_gpu_gbps_min"] = rng.choice([100, 200, 400])
    if rng.random() < 0.4:
        limits["capex_max"] = servers * rng.choice([350000, 450000, 700000])
    if rng.random() < 0.3:
        limits["blast_gpus_max"] = rng.choice([32, 64, 100])
    if rng.random() < 0.2:
        limits["racks_max"] = rng.choice([servers // 2 + 1, servers, 2 * servers])
    if rng.random() < 0.2:
        limits["hops_max"] = rng.choice([0, 2, 4])
    if grow_to and rng.random() < 0.4:
        limits["moved_cables_max"] = rng.choice([0, 64, 256])
    return base, networks, choices, objective, limits, grow_to


def words(value):
    if isinstance(value, dict):
        return "{" + ", ".join(f"{k}: {words(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(words(v) for v in value) + "]"
    return str(value)


def blast(folder):
    """Of the cables: nodes have eight GPUs and eight ports, so a port lost is a GPU."""
    behind = {}
    with open(folder / "cables.csv", encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            if row["network"] == "compute" and row["a_device"].startswith("node/"):
                behind[row["b_device"]] = behind.get(row["b_device"], 0) + 1
    return max(behind.values())


def plant(answer, cooling):
    """Cents of the cooling plant, where its kind is a choice: by the plan's own table, less what
    the bill has of it; a plant of which every line has a price is paid for in the bill."""
    rows = [row for row in answer["bom"] if row["system"] == "cooling"]
    if not cooling or rows and all(row["total"] is not None for row in rows):
        return 0
    cents = round(answer["cooling"]["compare"][cooling]["plant_cost"] * 7.2 * 100)
    return max(0, cents - round(sum(row["total"] or 0 for row in rows) * 100))


def measure(answer, folder, cooling):
    """What the plan says, in whole cents, watts and thousandths."""
    net = answer["networks"]["compute"]
    gbps = net["host_ports"] * net["host_gbps"] / answer["gpus"]
    for ratio in net["oversubscription"]:
        gbps /= max(1, ratio)
    tco = answer["power"]["energy"]["cost_of_years"]
    return {
        "capex": round((answer["totals"]["cost"] or 0) * 100) + plant(answer, cooling),
        "cost_of_years": None if tco is None else round(tco * 100) + plant(answer, cooling),
        "power_kw": round(answer["power"]["facility_kw"], 3),
        "bandwidth_per_gpu_gbps": int(gbps * 1000 + 0.5),
        "blast_gpus": blast(folder),
        "racks": answer["power"]["racks"]["count"],
        "hops": net["diameter_hops"],
        "moved_cables": None,
    }


def moved(myriad, folder, lines, servers, grow_to):
    """What really moves, by the verb that plans the growth; None where there is no such growth."""
    small, large = folder / "small.yaml", folder / "large.yaml"
    small.write_text("\n".join(lines) + "\n")
    large.write_text("\n".join(lines).replace(f"servers: {servers}", f"servers: {grow_to}", 1)
                     + "\n")
    done = subprocess.run([myriad, "plan", "grow", str(small), str(large), "-o", "json"],
                          capture_output=True, text=True, timeout=SLOWEST_S, check=False)
    if done.returncode not in (0, 1):
        return None
    return json.loads(done.stdout)["moved_cables"]


def candidates(choices):
    order = ["switch", "topology", "tiers", "fill", "oversubscription", "planes", "cooling"]
    axes = [a for a in order if a in choices]
    for values in itertools.product(*(choices[a] for a in axes)):
        yield dict(zip(axes, values))


def brute(myriad, folder, case):
    base, networks, choices, objective, limits, grow_to = case
    servers = int(base[0].split()[1])
    money = objective in MONEY or "capex_max" in limits
    found = []
    for number, chosen in enumerate(candidates(choices)):
        nets = {k: dict(v) for k, v in networks.items()}
        for axis, value in chosen.items():
            if axis != "cooling":
                nets["compute"][axis] = value
        billed = "facility: {bill: true}" in base
        lines = [line for line in base if not line.startswith("facility")]
        lines.append(f"networks: {words(nets)}")
        facility = {"bill": "true"} if billed else {}
        if "cooling" in chosen:
            facility["cooling"] = chosen["cooling"]
        if facility:
            lines.append(f"facility: {words(facility)}")
        path = folder / f"try{number}.yaml"
        path.write_text("\n".join(lines) + "\n")
        done = subprocess.run([myriad, "plan", str(path), "--out", str(folder / f"try{number}"),
                               "-o", "json"], capture_output=True, text=True,
                              timeout=SLOWEST_S, check=False)
        if done.returncode != 0:
            continue  # it cannot be built, or has an open error
        answer = json.loads(done.stdout)
        unpriced = any(row["unit_price"] is None for row in answer["bom"]
                       if row["system"] == "compute")
        if money and unpriced:
            continue
        values = measure(answer, folder / f"try{number}", chosen.get("cooling"))
        if grow_to:
            values["moved_cables"] = moved(myriad, folder, lines, servers, grow_to)
        held = (values["power_kw"] <= limits.get("power_kw_max", 1e12) + 0.0005
                and values["bandwidth_per_gpu_gbps"]
                >= limits.get("bandwidth_per_gpu_gbps_min", 0) * 1000
                and values["capex"] <= limits.get("capex_max", 1e15) * 100
                and values["blast_gpus"] <= limits.get("blast_gpus_max", 1e9)
                and values["racks"] <= limits.get("racks_max", 1e9)
                and values["hops"] <= limits.get("hops_max", 1e9)
                and ("moved_cables_max" not in limits
                     or (values["moved_cables"] is not None
                         and values["moved_cables"] <= limits["moved_cables_max"])))
        if held:
            found.append((number, chosen, values))
    return found


def good(values, metric):
    value = values[metric]
    if value is None:
        return None
    return -value if metric == "bandwidth_per_gpu_gbps" else value


def front_of(found):
    """Those that nothing beats."""
    front = []
    for number, chosen, values in found:
        beaten = False
        for other, _, against in found:
            if other == number:
                continue
            pairs = [(good(against, m), good(values, m)) for m in SPREAD]
            # What is known beats what is not.
            pairs = [(a if a is not None else 1e30, b if b is not None else 1e30)
                     for a, b in pairs]
            if all(a <= b for a, b in pairs) and (any(a < b for a, b in pairs) or other < number):
                beaten = True
        if not beaten:
            front.append(number)
    return front


def one(myriad, seed, number):
    rng = random.Random(seed * 100003 + number)
    case = random_case(rng)
    base, networks, choices, objective, limits, grow_to = case
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        optimise = {"objective": objective, "choices": choices}
        if limits:
            optimise["constraints"] = limits
        if grow_to:
            optimise["grow_to"] = grow_to
        spec = "\n".join(base + [f"networks: {words(networks)}", f"optimise: {words(optimise)}"])
        path = folder / "spec.yaml"
        path.write_text(spec + "\n")
        done = subprocess.run([myriad, "plan", "optimise", str(path), "-o", "json"],
                              capture_output=True, text=True, timeout=SLOWEST_S, check=False)
        if done.returncode not in (0, 1):
            return [f"case {number}: exit {done.returncode}: {done.stderr}\n{spec}"]
        answer = json.loads(done.stdout)
        found = brute(myriad, folder, case)
    return compare(number, spec, answer, found, objective, choices)


def compare(number, spec, answer, found, objective, choices):
    wrong = []
    size = 1
    for values in choices.values():
        size *= len(values)
    if answer["evaluated"] != size:
        wrong.append(f"case {number}: {answer['evaluated']} of {size} evaluated\n{spec}")
    if not answer["exact"]:
        wrong.append(f"case {number}: not exact\n{spec}")
    found = [row for row in found if row[2][objective] is not None]
    if not found or answer["best"] is None:
        if bool(found) != bool(answer["best"]):
            wrong.append(f"case {number}: best {answer['best']}, by hand {found}\n{spec}")
        return wrong
    best = min(found, key=lambda row: (good(row[2], objective), row[0]))
    said = answer["best"]
    value = said[objective] * (100 if objective in MONEY else 1000 if "gbps" in objective else 1)
    if abs(value - best[2][objective]) > (0.6 if objective in MONEY else 0.0011):
        wrong.append(f"case {number}: best {objective} {said[objective]}, by hand "
                     f"{best[2][objective]} with {best[1]}\n{spec}")
    if {k: v for k, v in said["choices"].items() if v is not None} != best[1]:
        wrong.append(f"case {number}: best {said['choices']}, by hand {best[1]}\n{spec}")
    mine = {json.dumps(row[1], sort_keys=True) for row in found if row[0] in front_of(found)}
    theirs = {json.dumps({k: v for k, v in row["choices"].items() if v is not None},
                         sort_keys=True) for row in answer["front"]}
    if mine != theirs:
        wrong.append(f"case {number}: front {sorted(theirs)}, by hand {sorted(mine)}\n{spec}")
    return wrong


def cooled(myriad):
    """The kind of cooling is that of the plan's own table, whatever its plant costs a kW."""
    rng = random.Random(11)
    for bill in ("", "bill: true, "):
        for _ in range(6):
            prices = {kind: rng.choice((300, 700, 1000, 1400, 3000))
                      for kind in ("air", "cold-plate", "immersion")}
            spec = ("servers: 64\nserver: h100-8gpu\nsupplied: [servers]\nprices: cn-2024-05\n"
                    "networks: {compute: {switch: mqm9790-ns2f}}\n"
                    f"facility: {{{bill}price_per_kw: {words(prices)}, load: "
                    f"{rng.choice((0.5, 1))}}}\noptimise: {{objective: cost_of_years, choices: "
                    "{cooling: [air, cold-plate, immersion]}}\n")
            with tempfile.TemporaryDirectory() as name:
                path = pathlib.Path(name) / "spec.yaml"
                path.write_text(spec)
                best, table = (json.loads(subprocess.run(
                    [myriad, *verb, str(path), "-o", "json"], capture_output=True, text=True,
                    timeout=SLOWEST_S, check=False).stdout) for verb in (("plan", "optimise"),
                                                                         ("plan",)))
            table = {kind: row["cost_of_years"] for kind, row in
                     table["cooling"]["compare"].items()}
            said = best["best"]["choices"]["cooling"]
            check(f"{spec!r}: {said}, of {table}", table[said] == min(table.values()))
            check(f"{spec!r}: plant {best['best']['plant_cost']}", best["best"]["plant_cost"] > 0)


def relaxed(myriad):
    """A limit that binds says what one more unit saves, and that much is saved."""
    base = ("servers: 64\nserver: h100-8gpu\nsupplied: [servers]\n"
            "prices: {book: cn-2024-05}\nnetworks: {compute: {switch: mqm9790-ns2f}}\n"
            "optimise: {objective: capex, choices: {oversubscription: [1, 2, 3]}, "
            "constraints: {bandwidth_per_gpu_gbps_min: %s}}\n")
    with tempfile.TemporaryDirectory() as name:
        path = pathlib.Path(name) / "spec.yaml"
        best = {}
        for least in (400, 200, 100):
            path.write_text(base % least)
            done = subprocess.run([myriad, "plan", "optimise", str(path), "-o", "json"],
                                  capture_output=True, text=True, timeout=SLOWEST_S, check=False)
            best[least] = json.loads(done.stdout)["best"]
    row = [r for r in best[400]["relaxed"] if r["constraint"] == "bandwidth_per_gpu_gbps"]
    check(f"relaxed {row}", row and row[0]["saves"] and row[0]["saves"] > 0)
    after = 400 - row[0]["more"]
    cheaper = [b["capex"] for least, b in best.items() if least <= after]
    check(f"{row} and {best}", best[400]["capex"] - row[0]["saves"] in cheaper)
    check("nothing binds at the end", all(r["saves"] is None for r in best[100]["relaxed"]))
    check("the binding constraint is named", best[400]["binding"] == "bandwidth_per_gpu_gbps")


def main():
    myriad = sys.argv[1]
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    count = int(sys.argv[3]) if len(sys.argv) > 3 else 24
    relaxed(myriad)
    cooled(myriad)
    with concurrent.futures.ThreadPoolExecutor(max_workers=2) as pool:
        for wrong in pool.map(lambda n: one(myriad, seed, n), range(count)):
            FAILED.extend(wrong)
    for what in FAILED[:20]:
        print("FAILED", what)
    print(f"{count} cases, {len(FAILED)} failed")
    return 1 if FAILED else 0


if __name__ == "__main__":
    sys.exit(main())
