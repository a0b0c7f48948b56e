#!/usr/bin/env python3
"""Every command in a document, run as a reader would type it.

    tests/docs/commands.py MYRIAD DOCUMENT [--update]

A document's blocks run from top to bottom in one shell, in an empty folder that holds `examples`,
with the program on the path and 80 columns. The word behind the fence says what a block is:

    sh       commands. Each must end with 0, or with the N of "# exit N" behind it
    console  a session: what follows "$ " is a command, what follows it is exactly what it prints
    others   output, data, code: not run (yaml, json, csv, c, text)

A second word behind the fence names the file that the block is: later commands find it.

A command with "# not tested: REASON" is left out, and counted. `make TARGET` is held against the
Makefile. In running text, every `myriad VERB ...` must name a verb and options that exist, and
every `--option` must be one of some verb or be listed in foreign.txt. --update rewrites the output
of sessions.
"""
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
LANGUAGES = ("sh", "console", "text", "yaml", "json", "csv", "c", "make")
FENCE = re.compile(r"^( *)```([^\n`]*)\n(.*?)^ *```$", re.M | re.S)
UNTESTED = re.compile(r"#\s*not tested: (\S.*)")
EXPECTED = re.compile(r"#.*\bexit (\d+)\b")
COMMAND_LIMIT_S = 240
MARK = "=-=command-ends=-="


def logical_lines(text):
    """The commands of a block: lines joined where they end in a backslash or a quote is open."""
    held = ""
    for line in text.splitlines():
        held += line + "\n"
        if line.endswith("\\") or not complete(held):
            continue
        if UNTESTED.match(line.strip()):
            continue  # the reason belongs to the command below it
        command = held.strip()
        held = ""
        if re.search(r"^[^#\s]", command, re.M):
            yield command
    if held.strip():
        yield held.strip()


def complete(text):
    try:
        shlex.split(text, comments=True)
    except ValueError:
        return False
    return True


class Shell:
    """One bash for a whole document, so that variables and files of a block serve the next."""

    def __init__(self, myriad):
        self.folder = tempfile.mkdtemp(prefix="myriad-docs-")
        os.chmod(self.folder, 0o755)  # ranks are other users' processes
        path = Path(self.folder) / "bin"
        path.mkdir()
        (path / "myriad").symlink_to(myriad)
        (path / "myriad-agent").symlink_to(Path(myriad).with_name("myriad-agent"))
        self.work = Path(self.folder) / "work"
        self.work.mkdir()
        shutil.copytree(ROOT / "examples", self.work / "examples")
        home = Path(self.folder) / "home"
        home.mkdir()
        environment = {"PATH": f"{path}:{os.environ['PATH']}", "HOME": str(home), "LANG": "C.UTF-8",
                       "COLUMNS": "80", "TERM": "dumb", "PS1": ""}
        # Where tests/engines has started the real thing.
        environment |= {name: os.environ[name] for name in ("SLURM_CONF", "MEMBERS")
                        if name in os.environ}
        self.shell = subprocess.Popen(["bash", "--noprofile", "--norc"], stdin=subprocess.PIPE,
                                      stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                      cwd=self.work, env=environment, encoding="utf-8")

    def run(self, command):
        """Exit status, and standard output and error together, in their order."""
        self.shell.stdin.write(f"{{ {command}\n}} </dev/null\nprintf '\\n{MARK} %s\\n' $?\n")
        self.shell.stdin.flush()
        lines = []
        for line in self.shell.stdout:
            if line.startswith(MARK):
                text = "".join(lines)
                return int(line.split()[1]), text[:-1] if text.endswith("\n") else text
            lines.append(line)
        return self.shell.wait(), "".join(lines)

    def close(self):
        self.shell.stdin.close()
        self.shell.wait(timeout=COMMAND_LIMIT_S)
        self.shell.stdout.close()
        shutil.rmtree(self.folder)


class Document:
    def __init__(self, myriad, path):
        self.path = path
        self.name = path.relative_to(ROOT)
        self.text = path.read_text(encoding="utf-8")
        self.shell = Shell(myriad)
        self.faults, self.untested, self.ran = [], [], 0

    def fault(self, place, what):
        line = self.text.count("\n", 0, place) + 1
        self.faults.append(f"{self.name}:{line}: {what}")

    def left_out(self, command):
        found = UNTESTED.search(command)
        if found:
            self.untested.append(found.group(1))
        return bool(found)

    def run_commands(self, block):
        for command in logical_lines(block.group(3)):
            if self.left_out(command):
                continue
            made = re.match(r"make( [^#\n]*)?(#.*)?$", command)
            if made:
                self.check_make(block.start(), made.group(1) or "")
                continue
            wanted = EXPECTED.search(command)
            status, output = self.shell.run(command)
            self.ran += 1
            if status != int(wanted.group(1) if wanted else 0):
                self.fault(block.start(), f"exit {status}: {command}\n{output[-800:]}")

    def check_make(self, place, words):
        """The target exists; what it does is the business of other tests."""
        done = subprocess.run(["make", "-n", *shlex.split(words)], cwd=ROOT, capture_output=True,
                              text=True, check=False)
        self.ran += 1
        if done.returncode != 0:
            self.fault(place, f"make {words}: {done.stderr.strip()}")

    def run_session(self, block):
        """The block as it should read; a fault where it reads otherwise."""
        written = []
        parts = re.split(r"^\$ ", block.group(3), flags=re.M)
        for part in parts[1:]:
            lines = part.split("\n")
            count = 1
            while not complete("\n".join(lines[:count])) or lines[count - 1].endswith("\\"):
                count += 1
            command, shown = "\n".join(lines[:count]), "\n".join(lines[count:])
            wanted = EXPECTED.search(command)
            status, output = self.shell.run(command)
            self.ran += 1
            if status != int(wanted.group(1) if wanted else 0):
                self.fault(block.start(), f"exit {status}: {command}\n{output[-800:]}")
            if output.strip("\n") != shown.strip("\n"):
                self.fault(block.start(), f"prints something else: {command}\n--- now\n{output}")
            gap = "\n" if shown.endswith("\n\n") and part is not parts[-1] else ""
            written.append("$ " + command + "\n" + output.strip("\n") + ("\n" if output else "") +
                           gap)
        return parts[0] + "".join(written)

    def run(self, update):
        fresh, at = [], 0
        bare = FENCE.sub(lambda found: re.sub(r"[^\n]", "x", found.group()), self.text)
        for found in re.finditer(r"\n\n {4}(?! *(?:[-*]|\d+\.) )\S", bare):
            self.fault(found.end(), "an indented block; say with a fence what it is")
        for block in FENCE.finditer(self.text):
            fresh.append(self.text[at:block.start(3)])
            at = block.end(3)
            language, _, file = block.group(2).strip().partition(" ")
            if file:
                (self.shell.work / file).write_text(block.group(3), encoding="utf-8")
            if language not in LANGUAGES:
                self.fault(block.start(), f"'{language}' behind the fence; one of "
                                          f"{', '.join(LANGUAGES)} is expected")
            if language == "sh":
                self.run_commands(block)
            fresh.append(self.run_session(block) if language == "console" else block.group(3))
        fresh.append(self.text[at:])
        self.shell.close()
        if update:
            self.path.write_text("".join(fresh), encoding="utf-8")


class Options:
    """Which options each verb and sub-verb has, from what the program says about itself."""

    def __init__(self, myriad):
        done = subprocess.run([myriad, "commands", "-o", "json"], capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, check=True)
        self.known = {}
        for command in json.loads(done.stdout)["commands"]:
            known = self.known[command["name"]] = {"--help"}
            for option in command["options"]:
                known |= {"--" + option["name"], "--no-" + option["name"]}
        self.verbs = {name.split()[0] for name in self.known}
        self.every = set().union(*self.known.values())
        self.foreign = set(re.findall(r"^--\S+", (HERE / "foreign.txt").read_text(), re.M))

    @staticmethod
    def script(word):
        """The options that a script of the tree has in its text; None when there is no such one."""
        if not word.endswith(".py"):
            return None
        found = [ROOT / word] if (ROOT / word).is_file() else [
            path for folder in ("tests", "tools", "bench")
            for path in sorted((ROOT / folder).rglob(word))]
        return set(re.findall(r"""["'](--[a-z][a-z-]*)["']""",
                              "".join(path.read_text() for path in found))) if found else None

    def faults(self, code):
        words = code.split()
        given = [word.split("=")[0].rstrip(",.;") for word in words
                 if re.match(r"\[?--[a-z]", word)]
        given = [word.lstrip("[").rstrip("]") for word in given]
        if words[0] == "myriad" and len(words) > 1 and re.fullmatch(r"[a-z]+", words[1]):
            if words[1] not in self.verbs | {"help", "version"}:
                yield f"no verb '{words[1]}'"
                return
            name = " ".join(words[1:3])
            name = name if name in self.known else words[1]
            # A verb that is nothing by itself: any of its sub-verbs may be meant.
            known = self.known.get(name) or set().union(
                *(known for sub, known in self.known.items() if sub.startswith(name + " ")))
            yield from (f"myriad {name} has no {option}" for option in given
                        if option not in known and option not in self.foreign)
        elif (known := self.script(words[0])) is not None:
            yield from (f"{words[0]} has no {option}" for option in given if option not in known)
        elif words[0] != "myriad":
            yield from (f"no verb has {name}" for name in given
                        if name not in self.every and name not in self.foreign)


def check_words(document, options):
    prose = FENCE.sub(lambda found: re.sub(r"[^\n]", " ", found.group()), document.text)
    for found in re.finditer(r"`([^`]+)`", prose):
        if "myriad " in found.group(1) or "--" in found.group(1):
            for what in options.faults(found.group(1).strip()):
                document.fault(found.start(), f"{what}: `{found.group(1)}`")


def main():
    names = [word for word in sys.argv[1:] if not word.startswith("-")]
    if len(names) != 2:
        sys.exit(__doc__)
    myriad = os.path.abspath(names[0])
    document = Document(myriad, (ROOT / names[1]).resolve())
    document.run("--update" in sys.argv)
    if document.path.name != "CHANGELOG.md":  # which speaks of what is gone
        check_words(document, Options(myriad))
    for line in [*document.faults, *(f"not tested: {line}" for line in document.untested)]:
        print(line)
    print(f"{document.name}: {document.ran} commands run, {len(document.untested)} left out with a "
          f"reason, {len(document.faults)} faults")
    sys.exit(1 if document.faults else 0)


if __name__ == "__main__":
    main()
