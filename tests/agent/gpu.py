#!/usr/bin/env python3
"""A real GPU: the inventory names it, and a rank sees the GPUs that its job was given, no other.

    tests/agent/gpu.py MYRIAD-AGENT

Exit status 77: there is no GPU here.
"""
import argparse
import json
import os
import subprocess
import sys

import harness

# What a rank does: the CUDA driver itself says which devices it sees.
RANK = '''
import ctypes, os
cuda = ctypes.CDLL("libcuda.so.1")
assert cuda.cuInit(0) == 0
count = ctypes.c_int()
assert cuda.cuDeviceGetCount(ctypes.byref(count)) == 0
raw = (ctypes.c_ubyte * 16)()
assert cuda.cuDeviceGetUuid(raw, int(os.environ["LOCAL_RANK"])) == 0
text = bytes(raw).hex()
print(count.value, "GPU-" + "-".join((text[:8], text[8:12], text[12:16], text[16:20], text[20:])))
'''


def main():
    program = os.path.abspath(sys.argv[1])
    done = subprocess.run([program, "inventory", "-o", "json"], capture_output=True, text=True,
                          check=True)
    found = json.loads(done.stdout)
    gpus = found["gpus"]
    if not gpus:
        print(f"skipped: no GPU here ({found['nvml']})")
        return 77
    print(f"{len(gpus)} x {gpus[0]['name']}, {gpus[0]['memory_bytes']} bytes, {gpus[0]['pci']}, "
          f"{len(gpus[0]['nvlinks'])} links, driver {found['driver']}, {found['cpus']} CPUs, "
          f"{len(found['numa'] or [])} NUMA nodes, {len(found['pcie'] or [])} PCIe devices, "
          f"{len(found['nics'])} NICs, {len(found['disks'])} disks")
    assert all(gpu["uuid"].startswith("GPU-") and gpu["memory_bytes"] > 1 << 30 for gpu in gpus)
    harness.OPTIONS = argparse.Namespace(program=program)
    agent = harness.Agent(pretend=None)
    agent.start(welcome=False)
    agent.controller.welcome(pretend=0)
    told = agent.controller.expect("inventory")
    assert (told["gpus"], told["gpu_kind"].decode()) == (len(gpus), gpus[0]["name"]), told
    (agent.work / "rank.py").write_text(RANK)
    python = "/usr/bin/python3" if os.path.exists("/usr/bin/python3") else sys.executable
    last = len(gpus) - 1
    agent.order(1, 1, f"echo $CUDA_VISIBLE_DEVICES; exec {python} rank.py", gpus=1 << last)
    ended = agent.controller.expect("exit started", 1)
    ended = ended if ended.kind == "exit" else agent.controller.expect("exit", 1)
    text = agent.fetch(1, 0).decode()
    assert ended["code"] == 0, (ended, text)
    assert text.split() == [str(last), "1", gpus[last]["uuid"]], text
    print(f"a rank given GPU {last} sees 1 device, {gpus[last]['uuid'][:12]}...: the right one")
    agent.controller.send("test", epoch=1, id=1, name="check")
    assert agent.controller.expect("tested", 1)["code"] == 0
    agent.done()
    return 0


if __name__ == "__main__":
    sys.exit(main())
