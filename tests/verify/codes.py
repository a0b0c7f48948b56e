#!/usr/bin/env python3
"""Codes to scan, read back by a decoder that is not ours (zbarimg).

    tests/verify/codes.py QR_PRINT MYRIAD

QR_PRINT makes a code of each line that it gets. Texts of all lengths that fit come back as they
were; one byte more is refused; a code with one in two hundred modules flipped is still read. Then
the codes of printed work orders are read and held against the list.
"""
import csv
import random
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True
from wiring import Checks, Wiring, call, plan

SEED = 20261116
ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789/:->_.,; "
SCALE, QUIET, BYTES_MAX = 4, 4, 412


def write_picture(path, rows):
    """A portable grey map; rows of booleans, dark is true."""
    side = len(rows) + 2 * QUIET
    light = bytes([255]) * (side * SCALE)
    lines = [light] * (QUIET * SCALE)
    for row in rows:
        line = bytes([255]) * (QUIET * SCALE)
        line += b"".join(bytes([0 if dark else 255]) * SCALE for dark in row)
        line += bytes([255]) * (QUIET * SCALE)
        lines += [line] * SCALE
    lines += [light] * (QUIET * SCALE)
    path.write_bytes(f"P5 {side * SCALE} {side * SCALE} 255\n".encode() + b"".join(lines))


def scan(paths):
    """One text for each picture; None where nothing was read."""
    done = subprocess.run(["zbarimg", "--quiet", "--nodbus", "-Sdisable", "-Sqrcode.enable",
                           "--xml", *map(str, paths)], capture_output=True, text=True,
                          check=False, timeout=300)
    texts = {}
    for source, body in re.findall(r"<source href='([^']*)'>(.*?)</source>", done.stdout, re.S):
        found = re.search(r"<!\[CDATA\[(.*?)\]\]>", body, re.S)
        texts[source] = found.group(1) if found else None
    return [texts.get(str(path)) for path in paths]


def random_texts(checks, qr_print, folder):
    rng = random.Random(SEED)
    lengths = sorted({1, 2, BYTES_MAX} | set(range(3, BYTES_MAX, 9)))
    texts = ["".join(rng.choice(ALPHABET) for _ in range(n)).strip() or "x" for n in lengths]
    text = subprocess.run([qr_print], input="\n".join(texts + ["x" * (BYTES_MAX + 1)]) + "\n",
                          capture_output=True, text=True, check=True).stdout
    codes = [block.splitlines() for block in text.split("\n\n")[:-1]]
    checks.same("one code a text", len(codes), len(texts) + 1)
    checks.same("a text that is too long", codes[-1], ["too long"])
    sides = {len(code) for code in codes[:-1]}
    checks.same("every version is tried", sides, set(range(21, 78, 4)))
    paths, dirty = [], []
    for number, code in enumerate(codes[:-1]):
        rows = [[module == "1" for module in row] for row in code]
        paths.append(folder / f"{number}.pgm")
        write_picture(paths[-1], rows)
        side = len(rows)
        for _ in range(side * side // 200):  # away from the corners, which find the code
            y, x = rng.randrange(10, side - 10), rng.randrange(10, side - 10)
            rows[y][x] = not rows[y][x]
        if side > 30:
            dirty.append((folder / f"{number}-dirty.pgm", texts[number]))
            write_picture(dirty[-1][0], rows)
    checks.same("texts", [(a, b) for a, b in zip(scan(paths), texts) if a != b][:2], [])
    read = scan([path for path, _ in dirty])
    checks.same("dirty codes", [t for (_, t), found in zip(dirty, read) if t != found][:2], [])


def modules_of(svg):
    """The modules of a drawn code: runs of its path."""
    side = int(re.search(r'viewBox="0 0 (\d+) ', svg).group(1)) - 2 * QUIET
    rows = [[False] * side for _ in range(side)]
    for x, y, run in re.findall(r"M(\d+) (\d+)h(\d+)v1h-\d+z", svg):
        for i in range(int(run)):
            rows[int(y) - QUIET][int(x) - QUIET + i] = True
    return rows


def printed_orders(checks, myriad, folder):
    design = plan(myriad, folder, "h100-64")
    wiring = Wiring(myriad, design)
    for n in range(0, 60, 2):
        wiring.swap(n * 7, n * 7 + 5)
    path = wiring.write_p2p(folder / "found.csv")
    call(myriad, "verify", "orders", design, path, "--out", folder / "orders", codes=(1,))
    with open(folder / "orders/orders.csv", encoding="utf-8", newline="") as file:
        expected = [row["code"] for row in csv.DictReader(file)]
    checks.true("some orders", len(expected) >= 25)
    for name in ("orders.html", "orders.zh.html"):
        text = (folder / "orders" / name).read_text(encoding="utf-8")
        paths = []
        for number, svg in enumerate(re.findall(r'<svg class="qr".*?</svg>', text, re.S)):
            paths.append(folder / f"{name}-{number}.pgm")
            write_picture(paths[-1], modules_of(svg))
        checks.same(f"{name}: codes", scan(paths), expected)


def main():
    if not shutil.which("zbarimg"):
        print("skipped: no zbarimg (zbar-tools) to read codes with")
        sys.exit(77)
    checks = Checks()
    with tempfile.TemporaryDirectory(prefix="myriad-codes-") as folder:
        random_texts(checks, sys.argv[1], Path(folder))
        printed_orders(checks, sys.argv[2], Path(folder))
    checks.end()


if __name__ == "__main__":
    main()
