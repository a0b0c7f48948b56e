"""engine: Myriad on a real Slurm: what it adds to a start, what it costs, what it asks.

    gang/submit-to-running   a gang of 32 nodes on 64 node daemons: from the submission to the last
                             rank's first word; Slurm's own for the same gang in turn with it
    work/p50, work/p99       12,500 nodes without daemons (State=CLOUD): CPU time of Myriad's server
                             for one job, from before its submission until Slurm has it, looks at
                             the queue included; the look at all nodes is counted apart
    look                     CPU time of one whole look: 12,500 nodes and the queue
    rpcs/idle, rpcs/busy     requests a second that Slurm's controller counts (sdiag), with nothing
                             to do and while jobs are submitted

Everything runs on loopback on one machine; node daemons share its cores with what is measured.
"""
import pathlib
import shutil
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "tests/engines"), str(ROOT / "tests/server")]
from cluster import Cluster, Failed, wait_for  # noqa: E402
from slurm_lab import PATH, Slurm  # noqa: E402

LONG = True
NODES, GANG, ROUNDS = 64, 32, 5
CLOUD, CLOUD_JOBS, CLOUD_SIZE = 12500, 200, 4
IDLE_S, POLL_S = 60, 5


def run(bench):
    bench.folder.chmod(0o755)  # ranks are another user's
    for tool in ("slurmctld", "slurmd", "munged", "sbatch"):
        if not shutil.which(tool, path=PATH):
            bench.fail("start", f"{tool} is not installed; scripts/deps test installs it")
            return
    for name, part in (("gang", gang), ("cloud", cloud)):
        try:
            part(bench)
        except (Failed, OSError, subprocess.SubprocessError) as fault:
            bench.fail(name, str(fault).splitlines()[0])


def server_of(bench, slurm, folder, poll_s):
    cluster = Cluster(bench.program, "", folder, [slurm.list],
                      options=("--world", "slurm", "--gpus-per-node", str(slurm.gpus),
                               "--nodes-per-leaf", "32"))
    cluster.configure(slurm=f"{{conf: '{slurm.conf}', poll_s: {poll_s}}}")
    cluster.environment = {"PATH": PATH}
    return cluster


def last_word(folder, ranks, start):
    """Seconds from 'start' to the last rank's mark, once all of them are there."""
    marks = wait_for("all ranks", lambda: (lambda found: found if len(found) == ranks else None)(
        list(folder.iterdir())))
    return max(mark.stat().st_mtime for mark in marks) - start


def gang(bench):
    slurm = Slurm(bench.folder / "slurm", NODES, gpus=1)
    folder = bench.folder / "myriad"
    with slurm, server_of(bench, slurm, folder, POLL_S) as cluster:
        cluster.start_server()
        wait_for("nodes healthy", lambda: cluster.healthy() == NODES)
        mine, theirs = [], []
        for number in range(ROUNDS):
            for whose, times in (("m", mine), ("s", theirs)):
                marks = bench.folder / f"marks-{whose}{number}"
                marks.mkdir()
                marks.chmod(0o777)
                script = f"touch {marks}/$SLURM_PROCID; sleep 0.2"
                start = time.time()
                if whose == "m":
                    job = cluster.submit(f"name: b\nnodes: {GANG}\ncommand: '{script}'\n")
                else:
                    slurm.ask("sbatch", "--parsable", f"-N{GANG}", f"--ntasks={GANG}",
                              "--exclusive", "--mem=0", "--gres=gpu:1", "-D", "/", "-o",
                              "/dev/null", "--uid=nobody", "--wrap",
                              f"srun --cpu-bind=none --mpi=none sh -c '{script}'")
                times.append(last_word(marks, GANG, start))
                if whose == "m":
                    wait_for("it is done", lambda: cluster.job(job)["state"] == "done")
                wait_for("nodes are idle", lambda: set(slurm.states()) == {"idle"})
        bench.figure("gang/submit-to-running", 1e3 * statistics.median(mine), "ms",
                     ref="slurm-ms", ref_value=1e3 * statistics.median(theirs))


def cpu_ns(process):
    return int(pathlib.Path(f"/proc/{process.pid}/schedstat").read_text().split()[0])


def rate(before, after, seconds):
    return sum(after.values()) / seconds - sum(before.values()) / seconds


def cloud(bench):
    slurm = Slurm(bench.folder / "cloud", CLOUD, gpus=8, cloud=True, digits=5)
    folder = bench.folder / "cloud-myriad"
    with slurm, server_of(bench, slurm, folder, POLL_S) as cluster:
        cluster.start_server()
        wait_for("nodes healthy", lambda: cluster.healthy() == CLOUD)
        time.sleep(2 * POLL_S)
        before, used = slurm.rpcs(), cpu_ns(cluster.server)
        time.sleep(IDLE_S)
        idle = rate(before, slurm.rpcs(), IDLE_S)
        look_ns = (cpu_ns(cluster.server) - used) / (IDLE_S / POLL_S)
        print(f"engine/cloud: idle, by type in {IDLE_S} s: "
              f"{ {k: v - before.get(k, 0) for k, v in slurm.rpcs().items()} }")
        # Looks at all nodes are counted above; here they would fall on some jobs and not on others.
        cluster.end_server()
        cluster.configure(slurm=f"{{conf: '{slurm.conf}', poll_s: 3600}}")
        cluster.start_server()
        wait_for("the first look", lambda: cluster.healthy() == CLOUD)
        time.sleep(2)
        works, before, start = [], slurm.rpcs(), time.monotonic()
        for number in range(CLOUD_JOBS):
            used = cpu_ns(cluster.server)
            job = cluster.submit(f"name: c{number}\nnodes: {CLOUD_SIZE}\ncommand: 'true'\n")
            wait_for("Slurm has it", lambda: has(folder, job))
            works.append((cpu_ns(cluster.server) - used) / 1e6)
        busy = rate(before, slurm.rpcs(), time.monotonic() - start)
        works.sort()
        bench.figure("cloud/work/p50", statistics.median(works), "ms")
        bench.figure("cloud/work/p99", works[int(0.99 * len(works))], "ms", goal=5)
        bench.figure("cloud/look", look_ns / 1e6, "ms")
        bench.figure("cloud/rpcs/idle", idle, "1/s", goal=3 / POLL_S)
        bench.figure("cloud/rpcs/busy", busy, "1/s")
        print(f"engine/cloud: {CLOUD_JOBS} jobs of {CLOUD_SIZE} nodes in "
              f"{time.monotonic() - start:.0f} s")


def has(folder, job):
    """Slurm's own number of the job, as the server's page says it."""
    log = folder / "server.log"
    return f"job {job} is Slurm's job" in log.read_text()

