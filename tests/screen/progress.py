#!/usr/bin/env python3
"""What is shown while a long question runs, and what --timing says, with a clock that ticks once a
look (ticks.c): so every line of it is known beforehand.

    tests/screen/progress.py MYRIAD TICKS.so            compares with tests/kept/progress.txt
    MYRIAD_KEPT=write tests/screen/progress.py ...      writes it; read the diff

Each question is asked with its messages on a terminal, which redraws one line, and in a log, which
gets one now and then. Kept are the first lines and the last, how many there were, and a digest of
all. On a terminal the line must be gone at the end, whatever became of the question.
"""
import hashlib
import json
import os
import pty
import re
import shlex
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
KEPT = ROOT / "tests" / "kept" / "progress.txt"
ERASED = "\r\033[K"
SHOWN = 4  # lines at the beginning and at the end
SETUP = ("plan examples/h100-64.yaml --out d", "export p2p d/design.myr --out wired.csv",
         "sim --topology fat-tree:k=8 --workload alltoall:64MB --save run.state --at 50us",
         "twin run examples/twin/crash-storm.yaml --save case.yaml --state state.myr")
QUESTIONS = (
    "route d/design.myr --permutation 1",
    "route found d/design.myr unplugged.csv --permutation 1",
    "sched replay data/jobs.csv --nodes 4",
    "sched place --design d/design.myr --nodes 8",
    "twin run examples/twin/crash-storm.yaml",
    "twin replay case.yaml",
    "twin search examples/twin/crash-storm.yaml --seeds 3 --tries 2",
    "sim --topology fat-tree:k=8 --workload alltoall:64MB",
    "sim resume run.state",
    "sim contention --topology fat-tree:k=4 --out c.json",
    "compare examples/compare/infiniband-1k.yaml examples/compare/roce-1k.yaml",
    "bench gpu --dry-run --quick --device h100",
    "fit --model llama3-8b --gpus 16 --device h100 --batch 32",
    "fit --model llama3-8b --gpus 2 --device h100 --batch 2 --exhaustive",
    "plan examples/h100-64.yaml --out planned",
    "plan grow examples/h100-64.yaml examples/h100-128.yaml",
    "plan audit d/bom.csv --spec examples/h100-64.yaml",
    "whatif state.myr",
    # Refused when it has begun, and with nothing to show.
    "route found d/design.myr d/bom.csv",
)


def run(myriad, words, folder, environment):
    return subprocess.run([myriad, *words], cwd=folder, env=environment, capture_output=True,
                          stdin=subprocess.DEVNULL, timeout=300, check=False)


def on_terminal(myriad, words, folder, environment):
    """(exit status, what a terminal is sent) with standard error on one."""
    here, there = pty.openpty()
    said = []

    def read():
        try:
            while chunk := os.read(here, 4096):
                said.append(chunk)
        except OSError:  # the program was the last to hold the other end
            pass

    child = subprocess.Popen([myriad, *words], cwd=folder, env=environment, stderr=there,
                             stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    os.close(there)
    reader = threading.Thread(target=read)
    reader.start()
    child.wait(timeout=300)
    reader.join()
    os.close(here)
    return child.returncode, b"".join(said).decode().replace("\r\n", "\n")


def account(title, text, lines):
    """The first lines and the last, the count and a digest of all."""
    shown = lines if len(lines) <= 2 * SHOWN else [*lines[:SHOWN], "...", *lines[-SHOWN:]]
    yield f"{title}: {len(lines)} lines, {hashlib.sha256(text.encode()).hexdigest()[:16]}"
    yield from (f"    {line!r}" for line in shown)


def ask(myriad, question, folder, environment):
    """What is to be kept of one question, and what is wrong with it."""
    words = shlex.split(question)
    lines, faults = [f"== {question}"], []
    status, text = on_terminal(myriad, words, folder, {**environment, "TICK_MS": "1100"})
    lines += account(f"terminal, exit status {status}", text, text.split("\r"))
    if "\033[K" in text and ERASED not in text.rsplit("\033[K\n", 1)[-1][-40:]:
        faults.append(f"{question}: the last line of progress stays on the terminal")
    result = run(myriad, [*words, "-o", "json", "--timing"], folder,
                 {**environment, "TICK_MS": "11000"})
    text = result.stderr.decode()
    lines += account(f"log, exit status {result.returncode}", text, text.splitlines())
    if result.returncode < 2:
        timing = json.loads(result.stdout)["timing"]
        timing.pop("memory_mib")
        lines.append(f"timing: {json.dumps(timing)}")
    return lines, faults


def check_sweep(myriad, folder, environment):
    """A sweep looks at the clock while its workers are at work: how often is not known beforehand,
    but all points are counted, none twice."""
    result = run(myriad, ["sim", "sweep", "data/sim/sweep.yaml", "--workers", "1"], folder,
                 {**environment, "TICK_MS": "11000"})
    lines = result.stderr.decode().splitlines()
    counts = [re.match(r"points +(\d+) %  (\d+)/16(  \d+ /\w+  [\d:]+ left|  \d+ /\w+|)$", line)
              for line in lines]
    if not counts or None in counts:
        yield f"sim sweep: {lines}"
        return
    done = [int(found[2]) for found in counts]
    if done != sorted(done) or any(int(found[1]) != 100 * int(found[2]) // 16 for found in counts):
        yield f"sim sweep: {lines}"


def check_memory(myriad, folder):
    """The memory that --timing speaks of is what the kernel says of the process."""
    child = subprocess.Popen([myriad, "plan", "examples/h100-64.yaml", "-o", "json", "--timing"],
                             cwd=folder, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL)
    said = json.load(child.stdout)["timing"]["memory_mib"]
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if not usage.ru_maxrss / 2 <= said * 1024 <= usage.ru_maxrss + 1024:
        yield f"--timing: {said} MiB, the kernel says {usage.ru_maxrss} KiB"


def main():
    myriad, ticks = (os.path.abspath(word) for word in sys.argv[1:3])
    environment = {key: value for key, value in os.environ.items()
                   if not key.startswith("MYRIAD_")}
    environment.update(LC_ALL="C.UTF-8", COLUMNS="80")
    with tempfile.TemporaryDirectory(prefix="myriad-screen-") as folder:
        os.symlink(ROOT / "examples", os.path.join(folder, "examples"))
        os.symlink(ROOT / "tests" / "data", os.path.join(folder, "data"))
        for line in SETUP:
            if run(myriad, line.split(), folder, environment).returncode > 1:
                sys.exit(f"setup: myriad {line}")
        cables = Path(folder, "wired.csv").read_text().splitlines(keepends=True)
        Path(folder, "unplugged.csv").write_text("".join(cables[:3] + cables[5:]))
        faults = list(check_memory(myriad, folder))
        faults += check_sweep(myriad, folder, {**environment, "LD_PRELOAD": ticks})
        lines = []
        for question in QUESTIONS:
            found, wrong = ask(myriad, question, folder, {**environment, "LD_PRELOAD": ticks})
            lines += found
            faults += wrong
    text = "\n".join(lines) + "\n"
    if os.environ.get("MYRIAD_KEPT") == "write":
        KEPT.write_text(text)
    elif text != KEPT.read_text():
        before = KEPT.read_text().splitlines()
        faults += [f"-{line}" for line in before if line not in lines]
        faults += [f"+{line}" for line in lines if line not in before]
    for fault in faults:
        print(fault)
    print(f"{len(QUESTIONS)} questions, {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
