#!/usr/bin/env python3
"""Plans of drawn specs, held against what they were when somebody last looked: what is said, what
is refused and why, and a digest of each file; and the same clusters grown to twice their size.
tests/random/plans.py says that plans of such specs are sound; this, that nothing in them changes
but on purpose.

    tests/plan/drawn.py MYRIAD                 compares with tests/kept/plans.txt
    MYRIAD_KEPT=write tests/plan/drawn.py ...  writes it; read the diff
"""
import concurrent.futures
import difflib
import hashlib
import json
import os
import random
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests" / "random"))
sys.dont_write_bytecode = True
import plans  # noqa: E402

KEPT = ROOT / "tests" / "kept" / "plans.txt"
EACH, SEED, SERVERS_MAX = 4, 20261117, 40
# What a spec may say beside its networks.
ROOMS = ("{rows: 6, columns: 8, rack_kw: 44}",
         "{rows: 4, columns: 12, rack_kw: 60}",
         "{rows: 8, columns: 6, rack_kw: 44, managed: true, trays: {cross_rows: [2]}}")
OWN = ("items: [{part: firewall, quantity: 2, system: security}]", "supplied: [servers]",
       "prices: cn-2024-05", "accept: [optic-mode, quantity-short]")


def specs():
    """(title, text) of each."""
    rng = random.Random(SEED)
    for topology in plans.TOPOLOGIES:
        for number in range(EACH):
            text = re.sub(r"^servers: (\d+)", lambda found:
                          f"servers: {1 + int(found[1]) % SERVERS_MAX}", plans.spec(rng, topology))
            text += f"room: {rng.choice(ROOMS)}\n" if rng.random() < 0.4 else ""
            text += "".join(line + "\n" for line in OWN if rng.random() < 0.25)
            # So few servers are one rail group, which is not cut into islands.
            text = re.sub(r"islands: \d+", "islands: 1", text)
            yield f"{topology} {number}", f"name: drawn-{number}\n" + text


def digest(data):
    return hashlib.sha256(data).hexdigest()[:12]


def said(plan):
    """A plan in a few lines, for those who read the diff."""
    networks = {name: [row["switches"], row["links"]]
                for name, row in plan["networks"].items() if row}
    yield f"  switches and links {networks}, {plan['totals']['cost']}"
    for finding in plan["findings"]:
        yield f"  {finding['severity']} {finding['rule']}: {finding['where']}"


def account(myriad, folder, title, text):
    place = Path(folder) / title.replace(" ", "-")
    place.mkdir()
    (place / "s.yaml").write_text(text)
    result = subprocess.run([myriad, "plan", "s.yaml", "--out", "d", "-o", "json",
                             "--date", "2026-11-17"], cwd=place, capture_output=True, check=False,
                            stdin=subprocess.DEVNULL, timeout=300)
    lines = [f"== {title}, exit status {result.returncode}", *text.splitlines()]
    lines += ["  " + line for line in result.stderr.decode().splitlines()]
    if result.stdout:
        lines += said(json.loads(result.stdout))
        lines.append(f"  answer: {digest(result.stdout)}")
    for path in sorted(place.glob("d/**/*")):
        if path.is_file() and path.suffix != ".xlsx":  # workbook.py reads it
            lines.append(f"  {path.name}: {digest(path.read_bytes())}")
    return lines


def grown(myriad, folder, title, text):
    """The same cluster, larger, on top of what is installed: the answer and its sheets."""
    place = Path(folder) / title.replace(" ", "-")
    more = re.sub(r"servers: (\d+)", lambda found: f"servers: {2 * int(found[1]) + 3}", text)
    (place / "more.yaml").write_text(more)
    result = subprocess.run([myriad, "plan", "grow", "s.yaml", "more.yaml", "--out", "g", "-o",
                             "json"], cwd=place, capture_output=True, check=False,
                            stdin=subprocess.DEVNULL, timeout=300)
    lines = [f"== {title} grown, exit status {result.returncode}, {digest(result.stdout)}"]
    lines += ["  " + line for line in result.stderr.decode().splitlines()]
    lines += [f"  {path.name}: {digest(path.read_bytes())}" for path in sorted(place.glob("g/**/*"))
              if path.is_file() and path.suffix != ".xlsx"]
    return lines


def both(myriad, folder, title, text):
    return account(myriad, folder, title, text) + grown(myriad, folder, title, text)


def main():
    myriad = str(Path(sys.argv[1]).resolve())
    with (tempfile.TemporaryDirectory(prefix="myriad-drawn-") as folder,
          concurrent.futures.ThreadPoolExecutor(2) as pool):
        lines = [line for lines in pool.map(lambda row: both(myriad, folder, *row), specs())
                 for line in lines]
    if os.environ.get("MYRIAD_KEPT") == "write":
        KEPT.write_text("\n".join(lines) + "\n")
    diff = list(difflib.unified_diff(KEPT.read_text().splitlines(), lines, "kept", "now",
                                     lineterm="", n=12))
    print("\n".join(diff[:200]) or f"ok, {len(lines)} lines")
    return 1 if diff else 0


if __name__ == "__main__":
    sys.exit(main())
