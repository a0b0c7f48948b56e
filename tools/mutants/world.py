"""The builds that mutants live in, and the tests that look at them.

Everything lies under one folder (build-mutants), the sources too: a copy, so that the tree that is
worked in neither changes nor is changed. Two builds are made of the copy:

- cover: instrumented. Every test runs there once, and says which lines it executes.
- shared: each module a shared library. A mutant is one compiled file and one linked library (or
  program) in a folder of its own, and tests find it there first: nothing else is linked again, and
  mutants do not get in each other's way.
"""
import collections
import concurrent.futures
import contextlib
import hashlib
import json
import os
import re
import resource
import shlex
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from pathlib import Path

LEFT_OUT = re.compile(r"^(slow|cross|tidy)$")  # as make test-quick; tidy is about sources
SKIPPED = 77
DATA_MAX = 12 << 30  # a loop that went wrong must not take the machine with it
FILE_MAX = 4 << 30
# What a test writes besides its exit status counts for nothing: only the status is looked at.
QUIET = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}


class Failed(Exception):
    """The tool cannot go on; the message says why."""


def call(command, **more):
    """Runs a command that must succeed."""
    done = subprocess.run(command, capture_output=True, text=True, check=False, **more)
    if done.returncode != 0:
        raise Failed(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}".rstrip())
    return done.stdout


def digest(*parts):
    whole = hashlib.sha256()
    for part in parts:
        whole.update(part if isinstance(part, bytes) else str(part).encode())
        whole.update(b"\0")
    return whole.hexdigest()


class Test:
    """One test of ctest: how it is called, how long it takes, which lines it executes."""

    def __init__(self, entry):
        properties = {row["name"]: row["value"] for row in entry.get("properties", [])}
        self.name = entry["name"]
        self.command = entry.get("command")
        self.labels = properties.get("LABELS", [])
        self.folder = properties.get("WORKING_DIRECTORY", ".")
        self.environment = dict(row.split("=", 1) for row in properties.get("ENVIRONMENT", []))
        self.seconds = 0.0

    @property
    def alone(self):
        """Tests with ports and namespaces of the whole machine; one at a time, and last."""
        return "real" in self.labels


class Build:
    """A CMake build of the copied sources."""

    def __init__(self, folder, source, settings):
        self.folder, self.source, self.settings = folder, source, settings

    def make(self, jobs):
        self.folder.mkdir(parents=True, exist_ok=True)
        call(["cmake", "-G", "Ninja", "-S", self.source, "-B", self.folder,
              "-DCMAKE_C_COMPILER=gcc", *(f"-D{row}" for row in self.settings)])
        call(["ninja", "-C", self.folder, "-j", str(jobs), "--quiet"])

    def tests(self):
        listed = call(["ctest", "--show-only=json-v1"], cwd=self.folder)
        tests = [Test(entry) for entry in json.loads(listed)["tests"]]
        return {test.name: test for test in tests
                if test.command and not any(LEFT_OUT.match(label) for label in test.labels)}

    def compile_command(self, name):
        """The command that compiles a source, and the object that it makes."""
        rows = json.loads((self.folder / "compile_commands.json").read_text())
        path = str(self.source / name)
        found = [shlex.split(row["command"]) for row in rows if row["file"] == path]
        if not found:
            raise Failed(f"{name}: no target compiles it")
        return found[0], found[0][found[0].index("-o") + 1]

    def links(self, made):
        """(output, command) of everything that the object is linked into."""
        said = call(["ninja", "-t", "query", made], cwd=self.folder)
        outputs = [line.strip() for line in said.split("outputs:", 1)[1].splitlines()
                   if re.search(r"\.so$|/|^\s+\w+$", line)]
        for output in outputs:
            if output.endswith((".a", ".o")) or not (self.folder / output).is_file():
                continue
            commands = call(["ninja", "-t", "commands", "-s", output], cwd=self.folder)
            yield output, commands.strip().splitlines()[-1]


def limits(cpu_s):
    def apply():
        resource.setrlimit(resource.RLIMIT_CPU, (cpu_s, cpu_s))
        resource.setrlimit(resource.RLIMIT_DATA, (DATA_MAX, DATA_MAX))
        resource.setrlimit(resource.RLIMIT_FSIZE, (FILE_MAX, FILE_MAX))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    return apply


def run_test(test, cwd, environment, limit_s, command):
    """(exit status, seconds) of a test; a status of None is a hang. Leaves nothing behind."""
    start = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="myriad-mutant-") as scratch:
        os.chmod(scratch, 0o755)  # daemons of other users have their files there
        child = subprocess.Popen(command, cwd=os.path.join(cwd, test.folder),
                                 env={**os.environ, **test.environment, "TMPDIR": scratch,
                                      **environment},
                                 start_new_session=True, preexec_fn=limits(int(limit_s)), **QUIET)
        try:
            # The CPU limit is the one that counts; the clock only ends what sleeps.
            status = child.wait(timeout=limit_s * 6)
            status = None if status == -signal.SIGXCPU else status
        except subprocess.TimeoutExpired:
            status = None
        finally:
            try:
                os.killpg(child.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            child.wait()
    return status, time.monotonic() - start


class World:
    """The copy, the two builds, the tests and what they cover."""

    def __init__(self, root, folder, jobs, most, say):
        self.root, self.folder, self.jobs, self.say = root, folder, jobs, say
        self.most = most  # tests that may look at one mutant
        self.source = folder / "source"
        # Build types of their own, so that nothing is added to these flags. No debug information in
        # the first: two objects are equal exactly when their code and data are.
        self.shared = Build(folder / "shared", self.source, [
            "CMAKE_BUILD_TYPE=Shared", "MYRIAD_SHARED=ON", "MYRIAD_WERROR=OFF",
            "CMAKE_C_FLAGS=-O2 -g0 -fno-semantic-interposition"])
        self.cover = Build(folder / "cover", self.source, [
            "CMAKE_BUILD_TYPE=Cover", "MYRIAD_WERROR=OFF",
            "CMAKE_C_FLAGS=-O1 -g --coverage -fno-inline -fno-early-inlining"
            " -fprofile-update=atomic"])
        self.tests = {}
        self.lines = {}  # file -> line -> names of tests, empty where nothing executes it
        self.functions = {}  # file -> function -> (first line, last line)
        self.kills = collections.Counter()  # test -> mutants that it was the first to notice
        self.good = {}  # test -> whether it passes in the shared build without a mutant
        self.lock, self.alone = threading.Lock(), threading.Lock()

    def prepare(self, keep):
        if not keep:
            self.copy()
        self.say("building with coverage")
        self.cover.make(self.jobs)
        self.measure()
        self.say("building the modules as shared libraries")
        self.shared.make(self.jobs)
        shared = self.shared.tests()
        self.tests = {name: shared[name] for name in self.tests if name in shared}
        for name, test in self.tests.items():
            test.seconds = self.seconds[name]

    def copy(self):
        """The tree as it is now, tracked or not, without what git ignores."""
        listed = call(["git", "-C", self.root, "ls-files", "-z", "--cached", "--others",
                       "--exclude-standard"]).split("\0")
        wanted = {name for name in listed if name and (self.root / name).is_file()}
        for path in sorted(self.source.rglob("*")) if self.source.exists() else []:
            inside = path.relative_to(self.source)
            if (path.is_file() or path.is_symlink()) and str(inside) not in wanted:
                path.unlink()
        for name in wanted:
            here, there = self.root / name, self.source / name
            if not there.exists() or here.read_bytes() != there.read_bytes():
                there.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(here, there)

    def sources(self, module):
        folder = self.source / "src" / module
        return [(str(path.relative_to(self.source)), path.read_text())
                for path in sorted(folder.rglob("*.c")) if not path.name.endswith("_test.c")]

    def modules(self):
        return sorted(path.name for path in (self.source / "src").iterdir()
                      if any(path.rglob("*.c")))

    # Coverage: one run of every test, kept until its program or its files change.

    def measure(self):
        self.tests, self.seconds = self.cover.tests(), {}
        kept = self.folder / "covered"
        kept.mkdir(exist_ok=True)
        everything = digest(*(path.read_bytes() for path in sorted(self.source.rglob("*"))
                              if path.is_file() and path.suffix in (".yaml", ".md")))
        stale = {}
        for name, test in self.tests.items():
            path = kept / (name.replace("/", "+") + ".json")
            stamp = self.stamp(test, everything)
            if not path.exists() or json.loads(path.read_text())["stamp"] != stamp:
                stale[name] = (path, stamp)
        start, done = time.monotonic(), 0
        with concurrent.futures.ThreadPoolExecutor(self.jobs) as pool:
            waiting = [pool.submit(self.cover_one, self.tests[name], *stale[name])
                       for name in sorted(stale, key=lambda name: self.tests[name].alone)]
            for future in concurrent.futures.as_completed(waiting):
                done += 1
                left = (time.monotonic() - start) / done * (len(stale) - done)
                self.say(f"coverage {done}/{len(stale)} {future.result()}, {left:.0f} s left")
        for name in sorted(self.tests):
            row = json.loads((kept / (name.replace("/", "+") + ".json")).read_text())
            if row["status"] != 0:
                if row["status"] != SKIPPED:
                    self.say(f"{name} fails without a mutant (status {row['status']}): left out")
                del self.tests[name]
                continue
            self.seconds[name] = row["seconds"]
            self.remember(name, row["files"])

    def stamp(self, test, everything):
        """Changes with the test's program, and with the files beside a script."""
        parts = [everything, *test.command]
        for word in test.command:
            path = Path(word)
            if path.is_file():
                parts.append(path.read_bytes())
                if path.suffix == ".py":
                    parts += [other.read_bytes() for other in sorted(path.parent.rglob("*"))
                              if other.is_file()]
        return digest(*parts)

    def cover_one(self, test, path, stamp):
        """Runs a test in the instrumented build and keeps what it executed."""
        for _ in range(2):  # a busy machine deserves another try
            prefix = Path(tempfile.mkdtemp(prefix="cover-", dir=self.folder))
            os.chmod(prefix, 0o777)  # as above
            try:
                with self.alone if test.alone else contextlib.nullcontext():
                    status, seconds = run_test(test, self.cover.folder,
                                               {"GCOV_PREFIX": str(prefix)}, 900, test.command)
                files = self.executed(prefix)
            finally:
                shutil.rmtree(prefix)
            if status in (0, SKIPPED):
                break
        path.write_text(json.dumps({"stamp": stamp, "status": status, "seconds": seconds,
                                    "files": files}))
        return test.name

    def executed(self, prefix):
        """file -> [executed lines, other lines, functions] out of the counters of one run."""
        counters = []
        for path in sorted(prefix.rglob("*.gcda")):
            note = Path("/", path.relative_to(prefix)).with_suffix(".gcno")
            if re.search(r"_test\.c\.gcda$", path.name) or not note.exists():
                continue
            path.with_suffix(".gcno").symlink_to(note)
            counters.append(str(path))
        files = {}
        for at in range(0, len(counters), 50):
            said = subprocess.run(["gcov", "--json-format", "--stdout", *counters[at:at + 50]],
                                  capture_output=True, check=False, cwd=prefix).stdout
            for line in said.splitlines():
                for row in json.loads(line)["files"]:
                    found = re.search(r"(?:^|/)(src/\w+/.*\.c)$", row["file"])
                    if found:
                        self.add_counts(files.setdefault(found.group(1), [[], [], {}]), row)
        return {name: row for name, row in files.items() if row[0]}

    @staticmethod
    def add_counts(known, row):
        for line in row["lines"]:
            known[0 if line["count"] else 1].append(line["line_number"])
        for function in row["functions"]:
            known[2][function["name"]] = [function["start_line"], function["end_line"]]

    def remember(self, name, files):
        for file, (executed, others, functions) in files.items():
            lines = self.lines.setdefault(file, {})
            for line in others:
                lines.setdefault(line, set())
            for line in executed:
                lines.setdefault(line, set()).add(name)
            self.functions.setdefault(file, {}).update(functions)

    def watching(self, mutant):
        """(tests that could notice, whether any of them executes the line), the cheapest first."""
        lines = self.lines.get(mutant.file, {})
        names = lines.get(mutant.line)
        executed = True
        if names is None:  # no code of its own: a table, a constant, a line of a longer statement
            first, last = self.around(mutant)
            names = {name for line, found in lines.items() if first <= line <= last
                     for name in found}
        elif not names:
            # A process that is killed leaves no counters: ask the module's own tests all the same.
            executed = False
            module = mutant.file.split("/")[1]
            near = {name for found in lines.values() for name in found
                    if name.startswith(module + "/")}
            names = set(sorted(near, key=lambda name: self.tests[name].seconds)[:6])
        tests = [self.tests[name] for name in names if name in self.tests]
        # A module's own tests know most of it: four times as likely for the same price. And who
        # has noticed many will notice more.
        own = mutant.file.split("/")[1] + "/"
        tests.sort(key=lambda test: (test.alone, test.seconds / (1 + self.kills[test.name]) / (
            4 if test.name.startswith(own) else 1), test.name))
        tests = [test for at, test in enumerate(tests)
                 if at < self.most or test.name.startswith(own)]
        return tests, executed

    def around(self, mutant):
        for first, last in self.functions.get(mutant.file, {}).values():
            if first <= mutant.line <= last:
                return first, last
        return 0, 1 << 30

    # Mutants

    def passes(self, test):
        """Whether the test passes in the shared build as it is; asked once."""
        with self.lock:
            if test.name not in self.good:
                status, _ = self.look(test, {}, None)
                self.good[test.name] = status == 0
                if status != 0:
                    self.say(f"{test.name} fails in the shared build without a mutant: left out")
            return self.good[test.name]

    def look(self, test, environment, swapped):
        """One run of a test; 'swapped' maps programs of the build to the mutant's own."""
        command = [swapped.get(word, word) for word in test.command] if swapped else test.command
        limit_s = 30 + 10 * test.seconds
        with self.alone if test.alone else contextlib.nullcontext():
            return run_test(test, self.shared.folder, environment, limit_s, command)
