"""The builds that mutants live in, and the tests that look at them.

Everything lies under one folder (build-mutants), the sources too: a copy, so that the tree that is
worked in neither changes nor is changed. Two builds are made of the copy:

- shared: each module a shared library. A mutant is one compiled file and one linked library (or
  program) in a folder of its own, and tests find it there first: nothing else is linked again, and
  mutants do not get in each other's way.
- cover: the libraries once more, instrumented (record.c), and nothing else: the programs of the
  first build run with them, and say which lines they execute.
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

from cover import Map

LEFT_OUT = re.compile(r"^(slow|cross|tidy)$")  # as make test-quick; tidy is about sources
SKIPPED = 77
WHOLE = re.compile(r"golden|answers|drawn|kept|figures|lives")  # compare all that comes out
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

    def __init__(self, entry, name=None, command=None):
        properties = {row["name"]: row["value"] for row in entry.get("properties", [])}
        self.name = name or entry["name"]
        self.command = command or entry.get("command")
        self.labels = properties.get("LABELS", [])
        self.folder = properties.get("WORKING_DIRECTORY", ".")
        self.environment = dict(row.split("=", 1) for row in properties.get("ENVIRONMENT", []))
        self.cpu_s = self.wall_s = 0.0
        self.plain_s = float("inf")  # its cost without the recorder, once it is known

    @classmethod
    def parts(cls, entry):
        """The test, or its cases where it has many: one of them is sooner asked than all."""
        command = entry.get("command") or [""]
        folder = Path(command[0]).parent
        if command[0].endswith("tests/golden/run.py"):
            names = sorted({path.stem for pattern in command[2:]
                            for path in folder.glob(pattern + ".cmd")})
            rest = []
        elif command[0].endswith("tests/agent/run.py") and "--part" in command:
            at = command.index("--part")
            text = (folder / (command[at + 1] + ".py")).read_text()
            names = re.findall(r"^def (test_\w+)\(", text, re.M)
            rest = command[2:at] + command[at + 2:]
        elif command[0].endswith("tests/answers/run.py"):
            told = re.sub(r"#.*", "", (folder / "cases.txt").read_text()).split("\n")
            cases = [line for line in map(str.strip, told)
                     if line and not re.match(r"(setup|serve|elsewhere):", line)]
            each = [cls(entry, f"{entry['name']}:{at}-{'-'.join(re.findall('[a-z]+', case)[:3])}",
                        [*command[:2], "--case", str(at)])
                    for at, case in enumerate(cases)]
            return [*each, cls(entry, f"{entry['name']}:operands", [*command[:2], "--operands"])]
        elif re.search(r"tests/server/\w+\.py$", command[0]) and len(command) == 2:
            text = Path(command[0]).read_text()
            names, rest = re.findall(r"^@check\ndef (\w+)\(", text, re.M), []
        else:
            names = []
        if not names:
            return [cls(entry)]
        return [cls(entry, f"{entry['name']}:{name}", [*command[:2], name, *rest])
                for name in names]

    @property
    def cost(self):
        """What one run takes from the machine: one that waits leaves it to others."""
        return min(self.plain_s, self.cpu_s + 0.2 * self.wall_s)

    def can_run(self, folder):
        """Whether the programs that it names are there; a build may be of some of them only."""
        return all(os.path.exists(word) for word in self.command
                   if word.startswith(str(folder) + os.sep) and len(word) > len(str(folder)) + 1)

    @property
    def alone(self):
        """Tests with ports and namespaces of the whole machine; one at a time, and last."""
        return "real" in self.labels


class Build:
    """A CMake build of the copied sources."""

    def __init__(self, folder, source, settings):
        self.folder, self.source, self.settings = folder, source, settings
        self.commands = None

    def make(self, jobs, *targets):
        self.folder.mkdir(parents=True, exist_ok=True)
        call(["cmake", "-G", "Ninja", "-S", self.source, "-B", self.folder,
              "-DCMAKE_C_COMPILER=gcc", *(f"-D{row}" for row in self.settings)])
        call(["ninja", "-C", self.folder, "-j", str(jobs), "--quiet", *targets])

    def tests(self):
        listed = call(["ctest", "--show-only=json-v1"], cwd=self.folder)
        tests = {}
        for test in (test for entry in json.loads(listed)["tests"] for test in Test.parts(entry)):
            if test.command and not any(LEFT_OUT.match(label) for label in test.labels):
                # A unit test and a script may share a name (plan/room): both are asked.
                test.name += "'" * (test.name in tests)
                tests[test.name] = test
        return tests

    def compile_command(self, name):
        """The command that compiles a source, and the object that it makes."""
        if self.commands is None:
            rows = json.loads((self.folder / "compile_commands.json").read_text())
            self.commands = {row["file"]: row["command"] for row in reversed(rows)}
        path = str(self.source / name)
        if path not in self.commands:
            raise Failed(f"{name}: no target compiles it")
        words = shlex.split(self.commands[path])
        return words, words[words.index("-o") + 1]

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


def run_test(test, cwd, environment, limit, command):
    """(exit status, CPU seconds, seconds) of a test; a status of None is a hang. 'limit' is
    (CPU seconds, seconds). Leaves nothing behind."""
    start = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="myriad-mutant-",
                                     ignore_cleanup_errors=True) as scratch:
        os.chmod(scratch, 0o755)  # daemons of other users have their files there
        child = subprocess.Popen(command, cwd=os.path.join(cwd, test.folder),
                                 env={**os.environ, **test.environment, "TMPDIR": scratch,
                                      **environment},
                                 start_new_session=True, preexec_fn=limits(int(limit[0])), **QUIET)
        # The CPU limit is the one that counts; the clock only ends what sleeps.
        watch = threading.Timer(limit[1], end_group, [child.pid])
        watch.start()
        _, status, usage = os.wait4(child.pid, 0)
        status = child.returncode = os.waitstatus_to_exitcode(status)
        if not watch.is_alive() or status == -signal.SIGXCPU:
            status = None
        watch.cancel()
        end_group(child.pid)
        if status != 0:
            end_left(scratch)
    return status, usage.ru_utime + usage.ru_stime, time.monotonic() - start


def end_group(group):
    with contextlib.suppress(ProcessLookupError):
        os.killpg(group, signal.SIGKILL)


def end_left(scratch):
    """Ends what a test that was cut short has left in sessions of their own, such as agents: who
    has the test's own folder among its variables."""
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if f"TMPDIR={scratch}\0".encode() in (entry / "environ").read_bytes():
                os.kill(int(entry.name), signal.SIGKILL)


class World:
    """The copy, the two builds, the tests and what they cover."""

    def __init__(self, root, folder, jobs, most, longest_s, say):
        self.root, self.folder, self.jobs, self.say = root, folder, jobs, say
        self.most = most  # tests that may look at one mutant
        self.longest_s = longest_s  # CPU time of a test that is asked at all
        self.source = folder / "source"
        # Build types of their own, so that nothing is added to these flags. No debug information in
        # the first: two objects are equal exactly when their code and data are.
        self.shared = Build(folder / "shared", self.source, [
            "CMAKE_BUILD_TYPE=Shared", "MYRIAD_SHARED=ON", "MYRIAD_WERROR=OFF",
            "CMAKE_C_FLAGS=-O2 -g0 -fno-semantic-interposition"])
        # Blocks stay in the order of their lines: the debug information says which are whose.
        self.cover = Build(folder / "cover", self.source, [
            "CMAKE_BUILD_TYPE=Cover", "MYRIAD_SHARED=ON", "MYRIAD_WERROR=OFF",
            "CMAKE_C_FLAGS=-O1 -g -fsanitize-coverage=trace-pc -fno-inline -fno-reorder-blocks"
            " -fno-crossjumping -fno-tree-tail-merge",
            *(f"CMAKE_{kind}_LINKER_FLAGS=-Wl,--no-as-needed,{folder / 'librecord.so'}"
              for kind in ("SHARED", "EXE"))])
        self.map = Map(self.cover.folder)
        self.tests = {}
        self.lines = {}  # file -> line -> names of tests
        self.entered = {}  # module -> names of tests that execute anything of it
        # test, and (test, file) -> mutants that it was the first to notice
        self.kills = collections.Counter()
        self.good = {}  # test -> whether it passes in the shared build without a mutant
        self.measured = set()
        self.stamps = {}  # test -> what changes when it does
        self.lock, self.alone = threading.Lock(), threading.Lock()

    def prepare(self, keep, near):
        """Builds what the tests need: all of them, or those of some modules alone ('near')."""
        if not keep:
            self.copy()
        self.say("building the modules as shared libraries")
        programs = ["myriad", "myriad-agent"] if near else []
        self.shared.make(self.jobs, *programs,
                         *(target for name in near for target in self.unit_tests(name)))
        self.say("building them with coverage")
        call(["gcc", "-D_GNU_SOURCE", "-O2", "-fPIC", "-shared", Path(__file__).parent / "record.c",
              "-o", self.folder / "librecord.so"])
        # All of them, whichever are asked for: programs run with every one, and an old one beside
        # new ones makes sound tests fail.
        self.cover.make(self.jobs, *(f"libmyr_{name}.so" for name in self.modules()))
        self.tests = {name: test for name, test in self.shared.tests().items()
                      if test.can_run(self.shared.folder)}
        self.libraries = {path.name: digest(path.read_bytes())
                          for path in self.cover.folder.glob("libmyr_*.so")}

    def leave_out(self, begins):
        """Forgets tests by the beginning of their names."""
        self.tests = {name: test for name, test in self.tests.items()
                      if not name.startswith(begins)}

    def unit_tests(self, module):
        """Targets of a module's test programs: beside its code, and in the folder of its tests."""
        module = module.rstrip("/")
        beside = [f"{module}_{path.stem}"
                  for path in sorted((self.source / "src" / module).rglob("*_test.c"))]
        folder = self.source / "tests" / module
        rules = folder / "CMakeLists.txt"
        named = rules.read_text() if rules.exists() else ""
        # Who is called otherwise there is no target of this name.
        common = f"add_executable({module}_${{test}}_test" in named
        return beside + [f"{module}_{path.stem}" for path in sorted(folder.glob("*_test.c"))
                         if common or f"add_executable({module}_{path.stem} " in named]

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

    # Coverage: one run of a test, kept until its program, its files or a library that it executed
    # changes.

    def near(self, word):
        """The tests that know most of a module: its own. Or those whose names begin so."""
        begin = word if "/" in word else word + "/"
        return {name for name in self.tests if name.startswith(begin)}

    def measure(self, names):
        """Learns what these tests execute and what they cost."""
        kept = self.folder / "covered"
        kept.mkdir(exist_ok=True)
        fresh = [name for name in sorted(names) if name in self.tests and name not in self.measured]
        self.measured.update(fresh)
        inputs = digest(*(path.read_bytes() for folder in ("catalog", "examples")
                          for path in sorted((self.source / folder).rglob("*.yaml"))))
        rows = {}
        for name in fresh:
            path = kept / (name.replace("/", "+") + ".json")
            stamp = self.stamps[name] = self.stamp(self.tests[name], inputs)
            row = json.loads(path.read_text()) if path.exists() else {}
            same = row.get("stamp") == stamp and all(
                self.libraries.get(library) == text for library, text in row["libraries"].items())
            if same and row["status"] is None and row["limit_s"] < self.longest_s:
                same = False  # it was stopped, and may take longer now
            rows[name] = row if same else (path, stamp)
        stale = [name for name in fresh if isinstance(rows[name], tuple)]
        start, done = time.monotonic(), 0
        with concurrent.futures.ThreadPoolExecutor(self.jobs) as pool:
            waiting = {pool.submit(self.cover_one, self.tests[name], *rows[name]): name
                       for name in sorted(stale, key=lambda name: self.tests[name].alone)}
            for future in concurrent.futures.as_completed(waiting):
                done += 1
                name = waiting[future]
                rows[name] = future.result()
                left = (time.monotonic() - start) / done * (len(stale) - done)
                if done % 10 == 0 or done == len(stale):
                    self.say(f"coverage {done}/{len(stale)} {name}, {left:.0f} s left")
        cut = [name for name in fresh
               if rows[name]["status"] is None or rows[name]["cpu_s"] > self.longest_s]
        with concurrent.futures.ThreadPoolExecutor(self.jobs) as pool:
            plain = dict(zip(cut, pool.map(self.plain, cut)))
        for name in fresh:
            self.remember(name, {**rows[name], **plain.get(name, {})})

    def plain(self, name):
        """What a test takes that the recorder made too long; the lines that it executed until it
        was stopped still count."""
        status, cpu_s, wall_s = run_test(self.tests[name], self.shared.folder, {},
                                         (self.longest_s + 1, 120 + 4 * self.longest_s),
                                         self.tests[name].command)
        return {"status": status, "cpu_s": cpu_s, "wall_s": wall_s}

    def remember(self, name, row):
        if row["status"] is None or row["cpu_s"] > self.longest_s:
            self.say(f"{name} takes more than {self.longest_s:.0f} s: left out")
            del self.tests[name]
            return
        if row["status"] != 0:
            if row["status"] != SKIPPED:
                self.say(f"{name} fails without a mutant (status {row['status']}): left out")
            del self.tests[name]
            return
        self.tests[name].cpu_s, self.tests[name].wall_s = row["cpu_s"], row["wall_s"]
        for file, executed in row["files"].items():
            lines = self.lines.setdefault(file, {})
            for line in executed:
                lines.setdefault(line, set()).add(name)

    def stamp(self, test, inputs):
        """Changes with the test's program, and with the files beside a script."""
        parts = [inputs, *test.command]
        if test.command[0].endswith("tests/golden/run.py"):  # a case has files of its own
            folder, case = Path(test.command[0]).parent, test.command[2]
            return digest(*parts, *(path.read_bytes() for path in
                                    [folder / "run.py", *sorted(folder.glob(case + ".*"))]))
        for word in test.command:
            path = Path(word)
            if path.is_file():
                parts.append(path.read_bytes())
                if path.suffix == ".py":
                    parts += [other.read_bytes() for other in sorted(path.parent.rglob("*"))
                              if other.is_file()]
        return digest(*parts)

    def cover_one(self, test, path, stamp):
        """Runs a test with the instrumented libraries and keeps what it executed."""
        for _ in range(2):  # a busy machine deserves another try
            record = Path(tempfile.mkdtemp(prefix="cover-", dir=self.folder))
            os.chmod(record, 0o777)  # daemons of other users write there
            try:
                with self.alone if test.alone else contextlib.nullcontext():
                    status, cpu_s, wall_s = run_test(
                        test, self.shared.folder,
                        {"LD_LIBRARY_PATH": str(self.cover.folder), "RECORD_FOLDER": str(record)},
                        (self.longest_s + 1, 120 + 4 * self.longest_s), test.command)
                with self.lock:
                    files = self.map.executed(record)
                # Every program loads all of them: only what it executes is worth another run.
                libraries = {name: self.libraries.get(name, "") for name in
                             {f"libmyr_{unit.split('/')[1]}.so" for unit in files}}
            finally:
                shutil.rmtree(record)
            if status in (0, SKIPPED, None) or cpu_s > self.longest_s:
                break
        row = {"stamp": stamp, "status": status, "limit_s": self.longest_s,
               "cpu_s": cpu_s, "wall_s": wall_s,
               "libraries": libraries, "files": files}
        path.write_text(json.dumps(row))
        return row

    def watching(self, mutant):
        """(measured tests that could notice, whether any of them executes the line), in the order
        in which it pays to ask them."""
        module = mutant.file.split("/")[1]
        lines = self.lines.get(mutant.file, {})
        code, functions = self.map.of(mutant.file)
        names, far = lines.get(mutant.line, set()), set()
        executed = bool(names)
        if not code:  # in no library: a program's own
            names, executed = {name for name in self.measured if name in self.tests}, True
        elif not names:
            # No code of its own (a table, a constant, a line of a longer statement), or a block
            # that the debug information gives to other lines: whoever enters the function.
            span = self.around(mutant, functions)
            first, last = span or (0, 1 << 30)
            names = {name for line, found in lines.items() if first <= line <= last
                     for name in found}
            executed = mutant.line not in code
            if not span:  # a table: other files of the module read it too, `--help` for one
                far = self.readers(module) - names
        tests = [self.tests[name] for name in names if name in self.tests]
        # A module's own tests know most of it: four times as likely for the same price, and the one
        # of the same file twenty times. And who has noticed many will notice more, most of all in
        # the same file.
        own, same = module + "/", f"{module}/{Path(mutant.file).stem}"
        inside = {name for found in lines.values() for name in found}

        def price(test):
            likely = 20 if test.name == same else 4 if test.name.startswith(own) else 1
            likely *= 3 if test.name in inside else 1
            likely *= 4 if WHOLE.search(test.name) else 1
            seen = 1 + self.kills[test.name] + 10 * self.kills[test.name, mutant.file]
            return (test.alone, (0.05 + test.cost) / seen / likely, test.name)

        tests.sort(key=price)
        tests += sorted((self.tests[name] for name in far if name in self.tests), key=price)
        others = 0
        for at, test in enumerate(tests):
            others += not test.name.startswith(own)
            if others > self.most:
                return tests[:at], executed
        return tests, executed

    @staticmethod
    def around(mutant, functions):
        for first, last in functions:
            if first <= mutant.line <= last:
                return first, last
        return None

    def readers(self, module):
        """Tests that execute anything of a module."""
        folder = f"src/{module}/"
        with self.lock:
            if module not in self.entered:
                self.entered[module] = {name for file, lines in self.lines.items()
                                        if file.startswith(folder)
                                        for found in lines.values() for name in found}
            return self.entered[module]

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
        """(exit status, CPU seconds) of one run; 'swapped': programs built -> the mutant's own."""
        command = [swapped.get(word, word) for word in test.command] if swapped else test.command
        limit = (3 + 4 * test.cpu_s, 20 + 5 * test.wall_s)
        with self.alone if test.alone else contextlib.nullcontext():
            status, cpu_s, wall_s = run_test(test, self.shared.folder, environment, limit, command)
        if status == 0:
            # It was measured with the recorder in it, which may cost ten times as much.
            test.plain_s = min(test.plain_s, cpu_s + 0.2 * wall_s)
        return status, cpu_s
