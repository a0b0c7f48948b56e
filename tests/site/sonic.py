#!/usr/bin/env python3
"""SONiC's config_db: headroom as published, one lossless class everywhere, lanes used once, sums
that fit; and SONiC's own models by yanglint, where both are to be had.

usage: sonic.py MYRIAD rules|yang    (yang: MYRIAD_SONIC_YANG names src/sonic-yang-models of
sonic-buildimage)
"""
import csv
import json
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from xml.sax.saxutils import escape

ROOT = Path(__file__).resolve().parents[2]
SKIPPED = 77
SPEC = "name: x\nservers: {}\nserver: {}\nnetworks:\n  compute: {{switch: sn5600, {}}}\n"
FAILED = []
COUNT = 0


def check(what, good, shown=""):
    global COUNT
    COUNT += 1
    if not good:
        FAILED.append(f"{what} {shown}")


class Program:
    def __init__(self, myriad, folder):
        self.myriad, self.folder, self.serial = myriad, folder, 0

    def run(self, *words):
        return subprocess.run([self.myriad, *words], cwd=self.folder, capture_output=True,
                              text=True, timeout=300, check=False)

    def plan(self, servers, server, words):
        self.serial += 1
        name = f"d{self.serial}"
        (self.folder / f"{name}.yaml").write_text(SPEC.format(servers, server, words))
        done = self.run("plan", f"{name}.yaml", "--out", name)
        if done.returncode == 2:  # 1: nothing in the catalogue joins two ports; cables have lengths
            sys.exit(f"{words}: {done.stderr}")
        return f"{name}/design.myr"

    def export(self, box, design, *words):
        """{switch: its config_db}"""
        self.serial += 1
        out = f"out{self.serial}"
        done = self.run("export", f"sonic-{box}", design, *words, "--out", out)
        check(f"export {box}", done.returncode == 0, done.stderr)
        return {path.parent.name: json.loads(path.read_text())
                for path in sorted((self.folder / out).glob("*/config_db.json"))}


def published():
    text = (ROOT / "tests/data/sonic-headroom.csv").read_text()
    rows = csv.DictReader(line for line in text.splitlines() if not line.startswith("#"))
    return {(row["box"], int(row["gbps"]), int(row["length_m"])): row for row in rows}


def spectrum_xoff(gbps, length):
    """Spectrum's rule: what is under way when a pause is sent, in cells of 192 bytes."""
    quanta = {100: 394, 200: 453, 400: 905, 800: 905}[gbps]
    wire = 2 * length * gbps * 1e9 / 8 / 1.98e8
    small = 192 / 64  # of the smallest packets each fills a cell
    phy = 0.8 * 1024
    return 1024 * math.ceil((1024 + (9216 + wire + phy + 64 * quanta + gbps * 15) * small) / 1024)


def row_between(table, box, gbps, length):
    """Between two rows of the box's table: linear, in whole cells, never less than the rule."""
    rows = {metres: row for (b, g, metres), row in table.items() if (b, g) == (box, gbps)}
    if length in rows:
        return rows[length]
    low, high = max(m for m in rows if m < length), min(m for m in rows if m > length)
    cell = {"sn5600": 1024, "z9864f": 254}[box]
    near, far = int(rows[low]["xoff"]), int(rows[high]["xoff"])
    exact = near + (far - near) * (length - low) / (high - low)
    xoff = math.ceil(exact / cell) * cell
    size = int(rows[high]["size"]) - (far - xoff if box == "sn5600" else 0)
    if box == "sn5600" and gbps >= 400:
        rule = spectrum_xoff(gbps, length)
        check(f"rule of Spectrum at {gbps}G {length} m", rule <= xoff <= rule + 1024, (xoff, rule))
    return {**rows[high], "xoff": str(xoff), "size": str(size)}


def rows_of(config, table, port):
    return {key.split("|")[1]: row for key, row in config[table].items()
            if key.split("|")[0] == port}


def numbers(text):
    found = set()
    for part in text.split(","):
        first, _, last = part.partition("-")
        found |= set(range(int(first), int(last or first) + 1))
    return found


def check_switch(box, name, config, table):
    lanes = [lane for row in config["PORT"].values() for lane in row["lanes"].split(",")]
    check(f"{name}: lanes used once", len(lanes) == len(set(lanes)), len(lanes))
    headroom = 0
    for port, row in config["PORT"].items():
        speed, length = int(row["speed"]) // 1000, config["CABLE_LENGTH"]["AZURE"][port]
        groups = rows_of(config, "BUFFER_PG", port)
        lossless = {number for key, value in groups.items() if "lossless_" in value["profile"]
                    for number in numbers(key)}
        queues = {number for key, value in rows_of(config, "BUFFER_QUEUE", port).items()
                  if "lossless" in value["profile"] for number in numbers(key)}
        qos = config["PORT_QOS_MAP"][port]
        check(f"{name} {port}: one set of classes", lossless == queues == {3} ==
              numbers(qos["pfc_enable"]) == numbers(qos["pfcwd_sw_enable"]), (lossless, queues))
        profile = config["BUFFER_PROFILE"][groups["3"]["profile"]]
        told = row_between(table, box, speed, int(length[:-1]))
        for field in ("size", "xon", "xoff", "xon_offset"):
            check(f"{name} {port} {field}", profile.get(field, "0") == told[field], profile)
        headroom += int(profile["xoff" if box == "z9864f" else "size"])
    pool = config["BUFFER_POOL"]["ingress_lossless_pool"]
    if box == "z9864f":
        check(f"{name}: pool", int(pool["xoff"]) == headroom <= 66749168, pool)
    else:
        check(f"{name}: pool", int(pool["size"]) + headroom == 158229504, pool)
    check(f"{name}: DSCP", config["DSCP_TO_TC_MAP"]["ROCE"]["26"] == "3" and
          config["DSCP_TO_TC_MAP"]["ROCE"]["48"] == "6", "")
    check(f"{name}: all marks", len(config["DSCP_TO_TC_MAP"]["ROCE"]) == 64, "")


def check_links(name, configs):
    """Both ends of a link between switches have one subnet, the other's AS, one speed."""
    owner = {}
    for switch, config in configs.items():
        for key in config["INTERFACE"]:
            if "|" in key:
                port, address = key.split("|")
                owner[address.split("/")[0]] = (switch, port)
    seen = 0
    for switch, config in configs.items():
        for address, row in config["BGP_NEIGHBOR"].items():
            here = owner[row["local_addr"]]
            check(f"{name} {switch}: own address", here[0] == switch, here)
            if address in owner:
                seen += 1
                other = configs[owner[address][0]]
                check(f"{name} {switch}: AS of {address}", row["asn"] ==
                      other["DEVICE_METADATA"]["localhost"]["bgp_asn"], row)
                check(f"{name} {switch}: speed", config["PORT"][here[1]]["speed"] ==
                      other["PORT"][owner[address][1]]["speed"], here)
    check(f"{name}: links between switches", seen > 0, seen)


CASES = [(40, "h100-8gpu", f"length_m: {{host_leaf: {near}, leaf_spine: {far}}}")
         for near, far in ((3, 40), (5, 6), (40, 41), (50, 60), (100, 300))]
CASES += [(32, "b300-8gpu", "length_m: 30"), (24, "a100-8gpu", "length_m: 30, tiers: 2")]


def rules(program):
    table = published()
    for (box, gbps, length), row in table.items():
        if box == "sn5600" and gbps >= 400:
            check(f"rule of Spectrum at {gbps}G {length} m", int(row["xoff"]) ==
                  spectrum_xoff(gbps, length), (row, spectrum_xoff(gbps, length)))
    rates = set()
    for case in CASES:
        design = program.plan(*case)
        for box in ("sn5600", "z9864f"):
            if box == "z9864f" and re.search("300", case[2]):
                continue
            configs = program.export(box, design)
            check(f"{case}: switches", len(configs) > 1, len(configs))
            for name, config in configs.items():
                check_switch(box, name, config, table)
                rates |= {row["speed"] for row in config["PORT"].values()}
            check_links(f"{case}", configs)
    check("several speeds", len(rates) > 1, rates)
    for words, box, status, text in (
            ("length_m: {host_leaf: 50, leaf_spine: 301}", "sn5600", 2,
             "no headroom is known to SN5600 for 400 Gb/s over 400 m"),
            ("length_m: {host_leaf: 50, leaf_spine: 300}", "z9864f", 1,
             "bytes of headroom, the box has 66749168")):
        done = program.run("export", f"sonic-{box}", program.plan(64, "h100-8gpu", words), "--out",
                           "refused")
        check(words, done.returncode == status and text in done.stderr and
              not (program.folder / "refused").exists(), done.stderr)
    hosts_agree(program)
    (program.folder / "ib.yaml").write_text(SPEC.format(16, "h100-8gpu", "planes: 1").replace(
        "sn5600", "mqm9790"))
    program.run("plan", "ib.yaml", "--out", "ib")
    done = program.run("export", "sonic-sn5600", "ib/design.myr", "--out", "refused")
    check("InfiniBand", done.returncode == 2 and "is InfiniBand, SONiC" in done.stderr, done.stderr)


def hosts_agree(program):
    """What NCCL marks is what the switches keep lossless."""
    design = program.plan(16, "h100-8gpu", "length_m: 30, tiers: 2")
    text = program.run("export", "nccl", design).stdout
    settings = dict(line.split("=", 1) for line in text.splitlines() if not line.startswith("#"))
    config = next(iter(program.export("sn5600", design).values()))
    for name in ("NCCL_IB_TC", "NCCL_IB_FIFO_TC"):
        traffic = config["DSCP_TO_TC_MAP"]["ROCE"][str(int(settings[name]) >> 2)]
        port = next(iter(config["PORT_QOS_MAP"].values()))
        check(f"{name} is lossless", port["pfc_enable"] == traffic, settings)
        check(f"{name} can be marked", int(settings[name]) & 3 == 2, settings)
    check("rails", settings["NCCL_CROSS_NIC"] == "0" and "NCCL_IB_SL" not in settings, settings)
    check("cards", len(settings["NCCL_IB_HCA"].split(",")) == 8, settings)
    done = program.run("export", "nccl", design, "--net", "storage")
    check("another network", done.returncode == 2, done.stderr)


# --- YANG

TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|\'[^\']*\'|[{};]|//[^\n]*|/\*.*?\*/|[^\s{};"\']+', re.S)


def statements(tokens):
    """[(keyword, argument, children)] of a YANG text."""
    found, words = [], []
    for token in tokens:
        if token.startswith(("//", "/*")):
            continue
        if token == "}":
            break
        if token in "{;":
            inner = statements(tokens) if token == "{" else []
            found.append((words[0], " ".join(words[1:]), inner))
            words = []
        else:
            words.append(token.strip("\"'"))
    return found


def children(node, *kinds):
    return [child for child in node[2] if child[0] in kinds]


class Models:
    def __init__(self, folder, work):
        import jinja2
        self.work = work
        for path in sorted((folder / "yang-models").glob("*.yang")):
            (work / path.name).write_text(path.read_text())
        for path in sorted((folder / "yang-templates").glob("*.yang.j2")):
            text = jinja2.Template(path.read_text()).render(yang_model_type="py")
            (work / path.name[:-3]).write_text(text)
        self.tables = {}  # table: (module, namespace, top container, node)
        for path in sorted(work.glob("*.yang")):
            module = statements(iter(TOKEN.findall(path.read_text())))[0]
            space = children(module, "namespace")
            for top in children(module, "container"):
                for table in children(top, "container"):
                    self.tables[table[1]] = (module[1], space[0][1], top[1], table)

    @staticmethod
    def leaves(node, row):
        kinds = {child[1]: child[0] for child in node[2]}
        for child in children(node, "choice"):
            for case in children(child, "case"):
                kinds.update({leaf[1]: leaf[0] for leaf in case[2]})
        text = ""
        for key, value in row.items():
            parts = value if isinstance(value, list) else \
                value.split(",") if kinds.get(key) == "leaf-list" else [value]
            text += "".join(f"<{key}>{escape(part)}</{key}>" for part in parts)
        return text

    def entry(self, table, node, key, row):
        """One row of config_db as XML, by the list that has as many keys."""
        for child in children(node, "container"):
            if child[1] == key:
                return f"<{key}>{self.leaves(child, row)}</{key}>"
        parts = key.split("|")
        for child in children(node, "list"):
            names = children(child, "key")[0][1].split()
            if len(names) != len(parts):
                continue
            text = "".join(f"<{name}>{escape(part)}</{name}>" for name, part in zip(names, parts))
            inner = [one for one in children(child, "list") if one[1] == table]
            if inner:
                first = children(inner[0], "key")[0][1]
                second = [leaf[1] for leaf in children(inner[0], "leaf") if leaf[1] != first][0]
                text += "".join(f"<{table}><{first}>{one}</{first}><{second}>{two}</{second}>"
                                f"</{table}>" for one, two in row.items())
            else:
                text += self.leaves(child, row)
            return f"<{child[1]}>{text}</{child[1]}>"
        raise KeyError(f"{table}|{key}: no list of the model has {len(parts)} keys")

    def validate(self, config):
        """What yanglint says of a config_db; empty: valid."""
        parts, modules = {}, set()
        for table, rows in config.items():
            module, space, top, node = self.tables[table]
            modules.add(module)
            text = "".join(self.entry(table, node, key, row) for key, row in rows.items())
            parts.setdefault((space, top), []).append(f"<{table}>{text}</{table}>")
        data = "".join(f'<{top} xmlns="{space}">{"".join(texts)}</{top}>'
                       for (space, top), texts in parts.items())
        (self.work / "data.xml").write_text(data)
        done = subprocess.run(["yanglint", "-p", str(self.work), "-t", "config",
                               *(f"{self.work}/{module}.yang" for module in sorted(modules)),
                               str(self.work / "data.xml")], capture_output=True, text=True,
                              timeout=300, check=False)
        errors = [line for line in done.stderr.splitlines() if "libyang err" in line]
        return "\n".join(errors[:8]) or ("" if done.returncode == 0 else "failed")


def yang(program):
    """Every switch is valid; a wrong pool, a missing profile and a wrong watchdog are not."""
    folder = os.environ.get("MYRIAD_SONIC_YANG")
    if not shutil.which("yanglint"):
        return skip("not installed: yanglint (Debian: libyang2-tools)")
    if not folder:
        return skip("MYRIAD_SONIC_YANG does not name sonic-buildimage's src/sonic-yang-models")
    work = program.folder / "yang"
    work.mkdir()
    models = Models(Path(folder), work)
    valid = 0
    for case in CASES[:2] + CASES[4:5]:
        design = program.plan(*case)
        for box in ("sn5600", "z9864f"):
            configs = program.export(box, design)
            kinds = {name.split("-")[0]: name for name in configs}
            for name in kinds.values():
                wrong = models.validate(configs[name])
                check(f"{box} {name}", not wrong, wrong)
                valid += not wrong
    config = configs[name]
    for what, spoil in (
            ("pool", lambda c: c["BUFFER_PROFILE"]["ingress_lossy_profile"].update(pool="none")),
            ("watchdog", lambda c: next(iter(row for key, row in c["PFC_WD"].items()
                                             if key != "GLOBAL")).update(detection_time="5")),
            ("speed", lambda c: next(iter(c["PORT"].values())).update(speed="fast"))):
        spoilt = json.loads(json.dumps(config))
        spoil(spoilt)
        check(f"a wrong {what} is told", models.validate(spoilt), "")
    valid += tenants_valid(program, models)
    print(f"{valid} config_db.json valid by SONiC's models")
    return 0


def tenants_valid(program, models):
    """Filters and VRFs of tenants, one with a long name; a table that is not there is told."""
    (program.folder / "tenants.csv").write_text(
        "tenant,nodes\nresearch,0-15\na-tenant-of-a-long-name,\"16-20,30\"\n")
    design, valid = program.plan(*CASES[0]), 0
    for box in ("sn5600", "z9864f"):
        for words, table in (((), "ACL_TABLE"), (("--vrf",), "VRF")):
            configs = program.export(box, design, "--tenants", "tenants.csv", *words)
            kinds = {(name.split("-")[0], "ACL_TABLE" in config, len(config.get("VRF", ()))): name
                     for name, config in configs.items()}
            for name in kinds.values():
                wrong = models.validate(configs[name])
                check(f"{box} {name} {words}", not wrong, wrong)
                valid += not wrong
            leaf = next(config for config in configs.values() if table in config)
            if words:
                next(row for row in leaf["INTERFACE"].values() if row)["vrf_name"] = "Vrf-none"
            else:
                leaf["ACL_RULE"]["ELSEWHERE|RULE_1"] = next(iter(leaf["ACL_RULE"].values()))
            check(f"{box}: a wrong {table} is told", models.validate(leaf), "")
    return valid


def skip(reason):
    print(f"skipped: {reason}")
    return SKIPPED


def main():
    with tempfile.TemporaryDirectory(prefix="myriad-sonic-") as name:
        program = Program(str(Path(sys.argv[1]).resolve()), Path(name))
        status = {"rules": rules, "yang": yang}[sys.argv[2]](program)
    for line in FAILED[:20]:
        print("FAIL", line)
    print(f"{COUNT} checks, {len(FAILED)} failed")
    return 1 if FAILED else status or 0


if __name__ == "__main__":
    sys.exit(main())
