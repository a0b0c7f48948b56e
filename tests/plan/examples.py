#!/usr/bin/env python3
"""The shipped examples: totals to the yuan, counts, and the bill of materials line by line."""
import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
FAILED = []

# system, part, (quantity, unit price) for 64 and 128 servers, as ordered in May 2024.
SEED = [
    ("compute", "MQM9790-NS2F", (24, 208000), (48, 208000)),
    ("compute", "MMS4X00-NS", (768, 14500), (1536, 14500)),
    ("compute", "MMS4X00-NS400", (512, 9800), (1024, 9800)),
    ("compute", "MFP7E30-N050", (1024, 850), (2048, 850)),
    ("compute", "IW-Venus", (512, 4800), (1024, 4800)),
    ("compute", "IW-Support", (36, 15000), (36, 30000)),
    ("storage", "MQM9790-NS2F", (6, 208000), (9, 208000)),
    ("storage", "MMS4X00-NS", (98, 14500), (162, 14500)),
    ("storage", "MMA1Z00-NS400", (196, 7200), (324, 7200)),
    ("storage", "MFP7E20-N030", (98, 950), (162, 950)),
    ("storage", "IW-Venus", (196, 4800), (324, 4800)),
    ("storage system", "FLASH-22X15.36", (18, 950000), (18, 950000)),
    ("service", "ETH-48X25G-6X100G", (6, 60000), (8, 60000)),
    ("service", "ETH-32X100G", (4, 110000), (4, 110000)),
    ("oob", "ETH-48X1G-4X10G", (3, 3800), (4, 3800)),
    ("oob", "ETH-48X10G-6X100G", (2, 11000), (2, 11000)),
    ("security", "FIREWALL", (2, 150000), (2, 150000)),
    ("security", "BASTION", (2, 100000), (2, 100000)),
    ("security", "LOG-AUDIT", (2, 60000), (2, 60000)),
]


def check(what, found, expected):
    if found != expected:
        FAILED.append(f"{what}: {found}, expected {expected}")


def plan(myriad, name, expected_exit=0):
    done = subprocess.run([myriad, "plan", str(ROOT / "examples" / f"{name}.yaml"), "-o", "json"],
                          capture_output=True, text=True, timeout=600, check=False)
    check(f"{name}: exit code", done.returncode, expected_exit)
    return json.loads(done.stdout)


def seed_lines(result, column):
    name = result["name"]
    lines = {(row["system"], row["part"]): row for row in result["bom"]}
    for system, part, *phases in SEED:
        row = lines.pop((system, part), None)
        if row is None:
            FAILED.append(f"{name}: no line for {system} {part}")
            continue
        quantity, price = phases[column]
        check(f"{name} {system} {part}", (row["quantity"], row["unit_price"], row["total"]),
              (quantity, price, quantity * price))
        if not row["rule"] or not row["inputs"]:
            FAILED.append(f"{name} {part}: no rule or no inputs")
    # The seed's software line has no price; nothing else may be there.
    software = lines.pop(("storage system", "STORAGE-SOFTWARE"))
    check(f"{name} software", (software["unit_price"], software["total"]), (None, None))
    check(f"{name} other lines", sorted(lines), [])


def switches(result, net):
    counts = result["networks"][net]["switches"]
    return counts["leaf"], counts["spine"], counts["core"], counts["total"]


def open_errors(result):
    return [f["rule"] for f in result["findings"]
            if f["severity"] == "error" and not f["accepted"]]


def main():
    myriad = sys.argv[1]
    for column, (name, total, storage) in enumerate(
            (("h100-64", 48681100, 6), ("h100-128", 76967300, 9))):
        result = plan(myriad, name)
        check(f"{name}: total", result["totals"]["cost"], total)
        check(f"{name}: currency", result["totals"]["currency"], "CNY")
        check(f"{name}: storage switches", switches(result, "storage")[3], storage)
        check(f"{name}: storage servers", result["storage"]["servers"], 18)
        seed_lines(result, column)
        accepted = {f["rule"] for f in result["findings"] if f["accepted"]}
        check(f"{name}: known findings", accepted,
              {"optic-mode", "optic-form", "cable-short", "quantity-short"})
        rules = {f["rule"] for f in result["findings"]}
        check(f"{name}: the software line is a finding", "unpriced" in rules, True)
    corrected = plan(myriad, "h100-64-corrected")
    check("corrected: open errors", open_errors(corrected), [])
    check("corrected: accepted", [f for f in corrected["findings"] if f["accepted"]], [])
    check("corrected: its own total", corrected["totals"]["cost"],
          sum(row["total"] or 0 for row in corrected["bom"]))
    ten = plan(myriad, "h100-10k")
    check("h100-10k", (switches(ten, "compute"), ten["networks"]["compute"]["cables"]["total"]),
          ((320, 320, 256, 896), 30720))
    hundred = plan(myriad, "h100-100k")
    check("h100-100k", (switches(hundred, "compute"), hundred["gpus"],
                        hundred["networks"]["compute"]["cables"]["total"]),
          ((1568, 1568, 1024, 4160), 100352, 301056))
    nvl = plan(myriad, "nvl72-9k")
    check("nvl72-9k", (nvl["servers"], nvl["gpus"], nvl["nodes"]), (128, 9216, 2304))
    ascend = plan(myriad, "ascend-910b-1k")
    check("ascend-910b-1k", (ascend["servers"], ascend["gpus"]), (128, 1024))
    million = plan(myriad, "gpu-1m")
    check("gpu-1m", (million["gpus"], switches(million, "compute")),
          (1048576, (16384, 16384, 8192, 40960)))
    for result in (ten, hundred, nvl, ascend, million):
        check(f"{result['name']}: open errors", open_errors(result), [])
        check(f"{result['name']}: memory of a cable",
              result["totals"]["bytes_per_cable"] < 64, True)
        for row in result["bom"]:
            if row["unit_price"] is None:
                check(f"{row['part']}: no price, no total", row["total"], None)
    for line in FAILED:
        print("FAIL", line)
    print(f"examples: {len(FAILED)} failed")
    return 1 if FAILED else 0


if __name__ == "__main__":
    sys.exit(main())
