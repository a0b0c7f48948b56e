#!/usr/bin/env python3
"""Exports that a program must simply accept: Slurm's topology, and graphs drawn by Graphviz."""
import pathlib
import secrets
import socket
import sys

from parts import Skip, expect, main, need, note, os, plan, re, run, subprocess, time, wait_for

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / "server"))
from ports import free_ports  # noqa: E402

SLURM_CONF = """\
ClusterName=lab
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={port}
SlurmUser=root
AuthInfo=socket={folder}/munge.sock
StateSaveLocation={folder}/state
SlurmctldPidFile={folder}/slurmctld.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmctldDebug=info
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
TopologyPlugin=topology/tree
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
ResumeProgram=/bin/true
SuspendProgram=/bin/true
SuspendTime=100000000
SlurmctldParameters=cloud_dns
PrivateData=cloud
NodeName={nodes} NodeAddr=127.0.0.1 CPUs=8 State=CLOUD
PartitionName=all Nodes=ALL Default=YES State=UP
"""


def start_munge(scratch, folder):
    key = folder / "munge.key"
    key.write_bytes(secrets.token_bytes(128))
    key.chmod(0o600)
    scratch.start(["munged", "--foreground", "--force", f"--socket={folder}/munge.sock",
                   f"--key-file={key}", f"--pid-file={folder}/munged.pid",
                   f"--log-file={folder}/munged.log", f"--seed-file={folder}/munge.seed"],
                  stderr=subprocess.DEVNULL)
    wait_for("munge's socket", (folder / "munge.sock").exists)


def start_slurm(scratch, folder, nodes):
    """A controller on which nobody but us can call; nodes need no daemon to be in the topology."""
    (folder / "state").mkdir()
    conf = folder / "slurm.conf"
    conf.write_text(SLURM_CONF.format(host=socket.gethostname().split(".")[0], port=free_ports(),
                                      folder=folder, nodes=nodes))
    scratch.start(["slurmctld", "-D", "-c", "-f", conf],
                  stdout=open(folder / "slurmctld.out", "w", encoding="utf-8"), stderr=-2,
                  env={**os.environ, "SLURM_CONF": str(conf)})
    env = {"SLURM_CONF": str(conf)}
    wait_for("slurmctld", lambda: run("scontrol", "ping", env=env, ok=(0, 1)).returncode == 0)
    return env


def slurm(myriad, scratch):
    """slurmctld loads the exported tree; every node hangs under the top switch, in its group."""
    need("slurmctld", "scontrol", "munged")
    if os.geteuid() != 0:
        raise Skip("slurmctld as set up here needs root")
    for example, nodes, groups, pods in (("h100-64", 64, 2, 0), ("h100-10k", 1280, 40, 40)):
        folder = scratch.path / f"slurm-{example}"
        folder.mkdir()
        run(myriad, "export", "slurm", plan(myriad, scratch, example), "--out", folder)
        start_munge(scratch, folder)
        env = start_slurm(scratch, folder, f"node-[00000-{nodes - 1:05}]")
        start = time.monotonic()
        shown = run("scontrol", "show", "topology", env=env).output
        levels = re.findall(r"^SwitchName=(\S+) Level=(\d+) .*?Nodes=(\S+)", shown, re.M)
        count = [sum(level == str(wanted) for _, level, _ in levels) for wanted in range(3)]
        expect(count == ([groups, pods, 1] if pods else [groups, 1, 0]), f"{example}: {count}")
        top = next(found for _, level, found in levels if level == ("2" if pods else "1"))
        expect(top == f"node-[00000-{nodes - 1:05}]", f"{example}: top holds {top}")
        log = (folder / "slurmctld.log").read_text()
        wrong = [line for line in log.splitlines() if "error" in line and "topo" in line.lower()]
        expect(not wrong, f"{example}: {wrong}")
        asked = run("scontrol", "show", "topology", f"node-{nodes - 1:05}", env=env).output
        expect(asked.count("SwitchName=") == (3 if pods else 2), f"{example}: {asked}")
        note(f"{example}: slurmctld has {len(levels)} switches over {nodes} nodes "
             f"({time.monotonic() - start:.1f} s to show)")
        for child in reversed(scratch.children):
            scratch.stop(child)


def dot(myriad, scratch):
    """Graphviz draws every device and every cable of the export."""
    need("dot")
    design = plan(myriad, scratch, "h100-64")
    for net, devices, cables in (("compute", 64 + 24, 1024), ("all", 64 + 18 + 16 + 45, 1670)):
        graph, drawing = scratch.path / f"{net}.dot", scratch.path / f"{net}.svg"
        run(myriad, "export", "dot", design, "--net", net, "--out", graph)
        run("dot", "-Tsvg", graph, "-o", drawing)
        text = drawing.read_text()
        drawn = [text.count('class="node"'), text.count('class="edge"')]
        expect(drawn == [devices, cables], f"{net}: {drawn} devices and cables drawn")
        note(f"{net}: dot drew {drawn[0]} devices and {drawn[1]} cables")


main({"slurm": slurm, "dot": dot})
