#!/usr/bin/env python3
"""The pages of docs/ say what the program does: nothing more, nothing less.

    tests/docs/run.py MYRIAD

Every spec printed in docs/spec.md and docs/planning.md can be planned. docs/spec.md names every key
and topology of the reader, every rule of a finding (and no other), and every field of the JSON. The
Chinese README is the English one; docs/server.md has every call and key of the server;
docs/architecture.md knows which modules are there; the exit statuses are the manual's.
"""
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
SPEC_PAGE = (ROOT / "docs" / "spec.md").read_text()
JSON_EXAMPLES = ("h100-64", "h100-10k")
GRID = "servers: 24\nserver: generic-1gpu\nnetworks: {compute: {%s}}\n"
JSON_SPECS = (GRID % "topology: torus, dims: [4, 4]",
              GRID % "topology: dragonfly, group_switches: 4, hosts_per_switch: 2, global_ports: 2")


def plan(myriad, text):
    """Exit code, standard output and standard error of planning this spec."""
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as spec:
        spec.write(text)
        spec.flush()
        result = subprocess.run([myriad, "plan", spec.name, "-o", "json"], capture_output=True,
                                text=True, timeout=600, stdin=subprocess.DEVNULL, check=False)
    return result.returncode, result.stdout, result.stderr


def printed_specs(myriad):
    count = 0
    for name in ("spec.md", "planning.md"):
        text = (ROOT / "docs" / name).read_text()
        for block in re.findall(r"^```yaml[^\n]*\n(.*?)^```", text, re.M | re.S):
            count += 1
            code, _, stderr = plan(myriad, block)
            if code not in (0, 1):
                yield f"docs/{name}: this spec is refused: {stderr.strip()}\n{block}"
    if count < 5:
        yield "docs/spec.md: fewer examples than expected: has their form changed?"


def named(word):
    return re.search(rf"`[^`\n]*(?<![\w-]){re.escape(word)}(?![\w-])[^`\n]*`", SPEC_PAGE)


def spec_words():
    source = "".join(path.read_text() for path in sorted((ROOT / "src/model").rglob("spec*.c")))
    keys = re.findall(r'FIELD_ROW_\w+\(\s*"(\w+)"', source)
    words = re.findall(r'\{"([a-z0-9+-]+)", MYR_TOPOLOGY_', source)
    for array in ("myr_per_names", "myr_pin_role_names", "fill_names", "rate_names"):
        words += re.findall(r'"(\w+)"', re.search(rf"{array}\[.*?\] = {{(.*?)}};", source, re.S)[1])
    words.remove("default")  # how the reader calls what is not given
    if len(keys) < 50 or len(words) < 30:
        yield "src/model/spec.c: fewer keys than expected: has their form changed?"
    for word in [*keys, *words]:
        if not named(word):
            yield f"docs/spec.md: '{word}' is not there"


def finding_rules():
    rule = re.compile(r'plan_finding\([^;]*?"([a-z]+(?:-[a-z]+)*)"')
    known = set()
    for source in sorted((ROOT / "src" / "plan").rglob("*.c")):
        # plugged.c passes on the rules of src/physical, which are named there.
        if not source.name.endswith("_test.c") and source.name != "plugged.c":
            known |= set(rule.findall(source.read_text()))
    fits = (ROOT / "src" / "plan" / "fits.c").read_text()
    known |= set(re.findall(r'\[FIT_[A-Z_]+\] = "([a-z]+-[a-z-]+)"', fits))
    # feeds.c has its rules in a table; what follows there is the place, not a rule.
    feeds = (ROOT / "src" / "plan" / "room" / "feeds.c").read_text()
    known |= set(re.findall(r'"((?:feed|cooling)-[a-z]+)"', feeds))
    known.discard("room")
    listed = set(re.findall(r"`([a-z-]+)`", " ".join(
        re.findall(r"^- ((?:`[a-z-]+`(?:, )?)+) \((?:error|warning|info)\b", SPEC_PAGE, re.M))))
    for name in sorted(known - listed):
        yield f"docs/spec.md: the finding '{name}' is not in the list"
    for name in sorted(listed - known):
        yield f"docs/spec.md: no code gives the finding '{name}'"


def json_fields(value):
    if isinstance(value, dict):
        for key, below in value.items():
            yield key
            yield from json_fields(below)
    elif isinstance(value, list):
        for below in value:
            yield from json_fields(below)


def json_names(myriad):
    specs = [(ROOT / "examples" / f"{name}.yaml").read_text() for name in JSON_EXAMPLES]
    fields = set()
    for text in [*specs, *JSON_SPECS]:
        code, stdout, stderr = plan(myriad, text)
        if code not in (0, 1):
            yield f"a spec for the JSON fields is refused: {stderr.strip()}"
            continue
        fields |= set(json_fields(json.loads(stdout)))
    for field in sorted(fields):
        if not named(field):
            yield f"docs/spec.md: the JSON field '{field}' is not there"


def commands_of(text):
    """What a reader would type, remarks left out."""
    blocks = re.findall(r"^```sh\n(.*?)^```", text, re.M | re.S)
    return [re.sub(r"\s+#.*", "", line).rstrip() for block in blocks for line in block.splitlines()]


def translations():
    """README in another language is the same page: commands, pictures, links and headings."""
    english = (ROOT / "README.md").read_text()
    chinese = (ROOT / "README.zh.md").read_text()
    for what, ours, theirs in (
            ("commands", commands_of(english), commands_of(chinese)),
            ("pictures", re.findall(r"!\[[^\]]*\]\((.*?)\)", english),
             re.findall(r"!\[[^\]]*\]\((.*?)\)", chinese)),
            ("links", re.findall(r"\[(\w+/[\w.-]+)\]", english),
             re.findall(r"\[(\w+/[\w.-]+)\]", chinese)),
            ("headings", len(re.findall(r"^## ", english, re.M)),
             len(re.findall(r"^## ", chinese, re.M)))):
        if ours != theirs:
            yield f"README.zh.md: its {what} are not those of README.md"


def modules():
    """A module that the table calls planned is not there, and one that it calls present is."""
    text = (ROOT / "docs" / "architecture.md").read_text()
    rows = re.findall(r"^\| `(\w+)/` \|[^|]*\| ([^|]*?) \|", text, re.M)
    if len(rows) < 15:
        yield "docs/architecture.md: fewer modules than expected: has the table's form changed?"
    for name, state in rows:
        if (ROOT / "src" / name).is_dir() == (state == "planned"):
            yield f"docs/architecture.md: {name} is called '{state}'"
    for folder in sorted((ROOT / "src").iterdir()):
        if folder.is_dir() and folder.name not in dict(rows):
            yield f"docs/architecture.md: no row for src/{folder.name}"


def exit_codes(myriad):
    """The page about the command, the manual and the program agree about the exit status."""
    page = (ROOT / "docs" / "command.md").read_text()
    listed = re.findall(r"^\| (\d+) \|", page, re.M)
    manual = subprocess.run([myriad, "man"], capture_output=True, text=True, check=True).stdout
    told = re.findall(r"^\*(\d+)\*$", manual, re.M)
    if listed != told or listed != ["0", "1", "2", "3", "130"]:
        yield f"docs/command.md lists the exit statuses {listed}, the manual {told}"


def examples():
    """The index of the examples has them all, with their number of GPUs, and no others."""
    page = (ROOT / "examples" / "README.md").read_text()
    listed = set(re.findall(r"^\| \[[^\]]*\]\(([^)]*)\)", page, re.M))
    there = {str(path.relative_to(ROOT / "examples")) for path in (ROOT / "examples").rglob("*")
             if path.is_file() and path.name != "README.md"}
    for name in sorted(listed ^ there):
        wrong = "listed, but not there" if name in listed else "missing"
        yield f"examples/README.md: {name} is {wrong}"


def versions(myriad):
    """The build, the page of changes and the package speak of one version."""
    told = subprocess.run([myriad, "--version"], capture_output=True, text=True, check=True).stdout
    version = told.split()[1]
    for name, pattern in (("CHANGELOG.md", r"^## ([0-9.]+)"),
                          ("debian/changelog", r"^myriad \(([0-9.]+)-")):
        found = re.search(pattern, (ROOT / name).read_text(), re.M)[1]
        if found != version:
            yield f"{name} is about {found}, the program is {version}"


def server_words():
    """docs/server.md names every call of the API, every key of a job file and of myriad.yaml."""
    page = (ROOT / "docs" / "server.md").read_text()
    routes = re.findall(r'^ROUTE\((GET|POST|PUT), "([^"]+)", ROLE_',
                        (ROOT / "src/server/routes.rec").read_text(), re.M)
    if len(routes) < 20:
        yield "src/server/routes.rec: fewer calls than expected: has their form changed?"
    for method, path in routes:
        if f"`{method} {path}`" not in page:
            yield f"docs/server.md: {method} {path} is missing"
    told = {f"{method} {path}" for method, path in routes}
    for call in re.findall(r"`((?:GET|POST|PUT) /[^`]*)`", page):
        if call not in told:
            yield f"docs/server.md: {call} is no call"
    source = (ROOT / "src/server/config.c").read_text()
    for array in re.findall(r"keys\[\] = \{(.*?)\};", source, re.S):
        for key in re.findall(r'"(\w+)"', array):
            if f"`{key}`" not in page:
                yield f"docs/server.md: the key {key} of config.c is missing"
    listed = (ROOT / "include/myriad/job/job.rec").read_text()
    for key in re.findall(r"^[A-Z0-9_]+\((\w+)", listed, re.M):
        if f"`{key}`" not in page:
            yield f"docs/server.md: the key {key} of a job file is missing"


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    myriad = os.path.abspath(sys.argv[1])
    faults = [*printed_specs(myriad), *spec_words(), *finding_rules(), *json_names(myriad),
              *translations(), *modules(), *exit_codes(myriad), *examples(), *versions(myriad),
              *server_words()]
    print("\n".join([*faults, f"{len(faults)} faults"]))
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
