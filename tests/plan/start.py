#!/usr/bin/env python3
"""Starting without a spec, price lists, words of fabrics and numbers with letters.

    tests/plan/start.py MYRIAD
"""
import itertools
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

SERVERS = {"h100": 8, "h200": 8, "b200": 8, "gb200": 72}
TECHNOLOGY = {"infiniband": "InfiniBand switch", "roce": "Ethernet switch",
              "ethernet": "Ethernet switch"}


def run(myriad, *args, code=(0,), text=None):
    done = subprocess.run([myriad, *map(str, args)], capture_output=True, text=True, input=text)
    assert done.returncode in code, (args, done.returncode, done.stderr)
    return done.stdout


def plan(myriad, *args, text=None):
    return json.loads(run(myriad, "plan", *args, "-o", "json", code=(0, 1), text=text))


def spec(myriad, text):
    return plan(myriad, "-", text=text)


def same(a, b):
    return all(a[key] == b[key] for key in a if key not in ("question", "assumed"))


def starts(myriad, folder):
    for gpus, server, fabric in itertools.product((1, 100, 2000), SERVERS,
                                                  (None, "infiniband", "roce")):
        options = ["--gpus", gpus, "--server", server] + (["--fabric", fabric] if fabric else [])
        shown = plan(myriad, *options)
        each = SERVERS[server]
        assert shown["servers"] == -(-gpus // each) and shown["gpus"] == shown["servers"] * each
        assert shown["assumed"], options
        if fabric:
            names = {r["name"] for r in shown["bom"] if r["system"] == "compute"}
            assert TECHNOLOGY[fabric] in names, (options, names)
        written = folder / f"{gpus}-{server}-{fabric}.yaml"
        run(myriad, "init", "spec", written, *options)
        assert same(shown, plan(myriad, written)), options
        before = written.read_bytes()
        run(myriad, "init", "spec", written, *options, code=(2,))
        assert written.read_bytes() == before
    # Every line that is commented out is right once the mark is taken off.
    text = run(myriad, "init", "spec", "-", "--gpus", 512)
    open_text = re.sub(r"^( *)# ([a-z]+: )", r"\1\2", text, flags=re.M)
    open_text = open_text.replace("prices: {file: prices.csv}", f"prices: {{file: {folder}/p.csv}}")
    (folder / "p.csv").write_text("part,price\nsn5600,1\n")
    opened = spec(myriad, open_text)
    assert opened["storage"]["usable_tb"] >= 3000 and opened["networks"]["storage"]
    for wrong in ([], ["--server", "h100"], ["x.yaml", "--gpus", 8], ["--gpus", 0],
                  ["--gpus", 8, "--server", "h10"], ["--gpus", 8, "--fabric", "token-ring"]):
        run(myriad, "plan", *wrong, code=(2,))


def fabrics(myriad):
    for word, name in TECHNOLOGY.items():
        for net in ("compute", "storage"):
            got = spec(myriad, f"servers: 64\nnetworks: {{compute: , {net}: {{fabric: {word}}}}}\n"
                       if net == "storage" else
                       f"servers: 64\nnetworks: {{compute: {{fabric: {word}}}}}\n")
            names = {r["name"] for r in got["bom"] if r["system"] == net}
            assert name in names, (word, net, names)
    roce = spec(myriad, "servers: 64\nnetworks: {compute: {fabric: roce}}\n")
    named = spec(myriad, "servers: 64\nnetworks: {compute: {switch: sn5600}}\n")
    assert roce["networks"] == named["networks"] and roce["bom"] == named["bom"]


def letters(myriad):
    def storage(words):
        return spec(myriad, f"servers: 4\nstorage: {{{words}}}\n")["storage"]

    assert storage("capacity: 3P") == storage("capacity_pb: 3") == storage("capacity_tb: 3000")
    assert storage("capacity_tb: 3P") == storage("capacity_pb: 3P") == storage("capacity: 3000T")
    assert storage("capacity: 10T") == storage("capacity_tb: 10") == storage("capacity: 10000G")
    assert storage("capacity: 2.5P")["usable_tb"] >= 2500

    def net(words):
        return spec(myriad, f"servers: 40\nnetworks: {{compute: {{switch: sn5600, {words}}}}}\n"
                    )["networks"]

    assert net("nic_gbps: 400G") == net("nic_gbps: 0.4T") == net("nic_gbps: 400")
    assert net("nic_gbps: 400, uplink_gbps: 800G") == net("nic_gbps: 400, uplink_gbps: 800")
    assert net("nic_gbps: 200000M") == net("nic_gbps: 200")


def prices(myriad, folder):
    cluster = "servers: 32\nnetworks: {compute: {switch: mqm9790-ns2f}}\n"
    bare = spec(myriad, cluster)
    parts = sorted({row["part"] for row in bare["bom"]})
    each = {part: 100 + 7 * i for i, part in enumerate(parts)}
    lines = "\n".join(f'{p.lower()},"{v:,}.25",EUR,2026-01-31' for p, v in each.items())
    (folder / "prices.csv").write_text("\ufeffpart,price,currency,date,note\n" + lines + ",x\n")
    want = sum(row["quantity"] * (each[row["part"]] + 0.25) for row in bare["bom"])
    (folder / "own.yaml").write_text(cluster + "prices: {file: prices.csv}\n")
    (folder / "bare.yaml").write_text(cluster)
    for got in (plan(myriad, folder / "own.yaml"),
                plan(myriad, folder / "bare.yaml", "--prices", folder / "prices.csv")):
        assert abs(got["totals"]["cost"] - want) < 0.01, (got["totals"], want)
        assert got["totals"]["currency"] == "EUR" and got["totals"]["unpriced_lines"] == 0
        assert all("prices.csv, 2026-01-31" in row["price_note"] for row in got["bom"])
    # What the spec says itself comes first, the book last.
    first = parts[0]
    (folder / "mixed.yaml").write_text(
        cluster + f"prices: {{file: prices.csv, parts: {{{first.lower()}: 5}}}}\n")
    mixed = plan(myriad, folder / "mixed.yaml")
    assert next(r for r in mixed["bom"] if r["part"] == first)["unit_price"] == 5
    (folder / "few.csv").write_text("part,price,currency\nMQM9790-NS2F,1,CNY\n")
    book = plan(myriad, folder / "bare.yaml", "--prices", folder / "few.csv")
    assert [r["unit_price"] for r in book["bom"] if r["part"] == "MQM9790-NS2F"] == [1]
    (folder / "clash.yaml").write_text(cluster + "prices: {book: cn-2024-05, file: prices.csv}\n")
    run(myriad, "plan", folder / "clash.yaml", code=(2,))
    (folder / "gone.yaml").write_text(cluster + "prices: {file: gone.csv}\n")
    run(myriad, "plan", folder / "gone.yaml", code=(2,))


def main():
    myriad = Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        starts(myriad, folder)
        fabrics(myriad)
        letters(myriad)
        prices(myriad, folder)
    print("starts, fabrics, letters, prices: as they should be")


if __name__ == "__main__":
    main()
