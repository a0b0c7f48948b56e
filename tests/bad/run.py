#!/usr/bin/env python3
"""Feeds bad input to the program and looks at how it refuses it.

    tests/bad/run.py MYRIAD [NAME...]

Every case must end with exit code 2, nothing on standard output, one line on standard error that
begins with "myriad: FILE:LINE:COLUMN: " (a line "hint: ..." may follow), no file written, and all
that in time. Complaints about a file as a whole (it is missing, too large) have no line and column.
A sanitizer's report breaks the same rules, so nothing more is needed to see one.

Cases: specs.txt, catalogs.txt, boms.txt, claims.txt, layouts.txt, prices.txt, and what is made
here. With NAMEs, only cases that begin like one.
"""
import concurrent.futures
import os
import random
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import zlib
from pathlib import Path

HERE = Path(__file__).resolve().parent
EXAMPLE = HERE.parent.parent / "examples" / "h100-64.yaml"
TIMEOUT_S = 600  # a sanitizer build on a busy machine
SEED = 20240523
EVERY = int(os.environ.get("MYRIAD_EVERY", "1"))  # sanitizers see one in so many

GOOD_SPEC = b"servers: 4\n"
# An audit with everything in order but one file: its option (None: the operand) and its name.
AUDIT_SPEC = (b"servers: 4\nnetworks: {compute: , storage: }\n"
              b"storage: {capacity_tb: 100, rate: best}\n")
AUDIT_FILES = {"bom": (None, "bom.csv", b"part,quantity\nmqm9790-ns2f,2\n"),
               "claims": ("--claims", "claims.yaml", b"servers: 4\n"),
               "layout": ("--layout", "layout.csv", b"rack,item,count\nA1,h100-8gpu,1\n")}
SMALL_SPEC = (b"servers: 4\nserver: generic-1gpu\nnetworks: {compute: {topology: clos}}\n"
              b"room: {rows: 2, columns: 3, power: [{name: a, rows: 1-2}, {name: b, rows: 1-2}]}\n")


class Case:
    """One call of the program, and what must come of it."""

    def __init__(self, name, expected, spec=None, catalog=None, design=None, path=None,
                 room=None, may_pass=False, audit=None, prices=None):
        self.name = name
        self.expected = expected  # how the complaint begins behind "FILE:"; None: any place
        self.spec, self.catalog, self.design, self.path = spec, catalog, design, path
        self.prices = prices
        self.audit = audit  # (which of AUDIT_FILES, its text)
        self.room = room
        self.message = ""  # what the program said
        self.may_pass = may_pass  # exit 0 or 1 is right as well: the damage need not show

    def command(self, folder):
        """Writes the files; returns the arguments and the name of the bad file."""
        bad = self.path
        if self.prices is not None:
            (folder / "good.yaml").write_bytes(GOOD_SPEC)
            (folder / "prices.csv").write_bytes(self.prices)
            return ["plan", "good.yaml", "--prices", "prices.csv", "--out", "out"], "prices.csv"
        if self.audit is not None:
            (folder / "good.yaml").write_bytes(AUDIT_SPEC)
            arguments = ["plan", "audit", "--spec", "good.yaml"]
            for kind, (option, file, text) in AUDIT_FILES.items():
                (folder / file).write_bytes(self.audit[1] if kind == self.audit[0] else text)
                arguments += [option, file] if option else [file]
            return arguments, AUDIT_FILES[self.audit[0]][1]
        if self.design is not None:
            bad = "bad.myr"
            (folder / bad).write_bytes(self.design)
            return ["design", bad], bad
        if bad is not None and bad.endswith(".myr"):
            return ["design", bad], bad
        if self.catalog is not None:
            bad = "bad-catalog.yaml"
            (folder / bad).write_bytes(self.catalog)
            (folder / "good.yaml").write_bytes(GOOD_SPEC)
            return ["plan", "good.yaml", "--catalog", bad, "--out", "out"], bad
        if self.room is not None:
            bad = "bad-room.yaml"
            (folder / bad).write_bytes(self.room)
            (folder / "good.yaml").write_bytes(GOOD_SPEC + b"room: bad-room.yaml\n")
            return ["plan", "good.yaml", "--out", "out"], bad
        if self.spec is not None:
            bad = "bad.yaml"
            (folder / bad).write_bytes(self.spec)
        return ["plan", bad, "--out", "out"], bad

    def faults(self, myriad, folder):
        arguments, bad = self.command(folder)
        before = sorted(os.listdir(folder))
        try:
            result = subprocess.run([myriad, *arguments], cwd=folder, capture_output=True,
                                    timeout=TIMEOUT_S, stdin=subprocess.DEVNULL, check=False)
        except subprocess.TimeoutExpired:
            yield f"still running after {TIMEOUT_S} s"
            return
        if self.may_pass and result.returncode in (0, 1):
            if b"Sanitizer" in result.stderr or b"runtime error" in result.stderr:
                yield f"a sanitizer spoke: {result.stderr[:2000]!r}"
            return
        if result.returncode != 2:
            yield f"exit code {result.returncode}, 2 is expected"
        if result.stdout:
            yield f"standard output: {result.stdout[:200]!r}"
        after = sorted(os.listdir(folder))
        if after != before:
            yield f"left behind: {', '.join(set(after) - set(before))}"
        yield from self.message_faults(result.stderr, bad)

    def message_faults(self, stderr, bad):
        try:
            text = stderr.decode("utf-8")
        except UnicodeDecodeError:
            yield f"standard error is not UTF-8: {stderr[:200]!r}"
            return
        lines = text.split("\n")
        if lines.pop() != "":
            yield "no line end at the end of standard error"
        if not lines or len(lines) > 2 or (len(lines) == 2 and not lines[1].startswith("hint: ")):
            yield f"one line and at most one hint are expected: {text[:2000]!r}"
            return
        if any(ord(c) < 32 or ord(c) == 127 for c in "".join(lines)):
            yield f"control characters in the message: {text[:300]!r}"
        start = f"myriad: {bad}:"
        self.message = lines[0]
        expected = self.expected
        if not lines[0].startswith(start):
            yield f"'{start}' is expected in front: {lines[0]}"
        elif expected is None and not re.match(r"\d+:\d+: \S", lines[0][len(start):]):
            yield f"line and column are expected: {lines[0]}"
        elif expected is not None and not lines[0][len(start):].startswith(expected):
            yield f"expected: {start}{expected}\n     got: {lines[0]}"


def table(name):
    """(case name, expected, text) of a table of cases."""
    for block in re.split(r"^==(?!=) ?", (HERE / name).read_text("utf-8"), flags=re.M)[1:]:
        block = re.split(r"^===.*\n?", block, flags=re.M)[0]
        head, expected, body = block.split("\n", 2)
        assert expected.startswith(">> "), head
        yield head.strip(), expected[3:], body.encode("utf-8")


def nested(opening, depth):
    return b"servers: 4\nname: " + opening * depth


def block_nested(depth):
    return b"".join(b" " * i + b"a:\n" for i in range(depth))


def bomb():
    """Nine levels of nine aliases: a billion nodes when written out."""
    lines = ["a: &a [x, x, x, x, x, x, x, x, x]"]
    for above, below in zip("bcdefghi", "abcdefgh"):
        lines.append(f"{above}: &{above} [{', '.join(['*' + below] * 9)}]")
    return ("servers: 4\n" + "\n".join(lines) + "\n").encode()


def made_specs():
    rng = random.Random(SEED)
    many_items = b"servers: 4\nitems:\n" + b"- {part: firewall}\n" * 65
    many_accepts = b"servers: 4\naccept: [" + b"r, " * 300 + b"r]\n"
    pins = b", ".join(b"%s: 1" % bytes(name) for name in case_variants(b"mqm9790-ns2f", 33))
    many_pins = b"servers: 4\nnetworks: {compute: {pin: {quantities: {%s}}}}\n" % pins
    word = b"x" * (1 << 20)
    yield "empty-file", "1:1: the file is empty", b""
    yield "blank-lines", "1:1: the file is empty", b"\n\n   \n"
    yield "truncated-file", None, EXAMPLE.read_bytes().split(b"_nodes, eth")[0]
    yield "binary-garbage", None, rng.randbytes(4096)
    yield "elf-header", None, b"\x7fELF\x02\x01\x01" + bytes(64)
    yield "nul-byte", None, b"servers: 4\nname: a\0b\n"
    yield "invalid-utf8", None, b"servers: 4\nname: \xff\xfe\n"
    yield "cut-utf8", None, b"servers: 4\nname: \xe4\xb8"
    yield "utf16", None, "servers: 4\n".encode("utf-16")
    yield "latin1", None, "servers: 4\nname: caf\u00e9\n".encode("latin-1")
    yield "deep-flow-lists", None, nested(b"[", 5000)
    yield "deep-flow-maps", None, nested(b"{a: ", 5000)
    yield "deep-flow-closed", None, nested(b"[", 5000) + b"]" * 5000
    yield "deep-block", None, block_nested(5000)
    yield "deep-block-lists", None, b"- " * 5000 + b"x\n"
    yield "alias-bomb", None, bomb()
    yield "long-name", "2:7: 'name' has 1048576 bytes", b"servers: 4\nname: " + word
    yield "long-number", "1:10: 'servers' is '999", b"servers: " + b"9" * (1 << 20)
    yield "long-part", "2:9: unknown server 'xxx", b"servers: 4\nserver: " + word
    yield "long-key", None, word + b": 4\n"
    yield "long-topology", None, b"servers: 4\nnetworks: {compute: {topology: %s}}\n" % word
    yield "many-keys", None, b"".join(b"key%d: 1\n" % i for i in range(100000))
    yield "many-items", "3:1: more than 64 items", many_items
    yield "many-accepts", "2:9: 'accept' has 301 entries", many_accepts
    yield "many-quantities", None, many_pins
    accept_word = b"servers: 4\naccept: [%s]\n" % word
    yield "accept-long-name", "2:10: 'accept' has 1048576 bytes", accept_word


def case_variants(name, count):
    """Spellings of one name that differ in case: different keys, the same part."""
    for number in range(count):
        yield bytes(c - 32 if 97 <= c <= 122 and number >> min(i, 30) & 1 else c
                    for i, c in enumerate(name))


def made_rooms():
    """Rooms in a file of their own: the complaint is about that file."""
    yield "empty-file", "1:1: the file is empty", b""
    yield "list", "1:1: 'room' is a list, a map of keys is expected", b"- 4\n"
    yield "unknown-key", "1:1: unknown key 'row' in room; did you mean", b"row: 4\n"
    yield "rows", "2:7: 'rows' is 'x', a whole number", b"# a room\nrows: x\n"
    yield "too-small", "1:1: the room is too small: ", b"rows: 1\ncolumns: 2\n"
    yield "binary", None, b"\x00\x01\x02" * 100
    again = "1:1: looks like a spec; a room is expected"
    yield "a-spec-again", again, b"servers: 4\nroom: bad-room.yaml\n"


def made_catalogs():
    yield "empty-file", "1:1: the file is empty", b""
    yield "binary-garbage", None, random.Random(SEED).randbytes(1000)
    yield "deep", None, b"switches: " + b"{a: " * 5000
    yield "long-title", None, (b"switches: {mqm9790-ns2f: {title: %s}}\n" % (b"x" * 100000))


# The layout of design.myr (src/model/design_file.c): a header of 32 bytes, then the table.
HEADER_BYTES, ENTRY_BYTES = 32, 40


def entries(image):
    count = struct.unpack_from("<I", image, 12)[0]
    for i in range(count):
        at = HEADER_BYTES + i * ENTRY_BYTES
        yield (at, *struct.unpack_from("<8sIIQQII", image, at))


def with_checksums(image):
    """The image with all checksums made right again: what lies behind them is looked at."""
    image = bytearray(image)
    for at, _tag, _version, _item, offset, size, _crc, _pad in list(entries(image)):
        crc = zlib.crc32(image[offset:offset + size]) if size else 0
        struct.pack_into("<I", image, at + 32, crc)
    count = struct.unpack_from("<I", image, 12)[0]
    table_end = HEADER_BYTES + count * ENTRY_BYTES
    struct.pack_into("<I", image, 24, zlib.crc32(image[HEADER_BYTES:table_end]))
    struct.pack_into("<I", image, 28, zlib.crc32(image[:28]))
    return bytes(image)


def flipped(image, bit):
    image = bytearray(image)
    image[bit // 8] ^= 1 << bit % 8
    return bytes(image)


def design_cases(image):
    rng = random.Random(SEED)
    size = len(image)
    unusable = "1:1: not a usable design"
    version = bytearray(image)
    struct.pack_into("<I", version, 8, 2)
    yield Case("design/zero-length", unusable, design=b"")
    yield Case("design/wrong-magic", unusable, design=b"NOTMYR\r\n" + image[8:])
    yield Case("design/text-mode", unusable, design=image.replace(b"\r\n", b"\n"))
    yield Case("design/wrong-version", "1:1: design file of version 2", design=bytes(version))
    yield Case("design/grown", unusable, design=image + bytes(64))
    yield Case("design/twice", unusable, design=image + image)
    yield Case("design/a-spec", "1:1: looks like a spec; a design.myr is expected",
               design=EXAMPLE.read_bytes())
    yield Case("design/zeros", unusable, design=bytes(size))
    yield Case("design/garbage", unusable, design=image[:32] + rng.randbytes(size - 32))
    cuts = {1, 7, 8, 31, 32, 33, size - 1, size - 64}
    cuts |= {offset + rng.randrange(1 + length) for _, _, _, _, offset, length, _, _ in
             entries(image)}
    cuts |= {rng.randrange(1, size) for _ in range(40)}
    for cut in sorted(cuts):
        if cut < size:
            yield Case(f"design/cut-{cut}", unusable, design=image[:cut])
    for bit in sorted(rng.sample(range(size * 8), 200)):
        yield Case(f"design/bit-{bit}", "1:1: ", design=flipped(image, bit))
    for at in sorted(rng.sample(range(0, size - 4, 4), 200)):
        wrong = bytearray(image)
        value = rng.choice((0, 1, 0xFF, 0xFFFF, 0x7FFFFFFF, 0xFFFFFFFE, 0xFFFFFFFF,
                            rng.getrandbits(32)))
        struct.pack_into("<I", wrong, at, value)
        if at >= HEADER_BYTES + ENTRY_BYTES * struct.unpack_from("<I", image, 12)[0]:
            yield Case(f"design/word-{at}", "1:1: ", design=with_checksums(wrong), may_pass=True)


def path_cases(folder):
    """Names of files that cannot be read; each is made in the case's own folder."""
    (folder / "folder").mkdir()
    (folder / "folder.myr").mkdir()
    with open(folder / "large.yaml", "wb") as large:
        large.write(b"# remark\n" * ((64 << 20) // 9 + 1))
    yield Case("path/missing", " cannot open: ", path="missing.yaml")
    yield Case("path/missing-folder", " cannot open: ", path="no/such/folder/spec.yaml")
    yield Case("path/directory", " cannot read: ", path="folder")
    yield Case("path/too-large", " larger than ", path="large.yaml")
    yield Case("path/design-missing", " cannot open: ", path="missing.myr")
    yield Case("path/design-directory", "1:1: not a usable design", path="folder.myr")
    # Without an end: refused by its first bytes.
    yield Case("path/endless", "1:1: looks like binary data; a spec is", path="/dev/zero")


class Fifo(Case):
    """A design or a spec that comes through a FIFO: as good as a file, and refused like one."""

    def __init__(self, name, verb, text, expected=None):
        super().__init__("fifo/" + name, expected)
        self.verb, self.text = verb, text

    def faults(self, myriad, folder):
        os.mkfifo(folder / "pipe.myr")
        words = [myriad, *self.verb, "pipe.myr", *(["--out", "out"] if "plan" in self.verb else [])]
        with subprocess.Popen(words, cwd=folder, stdin=subprocess.DEVNULL, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE) as program:
            with open(folder / "pipe.myr", "wb") as pipe:
                try:
                    pipe.write(self.text)
                except BrokenPipeError:
                    pass  # refused by its beginning
            out, said = program.communicate(timeout=TIMEOUT_S)
        if (program.returncode, bool(out)) != ((2, False) if self.expected else (0, True)):
            yield f"exit code {program.returncode}, {len(out)} bytes printed: {said}"
        if self.expected and not said.startswith(f"myriad: pipe.myr:1:1: {self.expected}"):
            yield f"{self.expected!r} is expected: {said}"


def fifo_cases(image):
    yield Fifo("design", ["design"], image)
    yield Fifo("spec", ["plan"], GOOD_SPEC)
    yield Fifo("design-of-a-spec", ["design"], GOOD_SPEC, "looks like a spec; a design.myr is ")
    yield Fifo("design-cut", ["design"], image[:100], "not a usable design file: ")
    yield Fifo("spec-of-a-design", ["plan"], image, "looks like a design.myr; a spec is ")


def spec_cases():
    for name, expected, text in table("specs.txt"):
        yield Case("spec/" + name, expected, spec=text)
    for name, expected, text in made_specs():
        yield Case("spec/" + name, expected, spec=text)
    example = EXAMPLE.read_bytes()
    for cut in range(1, len(example), 61):  # a spec that is cut may still be a spec
        yield Case(f"spec/cut-{cut}", None, spec=example[:cut], may_pass=True)
    for name, expected, text in made_rooms():
        yield Case("room/" + name, expected, room=text)
    for name, expected, text in table("catalogs.txt"):
        yield Case("catalog/" + name, expected, catalog=text)
    for name, expected, text in made_catalogs():
        yield Case("catalog/" + name, expected, catalog=text)


def audit_cases():
    for kind, file in (("bom", "boms.txt"), ("claims", "claims.txt"), ("layout", "layouts.txt")):
        for name, expected, text in table(file):
            yield Case(f"{kind}/{name}", expected, audit=(kind, text))
    for name, expected, text in table("prices.txt"):
        yield Case(f"prices/{name}", expected, prices=text)
    many = b"part,quantity\n" + b"mqm9790-ns2f,1\n" * 2001
    yield Case("bom/many-lines", "2002:1: more than 2000 lines", audit=("bom", many))
    yield Case("bom/workbook-cut", " no workbook: ", audit=("bom", b"PK\x03\x04\x14\0\0\0"))
    yield Case("bom/binary", "1:1: looks like ", audit=("bom", b"\x7fELF\x02\x01\x01\0"))
    yield Case("bom/empty", "1:1: the file is empty", audit=("bom", b""))


# What a room, a price list, claims, a layout or groups can get wrong: so many kinds at least.
KINDS = ("room/", "spec/room-", "prices/", "spec/prices-", "claims/", "layout/", "spec/group")
KINDS_LEAST = 40


def kind_of(message):
    """A complaint without its place, names and numbers: two cases of one kind are alike in it."""
    text = re.sub(r"^myriad: [^ ]*:\d+:\d+: ", "", message)
    return re.sub(r"'[^']*'|[\d.,]+", "#", text)


def kinds_faults(cases):
    """How many kinds the cases of KINDS are; each names its place in the file."""
    own = [case for case in cases if case.name.startswith(KINDS)]
    for case in own:
        if case.message and not re.match(r"myriad: [^ ]+:\d+:\d+: \S", case.message):
            yield f"{case.name}: no line and column: {case.message}"
    kinds = {kind_of(case.message) for case in own if case.message}
    print(f"rooms, prices, claims, layouts, groups: {len(own)} cases of {len(kinds)} kinds")
    if len(kinds) < KINDS_LEAST:
        yield f"{len(kinds)} kinds of bad rooms and lists, {KINDS_LEAST} are expected"


def small_design(myriad, folder):
    (folder / "small.yaml").write_bytes(SMALL_SPEC)
    subprocess.run([myriad, "plan", "small.yaml", "--out", "small"], cwd=folder, check=True,
                   capture_output=True, timeout=TIMEOUT_S)
    return (folder / "small" / "design.myr").read_bytes()


def run(case, myriad, root):
    if case.path is not None:
        return list(case.faults(myriad, root / "paths"))
    folder = Path(tempfile.mkdtemp(dir=root))
    try:
        return list(case.faults(myriad, folder))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    myriad, wanted = os.path.abspath(sys.argv[1]), tuple(sys.argv[2:])
    with tempfile.TemporaryDirectory(prefix="myriad-bad-") as name:
        root = Path(name)
        (root / "paths").mkdir()
        cases = [*spec_cases(), *audit_cases(), *path_cases(root / "paths"),
                 *design_cases(small_design(myriad, root)),
                 *fifo_cases(small_design(myriad, root))]
        cases = [case for case in cases if not wanted or case.name.startswith(wanted)]
        cases = cases if wanted else cases[::EVERY]
        names = [case.name for case in cases]
        assert len(set(names)) == len(names), "two cases share a name"
        failed = 0
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            for case, faults in zip(cases, pool.map(lambda c: run(c, myriad, root), cases)):
                failed += bool(faults)
                for fault in faults:
                    print(f"{case.name}: {fault}")
        for fault in kinds_faults(cases) if not wanted and EVERY == 1 else ():
            failed += 1
            print(fault)
    print(f"{len(cases)} cases, {failed} failed")
    sys.exit(1 if failed or not cases else 0)


if __name__ == "__main__":
    main()
