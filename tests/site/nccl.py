#!/usr/bin/env python3
"""NCCL's topology of a node: well formed, and what the design says is inside of one.

usage: nccl.py MYRIAD

The file is read back by Python's own XML parser and held against design.json: who hangs on which
PCIe switch and processor, how many links of NVLink a GPU has, what a card carries. Reading it is
NCCL's part; docs/measurements.md says on which GPU that was seen.
"""
import json
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree
from pathlib import Path

SPEC = ("name: x\nservers: 8\nserver: {}\naccept: [no-optics]\n"
        "networks: {{compute: {{switch: {}}}}}\n")
# server, switch, links of NVLink, compute capability, ports of a card, Mb/s, names as the maker's
SERVERS = [("h100-8gpu", "mqm9790", 18, 90, 1, 400000, True),
           ("dgx-h200", "mqm9700-ns2f", 18, 90, 1, 400000, True),
           ("a100-8gpu", "qm8790", 12, 80, 1, 200000, False),
           ("b300-8gpu", "sn5600", 18, 100, 2, 400000, False),
           ("gb200-nvl72", "mqm9790", 18, 100, 1, 400000, False),
           ("mi300x-8gpu", "z9864f-on", 0, None, 1, 400000, False)]
FAILED = []


def check(what, found, expected):
    if found != expected:
        FAILED.append(f"{what}: {found}, expected {expected}")


def run(myriad, *words, code=0):
    done = subprocess.run([myriad, *map(str, words)], capture_output=True, text=True, timeout=300,
                          check=False)
    if done.returncode not in (code, 1):
        sys.exit(f"{words}: {done.returncode} {done.stderr}")
    return done


def places(design):
    """{(kind, index): (processor, switch or None)} of GPUs and compute cards, by the design."""
    parts = design["node_parts"]
    above = {link["b"]: link["a"] for link in design["node_links"]
             if parts[link["a"]]["kind"] in ("numa", "pcie_switch")}
    found = {}
    for number, part in enumerate(parts):
        if part["kind"] == "gpu" or (part["kind"] == "nic" and part["network"] == "compute"):
            parent = parts[above[number]]
            switch = parent["index"] if parent["kind"] == "pcie_switch" else None
            numa = parent["index"] if switch is None else parts[above[above[number]]]["index"]
            found[part["kind"], part["index"]] = (numa, switch)
    return found


def read_back(root, ports):
    """The same from the file: cards are told by the number of their first device."""
    found, switches = {}, {}
    for cpu in root.findall("cpu"):
        for pci in cpu.iter("pci"):
            below = {node.tag for node in pci}
            if not below & {"gpu", "nic"}:
                switches.setdefault(pci.get("busid"), len(switches))
                continue
            parent = next((p for p in cpu.iter("pci") if pci in list(p)), None)
            switch = switches[parent.get("busid")] if parent is not None else None
            device = pci.find("gpu") if "gpu" in below else pci.find("nic/net")
            kind = "gpu" if "gpu" in below else "nic"
            found[kind, int(device.get("dev"))] = (int(cpu.get("numaid")), switch)
            check("devices of a card", len(pci.findall("nic/net")), 0 if kind == "gpu" else ports)
    return found


def check_server(myriad, folder, row):
    server, switch, links, capability, ports, speed, known = row
    spec = folder / f"{server}.yaml"
    spec.write_text(SPEC.format(server, switch))
    out = folder / server
    run(myriad, "plan", spec, "--out", out)
    path = folder / f"{server}.xml"
    run(myriad, "export", "nccl-topo", out / "design.myr", "--out", path)
    root = ElementTree.parse(path).getroot()
    check(f"{server}: root", (root.tag, root.get("version")), ("system", "1"))
    design = json.loads((out / "design.json").read_text())
    check(f"{server}: places", read_back(root, ports), places(design))
    for cpu in root.findall("cpu"):  # without it NCCL 2.28 stops: "Attribute arch ... not found"
        check(f"{server}: processor", cpu.get("arch"), "arm64" if "gb" in server else "x86_64")
    buses = [pci.get("busid") for pci in root.iter("pci")]
    check(f"{server}: addresses twice", len(buses), len(set(buses)))
    for gpu in root.iter("gpu"):
        check(f"{server}: links", sum(int(n.get("count")) for n in gpu.findall("nvlink")), links)
        check(f"{server}: capability", gpu.get("sm"), capability and str(capability))
    for net in root.iter("net"):
        check(f"{server}: speed", int(net.get("speed")), speed)
        check(f"{server}: name", net.get("name").startswith("mlx5_"), known)
    made = [bus.startswith("ffff:") for bus in buses]
    gpus = [pci.get("busid").startswith("ffff:") for pci in root.iter("pci")
            if pci.find("gpu") is not None]
    check(f"{server}: made addresses", (all(gpus), any(made)), (not known, True))


def main():
    myriad = sys.argv[1]
    with tempfile.TemporaryDirectory(prefix="myriad-nccl-") as name:
        folder = Path(name)
        for row in SERVERS:
            check_server(myriad, folder, row)
        design = folder / "h100-8gpu" / "design.myr"
        done = run(myriad, "export", "nccl-topo", design, "--net", "storage", code=2)
        check("another network", done.stderr.count("\n"), 1)
        mixed = folder / "mixed.yaml"
        mixed.write_text("name: m\nnodes:\n  - {server: h100-8gpu, servers: 4}\n"
                         "  - {server: h200-8gpu, servers: 4}\n")
        done = subprocess.run([myriad, "plan", mixed, "--out", folder / "mixed"],
                              capture_output=True, check=False, timeout=300)
        if done.returncode in (0, 1):
            done = run(myriad, "export", "nccl-topo", folder / "mixed/design.myr", code=2)
            check("nodes that differ", "differ" in done.stderr, True)
    print("\n".join(FAILED) or "as the design says")
    sys.exit(1 if FAILED else 0)


if __name__ == "__main__":
    main()
