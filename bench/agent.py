"""agent: what a resident agent costs: a minute of beats over TLS with two ranks under it."""
import argparse
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

MINUTE_S = 60


def cpu_s(pid):
    words = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


def exporter():
    """Resident KiB of Debian's node_exporter after a minute, where it is installed."""
    program = shutil.which("prometheus-node-exporter")
    if not program:
        return None
    import node  # of tests/agent
    process = subprocess.Popen([program, "--web.listen-address=127.0.0.1:0"],
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    time.sleep(5)
    kib = node.rss_kib(process.pid)
    process.terminate()
    process.wait()
    return kib


def run(bench):
    sys.path.insert(0, str(bench.root / "tests/agent"))
    import harness
    import node
    build = bench.program.parent.parent
    certs = build / "tests/agent-certs"
    if not certs.exists():
        bench.fail("beats", f"{certs} is not built")
        return
    harness.OPTIONS = argparse.Namespace(program=str(bench.program.parent / "myriad-agent"),
                                         certs=str(certs), nvml=None)
    authority = node.Authority()
    controller = harness.Controller(authority.context)
    agent = harness.Agent(controller, args=["--token", f"secret@{authority.fingerprint}"])
    agent.start(welcome=False, plain=False)
    node.enrolled(agent, authority, beat_ms=1000)
    controller.expect("inventory")
    agent.order(1, 1, "sleep 1000", lease_s=600)
    controller.expect("started", 1)
    shim = agent.shim(1, 1)
    before, shim_before, began = cpu_s(agent.process.pid), cpu_s(shim), time.monotonic()
    beats = len([1 for message in controller.heard if message.kind == "beat"])
    lease = began
    while time.monotonic() < began + MINUTE_S:
        controller.pump(0.5)
        if time.monotonic() > lease + 5:
            lease += 5
            controller.send("lease")
    took = time.monotonic() - began
    beats = len([1 for message in controller.heard if message.kind == "beat"]) - beats
    bench.figure("beats", beats / took, "a second")
    bench.figure("cpu", 100 * (cpu_s(agent.process.pid) - before) / took, "% of a core", goal=0.3)
    bench.figure("launcher-cpu", 100 * (cpu_s(shim) - shim_before) / took, "% of a core", goal=0.3)
    known = exporter()
    bench.figure("resident", node.rss_kib(agent.process.pid), "KiB", 8 << 10,
                 "node_exporter" if known else None, known)
    bench.figure("launcher-resident", node.rss_kib(shim), "KiB")
    controller.send("stop", epoch=1, job=1)
    controller.expect("stopped", 1)
    agent.done()
