#!/usr/bin/env python3
"""Every number in report.html can be explained, and is what the explanation says.

    tests/plan/report_numbers.py MYRIAD [--all]

Goes through the texts of reports in both languages, with the next phase and without: whatever has a
digit in it must stand in an element that names paths ('title', in drawings 'data-path'), and be the
value of one of them or a figure of its explanation as `myriad explain plan SPEC [--next SPEC] PATH`
prints it. What has no path must be a name: of a part, a device, a rack, a file. Last the checker
itself is looked at: a number that has lost its path, or has changed, must not pass.
"""
import itertools
import json
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile
from html.parser import HTMLParser

import growth

ROOT = pathlib.Path(__file__).resolve().parents[2]
LIMIT_S = 600
EVERY = int(os.environ.get("MYRIAD_EVERY", "1"))  # make test asks one in so many
NUMBER = re.compile(r"(?<![\w.])[-+]?\d[\d,]*(?:\.\d+)?(?:e-?\d+)?")
WORD = re.compile(r"[^\s()（）,，;；:：、·。]*\d[^\s()（）,，;；:：、·。]*")
# What a unit that follows makes of a value: what is shown = value * factor.
UNITS = {"万元": 1e-4, "亿元": 1e-8, "万": 1e-4, "亿": 1e-8,
         "M": 1e-6, "km": 1e-3, "Tb/s": 1e-3, "MW": 1e-3, "%": 100, "years": 1 / 12,
         "年": 1 / 12, "公里": 1e-3}
VOID = {"meta", "br", "img"}
# In a drawing: the number of a rail, a pod, a rack's row is its name.
ORDINAL = re.compile(
    r"\b(?:rail|pods?|group|spine|node|server|scale-up|domain|NUMA|PCIe|PCIe switch|GPU|NIC|DPU) "
    r"\d+(?: to \d+|–\d+)?|\b[A-Za-z]{1,2}\d+\b|, \d+–\d+$")


# What a drawing says of itself.
NOT_DRAWN = re.compile(r"\d+ of \d+ are not drawn")
TICK = re.compile(r"([\d.,]+) (?:M [A-Z]{3}|[万亿](?:元| [A-Z]{3}))")
MONEY = re.compile(r"\d (?:M )?(?:CNY|USD|万|亿)")
LEGEND = {"1 link of a pair", "thicker: 2, 4, 8 or more"}
# Classes of a drawing's scales, legends and names.
SCALE = {"axis", "key", "id", "on", "name"}


class Page(HTMLParser):
    """Texts with what stands around them: (text, paths, tags, class)."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.stack, self.texts, self.rows = [], [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        if tag in VOID:
            return
        given = dict(attrs)
        self.stack.append((tag, given.get("data-path") or given.get("title"),
                           given.get("class") or ""))

    def handle_startendtag(self, tag, attrs):
        pass

    def handle_endtag(self, tag):
        while self.stack and self.stack.pop()[0] != tag:
            pass

    def handle_data(self, data):
        tags = [tag for tag, _, _ in self.stack]
        if "style" not in tags and data.strip():
            path = next((path for _, path, _ in reversed(self.stack) if path), None)
            self.texts.append((data, path, tags, self.stack[-1][2] if self.stack else ""))


def run(myriad, *words):
    done = subprocess.run([myriad, *map(str, words)], capture_output=True, text=True, check=False,
                          cwd=ROOT, timeout=LIMIT_S)
    assert done.returncode in (0, 1), (words, done.stderr)
    return json.loads(done.stdout)


def strings(value):
    """Names of the plan: every text of its tree, and every key."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield key
            yield from strings(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from strings(inner)
    elif isinstance(value, str):
        yield value


def digits(text):
    """The whole numbers of a text, whatever its language counts in."""
    text = re.sub(r"category 6|Cat\.? ?6", "", text)  # a name: in Chinese without a digit
    for word, zeros in ((" million", 6), (" 万", 4)):
        text = re.sub(rf"(\d+){word}", lambda m, zeros=zeros: m.group(1) + "0" * zeros, text)
    return sorted(re.findall(r"\d+", text))


def is_number(text):
    return re.fullmatch(r"[-+]?[\d.]+(?:e-?\d+)?", text) is not None


def shown_as(text, value):
    """Whether 'text', a number with perhaps a unit behind it, is what is left of the value."""
    match = NUMBER.search(text)
    if not match:
        return False
    unit = re.match(r"\s*([^\s，,;；。、]+)", text[match.end():])
    number = float(match.group().replace(",", ""))
    places = len(match.group().split(".")[1]) if "." in match.group() else 0
    factor = UNITS.get(unit.group(1).rstrip("."), 1) if unit else 1
    return abs(number - value * factor) <= 0.5000001 * 10 ** -places + 1e-9 * abs(number)


class Checker:
    def __init__(self, myriad, words, plan, names, folder):
        self.plan, self.names = plan, names
        self.asked = [myriad, "explain", "plan", *words]
        self.known, self.found, self.translated = {}, {}, False
        for path in ([], ["findings"], ["devices"], *([["racks"]] if plan["room"] else [])):
            for row in (self.ask(*path) or {"numbers": []})["numbers"]:
                self.known[row["path"]] = row
        design = json.loads((folder / "design.json").read_text())
        parts = {kind[key] for kind in design["cable_types"]
                 for key in ("part", "optic_a", "optic_b") if kind[key]}
        parts |= {device[key] for device in design["devices"] for key in ("part", "name")}
        texts = set(strings({key: plan[key] for key in plan if key not in ("figures", "question")}))
        self.texts = texts | set(names) | parts
        self.words = {word for text in self.texts for word in WORD.findall(text)
                      if not NUMBER.fullmatch(word)}
        self.cells = None  # of the English page
        self.seen = set()

    def explained(self, text, path, unit=""):
        """None where every number of the text is that of the path, or one of its explanation."""
        if path not in self.known:  # words are not in the list of all
            done = self.ask(path)
            self.known[path] = done["numbers"][0] if done else None
        row = self.known[path]
        if not row:
            return f"'{text}': no explanation of {path}"
        self.seen.add(path)
        if is_number(row["value"]) and shown_as(f"{text} {unit}", float(row["value"])):
            rest = NUMBER.sub(" ", text, count=1).removeprefix(" :1")
            if not re.search(r"\d", rest):
                return None
        said = " ".join(row[key] for key in ("path", "value", "unit", "rule", "inputs"))
        known = set(re.findall(r"\d+", said.replace(",", "")))
        unknown = [one for one in re.findall(r"\d+", text.replace(",", "")) if one not in known]
        return f"'{text}': {unknown} of {path}: {said[:120]}" if unknown else None

    def ask(self, *path):
        done = subprocess.run([*self.asked, *path, "-o", "json"], capture_output=True, text=True,
                              check=False, cwd=ROOT, timeout=LIMIT_S)
        return json.loads(done.stdout) if done.returncode == 0 else None

    def is_name(self, text, tags, css=""):
        text = text.strip()
        if "n" in css.split():
            return False  # a cell for numbers
        if tags[-1] == "td" and (text in self.texts or self.translated):
            return True  # the whole cell is a name; translated ones are compared as a whole
        return all(word.strip(".…") in self.words or self.is_known_part(word)
                   for word in WORD.findall(text))

    def is_known_part(self, word):
        """A name that is shown shortened: the digest."""
        return word.endswith("…") and any(name.startswith(word[:-1]) for name in self.names)

    def below(self, paths):
        """Values, and whole numbers of the texts, of all that is found below these paths."""
        if paths not in self.found:
            values, said = set(), set()
            for prefix in paths.split():
                for path, row in self.known.items():
                    if path == prefix and path.startswith("bom."):  # a tip with its rule
                        said.update(re.findall(r"\d+", f"{row['rule']} {row['inputs']}"))
                    if path == prefix or path.startswith(prefix + "."):
                        if is_number(row["value"]):
                            values.add(float(row["value"]))
                        else:  # a finding, and its remedy
                            said.update(re.findall(r"\d+", f"{row['value']} {row['inputs']}"))
            self.found[paths] = values, said
        return self.found[paths]

    def drawn(self, text, paths):
        """None where every number of a drawing's text is found below its paths, or is a name."""
        values, said = self.below(paths) if paths else (set(), set())
        text = NOT_DRAWN.sub(" ", text)
        for word in sorted(set(WORD.findall(text)), key=len, reverse=True):
            if word.strip(".…") in self.words or re.match(r"[A-Za-z]{2}", word):
                text = text.replace(word, " ")
        text = ORDINAL.sub(" ", text)
        for match in NUMBER.finditer(text):
            one = text[match.start():].replace("G each", " ").replace("G,", " ")
            if not any(shown_as(one, value) for value in values) and \
                    not set(re.findall(r"\d+", match.group())) <= said:
                return f"{match.group()} is not found below {paths}"
        return None

    def look(self, text):
        wrong, ticks = [], []
        texts = Page(text).texts
        cells = [digits(data) for data, path, tags, css in texts
                 if "td" in tags and not path and re.search(r"\d", data)]
        if self.translated and cells != self.cells:
            pairs = itertools.zip_longest(cells, self.cells)
            other = [(here, there) for here, there in pairs if here != there]
            wrong.append(f"cells without a path have other numbers than in English: {other[:3]}")
        self.cells = cells if not self.translated and self.cells is None else self.cells
        for at, (data, path, tags, css) in enumerate(texts):
            if not re.search(r"\d", data) or "code" in tags or SCALE & set(css.split()):
                continue
            if "svg" in tags and not path and TICK.fullmatch(data):
                ticks.append(float(TICK.fullmatch(data).group(1).replace(",", "")))
                continue
            if "svg" in tags:
                known = self.translated or data in LEGEND
                problem = None if known else self.drawn(data.strip(), path)
                if problem:
                    wrong.append(f"'{data.strip()}' ({css}): {problem}")
                continue
            unit = texts[at + 1][0] if tags[-1] == "bdi" and at + 1 < len(texts) else ""
            problem = self.explained(data, path, unit) if path else None
            if problem and tags[-1] == "td" and self.is_name(data, tags, css):
                problem = None  # a part's name in a row that explains a number
            if not path and not self.is_name(data, tags, css):
                problem = f"'{data.strip()}' in {tags[-2:]}: a number without a path"
            if problem:
                wrong.append(problem)
        steps = {round(after - before, 6) for before, after in zip(ticks, ticks[1:])}
        if len(steps) > 1 or (ticks and ticks[0] != 0):
            wrong.append(f"{ticks} is no scale")
        return wrong


def drawings(text):
    """The numbers of the drawings, text by text; money is counted in other units in Chinese."""
    return [digits(data) for data, _, tags, _ in Page(text).texts
            if "svg" in tags and not MONEY.search(data)]


CASES = [
    # spec, the next phase, more options
    ("h100-64", "h100-128", ["--labels", "oob"]),
    ("h100-128-room", None, []),
    ("mixed-train-infer", None, []),
    ("nvl72-9k", None, []),
]
GROUPS = """groups:
  - {{name: train, servers: {train}, server: h100-8gpu}}
  - {{name: infer, servers: {infer}, server: a100-8gpu, networks: [service, oob]}}
networks: {{compute: {{fabric: roce}}, service: {{}}, oob: {{}}}}
prices: cn-2024-05
facility: {{cooling: cold-plate, bill: true}}
"""
CAMPUS = """servers: {servers}
networks: {{compute: {{switch: sn5600, topology: rail}}, storage: {{}}, oob: {{}}}}
storage: {{capacity_pb: 3, files: 10G, file_kb: 16, availability_percent: 99.9999}}
room: {{rows: 20, columns: 12, buildings: [{{name: north}}, {{name: south}}], distance_m: 90}}
"""


def own_cases(folder):
    for name, text, sizes in (("groups", GROUPS, [{"train": 40, "infer": 9},
                                                  {"train": 70, "infer": 20}]),
                              ("campus", CAMPUS, [{"servers": 96}])):
        files = []
        for number, size in enumerate(sizes):
            files.append(folder / f"{name}-{number}.yaml")
            files[-1].write_text(text.format(**size))
        yield files[0], files[1] if len(files) > 1 else None, []


def random_cases(folder, count):
    """Clusters that grow, of all topologies, on switches small enough that few are not drawn."""
    rng = random.Random(count)
    catalog = folder / "catalog.yaml"
    catalog.write_text(growth.CATALOG)
    for number in range(count):
        _topology, *texts = growth.pair(rng)
        files = [folder / f"{number}{end}.yaml" for end in "ab"]
        for file, text in zip(files, texts):
            file.write_text(text)
        yield *files, ["--catalog", str(catalog)]


def cases(folder, everything):
    for spec, later, more in CASES:
        yield (ROOT / f"examples/{spec}.yaml",
               ROOT / f"examples/{later}.yaml" if later else None, more)
    yield from own_cases(folder)
    yield from random_cases(folder, 60 if everything else 10 // EVERY)
    if everything:
        for spec in sorted((ROOT / "examples").glob("*.yaml")):
            if spec.stem not in ("gpu-1m", "h100-100k", "campus-2x50k"):
                yield spec, None, []


def is_planned(myriad, words):
    """Random ones may not be; then there is one clear line."""
    done = subprocess.run([myriad, "explain", "plan", *words, "gpus"], capture_output=True,
                          text=True, check=False, cwd=ROOT, timeout=LIMIT_S)
    said = done.stderr.splitlines()
    assert done.returncode == 0 or (said and len(said) <= 2 and done.returncode in (1, 2)), said
    return done.returncode == 0


def break_it(checker, text, rng):
    """A path that is lost, a number that is another, a new one: each must be noticed."""
    body = text.index("</style></head>")
    marks = [m for m in re.finditer(r' title="[^"]*">([^<]*\d[^<]*)<', text) if m.start() > body]
    for mark in rng.sample(marks, min(6, len(marks))):
        end = mark.end(1)
        if re.fullmatch(r"[\d,.+-]+", mark.group(1)):
            broken = text[:mark.start(1)] + "987654" + text[end:]
            assert checker.look(broken), f"a wrong number passes: {mark.group()}"
        lost = text[:mark.start()] + ">" + text[mark.start(1):]
        row = text.rfind("<tr", 0, mark.start())
        if text.find(">", row) < mark.start() and " title=" not in text[row:text.find(">", row)]:
            assert checker.look(lost), f"a number without a path passes: {mark.group()}"
    for new in ("<p>There are 7,654 of them.</p>", "<table><tr><td class=\"n\">7,654</td></tr>"):
        assert checker.look(text.replace("</body>", new + "</body>")), new


def main():
    myriad = str(pathlib.Path(sys.argv[1]).resolve())
    rng = random.Random(21)
    failed = 0
    with tempfile.TemporaryDirectory(prefix="myriad-numbers-") as name:
        folder = pathlib.Path(name)
        for spec, later, more in cases(folder, "--all" in sys.argv):
            words = [str(spec), *(["--next", str(later)] if later else [])]
            if "--catalog" in more:
                words, more = words + more, []
            if not is_planned(myriad, words):
                continue
            checker = None
            for lang in ("en", "zh"):
                out = folder / f"{spec.stem}-{lang}"
                plan = run(myriad, "plan", *words, *more, "--out", out, "--lang", lang, "--date",
                           "2026-11-16", "--revision", "B7", "-o", "json")
                text = (out / "report.html").read_text()
                given = [pathlib.Path(word) for word in words if word.endswith(".yaml")]
                names = [word for file in given for word in WORD.findall(file.read_text())
                         if re.search(r"[a-z]", word)]
                names += [*(file.name for file in given), "2026-11-16", "B7", "SHA-256"]
                names += re.findall(r"\b[0-9a-f]{64}\b", text)
                checker = checker or Checker(myriad, words, plan, names, out)
                if plan["room"]:
                    checker.words |= {p.split(".")[1] for p in checker.known if
                                      p.startswith("racks.")}
                    checker.texts |= checker.words
                checker.translated = lang == "zh"
                wrong = checker.look(text)
                if checker.translated and drawings(text) != shown:
                    wrong.append("the drawings have other numbers than those of the English page")
                shown = drawings(text)
                failed += len(wrong)
                for line in wrong[:8]:
                    print("FAILED", spec.stem, lang, line)
                if not wrong and (spec.stem, lang) in (("h100-64", "zh"), ("campus-0", "en")):
                    break_it(checker, text, rng)
            if later:
                chapter = {path for path in checker.known if path.startswith("next.")}
                unseen = {path for path in chapter - checker.seen
                          if not re.search(r"\.(now|then|more|total_now|total_then)$", path)}
                print(f"{spec.stem}: {len(chapter)} numbers of the next phase, not shown: "
                      f"{sorted(unseen)}")
            print("ok" if not failed else "--", spec.stem, len(checker.seen), "paths shown")
    sys.exit(f"{failed} failed" if failed else 0)


if __name__ == "__main__":
    main()
