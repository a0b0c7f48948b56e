"""What an installed tree must hold and do, however it got there."""
import json
import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent


def run(*command, **options):
    """Standard output of a command that must succeed."""
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                          stdin=subprocess.DEVNULL, check=False, **options)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, command))}: exit {done.returncode}\n"
                         f"{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.stdout


def clean_environment(**more):
    """As on a machine where nobody has set anything up."""
    kept = {name: value for name, value in os.environ.items()
            if name in ("LANG", "HOME", "ASAN_OPTIONS", "UBSAN_OPTIONS")}
    return {"PATH": "/usr/bin:/bin", **kept, **more}


class Tree:
    """A tree that was staged under 'stage' for the given prefix."""

    def __init__(self, stage, prefix, zsh="site-functions"):
        self.stage, self.zsh = Path(stage), zsh
        self.top = self.stage / prefix.lstrip("/")
        self.checks = 0

    def expect(self, holds, what):
        self.checks += 1
        if not holds:
            raise SystemExit(f"not so: {what}")

    def file(self, name):
        path = self.top / name
        self.expect(path.is_file() or path.with_name(path.name + ".gz").is_file(), f"{name} exists")
        return path

    def check_command(self):
        version = run(self.file("bin/myriad"), "--version", env=clean_environment())
        # Sources without a history, such as those of a tarball, know no commit.
        known = r" \([0-9a-f]{7}\)" if (ROOT / ".git").exists() else ""
        self.expect(re.fullmatch(rf"myriad \d+\.\d+\.\d+{known}\n", version),
                    f"'{version.strip()}' names version and commit")
        with tempfile.TemporaryDirectory() as folder:
            spec = self.file("share/doc/myriad/examples/h100-64.yaml")
            text = run(self.top / "bin/myriad", "plan", spec, "--out", "out", "-o", "json",
                       cwd=folder, env=clean_environment())
            self.expect(json.loads(text)["gpus"] == 512, "the installed program plans")
            self.expect((Path(folder) / "out/design.myr").exists(), "and writes its files")

    def check_pages(self):
        overview = run(self.top / "bin/myriad", "--help", env=clean_environment())
        verbs = re.findall(r"^  ([a-z]+)  +\S", overview, re.M)
        self.expect(len(verbs) > 10, "the overview lists the verbs")
        for name in ["myriad", *(f"myriad-{verb}" for verb in verbs)]:
            self.file(f"share/man/man1/{name}.1")
        if shutil.which("man"):
            page = run("man", "--warnings", "-M", self.top / "share/man", "myriad",
                       env=clean_environment(MANWIDTH="80", LC_ALL="C.UTF-8"))
            for word in ("NAME", "EXIT STATUS", "130"):
                self.expect(word in page, f"myriad(1) says {word}")
            for verb in verbs:
                page = run("man", "--warnings", "-M", self.top / "share/man", f"myriad-{verb}",
                           env=clean_environment(MANWIDTH="80", LC_ALL="C.UTF-8"))
                wide = [line for line in page.splitlines() if len(line) > 80]
                self.expect(not wide, f"myriad-{verb}(1) fits 80 columns: {wide}")

    def check_units(self):
        """The units are there, and name no folder of the machine that built them."""
        for name in ("myriad.service", "myriad-relay.service", "myriad-agent.service"):
            text = self.file(f"lib/systemd/system/{name}").read_text()
            self.expect("Type=notify" in text and "\nExecStart=myriad" in text,
                        f"{name} starts the program wherever it lies")
        self.expect("KillMode=process" in text, "stopping the agent stops no rank")

    def check_completion(self):
        share = self.top / "share"
        bash = self.file("share/bash-completion/completions/myriad")
        words = run("bash", "-c", f"source '{bash}'; complete -p myriad; "
                    "COMP_WORDS=(myriad pl); COMP_CWORD=1; COMP_LINE='myriad pl'; COMP_POINT=9; "
                    "f=$(complete -p myriad | sed 's/.*-F \\([^ ]*\\).*/\\1/'); "
                    "$f myriad pl myriad; echo ${COMPREPLY[*]}")
        self.expect("plan" in words.split(), "bash completes a verb")
        zsh = self.file(f"share/zsh/{self.zsh}/_myriad")
        if shutil.which("zsh"):
            run("zsh", "-fn", zsh)
        fish = share / "fish/vendor_completions.d/myriad.fish"
        self.file(fish.relative_to(self.top))
        if shutil.which("fish"):
            with tempfile.TemporaryDirectory() as home:
                offered = run("fish", "--no-config", "-c",
                              f"source {fish}; complete --do-complete 'myriad pl'",
                              env=clean_environment(HOME=home))
            self.expect("plan" in offered, "fish completes a verb")

    def check_documents(self):
        for name in ("README.md", "README.zh.md", "CHANGELOG.md", "docs/spec.md"):
            self.file(f"share/doc/myriad/{name}")
        for page in (self.top / "share/doc/myriad").rglob("*.md"):
            text = page.read_text(encoding="utf-8")
            for target in re.findall(r"\]\((?![a-z]+:)([^)#\s]+)[^)]*\)", text):
                beside = page.parent / target
                self.expect(beside.exists() or target == "LICENSE",
                            f"{page.name} links to {target}, which is installed")

    def check_library(self):
        """A user's program, compiled against the tree and nothing of ours beside it."""
        pc = list(self.top.rglob("myriad.pc"))
        self.expect(len(pc) == 1, "one myriad.pc")
        environment = clean_environment(PKG_CONFIG_PATH=str(pc[0].parent))
        flags = run("pkg-config", "--static", "--cflags", "--libs", "myriad", env=environment)
        self.expect(str(self.stage.resolve()) in str(Path(flags.split()[0][2:]).resolve()),
                    "pkg-config points into the tree")
        archive = list(self.top.rglob("libmyriad.a"))[0]
        names = [line.split()[-1] for line in
                 run("nm", "-g", "--defined-only", archive).splitlines() if len(line.split()) == 3]
        self.expect(len(names) > 300, "the archive is not empty")
        self.expect(not [name for name in names if not name.startswith(("myr_", "__"))],
                    "the library defines nothing but myr_*")
        with tempfile.TemporaryDirectory() as folder:
            source = self.file("share/doc/myriad/examples/library/plan.c")
            run("gcc", "-std=gnu17", "-Wall", "-Werror", source, *flags.split(), "-o",
                f"{folder}/plan", env=environment)
            said = run(f"{folder}/plan", self.file("share/doc/myriad/examples/h100-64.yaml"))
        self.expect(said.startswith("512 GPUs, "), "the user's program plans")

    def check_ccl(self):
        """The library that stands alone, by its own pkg-config file: two processes add up."""
        pc = list(self.top.rglob("myriad-ccl.pc"))
        self.expect(len(pc) == 1, "one myriad-ccl.pc")
        environment = clean_environment(PKG_CONFIG_PATH=str(pc[0].parent))
        flags = run("pkg-config", "--cflags", "--libs", "myriad-ccl", env=environment)
        library = list(self.top.rglob("libmyriad-ccl.so.0"))[0].parent
        self.expect((library / "myriad/libnccl-profiler-myriad.so").is_file(), "NCCL's plugin")
        with tempfile.TemporaryDirectory() as folder:
            source = self.file("share/doc/myriad/examples/ccl/sum.c")
            run("gcc", "-std=gnu17", "-Wall", "-Werror", source, *flags.split(), "-o",
                f"{folder}/sum", env=environment)
            there = clean_environment(LD_LIBRARY_PATH=str(library))
            said = run(f"{folder}/sum", f"packaging-{os.getpid()}", "1", "3", env=there)
            self.expect(said == "3 steps; 1 members in epoch 1\n", f"the example says {said!r}")
            python = self.file("share/doc/myriad/python/myriad/ccl.py").parent.parent
            said = run("python3", self.file("share/doc/myriad/examples/ccl/sum.py"),
                       f"packaging-{os.getpid()}", "1", "3",
                       env={**there, "PYTHONPATH": str(python), "PYTHONDONTWRITEBYTECODE": "1"})
            self.expect(said == "3 steps; 1 members in epoch 1\n", f"from Python: {said!r}")

    def check(self):
        self.check_command()
        self.check_pages()
        self.check_completion()
        self.check_units()
        self.check_documents()
        self.check_library()
        self.check_ccl()
        return self.checks
