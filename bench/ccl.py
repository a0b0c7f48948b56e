"""ccl: all-reduce beside Open MPI and the memory's bound, and how long a death holds up the others.

All three run in turn, so that each sees the same machine; of the turns the fastest counts. Without
mpicc and mpirun (openmpi-bin, libopenmpi-dev) the comparison is left out, and said so. The bound is
one pass: every vector is read once and written once by as many threads as there are cores.
"""
import os
import shutil
import subprocess

TURNS = 5
LARGE = 16 << 20
# Ranks and bytes; above: how often in a turn.
CASES = [(2, 8, 20), (2, 4096, 20), (4, 8, 20), (4, LARGE, 6), (8, LARGE, 4), (16, 1 << 20, 10),
         (16, LARGE, 4)]
LIMIT_S = 300
AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def measure(command, **more):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                          timeout=LIMIT_S, check=False, **more)
    words = done.stdout.split()
    if done.returncode != 0 or len(words) < 4:
        return None
    return {key: float(value) for key, value in zip(words[::2], words[1::2])}


def mpi(bench):
    """The command that runs the MPI program with a number of ranks, or None."""
    if not shutil.which("mpicc") or not shutil.which("mpirun"):
        print("ccl: no mpicc and mpirun (openmpi-bin, libopenmpi-dev): not compared with Open MPI",
              flush=True)
        return None
    program = bench.folder / "ccl_mpi"
    subprocess.run(["mpicc", "-O2", bench.root / "bench/ccl_mpi.c", "-o", program], check=True)
    return lambda ranks: ["mpirun", "--oversubscribe", "-n", ranks, program]


def best(results, key="best"):
    times = [result[key] for result in results if result]
    return min(times) if times else None


def compare(bench, program, other, ranks, size, rounds):
    name = f"all-reduce-{ranks}x{size if size < 1024 else f'{size >> 10}K'}"
    ours, theirs, bound = [], [], []
    for _ in range(TURNS):
        ours.append(measure([program, "ours", ranks, size, rounds]))
        if other:
            theirs.append(measure([*other(ranks), size, rounds], env={**os.environ, **AS_ROOT}))
        if size >= 1 << 20:
            bound.append(measure([program, "bound", ranks, size, rounds]))
    if best(ours) is None or (other and best(theirs) is None):
        bench.fail(name, "did not run")
        return
    if other:
        goal = best(theirs) * 1.5 if size < 65536 else best(theirs) / 3
        bench.figure(name, best(ours), "s", goal, "openmpi", best(theirs))
        bench.figure(f"{name}-median", best(ours, "median"), "s", None, "openmpi",
                     best(theirs, "median"))
    if best(bound) is not None:
        bench.figure(f"{name}-bound", best(ours), "s", best(bound) / 0.7, "one-pass", best(bound))


def run(bench):
    program = bench.program.parent / "bench_ccl"
    other = mpi(bench)
    for ranks, size, rounds in CASES:
        compare(bench, program, other, ranks, size, rounds)
    deaths = [measure([program, "death", 64]) for _ in range(TURNS)]
    if None in deaths:
        bench.fail("death-64", "did not run")
        return
    worst = {key: max(death[key] for death in deaths) for key in deaths[0]}
    bench.figure("death-64-seen", worst["ended"], "s", 0.05)
    bench.figure("death-64-shrunk", worst["reformed"], "s", 0.15)
    bench.figure("death-64-summed", worst["summed"], "s")
