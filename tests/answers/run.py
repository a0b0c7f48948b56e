#!/usr/bin/env python3
"""Every verb, every sub-verb, every format: rendered, or refused where the docs say so.

    tests/answers/run.py MYRIAD              checks
    tests/answers/run.py MYRIAD --only NAME  checks the cases of one command
    tests/answers/run.py MYRIAD --case N     checks the case of that number alone, from 0, without
                                             second runs
    tests/answers/run.py MYRIAD --operands   checks how many operands each command takes, no case
    tests/answers/run.py MYRIAD --once       each question once, in one format in turn, for slow
                                             builds
    tests/answers/run.py MYRIAD --infer NAME prints a first schema for the cases of one command
    tests/answers/run.py MYRIAD --rewrite    keeps what comes out now (kept.py); read the diff

tests/answers/cases.txt holds at least one question for each command that `myriad commands` lists.
Each is asked in every format; JSON must hold to the schema under docs/schema/ and echo every
option; YAML must parse to the same tree; CSV must have a row for each item of the list, or be
refused with exit status 2 and be named in docs/answers.md; the table must fit 80 columns; and every
format, and wide text on a second, broad screen, must be what was kept (kept.py). What cannot be
kept, of servers and of this machine, is asked twice, and the bytes must be equal. No code of the
program is used for any of it. Questions to a server are asked of real ones, which are started for
them and stopped behind them.
"""
import concurrent.futures
import csv
import io
import itertools
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import kept
import schema as schemas
import yamlblock

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
FORMATS = ("table", "wide", "json", "yaml", "csv")
MEASURED = 256  # no exit status: done, and times in the answer differ from run to run
WIDTH, BROAD = 80, 500  # a screen; and one on which every table has all its columns side by side
UNITS = {"s": 1, "ms": 1e-3, "us": 1e-6}


class Program:
    def __init__(self, path, folder):
        self.path, self.folder = path, folder
        self.servers = []
        self.names = itertools.count(1000)
        self.environment = {key: value for key, value in os.environ.items()
                            if not key.startswith("MYRIAD_")}
        self.environment.update(LC_ALL="C.UTF-8")

    def run(self, words, check=False, columns=WIDTH):
        new = f"new-{next(self.names)}"
        words = [word.replace("NEW", new) for word in words]
        result = subprocess.run([self.path, *words], cwd=self.folder,
                                env={**self.environment, "COLUMNS": str(columns)},
                                stdin=subprocess.DEVNULL, capture_output=True, timeout=900,
                                check=False)
        if check and result.returncode != 0:
            raise SystemExit(f"myriad {shlex.join(words)}: {result.stderr.decode()}")
        result.stdout = result.stdout.replace(new.encode(), b"new-1000")
        return result

    def serve(self, folder):
        """A server in the background; it is there when its first line is."""
        server = subprocess.Popen([self.path, "serve", folder], cwd=self.folder,
                                  env=self.environment, stdin=subprocess.DEVNULL,
                                  stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.servers.append(server)
        if not server.stdout.readline().startswith("serving "):
            raise SystemExit(f"myriad serve {folder} does not begin")

    def stop(self):
        for server in self.servers:
            server.terminate()
        for server in self.servers:
            server.communicate(timeout=60)


def read_cases():
    """Lines 'setup: WORDS' prepare files and 'serve: DIR' starts a server, in their order; the
    others are questions, 'WORDS' or '1: WORDS' where the answer is no; 'measured: WORDS' where it
    holds measured times. 'elsewhere: NAME' is a command whose answer another test looks at."""
    setup, cases, elsewhere = [], [], set()
    for line in (HERE / "cases.txt").read_text().splitlines():
        line = line.split("#")[0].strip()
        if line.startswith("setup:"):
            setup.append(shlex.split(line[6:]))
        elif line.startswith("serve:"):
            setup.append(("serve:", line[6:].strip()))
        elif line.startswith("elsewhere:"):
            elsewhere.add(line[10:].strip())
        elif line:
            found = re.match(r"(?:(\d|measured): )?(.*)", line)
            code = MEASURED if found[1] == "measured" else int(found[1] or 0)
            cases.append((code, shlex.split(found[2])))
    return setup, cases, elsewhere


def command_of(words, names):
    two = " ".join(words[:2])
    return two if two in names else words[0]


def columns_of(text):
    """Terminal columns, near enough: wide characters are two."""
    return sum(2 if ord(c) >= 0x1100 else 1 for c in text)


def too_wide(text):
    """Lines that a screen would break; commands to paste, rows of a binding, tokens stay whole."""
    whole = re.compile(r"(next: |  )myriad |      [a-z0-9]+: {.*}$|token  [0-9a-f]+@")
    for line in text.splitlines():
        if columns_of(line) > WIDTH and not whole.match(line):
            yield line


def refusals():
    """The commands that docs/answers.md names as having no CSV."""
    page = (ROOT / "docs" / "answers.md").read_text()
    table = page.split("## Answers without CSV")[1].split("\n## ")[0]
    return set(re.findall(r"^\| `([a-z ]+)` \|", table, re.M))


def check_json(document, name, command):
    if list(document)[:3] != ["schema", "version", "question"]:
        yield f"begins with {list(document)[:3]}"
        return
    if document["schema"] != "myriad." + name.replace(" ", "."):
        yield f"schema is {document['schema']}"
    own = [row["name"].replace("-", "_") for row in command["options"] if not row["common"]]
    if list(document["question"]["options"]) != own:
        yield f"echoes {list(document['question']['options'])}, the rows are {own}"
    path = ROOT / "docs" / "schema" / (document["schema"] + ".json")
    if not path.exists():
        yield f"has no schema {path.relative_to(ROOT)}"
        return
    for fault in schemas.validate(document, json.loads(path.read_text())):
        yield fault


def longest_list(value):
    """Lengths of all lists of objects in the tree."""
    if isinstance(value, dict):
        for child in value.values():
            yield from longest_list(child)
    elif isinstance(value, list):
        if all(isinstance(item, dict) for item in value):
            yield len(value)
        for item in value:
            yield from longest_list(item)


def check_csv(text, document):
    rows = list(csv.reader(io.StringIO(text)))
    if not rows or len(set(rows[0])) != len(rows[0]) or "" in rows[0]:
        yield f"has the header {rows[:1]}"
        return
    if any(len(row) != len(rows[0]) for row in rows):
        yield "has rows of other lengths than its header"
    if len(rows) - 1 not in set(longest_list(document)):
        yield f"has {len(rows) - 1} rows, no list of the JSON has so many"


def shape(value):
    """A tree without its numbers and secrets: what two measurements have in common."""
    if isinstance(value, dict):
        return {key: shape(child) for key, child in value.items()}
    if isinstance(value, list):
        return [shape(child) for child in value]
    if isinstance(value, str):
        return re.sub(r"[0-9]+(\.[0-9]+)?", "0", re.sub(r"[0-9a-f]{32,}", "secret", value))
    return 0 if isinstance(value, (int, float)) and not isinstance(value, bool) else value


def same_everywhere(words, measured):
    """Whether the answer holds nothing of the machine, the day or the program's options."""
    return not measured and "--dir" not in words and \
        words[0] not in ("init", "doctor", "restore", "commands")


def lines_of(output, measured):
    return output.count(b"\n") if measured else output


def formats_of(turn):
    if "--once" not in sys.argv:
        return FORMATS
    return (FORMATS[turn % len(FORMATS)],)


def asked_twice(words, measured):
    """Where every byte is held against what was kept, seven runs say already whether it moves."""
    return not same_everywhere(words, measured) and not {"--once", "--case"} & set(sys.argv)


def check_case(program, turn, code, words, name, command, refused, account):
    """What is wrong with the answers to one question; what is to be kept of them is added."""
    outputs = {}
    measured, code = code == MEASURED, code % MEASURED
    same = shape if measured else lambda value: value
    for form in formats_of(turn):
        asked = [*words, "-o", form]
        first = program.run(asked)
        second = program.run(asked) if asked_twice(words, measured) else first
        if (lines_of(first.stdout, measured), first.returncode) != \
                (lines_of(second.stdout, measured), second.returncode):
            yield f"-o {form}: two runs differ"
        want = 2 if form == "csv" and name in refused else code
        if first.returncode != want:
            yield f"-o {form}: exit status {first.returncode}, {want} is expected; " \
                  f"{first.stderr.decode().strip()[:200]}"
        outputs[form] = first.stdout.decode()
        if want != 2 and not outputs[form]:
            yield f"-o {form}: prints nothing"
        if want == 2 and outputs[form]:
            yield f"-o {form}: refused, and prints all the same"
    if "json" not in outputs:
        return  # what the other formats say is held against it where all are asked
    try:
        document = json.loads(outputs["json"])
        for fault in check_json(document, name, command):
            yield f"-o json: {fault}"
        if "--once" in sys.argv:
            return
        if same(yamlblock.load(outputs["yaml"])) != same(document):
            yield "-o yaml: another tree than JSON's"
        if name not in refused:
            for fault in check_csv(outputs["csv"], document):
                yield f"-o csv: {fault}"
        if same_everywhere(words, measured):
            outputs["broad"] = program.run([*words, "-o", "wide"], columns=BROAD).stdout
            account += kept.account(words, outputs, document, program.folder)
        yield from timing_is_apart(program, words, command, same, json.loads(outputs["json"]))
    except (ValueError, IndexError) as fault:
        yield f"does not parse: {fault}"
    for form in ("table", "wide"):
        for line in list(too_wide(outputs[form]))[:2]:
            yield f"-o {form}: {columns_of(line)} columns: {line!r}"


def check_timing(timing, passed_s):
    """Nothing took longer than the process was seen to live, and no part longer than the whole."""
    if not (0 < timing["wall_s"] <= passed_s and 0 < timing["cpu_s"] <= passed_s * os.cpu_count()):
        yield f"--timing: {timing}, and {passed_s:.6f} s have passed"
    if not 1 < timing["memory_mib"] < 16384:
        yield f"--timing: {timing['memory_mib']} MiB"
    for key in set(timing) - {"wall_s", "cpu_s", "memory_mib"}:
        if "_" not in key:  # a count, not a time
            continue
        part_s = timing[key] * UNITS[key.rsplit("_", 1)[1]]
        if not timing["wall_s"] / 1e6 < part_s <= timing["wall_s"]:
            yield f"--timing: {key} {timing[key]} in {timing['wall_s']} s"


def timing_is_apart(program, words, command, same, plain):
    """The schema says which times there are (check_json); here, that they are possible."""
    start_s = time.monotonic()
    timed = json.loads(program.run([*words, "-o", "json", "--timing"]).stdout)
    passed_s = time.monotonic() - start_s
    if "timing" in plain or "timing" not in timed:
        yield "--timing: the object 'timing' is there without it, or not there with it"
        return
    faults = list(check_json(timed, command["name"], command))
    yield from (f"--timing: {fault}" for fault in faults or check_timing(timed["timing"], passed_s))
    timed.pop("timing")
    timed["question"] = plain["question"]
    if same(timed) != same(plain):
        yield "--timing: changes the answer"


def check_schemas():
    for path in sorted((ROOT / "docs" / "schema").glob("*.json")):
        try:
            schema = json.loads(path.read_text())
        except ValueError as fault:
            yield f"{path.name}: {fault}"
            continue
        answer = path.stem.startswith("myriad.")
        for fault in schemas.answer_well_formed(schema, path.stem) if answer else \
                schemas.well_formed(schema):
            yield f"{path.name}: {fault}"


def check_goldens():
    """Answers that other tests keep hold to their schemas too. Keys that a case takes out of what
    it keeps (the question, which names its folder) may be missing."""
    found = 0
    for path in sorted((ROOT / "tests" / "golden").glob("*.out")):
        text = path.read_text()
        for start in re.finditer(r'^\{\n  "schema": "(myriad\.[a-z.]+)"', text, re.M):
            try:
                document = json.JSONDecoder().raw_decode(text, start.start())[0]
            except ValueError:
                continue  # one that was cut
            found += 1
            schema = json.loads((ROOT / "docs" / "schema" / f"{start[1]}.json").read_text())
            yield from (f"{path.name}: {fault}" for fault in schemas.validate(document, schema)
                        if not re.fullmatch(r"\$: '\w+' is missing", fault))
    if found < 100:
        yield f"tests/golden: {found} answers in JSON were found"


def check_operands(program, commands):
    """An operand too few or one too many is refused, whatever the command, before it does anything:
    the words of its usage say how many there are."""
    for name, row in commands.items():
        needed_words = re.sub(r"\[[^]]*\]", "", row["operands"]).split()
        most = len(row["operands"].split())
        if name in ("agent", "export"):  # passes all on; has a form without operands
            continue
        asked = [("needs|is needed|give", len(needed_words) - 1)] if needed_words else []
        asked += [("one too many|sub-verb", most + 1)] if "..." not in row["operands"] else []
        for said, count in asked:
            result = program.run([*name.split(), *["x"] * count])
            if result.returncode != 2 or not re.search(said, result.stderr.decode()):
                yield f"'{name}' with {count} operands: exit status {result.returncode}, " \
                      f"{result.stderr.decode().strip()[:200]}"


def check_case_listed(arguments):
    words, account = arguments[3], []
    faults = list(check_case(*arguments, account))
    return account, [f"myriad {shlex.join(words)}: {fault}" for fault in faults]


MAKES = ("--out", "--layout-out", "--save", "--state", "--fct", "--dir")


def needed(setup, cases):
    """The lines of the set-up that the cases use something of, in their order."""
    used = {word.split("/")[0] for _, words in cases for word in words}
    kept_lines = []
    for words in reversed(setup):
        made = {value for option, value in zip(words, words[1:]) if option in MAKES}
        made |= set(words[1:]) if words[0] in ("init", "serve:", "backup") else set()
        if made & used:
            kept_lines.insert(0, words)
            used |= {word.split("/")[0] for word in words}
    return kept_lines


def prepare(program, setup):
    for words in setup:
        if words[0] == "serve:":
            program.serve(words[1])
            continue
        result = program.run(words)
        if result.returncode > 1:
            raise SystemExit(f"setup: myriad {shlex.join(words)}: {result.stderr.decode()}")


def infer(program, wanted, cases, commands):
    samples = [json.loads(program.run([*words, "-o", "json"]).stdout)
               for _, words in cases if command_of(words, commands) == wanted]
    schema = {"$schema": "https://json-schema.org/draft/2020-12/schema",
              "title": f"The answer of 'myriad {wanted}'", **schemas.infer(samples)}
    print(json.dumps(schema, indent=2))
    return 0


def look(program):
    listed = json.loads(program.run(["commands", "-o", "json"], check=True).stdout)["commands"]
    commands = {row["name"]: row for row in listed}
    setup, cases, elsewhere = read_cases()
    only = sys.argv[sys.argv.index("--only") + 1] if "--only" in sys.argv else None
    wanted = [case for case in cases if only in (None, command_of(case[1], commands))]
    if "--case" in sys.argv:
        wanted = [cases[int(sys.argv[sys.argv.index("--case") + 1])]]
    if "--operands" in sys.argv:
        wanted = []
    prepare(program, setup if len(wanted) == len(cases) else needed(setup, wanted))
    if "--infer" in sys.argv:
        return infer(program, sys.argv[sys.argv.index("--infer") + 1], cases, commands)
    refused = refusals()
    faults = [*check_schemas(), *check_goldens()]
    if "--only" not in sys.argv and "--case" not in sys.argv:
        faults += check_operands(program, commands)
    asked = {command_of(words, commands) for _, words in cases} | elsewhere
    faults += [f"'{name}' has no question in tests/answers/cases.txt"
               for name, row in commands.items() if row["answers"] and name not in asked]
    faults += [f"'{name}' has no schema" for name in sorted(elsewhere)
               if not (ROOT / "docs" / "schema" / f"myriad.{name.replace(' ', '.')}.json").exists()]
    faults += [f"docs/answers.md names '{name}', which is no command"
               for name in refused - set(commands)]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        work = [(program, turn, code, words, command_of(words, commands),
                 commands[command_of(words, commands)], refused)
                for turn, (code, words) in enumerate(wanted)]
        accounts = {}
        for case, (account, found) in zip(work, pool.map(check_case_listed, work)):
            faults += found
            if account:
                accounts.setdefault(case[4], []).append(account)
    for name, found in accounts.items():
        if "--rewrite" in sys.argv:
            kept.rewrite(name, found)
        else:
            faults += kept.compare(name, found)
    for fault in faults:
        print(fault)
    print(f"{len(work)} questions, {len(formats_of(0))} formats each, {len(faults)} faults")
    return 1 if faults else 0


def main():
    myriad = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory(prefix="myriad-answers-") as folder:
        os.symlink(ROOT / "examples", os.path.join(folder, "examples"))
        os.symlink(ROOT / "tests" / "data", os.path.join(folder, "data"))
        program = Program(myriad, folder)
        try:
            return look(program)
        finally:
            program.stop()


if __name__ == "__main__":
    sys.exit(main())
