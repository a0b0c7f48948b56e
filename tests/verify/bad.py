#!/usr/bin/env python3
"""Feeds broken cabling files and bindings to `myriad verify` and looks at how it refuses them.

    tests/verify/bad.py MYRIAD [NAME...]

Every case must end with exit code 2, nothing on standard output, and one line on standard error
that begins with "myriad: FILE:LINE:COLUMN: " (a line "hint: ..." may follow). Complaints about a
file as a whole have no line and column. Cases: bad/cases.txt, and what is made here.
"""
import os
import random
import re
import subprocess
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True
from wiring import ROOT, call

HERE = Path(__file__).resolve().parent
SEED = 20240614
TIMEOUT_S = 600
GOOD = "A-Node,A-Port,Z-Node,Z-Port\nnode-00000,nic0,leaf-p0-g0-r0,1\n"


def table():
    """(format, case, expected, text) of bad/cases.txt."""
    for block in re.split(r"^== ", (HERE / "bad" / "cases.txt").read_text(), flags=re.M)[1:]:
        head, expected, body = block.split("\n", 2)
        assert expected.startswith(">> "), head
        form, name = head.strip().split("/")
        yield form, name, expected[3:], body.encode()


def made():
    rng = random.Random(SEED)
    p2p_header = b"A-Node,A-Port,Z-Node,Z-Port\n"
    for form in ("p2p", "netbox", "ibnetdiscover", "lldp", "binding"):
        yield form, "empty", "1:1: the file is empty", b""
        blank = b"\n  \n\t\n" if form != "binding" else b"\n\n"  # YAML has no tabs
        yield form, "blank", "1:1: the file is empty", blank
        yield form, "garbage", None, rng.randbytes(4096)
        yield form, "nul", None, b"\0" * 64
    yield "p2p", "mark-only", "1:1: the file is empty", b"\xef\xbb\xbf"
    yield "p2p", "control", "2:1: a name has control characters", p2p_header + b"a\x1b[31m,1,b,1\n"
    yield "p2p", "long-name", "2:1: a name has control", p2p_header + b"a" * 300 + b",1,b,1\n"
    yield "p2p", "many-fields", None, b"a," * 300 + b"\n"
    yield "p2p", "bare-return", None, p2p_header + b"a\rb,1,c,1\n"
    yield "ibnetdiscover", "long-id", None, b'Switch 64 "' + b"x" * 300 + b'"\n'
    yield "lldp", "deep", None, b'{"lldp": ' + b"[" * 5000
    yield "lldp", "control", None, b'{"lldp": {"a\x01": 1}}'
    yield "binding", "deep", None, b"design: " + b"[" * 5000
    yield "binding", "json", None, b'{"design": "lab", "devices": 7}'


def faults(done, expected, bad):
    if done.returncode != 2:
        yield f"exit code {done.returncode}, 2 is expected"
    if done.stdout:
        yield f"standard output: {done.stdout[:200]!r}"
    text = done.stderr.decode("utf-8", "surrogateescape")
    lines = text.split("\n")
    if lines.pop() != "" or not lines or len(lines) > 2 or \
            (len(lines) == 2 and not lines[1].startswith("hint: ")):
        yield f"one line and at most one hint are expected: {text[:1000]!r}"
        return
    if any(ord(c) < 32 or ord(c) == 127 or 0xD800 <= ord(c) < 0xE000 for c in "".join(lines)):
        yield f"not printable: {text[:300]!r}"
    start = f"myriad: {bad}:"
    if not lines[0].startswith(start):
        yield f"'{start}' is expected in front: {lines[0]}"
    elif expected is None and not re.match(r"\d+:\d+: \S", lines[0][len(start):]):
        yield f"line and column are expected: {lines[0]}"
    elif expected is not None and not lines[0][len(start):].startswith(expected):
        yield f"expected: {start}{expected}\n     got: {lines[0]}"


def run(myriad, folder, arguments):
    return subprocess.run([myriad, "verify", "lab/design.myr", *arguments], cwd=folder,
                          capture_output=True, timeout=TIMEOUT_S, stdin=subprocess.DEVNULL,
                          check=False)


def path_cases(folder):
    """Arguments, the name that is complained about, and how."""
    (folder / "none").mkdir()
    yield "path/missing", ["missing.csv"], "missing.csv", " cannot open: "
    yield "path/empty-folder", ["none"], "none", " no files in this folder"
    yield "path/missing-binding", ["good.csv", "--binding", "b.yaml"], "b.yaml", " cannot open: "
    yield "path/missing-design", None, "missing.myr", " cannot open: "


def option_cases():
    yield "option/speed-map", ["good.csv", "--speed-map", "HDR"], "speed map 'HDR': SPEED=GBPS"
    yield "option/from", ["good.csv", "--from", "lldq"], "'--from'"
    yield "option/hca-map", ["good.csv", "--hca-map", "mlx5_0=nic99"], "'nic99' is no port of a"
    yield "option/hca-map-twice", ["good.csv", "--hca-map", "mlx5_0=nic0", "--hca-map",
                                   "mlx5_0=nic1"], "'mlx5_0' has two meanings"
    yield "option/net", ["good.csv", "--net", "compte"], "'--net'"


def main():
    myriad, wanted = os.path.abspath(sys.argv[1]), tuple(sys.argv[2:])
    failed = count = 0

    def judge(name, complaints):
        nonlocal failed, count
        complaints = list(complaints)
        count += 1
        failed += bool(complaints)
        for complaint in complaints:
            print(f"{name}: {complaint}")

    with tempfile.TemporaryDirectory(prefix="myriad-verify-") as name:
        folder = Path(name)
        call(myriad, "plan", ROOT / "tests/real/lab.yaml", "--catalog",
             ROOT / "tests/real/lab-parts.yaml", "--out", folder / "lab")
        (folder / "good.csv").write_text(GOOD)
        for form, case, expected, text in [*table(), *made()]:
            if wanted and not f"{form}/{case}".startswith(wanted):
                continue
            bad = "bad.yaml" if form == "binding" else "bad.csv"
            (folder / bad).write_bytes(text)
            arguments = ["good.csv", "--binding", bad] if form == "binding" else \
                ["--from", form, bad]
            judge(f"{form}/{case}", faults(run(myriad, folder, arguments), expected, bad))
        for case, arguments, bad, expected in path_cases(folder):
            if arguments is None:
                done = subprocess.run([myriad, "verify", bad, "good.csv"], cwd=folder,
                                      capture_output=True, timeout=TIMEOUT_S, check=False)
            else:
                done = run(myriad, folder, arguments)
            judge(case, faults(done, expected, bad))
        for case, arguments, expected in option_cases():
            done = run(myriad, folder, arguments)
            ok = done.returncode == 2 and expected.encode() in done.stderr.split(b"\n")[0]
            judge(case, [] if ok else [f"{done.returncode} {done.stderr!r}"])
    print(f"{count} cases, {failed} failed")
    sys.exit(1 if failed or not count else 0)


if __name__ == "__main__":
    main()
