#!/usr/bin/env python3
"""NCCL itself reads the exported topology: on a machine with a GPU, PyTorch and NCCL.

    tests/site/nccl_gpu.py nccl-topo.xml [PORT]      exit status 77 where there is no GPU

PORT is the first of nine on the loopback that PyTorch may take, for several files side by side.

The GPU at hand is put in the place of each GPU of the file in turn (its PCI address takes that
one's), and NCCL dumps what it made of it: processor, bridge, link speed and the links of NVLink
must be the file's, and it must not warn. A file that is cut in half must be refused, or nothing
was read at all.
"""
import os
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree
from pathlib import Path

INIT = """
import os, torch, torch.distributed as dist
os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=os.environ["PORT"])
dist.init_process_group("nccl", rank=0, world_size=1, device_id=torch.device("cuda:0"))
x = torch.ones(8, device="cuda")
dist.all_reduce(x)
torch.cuda.synchronize()
print("NCCL", ".".join(map(str, torch.cuda.nccl.version())), float(x.sum()))
dist.destroy_process_group()
"""


def run_nccl(topo, dump, port):
    surroundings = {**os.environ, "NCCL_TOPO_FILE": str(topo), "NCCL_TOPO_DUMP_FILE": str(dump),
                    "NCCL_DEBUG": "INFO", "NCCL_DEBUG_SUBSYS": "INIT,GRAPH", "PORT": str(port),
                    "NCCL_SOCKET_IFNAME": "lo"}
    return subprocess.run([sys.executable, "-c", INIT], env=surroundings, capture_output=True,
                          text=True, timeout=120, check=False)


def own_bus():
    done = subprocess.run(["nvidia-smi", "--query-gpu=pci.bus_id", "--format=csv,noheader"],
                          capture_output=True, text=True, check=False, timeout=60)
    found = re.search(r"([0-9A-Fa-f]{4}):([0-9A-Fa-f]{2}):([0-9A-Fa-f]{2}\.[0-9])", done.stdout)
    return ":".join(found.groups()).lower() if found else None


def around(root, bus):
    """(processor, bridge, speed, links of NVLink) of the GPU with this address."""
    for cpu in root.findall("cpu"):
        for pci in cpu.iter("pci"):
            if pci.get("busid") == bus:
                parent = next((p for p in cpu.iter("pci") if pci in list(p)), None)
                links = sum(int(n.get("count")) for n in pci.iter("nvlink"))
                return (cpu.get("numaid"), parent is not None and parent.get("busid"),
                        pci.get("link_speed"), links)
    return None


def warnings(done):
    """What NCCL complains of: "... NCCL WARN Attribute arch of node cpu not found"."""
    return [line for line in (done.stdout + done.stderr).splitlines() if "NCCL WARN" in line]


def main():
    text = Path(sys.argv[1]).read_text()
    port = int(sys.argv[2]) if len(sys.argv) > 2 else 29500
    try:
        import torch
        usable = torch.cuda.is_available()
    except ImportError:
        usable = False
    bus = own_bus() if usable else None
    if not bus:
        print("no GPU, no PyTorch or no nvidia-smi here")
        sys.exit(77)
    places = [pci.get("busid") for pci in ElementTree.fromstring(text).iter("pci")
              if pci.find("gpu") is not None]
    failed = 0
    with tempfile.TemporaryDirectory(prefix="myriad-nccl-") as name:
        for number, place in enumerate(places):
            topo, dump = Path(name) / "topo.xml", Path(name) / f"dump{number}.xml"
            topo.write_text(text.replace(place, bus))
            done = run_nccl(topo, dump, port + number)
            wanted = around(ElementTree.fromstring(topo.read_text()), bus)
            found = around(ElementTree.parse(dump).getroot(), bus) if dump.exists() else None
            good = done.returncode == 0 and found == wanted and not warnings(done)
            failed += not good
            print(f"as GPU {number}: {found}" + ("" if good else f", expected {wanted}\n"
                                                 f"{warnings(done)}\n"
                                                 f"{done.stdout[-1500:]}{done.stderr[-1500:]}"))
        print(next((line for line in done.stdout.splitlines() if line.startswith("NCCL ")), ""))
        topo.write_text(text[:len(text) // 2])
        done = run_nccl(topo, Path(name) / "none.xml", port + len(places))
        failed += done.returncode == 0
        print("half of the file:", "read, which is wrong" if done.returncode == 0 else "refused")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
