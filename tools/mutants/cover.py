"""Which lines of the modules a test executes, out of what record.c wrote.

A block of code begins behind a call of the recorder and goes to the next one; its lines are those
that the debug information gives to the addresses between.
"""
import bisect
import re
import subprocess
from pathlib import Path

CALL = re.compile(r"^ *([0-9a-f]+):\s+call\w*\s.*<__sanitizer_cov_trace_pc(?:@plt)?>")
NEXT = re.compile(r"^ *([0-9a-f]+):\s")
FUNCTION = re.compile(r"^([0-9a-f]+) <([\w.]+)>:$")
UNIT = re.compile(r"^CU: (?:\S*?/)?(src/\S+\.c):$")
ROW = re.compile(r"^(\S+)\s+(\d+)\s+(0x[0-9a-f]+|0)\b")


def said(command):
    """The lines that a tool of binutils prints."""
    child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    yield from child.stdout
    child.wait()


class Library:
    """The blocks, lines and functions of one module's library."""

    def __init__(self, path):
        self.starts, self.functions = [], []
        self.read_code(path)
        self.blocks = [set() for _ in self.starts]  # (file, line) of each block
        self.lines = {}  # file -> every line with code
        self.spans = {}  # file -> function's address -> [first line, last line]
        self.read_lines(path)

    def read_code(self, path):
        called = False
        for line in said(["objdump", "-d", "--no-show-raw-insn", path]):
            found = FUNCTION.match(line)
            if found:
                self.functions.append(int(found.group(1), 16))
                continue
            here = NEXT.match(line)
            if here and called:
                self.starts.append(int(here.group(1), 16))
            called = bool(CALL.match(line))

    def read_lines(self, path):
        unit = base = None
        for text in said(["readelf", "--debug-dump=decodedline", "-W", path]):
            found = UNIT.match(text)
            if found or text.startswith("CU: "):
                unit = found.group(1) if found else None
                base = Path(unit).name if unit else None
                continue
            row = ROW.match(text) if unit else None
            if not row or row.group(1) != base:
                continue
            self.add(unit, int(row.group(2)), int(row.group(3), 16))

    def add(self, unit, line, address):
        self.lines.setdefault(unit, set()).add(line)
        at = bisect.bisect_right(self.starts, address) - 1
        function = bisect.bisect_right(self.functions, address) - 1
        if at >= 0 and function >= 0 and self.starts[at] >= self.functions[function]:
            self.blocks[at].add((unit, line))
        span = self.spans.setdefault(unit, {}).setdefault(function, [line, line])
        span[0], span[1] = min(span[0], line), max(span[1], line)

    def executed(self, seen):
        """file -> lines of a test that left these bytes."""
        files = {}
        for start, block in zip(self.starts, self.blocks):
            if start < len(seen) and seen[start]:
                for unit, line in block:
                    files.setdefault(unit, set()).add(line)
        return files


class Map:
    """The libraries of the instrumented build; each is read when a test first executes it."""

    def __init__(self, folder):
        self.folder, self.libraries = folder, {}

    def library(self, name):
        if name not in self.libraries:
            self.libraries[name] = Library(self.folder / name)
        return self.libraries[name]

    def executed(self, record):
        """file -> sorted lines, of a test whose processes wrote into the folder."""
        files = {}
        for path in sorted(record.glob("libmyr_*.so")):
            for unit, lines in self.library(path.name).executed(path.read_bytes()).items():
                files[unit] = sorted(lines)
        return files

    def of(self, name):
        """(lines with code, [first, last] of functions) of one source."""
        library = self.library(f"libmyr_{name.split('/')[1]}.so")
        return library.lines.get(name, set()), list(library.spans.get(name, {}).values())
