#!/usr/bin/env python3
"""Plans the published reference designs and compares every numeric cell."""
import csv
import json
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
DATA = HERE.parent / "data" / "superpod.csv"

# What a platform of the table is in words of a spec.
PLATFORMS = {
    "DGX H100 NDR": ("h100-8gpu", "mqm9790-ns2f"),
    "DGX B200 NDR": ("b200-8gpu", "mqm9790-ns2f"),
    "DGX B300 Spectrum-X twin-planar 2x400GbE per GPU": ("b300-8gpu", "sn5600"),
    "DGX B300 XDR Q3400": ("b300-8gpu-xdr", "q3400"),
    "DGX GB200 NVL72": ("gb200-nvl72", "mqm9790-ns2f"),
    "H100 server + MQM9790": ("h100-8gpu", "mqm9790-ns2f"),
}


def plan(myriad, text):
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as spec:
        spec.write(text)
        spec.flush()
        done = subprocess.run([myriad, "plan", spec.name, "-o", "json"], capture_output=True,
                              text=True, timeout=600, check=False)
    if done.returncode != 0:
        raise SystemExit(f"plan failed ({done.returncode}): {done.stderr}\n{text}")
    return json.loads(done.stdout)


def spec_of(row):
    server, switch = PLATFORMS[row["platform"]]
    count = int(row["nodes"].split()[0])
    net = f"switch: {switch}, nic_gbps: {row['port_gbps']}, planes: {row['planes']}"
    if int(row["manager_ports"]):
        net += f", fabric_manager_ports: {row['manager_ports']}"
    return (f"name: {row['id']}\nservers: {count}\nserver: {server}\n"
            f"networks:\n  compute: {{{net}}}\n")


def cells(result):
    net = result["networks"]["compute"]
    return {
        "gpus": result["gpus"],
        "leaf": net["switches"]["leaf"],
        "spine": net["switches"]["spine"],
        "core": net["switches"]["core"],
        "node_leaf_cables": net["cables"]["host_leaf"],
        "leaf_spine_cables": net["cables"]["leaf_spine"],
        "spine_core_cables": net["cables"]["spine_core"],
    }


def main():
    myriad = sys.argv[1]
    failed = compared = 0
    for row in csv.DictReader(DATA.open()):
        found = cells(plan(myriad, spec_of(row)))
        for name, value in found.items():
            if row[name] == "":
                continue
            published = int(row[name])
            compared += 1
            if name == row["misprint"]:
                # The row contradicts itself: our value must follow from its own node count.
                right = int(row["nodes"]) * 8
                print(f"misprint: {row['id']} {name}: published {published}, "
                      f"{row['nodes']} nodes make {right}")
                if value != right or value == published:
                    print(f"FAIL {row['id']} {name}: {value}, expected {right}")
                    failed += 1
            elif value != published:
                print(f"FAIL {row['id']} {name}: {value}, published {published}")
                failed += 1
    print(f"{compared} cells compared, {failed} differ")
    return 1 if failed or compared < 100 else 0


if __name__ == "__main__":
    sys.exit(main())
