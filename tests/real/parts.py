"""What the tests with real programs share: a scratch folder, children that are always stopped,
commands with a time-out, and skipping (exit status 77) where a program or kernel feature is
missing.

A test is a function taking the path of the program; main() runs the one named on the command line.
"""
import atexit
import itertools
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SKIPPED = 77
ROOT = Path(__file__).resolve().parents[2]

_serial = itertools.count()


class Skip(Exception):
    """What is missing; the test counts as skipped."""


class Failure(Exception):
    """What was seen instead of what was expected."""


class Late(Failure):
    """No end of a program."""


class Crashed(Failure):
    """A command was ended by a signal."""


def need(*programs):
    """Skips the test unless all of these programs are installed."""
    missing = [name for name in programs if not find(name)]
    if missing:
        raise Skip(f"not installed: {', '.join(missing)} (scripts/deps test)")


def find(name):
    return shutil.which(name, path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin:/usr/lib/frr")


def expect(condition, text):
    if not condition:
        raise Failure(text)


def note(text):
    print(text, flush=True)


class Scratch:
    """A folder that goes away, and processes that do not outlive it."""

    def __init__(self):
        self.path = Path(tempfile.mkdtemp(prefix="myriad-real-"))
        self.children = []
        self.undo = []  # called last to first
        atexit.register(self.close)

    def unique(self, word):
        """A name that no test running beside this one uses."""
        return f"{word}{os.getpid() % 100000}{next(_serial)}"

    def start(self, command, **options):
        command = [find(command[0]) or command[0], *map(str, command[1:])]
        child = subprocess.Popen(command, start_new_session=True, **options)
        self.children.append(child)
        return child

    def stop(self, child, seconds=2):
        """TERM, then KILL to it and what it started: it leads a process group of its own."""
        if child.poll() is None:
            child.terminate()
            try:
                child.wait(seconds)
            except subprocess.TimeoutExpired:
                pass
        try:
            os.killpg(child.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        child.wait()

    def close_children(self):
        """Stops every process and undoes what was done to the system."""
        for child in reversed(self.children):
            if child.poll() is None:
                child.terminate()
        for child in reversed(self.children):
            self.stop(child, 0.5)
        for undo in reversed(self.undo):
            undo()
        self.children, self.undo = [], []

    def close(self):
        self.close_children()
        shutil.rmtree(self.path, ignore_errors=True)


def run(*command, timeout=120, ok=(0,), env=None, text=None, cwd=None):
    """Runs a command and returns what it printed; any other exit status is a failure."""
    command = [find(str(command[0])) or str(command[0]), *map(str, command[1:])]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=timeout, input=text,
                              env=None if env is None else {**os.environ, **env}, cwd=cwd,
                              check=False)
    except subprocess.TimeoutExpired as late:
        raise Late(f"{' '.join(command)}: no end after {timeout} s") from late
    if done.returncode not in ok:
        kind = Crashed if done.returncode < 0 else Failure
        raise kind(f"{' '.join(command)}: exit status {done.returncode}\n"
                   f"{done.stdout[-2000:]}{done.stderr[-2000:]}")
    done.output = done.stdout
    return done


def wait_for(what, test, seconds=240, every=0.05):
    """Waits until test() is true and returns it; long, for a machine may be busy."""
    end = time.monotonic() + seconds
    while True:
        found = test()
        if found:
            return found
        if time.monotonic() > end:
            raise Failure(f"{what}: not within {seconds} s")
        time.sleep(every)


def plan(myriad, scratch, spec, name=None, options=()):
    """Plans an example by name, or a spec given as text; returns the path of its design."""
    name = name or spec
    folder = scratch.path / name
    if "\n" not in spec:
        path = ROOT / "examples" / f"{spec}.yaml"
    else:
        path = scratch.path / f"{name}.yaml"
        path.write_text(spec)
    run(myriad, "plan", path, "--out", folder, *options)
    return folder / "design.myr"


def has_verb(myriad, verb):
    return run(myriad, verb, "--help", ok=(0, 2)).returncode == 0


class Ibsim:
    """A simulated InfiniBand fabric, with OpenSM and the diagnostic tools working on it."""

    PRELOAD = "/usr/lib/x86_64-linux-gnu/umad2sim/libumad2sim.so"

    def __init__(self, scratch, netlist, limits=None):
        """'limits' are ibsim's options in place of those that just suffice."""
        need("ibsim", "opensm", "ibnetdiscover")
        if not Path(self.PRELOAD).exists():
            raise Skip(f"no {self.PRELOAD}")
        # They answer each other packet by packet, so that only one of them has work at a time: on
        # one processor that takes half of what it takes to wake the other one again and again.
        usable = sorted(os.sched_getaffinity(0))
        os.sched_setaffinity(0, {usable[os.getpid() % len(usable)]})
        self.scratch = scratch
        self.folder = scratch.path / scratch.unique("ibsim")
        self.folder.mkdir()
        text = Path(netlist).read_text()
        nodes = len(re.findall(r"^(?:Ca|Switch)\s", text, re.M))
        switches = len(re.findall(r"^Switch\s", text, re.M))
        ports = sum(int(n) + 1 for n in re.findall(r"^(?:Ca|Switch)\s+(\d+)", text, re.M))
        # A socket name of its own keeps parallel runs apart; clients inherit it.
        socket = scratch.unique("myr")
        self.env = {"IBSIM_SOCKNAME": socket, "LD_PRELOAD": self.PRELOAD}
        self.log = open(self.folder / "ibsim.log", "w+", encoding="utf-8")
        self.process = scratch.start(
            ["ibsim", *(limits or ["-s", "-N", nodes + 8, "-S", switches + 8, "-P", ports + 8]),
             netlist],
            stdin=subprocess.PIPE, stdout=self.log, stderr=subprocess.STDOUT,
            env={**os.environ, "IBSIM_SOCKNAME": socket})
        self.prompts = 0
        self._wait_prompt()
        expect("ibpanic" not in self.text() and self.process.poll() is None,
               f"ibsim did not load {netlist}:\n{self.text()[:2000]}")

    def text(self):
        return (self.folder / "ibsim.log").read_text()

    def _wait_prompt(self):
        def more():
            expect(self.process.poll() is None, f"ibsim ended:\n{self.text()[:2000]}")
            return self.text().count("sim>") > self.prompts
        wait_for("the simulator's prompt", more)
        self.prompts = self.text().count("sim>")

    def console(self, *commands):
        """Types commands at the simulator's console, one after the other."""
        for command in commands:
            self.process.stdin.write((command + "\n").encode())
            self.process.stdin.flush()
            self._wait_prompt()

    def tool(self, *command, timeout=120, ok=(0,)):
        """A diagnostic tool on this fabric. Some of them hang for ever: hence the time-out."""
        return run(*command, timeout=timeout, ok=ok, env=self.env).output

    def opensm(self, engine, *arguments, folder=None):
        """One sweep, started in 'folder'; returns the log. On a very busy machine OpenSM now and
        then waits for ever for an answer of the simulator's, or is done, leaves without that
        answer, and is ended by it (SIGSEGV behind "Exiting SM"): it is given a second time."""
        try:
            return self._sweep(engine, arguments, folder, seconds=120)
        except (Late, Crashed) as failure:
            if isinstance(failure, Crashed) and "Exiting SM" not in str(failure):
                raise
            print(f"{failure}; once more")
            return self._sweep(engine, arguments, folder, seconds=480)

    def _sweep(self, engine, arguments, folder, seconds):
        """OpenSM falls back silently, so the log must name the engine (the file engine: say that
        the file was used), and have no error."""
        cache = self.folder / self.scratch.unique("opensm")
        cache.mkdir()
        # A fresh cache: neighbours remembered from another fabric are reported as errors.
        env = {**self.env, "OSM_CACHE_DIR": str(cache), "OSM_TMP_DIR": str(cache)}
        log = cache / "opensm.log"
        named = [] if "-F" in arguments or "-R" in arguments else ["-R", engine]
        run("opensm", "-o", *named, "-f", log, "-D", "0x43", "--dump_files_dir", cache,
            *arguments, timeout=seconds, env=env, cwd=folder)
        text = log.read_text(errors="replace")
        # 5401: an answer came so late that its place in a table was given to another question.
        # Whatever is lacking for it is an error of its own, or asked for again.
        wrong = re.findall(r"^.* ERR (?!5401: ).*$", text, re.M)
        expect(not wrong, "OpenSM reports errors:\n" + "\n".join(wrong[:5]))
        used = re.findall(r"osm_ucast_mgr_process: (\S+) tables configured", text)
        expect(used and used[-1] == engine, f"OpenSM used {used}, not {engine}")
        return text


def main(tests):
    """python3 tests/real/x.py MYRIAD NAME"""
    if len(sys.argv) != 3 or sys.argv[2] not in tests:
        print(f"usage: {sys.argv[0]} MYRIAD {'|'.join(tests)}", file=sys.stderr)
        sys.exit(2)
    # ctest ends a late test by TERM: leave nothing behind then either.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    scratch = Scratch()
    try:
        tests[sys.argv[2]](os.path.abspath(sys.argv[1]), scratch)
    except Skip as reason:
        print(f"skipped: {reason}")
        sys.exit(SKIPPED)
    except Failure as failure:
        print(f"failed: {failure}")
        sys.exit(1)
    finally:
        scratch.close()


__all__ = ["Failure", "Ibsim", "Path", "ROOT", "Scratch", "Skip", "expect", "find", "has_verb",
           "json", "main", "need", "note", "os", "plan", "re", "run", "subprocess", "time",
           "wait_for"]
