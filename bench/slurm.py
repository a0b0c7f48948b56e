"""slurm: Debian's Slurm beside Myriad, same run, same jobs, same fill.

Slurm's controller runs alone on loopback: 12,500 nodes of 8 GPUs are declared State=CLOUD, so that
no node daemon is needed. After a warm-up (one job on all nodes, cancelled) jobs of 1 to 1,024 nodes
fill 95 % of the cluster; then eight random ones are cancelled and eight of the same sizes come,
round after round. The time of one allocation is the gap between two 'sched: Allocate' lines of the
controller's log with nothing between them; the partition is down while jobs are submitted, so that
one scheduling cycle takes all eight. Myriad then plays the very same jobs (`sched bench --events`).

Every ratio stands with fill, cores a node and select plugin: Slurm's cost depends on all three.
"""
import json
import os
import random
import re
import shutil
import socket
import statistics
import subprocess
import time
from datetime import datetime

LONG = True
NODES, LEAF, POD = 12500, 32, 512
MIX = ((1024, 3), (256, 16), (64, 40), (16, 80), (4, 150), (1, 267))
CHURN_JOBS = 8
CHURN_S = 40
LIMIT_S = 240  # for any one thing that Slurm is waited for
# Slurm at its quickest: no pauses between cycles, no limit on jobs looked at in one.
TUNED = ("batch_sched_delay=0", "sched_min_interval=1000", "sched_interval=2",
         "default_queue_depth=1000")
# select plugin, cores a node, how many times faster is asked for
SETTINGS = (("cons_tres", 112, 500), ("cons_tres", 8, 100), ("linear", 112, 100))


def run(bench):
    for tool in ("slurmctld", "munged", "sbatch"):
        if not shutil.which(tool, path=os.environ["PATH"] + ":/usr/sbin"):
            bench.fail("start", f"{tool} is not installed; scripts/deps test installs it")
            return
    for plugin, cores, goal in SETTINGS:
        name = f"{plugin}-{cores}-cores"
        try:
            with Slurm(bench.folder / name, plugin, cores) as slurm:
                compare(bench, name, slurm, goal)
        except (RuntimeError, OSError, subprocess.SubprocessError) as fault:
            bench.fail(name, str(fault).splitlines()[0])


def compare(bench, name, slurm, goal):
    slurm.warm_up()
    events = slurm.fill()
    seconds = slurm.cpu_s()
    churned = slurm.churn(events)
    seconds = slurm.cpu_s() - seconds
    gaps = slurm.gaps()
    if len(gaps) < 20:
        raise RuntimeError(f"only {len(gaps)} allocations could be timed")
    path = bench.folder / f"{name}.csv"
    path.write_text("".join(f"{line}\n" for line in events))
    result = subprocess.run(
        [str(bench.program), "sched", "bench", "--nodes", str(NODES), "--leaf-nodes", str(LEAF),
         "--pod-nodes", str(POD), "--events", str(path), "-o", "json"],
        capture_output=True, text=True, check=False, timeout=LIMIT_S)
    if result.returncode != 0:
        raise RuntimeError(result.stderr)
    ours = json.loads(result.stdout)
    gaps.sort()
    theirs = {"p50": 1e6 * statistics.median(gaps), "p99": 1e6 * gaps[int(0.99 * len(gaps))]}
    fill = ours["fill_percent"]
    every = next(row for row in ours["rows"] if row["what"] == "all gangs")
    print(f"slurm/{name}: {len(gaps)} of {churned} allocations timed, {fill} % full, "
          f"{cores_of(name)} cores a node, select/{name.split('-')[0]}, topology/tree; "
          f"{1000 * seconds / churned:.1f} ms of the controller's CPU time for each of them")
    for share in ("p50", "p99"):
        bench.figure(f"{name}/{share}", every[share + "_us"], "us",
                     goal=theirs[share] / goal if share == "p50" else None,
                     ref=f"slurm-{share}-us", ref_value=theirs[share])
        print(f"slurm/{name}: {share} {theirs[share] / 1000:.1f} ms against "
              f"{every[share + '_us']:.1f} us: {theirs[share] / every[share + '_us']:,.0f} times")


def cores_of(name):
    return name.split("-")[1]


class Slurm:
    """A controller of its own: folder, keys, ports; stopped by its pid."""

    def __init__(self, folder, plugin, cores):
        self.folder, self.plugin, self.cores = folder, plugin, cores
        self.munged = self.controller = None
        self.random = random.Random(2026)
        self.jobs = {}  # our number: (Slurm's id, nodes)
        self.next_job = 0
        self.mark = 0
        self.env = dict(os.environ, SLURM_CONF=str(folder / "etc/slurm.conf"),
                        PATH=os.environ["PATH"] + ":/usr/sbin")

    def __enter__(self):
        try:
            self.start()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *_):
        self.stop()

    def stop(self):
        for process in (self.controller, self.munged):
            if process and process.poll() is None:
                process.terminate()
                try:
                    process.wait(20)
                except subprocess.TimeoutExpired:
                    process.kill()
                    process.wait()

    def start(self):
        for part in ("etc", "state"):
            (self.folder / part).mkdir(parents=True, mode=0o755)
        key = self.folder / "munge.key"
        key.write_bytes(os.urandom(128))
        key.chmod(0o600)
        at = str(self.folder)
        self.munged = subprocess.Popen(
            ["munged", "--foreground", "--force", f"--socket={at}/munge.sock", f"--key-file={key}",
             f"--pid-file={at}/munged.pid", f"--log-file={at}/munged.log",
             f"--seed-file={at}/munge.seed"], env=self.env, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        self.wait(lambda: (self.folder / "munge.sock").exists(), "munged")
        self.write_config()
        self.controller = subprocess.Popen(
            ["slurmctld", "-D", "-c", "-f", self.env["SLURM_CONF"]], env=self.env,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.wait(lambda: "UP" in self.ask("scontrol", "ping", check=False), "slurmctld")

    def write_config(self):
        at, host = self.folder, socket.gethostname()
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        linear = self.plugin == "linear"
        nodes = (f"n[00000-{NODES - 1:05}] NodeAddr=127.0.0.1 CPUs={self.cores} Sockets=2 "
                 f"CoresPerSocket={self.cores // 2} ThreadsPerCore=1 RealMemory=2000000 "
                 "Gres=gpu:h100:8")
        (at / "etc/slurm.conf").write_text(f"""ClusterName=bench
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={port}
SlurmUser=root
AuthInfo=socket={at}/munge.sock
StateSaveLocation={at}/state
SlurmctldLogFile={at}/slurmctld.log
SlurmctldPidFile={at}/slurmctld.pid
SlurmctldDebug=info
LogTimeFormat=iso8601_ms
SelectType=select/{self.plugin}
SelectTypeParameters={"CR_Memory" if linear else "CR_Core_Memory"}
TopologyPlugin=topology/tree
GresTypes=gpu
SlurmdTimeout=0
MinJobAge=2
ResumeProgram=/bin/true
SuspendProgram=/bin/true
ResumeRate=0
SuspendRate=0
ResumeTimeout=65000
SuspendTimeout=1
SuspendTime=100000000
SlurmctldParameters=cloud_dns
PrivateData=cloud
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SchedulerParameters={",".join(TUNED)}
NodeName={nodes} State=CLOUD
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE DefaultTime=60 OverSubscribe=NO State=UP
""")
        (at / "etc/gres.conf").write_text(
            f"NodeName=n[00000-{NODES - 1:05}] Name=gpu Type=h100 File=/dev/nvidia[0-7]\n")
        leaves = [range(first, min(first + LEAF, NODES)) for first in range(0, NODES, LEAF)]
        lines = [f"SwitchName=rg{i:03} Nodes=n[{leaf[0]:05}-{leaf[-1]:05}]"
                 for i, leaf in enumerate(leaves)]
        per = POD // LEAF
        pods = range(0, len(leaves), per)
        lines += [f"SwitchName=pod{i:02} Switches=rg[{first:03}-"
                  f"{min(first + per, len(leaves)) - 1:03}]" for i, first in enumerate(pods)]
        lines.append(f"SwitchName=core Switches=pod[00-{len(pods) - 1:02}]")
        (at / "etc/topology.conf").write_text("\n".join(lines) + "\n")

    def ask(self, *command, check=True):
        result = subprocess.run(command, env=self.env, capture_output=True, text=True, check=False,
                                timeout=LIMIT_S)
        if check and result.returncode != 0:
            raise RuntimeError(f"{command[0]}: {result.stderr.strip()}")
        return result.stdout

    def wait(self, done, what):
        end = time.monotonic() + LIMIT_S
        while not done():
            for process in (self.munged, self.controller):
                if process and process.poll() is not None:
                    raise RuntimeError(f"{process.args[0]} ended with {process.returncode}")
            if time.monotonic() > end:
                raise RuntimeError(f"waited {LIMIT_S} s for {what}")
            time.sleep(0.2)

    def submit(self, nodes, count=0):
        words = ["sbatch", "--parsable", f"-N{nodes}", "--ntasks-per-node=1", "--exclusive",
                 "--gres=gpu:h100:8", "-t", "60", "-o", "/dev/null", "-D", "/", "--wrap", "sleep 1"]
        if count:
            words.insert(1, f"--array=0-{count - 1}")
        return self.ask(*words).strip().split(";")[0]

    def none_pending(self):
        return not self.ask("squeue", "-h", "-t", "PD", "-o", "%i").strip()

    def states(self):
        return set(self.ask("sinfo", "-h", "-o", "%t").split())

    def warm_up(self):
        """Nodes that were never powered up are second choice; this makes all alike."""
        job = self.submit(NODES)
        self.wait(lambda: self.states() == {"alloc#"}, "the first job")
        self.ask("scancel", job)
        self.wait(lambda: self.states() == {"idle#"}, "its end")

    def fill(self):
        events = []
        for nodes, count in MIX:
            array = self.submit(nodes, count)
            for index in range(count):
                self.jobs[self.next_job] = (f"{array}_{index}", nodes)
                events.append(f"place,{self.next_job},{nodes}")
                self.next_job += 1
        self.wait(self.none_pending, "the cluster to fill")
        events.append("measure")
        self.mark = (self.folder / "slurmctld.log").stat().st_size
        return events

    def churn(self, events):
        """As many rounds as the time allows; returns the number of allocations."""
        end = time.monotonic() + CHURN_S
        count = 0
        while time.monotonic() < end:
            gone = self.random.sample(sorted(self.jobs), CHURN_JOBS)
            sizes = [self.jobs[job][1] for job in gone]
            self.ask("scancel", *(self.jobs[job][0] for job in gone))
            for job in gone:
                del self.jobs[job]
                events.append(f"release,{job}")
            self.ask("scontrol", "update", "PartitionName=all", "State=DOWN")
            self.random.shuffle(sizes)
            for nodes in sizes:
                self.jobs[self.next_job] = (self.submit(nodes), nodes)
                events.append(f"place,{self.next_job},{nodes}")
                self.next_job += 1
            self.ask("scontrol", "update", "PartitionName=all", "State=UP")
            self.wait(self.none_pending, "eight jobs to start")
            count += len(sizes)
        return count

    def gaps(self):
        """Seconds between neighbouring 'Allocate' lines."""
        found, last = [], None
        with open(self.folder / "slurmctld.log", encoding="utf-8", errors="replace") as log:
            log.seek(self.mark)
            for line in log:
                match = re.match(r"\[(\S+?)\] sched: Allocate ", line)
                if match:
                    now = datetime.fromisoformat(match.group(1)).timestamp()
                    if last is not None:
                        found.append(now - last)
                    last = now
                elif not re.match(r"\[\S+\] (sched/backfill|error)", line):
                    last = None
        return found

    def cpu_s(self):
        words = open(f"/proc/{self.controller.pid}/stat", encoding="ascii").read().rsplit(")", 1)[1]
        fields = words.split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
