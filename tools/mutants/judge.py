"""One mutant: compiled, compared with the original, linked, and shown to the tests."""
import collections
import os
import re
import shlex
import shutil
import signal
import subprocess
import tempfile
import threading
from pathlib import Path

from world import SKIPPED, Failed, limits


class Judge:
    """Makes mutants in folders of their own below 'folder' and says what became of them."""

    def __init__(self, world, folder):
        self.world, self.folder = world, folder
        self.originals, self.link_rows = {}, {}
        self.lock = threading.RLock()  # the original is compiled under it
        self.spent = collections.Counter()  # processor seconds of what is done to mutants

    def spend(self, what, seconds):
        with self.lock:
            self.spent[what] += seconds

    def call(self, what, command, **more):
        """(status, what it says on stderr) of a tool; what it costs is put down."""
        with tempfile.TemporaryFile() as said:
            child = subprocess.Popen(command, cwd=self.world.shared.folder, stderr=said,
                                     stdout=subprocess.DEVNULL, **more)
            _, status, usage = os.wait4(child.pid, 0)
            child.returncode = os.waitstatus_to_exitcode(status)
            self.spend(what, usage.ru_utime + usage.ru_stime)
            said.seek(0)
            return child.returncode, said.read().decode(errors="replace")

    def compile(self, mutant, place):
        """'broken' does not compile, 'equivalent' is the same code, 'valid' can be noticed."""
        original = self.original(mutant.file)
        lines = (self.world.source / mutant.file).read_text().split("\n")
        if lines[mutant.line - 1] != mutant.before:
            raise Failed(f"{mutant.key}: the source has changed")
        lines[mutant.line - 1] = mutant.text
        made = self.build(mutant.file, "\n".join(lines), place)
        if made is None:
            return "broken"
        return "equivalent" if made.read_bytes() == original else "valid"

    def original(self, name):
        """The object of the source as it is, compiled in the same way as a mutant."""
        with self.lock:
            if name not in self.originals:
                place = self.folder / "original"
                made = self.build(name, (self.world.source / name).read_text(), place)
                if made is None:
                    raise Failed(f"{name} does not compile")
                self.originals[name] = made.read_bytes()
                shutil.rmtree(place)
            return self.originals[name]

    def build(self, name, text, place):
        """Compiles a text in place of a source; None when the compiler refuses it."""
        source, made = place / name, place / "mutant.o"
        source.parent.mkdir(parents=True, exist_ok=True)
        source.write_text(text)
        command, _ = self.world.shared.compile_command(name)
        if Path(command[0]).name == "ccache":
            command = command[1:]
        kept = command[:command.index("-o")]
        beside = (self.world.source / name).parent  # where the source's own headers are
        command = [*kept, "-w", f"-ffile-prefix-map={place}/=", "-iquote", str(beside),
                   "-o", str(made), "-c", str(source)]
        return made if self.call("compile", command)[0] == 0 else None

    def link(self, mutant, place):
        """Links all that holds the object. Returns what the tests need to find it first."""
        with self.lock:
            if mutant.file not in self.link_rows:
                _, made = self.world.shared.compile_command(mutant.file)
                self.link_rows[mutant.file] = made, list(self.world.shared.links(made))
            made, rows = self.link_rows[mutant.file]
        if not rows:
            raise Failed(f"{mutant.file}: linked into nothing")
        swapped = {}
        for output, command in rows:
            new = place / Path(output).name
            command = replace_word(command, made, str(place / "mutant.o"))
            command = replace_word(command, output, str(new), "-o ")
            status, said = self.call("link", command, shell=True)
            if status != 0:
                raise Failed(f"{mutant.key}: does not link\n{said}")
            if not output.endswith(".so"):
                swapped[str(self.world.shared.folder / output)] = str(new)
        return {"LD_LIBRARY_PATH": str(place)}, swapped

    def show(self, mutant, place, budget_s, before):
        """The first test that notices, and how, or that the mutant survived.

        Tests are asked until what they cost comes to the budget; how many were not is said. Those
        in 'before' were asked in an earlier run, and count as asked for nothing.
        """
        environment, swapped = self.link(mutant, place)
        tests, executed = self.world.watching(mutant)
        asked = {test.name for test in tests if test.name in before}
        spent_s = 0.0
        for test in tests:
            if test.name in asked or spent_s > 0 and spent_s + test.cost > budget_s:
                continue
            spent_s += test.cost
            asked.add(test.name)
            status, cpu_s = self.world.look(test, environment, swapped)
            self.spend("tests", cpu_s)
            if status not in (0, SKIPPED) and self.world.passes(test):
                how = "hang" if status is None else f"status {status}"
                return {"outcome": "noticed", "by": test.name, "how": how}
        return {"outcome": "survived", "tests": len(asked), "executed": executed,
                "unasked": len(tests) - len(asked),
                "asked": {name: self.world.stamps.get(name) for name in sorted(asked)}}

    def search(self, mutant, place, scenarios, budget_s):
        """Whether `twin search` finds a broken rule, or aborts, within the processor seconds, which
        the scenarios share. Cut off is not noticed: nobody knows what would have come."""
        environment, swapped = self.link(mutant, place)
        program = self.world.shared.folder / "bin" / "myriad"
        spent_s = 0.0
        for at, name in enumerate(scenarios):
            limit_s = (budget_s - spent_s) / (len(scenarios) - at)
            command = [swapped.get(str(program), str(program)), "twin", "search",
                       str(self.world.source / "examples" / "twin" / f"{name}.yaml"),
                       "--seeds", "1000000", "--tries", "0", "-o", "json"]
            status, said, cpu_s = said_within(command, environment, limit_s)
            self.spend("twin", cpu_s)
            spent_s += cpu_s
            if status is not None:
                rules = re.findall(r'"rule": "([a-z-]+)"', said)
                how = rules[0] if status == 1 and rules else f"status {status}"
                return {"outcome": "noticed", "how": f"{name}: {how}", "cpu_s": spent_s}
        return {"outcome": "survived", "how": "", "cpu_s": spent_s}


def said_within(command, environment, limit_s):
    """(exit status, what it said, processor seconds); a status of None: cut off by its limit."""
    limit = max(1, round(limit_s))
    with tempfile.TemporaryFile() as out:
        child = subprocess.Popen(command, env={**os.environ, **environment}, stdout=out,
                                 stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL,
                                 preexec_fn=limits(limit))
        # It sleeps nowhere; the clock is for a machine that is shared by many.
        watch = threading.Timer(120 + 20 * limit, child.kill)
        watch.start()
        _, status, usage = os.wait4(child.pid, 0)
        status = child.returncode = os.waitstatus_to_exitcode(status)
        cut = status in (-signal.SIGXCPU, -signal.SIGKILL)
        watch.cancel()
        out.seek(0)
        said = out.read().decode(errors="replace")
        return None if cut else status, said, usage.ru_utime + usage.ru_stime


def replace_word(command, old, new, before=""):
    """The shell command with one word, such as a path, in place of another."""
    pattern = rf"(?<!\S){re.escape(before)}{re.escape(old)}(?!\S)"
    changed, count = re.subn(pattern, lambda _: before + shlex.quote(new), command)
    if count == 0:
        raise Failed(f"no '{old}' in: {command}")
    return changed
