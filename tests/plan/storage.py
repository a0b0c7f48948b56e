#!/usr/bin/env python3
"""Storage sizing, reckoned again by hand.

    tests/plan/storage.py MYRIAD

Capacity, copies and codes, rates, operations, small files, checkpoints, tiers and availability: the
number of servers is the largest that any wish needs, and wishes that servers cannot meet are named.
"""
import json
import math
import pathlib
import random
import subprocess
import sys
import tempfile
from fractions import Fraction

FAILED = []
SLOWEST_S = 600
RAW_TB = 22 * 15.36
PORT, READ, WRITE = 50.0, 22 * 6.0, 22 * 2.8  # GB/s of one server: ports, disks
IOPS, METADATA, METADATA_TB = 1.5e6, 1e5, RAW_TB / 20
CLASSES = {"none": (0, 0), "good": (15, 7.5), "better": (40, 20), "best": (125, 62.5)}


def check(what, held):
    if not held:
        FAILED.append(what)


def plan(myriad, folder, spec):
    path = folder / "spec.yaml"
    path.write_text(spec)
    done = subprocess.run([myriad, "plan", str(path), "-o", "json"], capture_output=True,
                          text=True, timeout=SLOWEST_S, check=False)
    if done.returncode not in (0, 1):
        check(f"{spec!r}: exit {done.returncode}: {done.stderr}", False)
        return None
    return json.loads(done.stdout)


def with_storage(myriad, folder, storage, servers=64):
    return plan(myriad, folder, f"servers: {servers}\nnetworks: {{compute: , storage: }}\n"
                                f"storage: {storage}\n")


def up(value):
    return math.ceil(value - 1e-9)


def published(myriad, folder):
    for text, servers in (("{capacity_pb: 3}", 18), ("{capacity_pb: 3, binary: true}", 19)):
        answer = with_storage(myriad, folder, text)
        check(f"{text}: {answer['storage']['servers']}", answer["storage"]["servers"] == servers)
    # Ten terabytes a second: at 50 GB/s a server, 200 of them.
    answer = with_storage(myriad, folder, "{capacity_pb: 3, read_gbytes_per_s: 10000}", 1280)
    check("10 TB/s", answer["storage"]["servers"] == 200
          and answer["storage"]["gives"]["read_gbytes_per_s"] == 10000)
    # Ten billion files of 16 KB: 3 KiB of entries each, and a scan in a day.
    answer = with_storage(myriad, folder, "{files: 10G, file_kb: 16, scan_hours: 24}")
    files = answer["storage"]["files"]
    check(f"files {files}", abs(files["metadata_tb"] - 10e9 * 3072 / 1e12) < 0.01
          and abs(files["data_tb"] - 10e9 * 16384 / 1e12) < 0.01 and files["scan_h"] <= 24)
    needs = answer["storage"]["needs"]
    check(f"needs {needs}", needs["by_metadata"] == up(10e9 / 86400 / METADATA)
          and needs["by_files"] == up(10e9 * 3072 / 1e12 / METADATA_TB)
          and needs["by_capacity"] == up(2 * 10e9 * 16384 / 1e12 / RAW_TB))
    # 405 billion parameters at 14 bytes in half a minute.
    answer = with_storage(myriad, folder,
                          "{capacity_tb: 100, checkpoint: {model: llama3-405b, window_s: 30}}")
    state = answer["storage"]["checkpoint"]["state_gb"]
    check(f"state {state}", abs(state - 405.85e9 * 14 / 1e9) < 20)
    check("window", answer["storage"]["needs"]["by_checkpoint"] == up(state * 2 / 30 / PORT)
          and answer["storage"]["checkpoint"]["takes_s"] <= 30)


def away(servers, width, spare, groups, down):
    """The chance that some of so many groups, each on servers drawn among all, has lost too many:
    in whole fractions, over every number of servers that may be down."""
    down, total = Fraction(down).limit_denominator(10 ** 9), Fraction(0)
    for gone in range(spare + 1, min(servers, spare + 60) + 1):
        kept = sum(Fraction(math.comb(gone, j) * math.comb(servers - gone, width - j),
                            math.comb(servers, width)) for j in range(spare + 1))
        # Of many groups all are spared as seldom as e^x says of one.
        some = -math.expm1(groups * math.log1p(-float(1 - kept))) if kept else 1.0
        chance = (math.comb(servers, gone) * down ** gone) * (1 - down) ** (servers - gone)
        total += Fraction(float(chance)) * Fraction(some)
    return float(total)


def all_data(myriad, folder, rng):
    """Of all data: it falls with the number of servers, to what is published for some of them."""
    down = 24 / (26280 + 24)
    for servers, hours in ((2, 0.007), (18, 1.1), (100, 34.0), (400, 457)):
        answer = with_storage(myriad, folder, f"{{servers: {servers}}}")
        found = answer["storage"]["availability"]
        check(f"{servers} servers: {found['hours_per_year']} h",
              abs(found["hours_per_year"] - hours) < 0.01 * hours + 0.05)
        check(f"{servers} servers: groups {found['placement_groups']}",
              found["placement_groups"] == math.ceil(100 * 22 * servers / 2))
    # Servers at 99.5 %: 8 + 2 over ten, seventeen of eighteen needed, and sixteen.
    for text, share in (("servers: 10, erasure: {data: 8, parity: 2}", 0.999985),
                        ("servers: 18, copies: 2", 0.99640), ("servers: 18, copies: 3", 0.99990)):
        answer = with_storage(myriad, folder, f"{{{text}, mtbf_hours: 199, repair_hours: 1}}")
        found = answer["storage"]["availability"]["share"]
        check(f"{text}: {found}", abs(found - share) < 3e-5)
    for _ in range(12):
        servers, groups = rng.choice((3, 9, 18, 60, 250)), rng.choice((1, 7, 400, 10 ** 6))
        data, parity = rng.choice(((1, 1), (1, 2), (2, 1), (8, 2), (4, 3)))
        if servers < data + parity:
            continue
        mtbf, repair = rng.choice((2000, 26280)), rng.choice((1, 24))
        text = (f"servers: {servers}, placement_groups: {groups}, mtbf_hours: {mtbf}, "
                f"repair_hours: {repair}, "
                + (f"copies: {parity + 1}" if data == 1 else
                   f"erasure: {{data: {data}, parity: {parity}}}"))
        answer = with_storage(myriad, folder, f"{{{text}}}")
        found = answer["storage"]["availability"]
        lost = away(servers, data + parity, parity, groups, repair / (mtbf + repair))
        check(f"{text}: {found['share']}, by hand {1 - lost:.9f}",
              abs(found["share"] - (1 - lost)) < 2e-9)
        one = away(data + parity, data + parity, parity, 1, repair / (mtbf + repair))
        check(f"{text}: one stripe {found['stripe_share']}, {1 - one:.9f}",
              abs(found["stripe_share"] - (1 - one)) < 2e-9)
    # By trial: groups laid and servers failed at random, in a small system that fails often.
    trial = random.Random(7)
    answer = with_storage(myriad, folder, "{servers: 12, copies: 2, placement_groups: 9, "
                                          "mtbf_hours: 9, repair_hours: 1}")
    lost, rounds = 0, 40000
    for _ in range(rounds):
        groups = [trial.sample(range(12), 2) for _ in range(9)]
        gone = {i for i in range(12) if trial.random() < 0.1}
        lost += any(gone.issuperset(group) for group in groups)
    found = answer["storage"]["availability"]["share"]
    check(f"by trial {1 - lost / rounds}, {found}", abs(1 - lost / rounds - found) < 0.006)
    check(f"down {down}", abs(answer["storage"]["availability"]["server_down"] - 0.1) < 1e-6)


def one_fate(myriad, folder):
    """What one switch takes away is named, and so are ports that carry less than the servers."""
    def rules(networks, storage):
        answer = plan(myriad, folder, f"servers: 64\nnetworks: {{{networks}}}\n"
                                      f"storage: {{{storage}}}\n")
        named = {f["rule"] for f in answer["findings"]} if answer else set()
        return {rule for rule in named if rule in ("storage-one-switch", "storage-single-homed",
                                                   "storage-nics")}
    two = "storage: {topology: rail, rails: 2}"
    for networks, storage, wanted in (
            ("compute: , storage: ", "servers: 2", {"storage-one-switch"}),
            ("compute: , storage: ", "servers: 18", {"storage-one-switch"}),
            ("compute: , storage: ", "servers: 100", {"storage-single-homed"}),
            ("compute: , " + two, "servers: 18", set()),
            ("compute: , " + two, "servers: 100", set()),
            ("compute: , service: ", "servers: 18", set()),
            ("compute: , service: {homes: 1}", "servers: 100", {"storage-single-homed"}),
            # 18 x 2 x 25G are 112.5 GB/s: of 18 servers, whose cards carry 50 each.
            ("compute: , service: ", "servers: 18, read_gbytes_per_s: 112", set()),
            ("compute: , service: ", "servers: 18, read_gbytes_per_s: 113", {"storage-nics"}),
            ("compute: , service: ", "servers: 18, write_gbytes_per_s: 57", {"storage-nics"}),
            ("compute: , " + two, "servers: 18, read_gbytes_per_s: 113", set())):
        found = rules(networks, storage)
        check(f"{networks}{storage}: {found}, {wanted} are expected", found == wanted)


def availability(myriad, folder):
    down = 24 / (26280 + 24)
    for text, of, lost in (("copies: 2", 2, 1), ("copies: 3", 3, 2),
                           ("erasure: {data: 8, parity: 2}", 10, 2),
                           ("erasure: {data: 16, parity: 4}", 20, 4)):
        answer = with_storage(myriad, folder,
                              f"{{capacity_pb: 10, {text}, availability_percent: 99.9999}}")
        wanted = 1 - sum(math.comb(of, k) * down ** k * (1 - down) ** (of - k)
                         for k in range(lost + 1, of + 1))
        found = answer["storage"]["availability"]["stripe_share"]
        check(f"{text}: {found}, by hand {wanted}", abs(found - wanted) < 2e-9)
        named = "storage-availability" in {f["rule"] for f in answer["findings"]}
        share = answer["storage"]["availability"]["share"]
        check(f"{text}: {named} at {share}", named == (share < 0.999999) and share <= found)
    # A wish that no number of copies of such servers meets.
    answer = with_storage(myriad, folder,
                          "{capacity_pb: 1, copies: 1, availability_percent: 99.99}")
    check("one copy", "storage-availability" in {f["rule"] for f in answer["findings"]})


def randoms(myriad, folder, seed, count):
    rng = random.Random(seed)
    for _ in range(count):
        tb = rng.choice([0, 100, 1500, 9000])
        copies = rng.choice([None, 1, 2, 3])
        code = None if copies else (rng.randint(2, 12), rng.randint(1, 4))
        rate = rng.choice(sorted(CLASSES))
        read, write = rng.choice([0, 100, 3000]), rng.choice([0, 50, 900])
        iops, meta = rng.choice([0, 10e6, 90e6]), rng.choice([0, 1e6, 5e6])
        servers = rng.choice([8, 33, 128])
        wishes = [f"capacity_tb: {tb}"] if tb else []
        wishes += [f"rate: {rate}"]
        wishes += [f"copies: {copies}"] if copies else []
        wishes += [f"erasure: {{data: {code[0]}, parity: {code[1]}}}"] if code else []
        wishes += [f"read_gbytes_per_s: {read}"] if read else []
        wishes += [f"write_gbytes_per_s: {write}"] if write else []
        wishes += [f"iops: {int(iops)}"] if iops else []
        wishes += [f"metadata_ops: {int(meta)}"] if meta else []
        stored = copies if copies else (code[0] + code[1]) / code[0] if code else 2
        units = math.ceil(servers * 8 / 256)
        reads = max(read, CLASSES[rate][0] * units)
        writes = max(write, CLASSES[rate][1] * units)
        wanted = {
            "by_capacity": up(round(tb * 1000) * stored / (RAW_TB * 1000)),
            "by_rate": max(up(reads / PORT), up(math.floor(writes * 1000 * stored) / 1000 / PORT)),
            "by_iops": up(iops / IOPS),
            "by_metadata": up(meta / METADATA),
        }
        if max(wanted.values()) == 0:
            continue
        text = "{" + ", ".join(wishes) + "}"
        answer = with_storage(myriad, folder, text, servers)
        if not answer:
            continue
        needs = answer["storage"]["needs"]
        for key, value in wanted.items():
            check(f"{text}: {key} {needs[key]}, by hand {value}", needs[key] == value)
        check(f"{text}: {answer['storage']['servers']}",
              answer["storage"]["servers"] == max(needs.values()))


def short(myriad, folder):
    """Too few servers for a wish: the wish is named."""
    for rule, wish in (("storage-iops", "iops: 100000000"),
                       ("storage-metadata", "metadata_ops: 10000000"),
                       ("storage-files", "files: 100G"),
                       ("storage-checkpoint",
                        "checkpoint: {model: llama3-405b, window_s: 1}"),
                       ("storage-short", "capacity_pb: 100"),
                       ("storage-slow", "read_gbytes_per_s: 5000")):
        answer = with_storage(myriad, folder, f"{{servers: 4, {wish}}}")
        check(f"{rule} is not named", rule in {f["rule"] for f in answer["findings"]})
        answer = with_storage(myriad, folder, f"{{{wish}}}")
        check(f"{rule} is named all the same",
              answer and rule not in {f["rule"] for f in answer["findings"]})


def tiers(myriad, folder):
    answer = with_storage(myriad, folder, "{capacity_pb: 1, tiers: [{kind: object, "
                          "capacity_pb: 20, erasure: {data: 10, parity: 4}}, "
                          "{kind: hybrid, capacity_pb: 5}]}")
    found = answer["storage"]["tiers"]
    check(f"object {found}", found["object"]["servers"] == up(20000 * 1.4 / (36 * 22))
          and found["hybrid"]["servers"] == up(5000 * 3 / (24 * 20)))
    bill = {row["name"]: row["quantity"] for row in answer["bom"]}
    check(f"bill {bill}", bill["object storage server"] == found["object"]["servers"]
          and bill["hybrid storage server"] == found["hybrid"]["servers"])


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        published(sys.argv[1], folder)
        availability(sys.argv[1], folder)
        all_data(sys.argv[1], folder, random.Random(5))
        one_fate(sys.argv[1], folder)
        randoms(sys.argv[1], folder, 3, 25)
        short(sys.argv[1], folder)
        tiers(sys.argv[1], folder)
    for what in FAILED[:40]:
        print("FAILED", what)
    print(f"{len(FAILED)} failed")
    return 1 if FAILED else 0


if __name__ == "__main__":
    sys.exit(main())
