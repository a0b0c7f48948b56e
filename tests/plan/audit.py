#!/usr/bin/env python3
"""Faults planted in documents that are right, one at a time and two at a time.

    tests/plan/audit.py MYRIAD

From each spec a document is made: the planner's own bill of materials, claims that are read off the
plan, a layout in which everything has a place. It must be clean, in English and in Chinese, with
columns and rows in any order. Then what docs/audit.md lists is planted, and exactly its rule must
be named. The faults are those of a real order of 2024 (tests/data/audit/).
"""
import csv
import io
import itertools
import json
import math
import os
import random
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
SEED = 16
EVERY = int(os.environ.get("MYRIAD_EVERY", "1"))  # one in so many

SPECS = {
    "seed-64": (ROOT / "examples" / "h100-64-corrected.yaml").read_text(),
    "seed-128-all": """
name: all-in
servers: 128
networks:
  compute: {switch: mqm9790-ns2f}
  storage: {switch: mqm9790-ns2f, extra_nodes: 16}
  service: {extra_nodes: 16}
  oob: {extra_nodes: 16}
storage: {capacity_pb: 3, copies: 2, rate: best}
items: [{part: firewall, quantity: 2, system: security}, {part: bastion, quantity: 2}]
room: {rows: 20, racks_per_row: 20, rack_kw: 20}
prices: cn-2024-05
""",
    "h200-18": """
servers: 18
server: h200-8gpu
networks: {compute: {extra_nodes: 3}, storage: {extra_nodes: 3}, service: , oob: }
storage: {capacity_tb: 700, rate: good}
""",
    "roce-300": """
servers: 300
server: h100-8gpu
networks:
  compute: {switch: sn5600, length_m: {host_leaf: 30, leaf_spine: 50}}
  storage: {switch: sn5600, topology: clos, length_m: {host_leaf: 30, leaf_spine: 50}}
  service:
storage: {capacity_tb: 2000, copies: 3}
""",
    "single-mode": """
servers: 48
server: h100-8gpu
networks:
  compute: {length_m: {host_leaf: 80, leaf_spine: 90}}
  storage: {length_m: {host_leaf: 70, leaf_spine: 70}}
storage: {capacity_tb: 2700, erasure: {data: 8, parity: 2}}
""",
    "twin-planar": """
servers: 64
server: b300-8gpu
networks: {compute: {switch: sn5600, topology: twin-planar}}
""",
    "racks": """
servers: 8
server: gb200-nvl72
networks: {compute: , service: }
""",
}

RATES = {"good": (15, 7.5), "better": (40, 20), "best": (125, 62.5)}
CHINESE = {"compute": "计算网络", "storage": "存储网络", "storage system": "存储系统",
           "service": "业务网络", "oob": "管理网", "security": "安全设备", "servers": "服务器"}
CHINESE_HEAD = {"system": "系统", "name": "名称", "part": "组件", "quantity": "数量",
                "unit_price": "单价", "total": "总价"}


class Document:
    def __init__(self, spec, rows, claims, layout):
        self.spec, self.rows, self.claims, self.layout = spec, rows, claims, layout

    def copy(self):
        return Document(self.spec, [dict(r) for r in self.rows],
                        json.loads(json.dumps(self.claims)), [list(r) for r in self.layout])


HEADER = "rule,where,message,expected,found,difference\n"


def run(myriad, *args):
    done = subprocess.run([myriad, *map(str, args)], capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


def flat(value, path=""):
    if isinstance(value, dict):
        for key, child in value.items():
            yield from flat(child, f"{path}.{key}" if path else key)
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        yield path, value


def make(myriad, folder, spec):
    (folder / "spec.yaml").write_text(spec)
    code, text, err = run(myriad, "plan", folder / "spec.yaml", "-o", "csv")
    assert code == 0, err
    rows = list(csv.DictReader(io.StringIO(text)))
    plan = json.loads(run(myriad, "plan", folder / "spec.yaml", "-o", "json")[1])
    claims = {path: value for path, value in flat({"networks": plan["networks"],
                                                   "totals": plan["totals"],
                                                   "storage": plan["storage"] or {}})
              if "bytes" not in path}
    units = -(-plan["servers"] // 32)
    for grade, (read, write) in RATES.items():
        claims[f"storage.rates.{grade}.unit.read"] = read
        claims[f"storage.rates.{grade}.unit.write"] = write
        claims[f"storage.rates.{grade}.{units}.read"] = read * units
        claims[f"storage.rates.{grade}.total.write"] = write * units
    claims["watts"] = {"MQM9790-NS2F": "1720 W", "SN5600": 900}
    return Document(spec, rows, claims, make_layout(plan))


def make_layout(plan):
    """Everything somewhere, called in several ways."""
    things = [("GPU server", plan["servers"])]
    for name, net in plan["networks"].items():
        if net:
            for tier in ("leaf", "spine", "core"):
                things.append((f"{name} {tier}", net["switches"][tier]))
            things.append((f"{name} access switch", net["switches"]["access"]))
            things.append((f"{name} aggregation switch", net["switches"]["aggregation"]))
    if plan["storage"]:
        things.append(("storage server", plan["storage"]["servers"]))
    nodes = max((net["nodes"] for net in plan["networks"].values() if net), default=0)
    nodes -= plan["nodes"] + (plan["storage"] or {"servers": 0})["servers"]
    compute = plan["networks"]["compute"]
    nodes = max(nodes, compute["nodes"] - plan["nodes"])
    things.append(("management node", max(nodes, 0)))
    for row in plan["bom"]:
        if row["part"] in ("FIREWALL", "BASTION", "LOG-AUDIT"):
            things.append((row["part"], row["quantity"]))
    layout, rack = [], 0
    for what, count in things:
        for _ in range(count):
            layout.append([f"R{rack}", what, 1])
            rack += 1
    return layout


def write_rows(rows, chinese, rng):
    head = ["system", "name", "part", "quantity", "unit_price", "total", "warranty"]
    rows = [dict(r, warranty="3 years") for r in rows]
    if rng:
        rng.shuffle(head)
        if chinese is None:
            rng.shuffle(rows)
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow([CHINESE_HEAD.get(h, h) if chinese else h for h in head])
    for row in rows:
        cells = []
        for h in head:
            cell = row.get(h, "")
            if h in ("quantity", "unit_price", "total") and cell and rng:
                cell = f"{float(cell):,.0f}" if float(cell) == int(float(cell)) else cell
            if h == "part" and rng:
                cell = rng.choice([cell.upper(), cell.lower(), " " + cell])
            if h == "system" and chinese:
                cell = CHINESE.get(cell, cell)
            cells.append(cell)
        writer.writerow(cells)
    return ("\ufeff" if rng else "") + out.getvalue()


def audit(myriad, folder, document, chinese=None, rng=None, layout=True):
    (folder / "spec.yaml").write_text(document.spec)
    (folder / "bom.csv").write_text(write_rows(document.rows, chinese, rng))
    (folder / "claims.json").write_text(json.dumps(document.claims))
    out = io.StringIO()
    csv.writer(out).writerows([["rack", "item", "count"]] + document.layout)
    (folder / "layout.csv").write_text(out.getvalue())
    words = ("plan", "audit", folder / "bom.csv", "--spec", folder / "spec.yaml", "--claims",
             folder / "claims.json", *(["--layout", folder / "layout.csv"] if layout else []))
    code, text, err = run(myriad, *words, "-o", "json")
    assert code in (0, 1), err
    answer = json.loads(text)
    assert code == (1 if answer["findings"] else 0)
    if not answer["findings"]:  # the names of the columns are there all the same
        assert run(myriad, *words, "-o", "csv")[1] == HEADER
    return answer


# ---- what is planted: (number in docs/audit.md, name, rule, how); how returns False where the
# document has nothing of the kind ----

def net_rows(document, net, kind):
    return [r for r in document.rows if r["system"] == net and kind in r["name"]]


def claim_total(document, rng):
    nets = [p for p in document.claims if p.endswith(".switches.total")]
    path = rng.choice(nets)
    document.claims[path] = max(0, document.claims[path] - rng.randint(1, 3))


def watts_kilo(document, rng):
    document.claims["watts"]["MQM9790-NS2F"] = rng.choice(["1720 kW", "1720kw", 1720000])


OTHER_MODE = {"MMA4Z00-NS": "MMS4X00-NS", "MMS4X00-NS": "MMA4Z00-NS", "MMS4X00-NM": "MMA4Z00-NS"}
FABRICS = ("compute", "storage")


def mode(document, rng):
    rows = [r for net in FABRICS for r in net_rows(document, net, "switch end")
            if r["part"] in OTHER_MODE]
    if not rows:
        return False
    row = rng.choice(rows)
    row["part"] = OTHER_MODE[row["part"]]
    # A reach that is too short as well would be a second fault.
    return not (row["part"] == "MMA4Z00-NS" and "70" in document.spec)


def mode_pair(document, rng):
    if "storage" not in document.spec or "twin" in document.spec:
        return False
    cable = "MFP7E10-N050" if "sn5600" in document.spec else "MFP7E20-N050"
    document.claims.setdefault("optics", []).append(
        {"network": "storage", "switch_optic": "MMS4X00-NS", "nic_optic": "MMA1Z00-NS400",
         "cable": cable})
    return "70" not in document.spec and "h100-64-corrected" not in document.spec


def form_pair(document, rng):
    if not net_rows(document, "storage", "NIC end"):
        return False
    part = net_rows(document, "storage", "NIC end")[0]["part"]
    document.claims.setdefault("optics", []).append(
        {"network": "storage", "nic": "CX6-200G", "nic_optic": part})


def form_line(document, rng):
    rows = net_rows(document, "storage", "NIC end")
    if not rows:
        return False
    document.rows.append({"system": "storage", "name": "NIC", "part": "MCX653105A-HDAT",
                          "quantity": rows[0]["quantity"], "unit_price": "", "total": ""})


def form_spec(document, rng):
    if "storage: {switch: mqm9790-ns2f, extra_nodes: 16}" not in document.spec:
        return False
    document.spec = document.spec.replace(
        "storage: {switch: mqm9790-ns2f, extra_nodes: 16}",
        "storage: {switch: mqm9790-ns2f, extra_nodes: 16, pin: {nic: cx6-200g}}")


def shorter(document, rng):
    rows = [r for net in FABRICS for r in net_rows(document, net, "cable")
            if r["part"][-5:-3] == "-N" and int(r["part"][-3:]) >= 30]
    if not rows:
        return False
    row = rng.choice(rows)
    row["part"] = row["part"][:-3] + "010"


def told_longer(document, rng):
    rows = [r for net in FABRICS for r in net_rows(document, net, "cable")
            if r["part"][-5:-3] == "-N"]
    if not rows:
        return False
    row = rng.choice(rows)
    row["name"] += ", 77m"


def set_quantity(rows, row, quantity, rng):
    """Half of the lists keep the old sum: the line is named for its quantity, and only once. Where
    lines of several lengths serve one kind, any of them may be named: their sums are kept right."""
    row["quantity"] = str(quantity)
    alone = len({r["part"] for r in rows if r["name"] == row["name"]}) == 1
    if row.get("total") and (not alone or rng.random() < 0.5):
        row["total"] = str(int(float(row["unit_price"]) * quantity))


def fewer(kind):
    def plant(document, rng):
        rows = [r for net in FABRICS for r in net_rows(document, net, kind)]
        if not rows:
            return False
        row = rng.choice(rows)
        set_quantity(net_rows(document, row["system"], ""), row,
                     int(row["quantity"]) * 2 // 3, rng)
        return None
    return plant


def no_fabric_fibre(document, rng):
    rows = net_rows(document, "storage", "fibre cable")
    if not rows:
        return False
    document.rows.remove(rows[0])


def no_servers(document, rng):
    rows = [r for r in document.rows if r["name"] in ("GPU server", "management node")]
    if not rows:
        return False
    document.rows.remove(rng.choice(rows))


def no_ethernet_cables(document, rng):
    rows = [r for r in document.rows if r["system"] in ("service", "oob") and "cable" in r["name"]]
    if not rows:
        return False
    net = rng.choice(rows)["system"]
    document.rows = [r for r in document.rows if not (r["system"] == net and "cable" in r["name"])]


def unplaced(document, rng):
    what = rng.choice(sorted({item for _, item, _ in document.layout}))
    rows = [r for r in document.layout if r[1] == what]
    document.layout.remove(rng.choice(rows))


def rate(document, rng):
    path = rng.choice(["storage.rates.good.unit.write", "storage.rates.best.unit.write"])
    document.claims[path] = int(document.claims[path])


FAULTS = [
    (1, "claim-total", "claim-value", claim_total),
    (2, "watts", "watts-stated", watts_kilo),
    (5, "mode", "optic-mode", mode),
    (5, "mode-pair", "optic-mode", mode_pair),
    (6, "form-pair", "optic-form", form_pair),
    (6, "form-line", "optic-form", form_line),
    (6, "form-spec", "optic-form", form_spec),
    (7, "shorter", "cable-length", shorter),
    (7, "told", "cable-length", told_longer),
    (8, "modules", "quantity-short", fewer("switch end")),
    (8, "nic-modules", "quantity-short", fewer("NIC end")),
    (8, "switches", "quantity-short", fewer("switch")),
    (8, "cables", "quantity-short", fewer("cable")),
    (9, "fabric-fibre", "quantity-short", no_fabric_fibre),
    (10, "servers", "bom-scope", no_servers),
    (10, "ethernet", "bom-scope", no_ethernet_cables),
    (11, "layout", "layout-short", unplaced),
    (12, "rates", "storage-rate", rate),
]


def order(myriad):
    """The order of 2024 as it was printed, with its own faults."""
    data = ROOT / "tests" / "data" / "audit"
    code, text, err = run(myriad, "plan", "audit", data / "order-128.csv", "--spec",
                          ROOT / "examples" / "h100-128.yaml", "--claims",
                          data / "claims-128.yaml", "--layout", data / "layout-128.csv", "-o",
                          "json")
    assert code == 1, err
    found = {}
    for finding in json.loads(text)["findings"]:
        found.setdefault(finding["rule"], []).append((finding["expected"], finding["found"]))
    assert set(found) == {f[2] for f in FAULTS} - {"bom-scope"}, found  # the spec supplies those
    assert found["claim-value"] == [(9, 6)]
    assert found["storage-rate"] == [(7.5, 7), (62.5, 62)]
    assert found["watts-stated"] == [(1720, 1720000)]
    assert (162, 0) in found["quantity-short"]
    assert (128, 126) in found["layout-short"]
    switches = [(e, f) for e, f in found["layout-short"] if (e, f) in ((6, 0), (3, 0))]
    assert len(switches) == 2  # 9 of 57 InfiniBand switches


def examples(myriad, folder):
    """The planner's own lists. An example that keeps a real order's faults has no other ones."""
    ran = 0
    for spec in sorted((ROOT / "examples").glob("*.yaml"))[::EVERY]:
        if spec.stem in ("gpu-1m", "h100-100k", "campus-2x50k"):
            continue  # as the others, only larger
        code, text, err = run(myriad, "plan", spec, "-o", "csv")
        assert code == 0, err
        (folder / "bom.csv").write_text(text)
        code, text, err = run(myriad, "plan", "audit", folder / "bom.csv", "--spec", spec, "-o",
                              "json")
        named = {f["rule"] for f in json.loads(text)["findings"]}
        accepted = [line for line in spec.read_text().splitlines() if line.startswith("accept:")]
        accepted = " ".join(accepted).replace("cable-short", "cable-length")
        allowed = {f[2] for f in FAULTS} & set(re.findall(r"[a-z-]+", accepted))
        assert named == allowed, f"{spec.name}: {named} named, {allowed} accepted\n{text}"
        ran += 1
    return ran


def lengths(myriad, folder):
    """A line may have just the length of its longest run; one metre less is too short."""
    document = make(myriad, folder, SPECS["seed-128-all"])
    run(myriad, "plan", folder / "spec.yaml", "--out", folder / "out")
    longest = {}
    with (folder / "out" / "cables.csv").open() as file:
        for row in csv.DictReader(file):
            at = (row["network"], row["part"].upper())
            longest[at] = max(longest.get(at, 0), float(row["route_m"]))
    ran = 0
    for i, row in enumerate(document.rows):
        if (row["system"], row["part"]) not in longest or row["system"] not in FABRICS:
            continue
        just = math.ceil(longest[row["system"], row["part"]])
        for metres, rules in ((just, set()), (just - 1, {"cable-length"})):
            changed = document.copy()
            changed.rows[i]["part"] = f"{row['part'][:-3]}{metres:03d}"
            answer = audit(myriad, folder, changed, layout=False)
            named = {f["rule"] for f in answer["findings"]}
            assert named == rules, f"{row['part']} of {metres} m: {answer['findings']}"
            ran += 1
    assert ran >= 12, ran
    return ran


def main():
    myriad = Path(sys.argv[1]).resolve()
    order(myriad)
    rng = random.Random(SEED)
    ran, wrong, planted = 0, [], {}
    docs = (ROOT / "docs" / "audit.md").read_text()
    for number, _, rule, _ in FAULTS:
        assert f"| {number} |" in docs and f"`{rule}`" in docs, f"docs/audit.md lacks {number}"

    def expect(label, answer, rules):
        nonlocal ran
        ran += 1
        named = {f["rule"] for f in answer["findings"]}
        if named != rules:
            wrong.append(f"{label}: {sorted(named)} named, {sorted(rules)} planted\n" +
                         "\n".join("    " + f["message"] for f in answer["findings"]))
        for finding in answer["findings"]:
            assert finding["where"] and finding["message"]
            numbers = isinstance(finding["expected"], (int, float))
            assert numbers == (finding["difference"] is not None), finding
            assert not numbers or finding["difference"] != 0, finding

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        own, cut = examples(myriad, folder), lengths(myriad, folder)
        for spec_name, spec in list(SPECS.items())[::EVERY]:
            document = make(myriad, folder, spec)
            for chinese, shuffled in ((None, False), (None, True), (True, True)):
                answer = audit(myriad, folder, document, chinese, rng if shuffled else None)
                expect(f"{spec_name} as it is", answer, set())
                assert not answer["not_judged"], answer["not_judged"]
            singles = [(fault,) for fault in FAULTS]
            pairs = [p for p in itertools.combinations(FAULTS, 2) if p[0][0] != p[1][0]]
            for faults in singles + rng.sample(pairs, 4 // EVERY):
                broken = document.copy()
                if any(f[3](broken, rng) is False for f in faults):
                    continue
                names = "+".join(f[1] for f in faults)
                chinese = rng.choice([None, True])
                answer = audit(myriad, folder, broken, chinese, rng if rng.random() < 0.5 else None)
                expect(f"{spec_name} {names}", answer, {f[2] for f in faults})
                for fault in faults:
                    planted[fault[1]] = planted.get(fault[1], 0) + 1
    missing = [f[1] for f in FAULTS if f[1] not in planted and EVERY == 1]
    for line in wrong:
        print(line)
    print(f"{own} examples, {cut} lengths;", end=" ")
    print(f"{ran} documents, {len(wrong)} judged wrongly; planted {dict(sorted(planted.items()))}")
    if missing:
        print("never planted:", missing)
    return 1 if wrong or missing else 0


if __name__ == "__main__":
    sys.exit(main())
