#!/usr/bin/env python3
"""libmyriad-ccl as users have it: what it exports, from Python, and the examples with a death.

    tests/ccl/run.py LIBRARY
"""
import array
import multiprocessing
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
LIBRARY = Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else None
LIMIT_S = 120


def check(holds, what):
    if not holds:
        raise SystemExit(f"not so: {what}")


def check_exports():
    """What the header declares is what the library shows, and it needs libc alone."""
    header = (ROOT / "include/myriad/ccl.h").read_text()
    header = re.sub(r"/\*.*?\*/", "", header, flags=re.S)
    declared = set(re.findall(r"\b(myr_ccl_[a-z_]+)\(", header))
    listed = subprocess.run(["nm", "-D", "--defined-only", LIBRARY], capture_output=True,
                            text=True, check=True).stdout
    shown = {line.split()[2].split("@")[0] for line in listed.splitlines()
             if len(line.split()) == 3 and line.split()[1] in "TDBR"}
    check(shown == declared, f"exports are the header's: {sorted(shown ^ declared)}")
    needed = subprocess.run(["objdump", "-p", LIBRARY], capture_output=True, text=True,
                            check=True).stdout
    libraries = re.findall(r"NEEDED +(\S+)", needed)
    check(all(re.match(r"(libc|ld-linux.*)\.so", name) for name in libraries),
          f"needs libc alone: {libraries}")
    check("SONAME" in needed and "libmyriad-ccl.so.0" in needed, "has its name")


# --- from Python: every call, in three processes

def member_of_python_group(name, tag, failures):
    sys.path.insert(0, str(ROOT / "python"))
    from myriad import ccl
    try:
        with ccl.Group(name, 3, tag=tag, timeout=60) as group:
            use_all(ccl, group, tag)
    except BaseException as fault:  # whatever it is belongs on the parent's page
        failures.put(f"{type(fault).__name__}: {fault}")
        raise


def use_all(ccl, group, tag):
    rank, size = group.view.rank, group.view.size
    check(size == 3 and group.view.epoch == 1, "a view")
    check(group.member(rank) == (tag, os.getpid(), 0, 0), "a member")
    values = array.array("d", [rank + 0.5, 10 * rank])
    group.all_reduce(values)
    check(list(values) == [4.5, 30], f"all_reduce: {values}")
    group.all_reduce(values, "max")
    halves = bytearray(b"\x80\x3f" * 40)  # 1.0
    group.all_reduce(halves, kind="bfloat16")
    check(halves == bytearray(b"\x40\x40" * 40), "bfloat16")
    got = array.array("i", [0] * 3)
    group.all_gather(array.array("i", [rank * rank]), got)
    check(list(got) == [0, 1, 4], f"all_gather: {got}")
    group.all_to_all(array.array("i", [10 * rank, 10 * rank + 1, 10 * rank + 2]), got)
    check(list(got) == [rank, 10 + rank, 20 + rank], f"all_to_all: {got}")
    one = array.array("q", [0])
    group.reduce_scatter(array.array("q", [1, 2, 3]), one)
    check(one[0] == 3 * (rank + 1), f"reduce_scatter: {one}")
    word = array.array("Q", [rank])
    group.broadcast(word, root=2)
    check(word[0] == 2, "broadcast")
    check(group.agree(1 << rank, "or") == 7, "agree")
    group.barrier()
    check(group.calls == 9 and group.joiners == 0, f"{group.calls} calls")
    refused = 0
    for wrong in (lambda: group.all_gather(one, array.array("q", [0] * 4)),
                  lambda: group.all_to_all(one, array.array("q", [0] * 4)),
                  lambda: group.all_reduce(b"read only"),
                  lambda: group.all_reduce(array.array("u", "ab"))):
        try:
            wrong()
        except (ValueError, KeyError):
            refused += 1
    check(refused == 4, f"{refused} of 4 wrong uses are refused")
    try:
        group.broadcast(word, root=7)
        check(False, "a root that is no rank is refused")
    except ccl.Error as error:
        check(error.code == -2 and "root" in str(error), "with its reason")
    group.barrier()


def check_python():
    failures = multiprocessing.Queue()
    name = f"ccl-run-{os.getpid()}"
    members = [multiprocessing.Process(target=member_of_python_group, args=(name, 40 + i, failures))
               for i in range(3)]
    for member in members:
        member.start()
    for member in members:
        member.join(LIMIT_S)
    if not failures.empty():
        raise SystemExit(failures.get())
    check(all(member.exitcode == 0 for member in members), "all three end well")


# --- the examples: one of three is killed while they work

def check_example(command, environment, folder):
    """Three run more steps than they could make by then; one is killed, two make them all."""
    name = f"ccl-example-{os.getpid()}"
    steps = 20000
    running = [subprocess.Popen([*command, name, "3", str(steps)], env=environment, cwd=folder,
                                stdout=subprocess.PIPE, text=True) for _ in range(3)]
    wait_for_epoch(name)
    running[1].send_signal(signal.SIGKILL)
    said = [process.communicate(timeout=LIMIT_S)[0] for process in running]
    for i in (0, 2):
        check(running[i].returncode == 0 and said[i].startswith(f"{steps} steps;"),
              f"{command[-1]}: {running[i].returncode}, {said[i]!r}")
    check(running[1].returncode == -signal.SIGKILL, "one was killed in the midst of it")
    check(any("2 members in epoch 2" in text for text in said), f"the others went on: {said}")


def wait_for_epoch(name):
    """Until the three are in the first epoch: the view word of the memory is no longer zero."""
    path = Path(f"/dev/shm/myriad-ccl-{name}")
    until = time.monotonic() + LIMIT_S
    while time.monotonic() < until:
        if path.exists() and any(path.read_bytes()[128:136]):
            return
        time.sleep(0.002)
    raise SystemExit("the group did not form")


def main():
    os.environ["MYRIAD_CCL_LIBRARY"] = str(LIBRARY)
    check_exports()
    check_python()
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["gcc", "-std=gnu17", "-Wall", "-Wextra", "-Werror",
                        f"-I{ROOT / 'include'}", ROOT / "examples/ccl/sum.c", LIBRARY,
                        f"-Wl,-rpath,{LIBRARY.parent}", "-o", f"{folder}/sum"], check=True)
        check_example([f"{folder}/sum"], dict(os.environ), folder)
        check_example([sys.executable, ROOT / "examples/ccl/sum.py"],
                      {**os.environ, "PYTHONPATH": str(ROOT / "python")}, folder)
    print("libmyriad-ccl: exports, Python, both examples")


if __name__ == "__main__":
    main()
