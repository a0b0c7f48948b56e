#!/usr/bin/env python3
"""report.html and bom.xlsx, as a reader of them would check: what they say is what the plan says,
the Chinese one is Chinese, nothing is fetched from elsewhere.

    tests/plan/report.py MYRIAD [--office]

With --office LibreOffice reads the workbook, and what it reads is compared (77 where it is not
installed).
"""
import csv
import hashlib
import json
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

ROOT = Path(__file__).resolve().parent.parent.parent
EXAMPLES = ["h100-64", "h100-64-corrected", "h100-128-room", "mixed-train-infer", "nvl72-9k",
            "compare/roce-1k", "ascend-910b-1k"]
# A sentence, or a piece of one: words of the language, not names of parts, paths or formulas.
ENGLISH = re.compile(r"(?<![\w/.\-])[A-Za-z]?[a-z]{2,}(?: (?:a |of |to )?[a-z]{2,}){1,}(?![\w/\-])")
# Words that are names: options of a spec, and functions of a formula.
NAMES = {"fill", "tiers", "topology", "regular", "ceil", "floor", "max"}


class Page(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.texts, self.rows, self.styles, self.links, self.ids = [], [], [], [], []
        self.tables, self.by_path = [], {}
        self.stack, self.cell = [], None
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.stack.append(tag)
        if tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.rows.append([])
            self.by_path.setdefault(dict(attrs).get("title"), self.rows[-1])
            self.tables[-1].append(self.rows[-1])
        elif tag in ("td", "th"):
            self.cell = ""
        for key, value in attrs:
            if key in ("src", "href", "xlink:href"):
                self.links.append(value)
            if key == "id":
                self.ids.append(value)

    def handle_endtag(self, tag):
        if tag in ("td", "th"):
            self.rows[-1].append(self.cell)
            self.cell = None
        while self.stack and self.stack.pop() != tag:
            pass

    def handle_data(self, data):
        if "style" in self.stack[-1:]:
            self.styles.append(data)
        elif data.strip():
            if "code" not in self.stack:  # a command is typed as it is in every language
                self.texts.append(data.strip())
            if self.cell is not None:
                self.cell += data


def run(*words):
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1), (words, done.stderr)
    return done.stdout


def number(text):
    return None if text in ("-", "") else float(text.replace(",", ""))


def check_bill(page, plan, name):
    rows = next(table for table in page.tables if table[-1][0] in ("all", "合计"))
    lines = [row for row in rows if row[2] and number_or_none(row[4]) is not None]
    expected = sorted((row["part"], float(row["quantity"]), row["unit_price"], row["total"])
                      for row in plan["bom"])
    found = sorted((row[2], number(row[4]), number(row[5]), number(row[6])) for row in lines)
    assert [(p, q, u or -1, t or -1) for p, q, u, t in found] == \
           [(p, q, u or -1, t or -1) for p, q, u, t in expected], name
    total = number(rows[-1][6])
    assert total == plan["totals"]["cost"], (name, total)
    warranties = sum(bool(row[7]) for row in lines)
    assert warranties == sum(row["warranty_months"] is not None for row in plan["bom"]), name


def number_or_none(text):
    try:
        return number(text)
    except ValueError:
        return None


def check_figures(page, plan, name):
    """Every figure of the plan is in the report with a title, found by its path, with its value;
    what is compared has columns; how far the total reaches is told in sentences."""
    for figure in plan["figures"]:
        path, value = figure["path"], figure["value"]
        if path.startswith("cooling.compare."):
            _, _, kind, what = path.split(".")
            if what != "fits":
                columns = {"air": 1, "cold-plate": 2, "immersion": 3}
                table = next(t for t in page.tables if len(t[0]) == 5 and len(t) == 12)
                cells = [row[columns[kind]] for row in table]
                assert any(number_or_none(cell) == value for cell in cells), (name, path)
            continue
        if path.startswith(("totals.priced.", "spares.")):
            continue
        row = page.by_path[path]
        assert "." not in row[0] and "_" not in row[0], (name, row)
        if isinstance(value, (int, float)):
            assert abs(number(row[1]) - value) <= 1e-6 * max(1, abs(value)), (name, row, value)


def check_summary(page, plan, name, lang):
    """Faults on top, then what was accepted, then lines without a price; no sum without its main
    lines, and none without its share."""
    listed = [row for table in page.tables if table[0][0] in ("severity", "级别")
              and len(table[0]) == 4 for row in table[1:]]
    wanted = [f for f in plan["findings"] if f["severity"] != "info"]
    assert len(listed) == len(wanted), (name, len(listed), len(wanted))
    heads = {"en": "low estimate", "zh": "低估"}[lang]
    unpriced = [row for table in page.tables if heads in table[0] for row in table[1:]]
    lines = [row for row in plan["bom"] if row["unit_price"] is None]
    assert [row[2] for row in unpriced] == [row["part"] for row in lines], name
    for row, line in zip(unpriced, lines):
        wanted = [line[key] for key in ("estimate_low", "estimate", "estimate_high")]
        found = [number_or_none(cell) for cell in row[4:7]]
        assert all((a is None) == (b is None) and (a is None or abs(a - b) < 0.01)
                   for a, b in zip(found, wanted)), (name, row, line)
    priced = plan["totals"]["priced"]
    text = "\n".join(page.texts)
    said = {"en": "There is no price of the whole", "zh": "没有整体价格"}[lang]
    any_price = any(row["unit_price"] is not None for row in plan["bom"])
    assert (said in text) == (bool(priced["lacking"]) and any_price), (name, priced)
    if lang == "zh" and plan["totals"]["currency"] == "CNY" and any_price \
            and not priced["lacking"]:
        cost = plan["totals"]["cost"]
        wan = f"{cost / 1e8:,.2f} 亿元" if cost >= 1e8 else f"{cost / 1e4:,.2f} 万元"
        assert cost < 1e4 or wan in text, (name, wan)


def check_findings(page, plan, name):
    table = next((t for t in page.tables
                  if t[0][0] in ("severity", "级别") and len(t[0]) == 5), [[]])
    rules = sorted(row[2] for row in table[1:])
    assert rules == sorted(finding["rule"] for finding in plan["findings"]), (name, rules)


def check_chinese(page, name):
    bad = []
    for text in page.texts:
        for line in text.splitlines():
            line = re.sub(r"'[^']*'", "", line)
            for match in ENGLISH.finditer(line):
                if not set(match.group().split()) <= NAMES:
                    bad.append(line)
    assert not bad, (name, bad[:5])
    assert sum(len(re.findall(r"[\u4e00-\u9fff]", text)) for text in page.texts) > 300, name


def check_page(path, plan, lang):
    text = path.read_text()
    page = Page(text)
    assert f'<html lang="{lang}">' in text
    assert not [link for link in page.links if not link.startswith("#")], page.links
    assert len(page.ids) == len(set(page.ids)), page.ids
    for style in page.styles[1:]:  # the first is the page's own
        for rule in re.findall(r"([^{}]+)\{[^{}]*\}", re.sub(r"@[^{]+\{", "", style)):
            assert all(part.strip().startswith("#p") for part in rule.split(",")), rule
            assert not rule.split()[-1] == "svg", f"{rule}: what a drawing says of itself is lost"
    # Drawn anew for a phone, and not on paper, which is as narrow.
    assert re.search(r"@media screen and \(max-width:860px\)\{#p1\{width:100vw;height:", text)
    check_bill(page, plan, path)
    check_summary(page, plan, path, lang)
    check_findings(page, plan, path)
    check_figures(page, plan, path)
    if lang == "zh":
        check_chinese(page, path)


SHEET = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"


def read_workbook(path):
    """Rows of the first sheet, by the format's rules alone."""
    with zipfile.ZipFile(path) as book:
        assert book.testzip() is None
        words = ["".join(item.itertext()) for item in
                 ElementTree.fromstring(book.read("xl/sharedStrings.xml"))]
        sheet = ElementTree.fromstring(book.read("xl/worksheets/sheet1.xml"))
    rows = []
    for row in sheet.iter(SHEET + "row"):
        cells = {}
        for cell in row:
            value = cell.find(SHEET + "v")
            if value is not None:
                column = re.match("[A-Z]+", cell.get("r")).group()
                cells[column] = (words[int(value.text)] if cell.get("t") == "s"
                                 else float(value.text))
        rows.append(cells)
    return rows


def check_workbook(path, plan):
    rows = read_workbook(path)
    lines = rows[1:-1]
    assert len(lines) == len(plan["bom"])
    for line, row in zip(lines, plan["bom"]):
        assert line["C"] == row["part"] and line["D"] == row["quantity"], (line, row)
        assert line.get("E") == row["unit_price"] and line.get("F") == row["total"], (line, row)
    assert rows[-1]["F"] == (plan["totals"]["cost"] or 0)


def check_audit(myriad, spec, out, name):
    """The workbook in either language is audited as bom.csv is: the same lines and findings."""
    said = []
    for file in ("bom.csv", "bom.xlsx"):
        found = json.loads(run(myriad, "plan", "audit", str(out / file), "--spec", str(spec), "-o",
                               "json"))
        said.append([found["lines"], *(re.sub(r"bom\.(csv|xlsx)", "bom", json.dumps(found[key]))
                                       for key in ("findings", "not_judged"))])
    assert said[0][0] > 0 and said[0] == said[1], (name, said)


def check_office(myriad, folder):
    office = shutil.which("soffice") or shutil.which("libreoffice")
    if not office:
        print("LibreOffice is not installed")
        sys.exit(77)
    for lang in ("en", "zh"):
        out = Path(folder) / lang
        spec = str(ROOT / "examples/h100-64.yaml")
        plan = json.loads(run(myriad, "plan", spec, "--out", str(out), "--lang", lang, "-o",
                              "json"))
        subprocess.run([office, "--headless", f"-env:UserInstallation=file://{folder}/profile",
                        "--convert-to", "csv:Text - txt - csv (StarCalc):44,34,76,1,,0,false,"
                        "false,false,false,false,1", "--outdir", str(out), str(out / "bom.xlsx")],
                       check=True, capture_output=True, timeout=600)
        read = list(csv.reader(next(out.glob("bom*-*.csv"), out / "bom.csv").open()))
        lines = read[1:-1]
        assert len(lines) == len(plan["bom"]), (len(lines), read[:3])
        for line, row in zip(lines, plan["bom"]):
            got = [line[2], number(line[3]), number(line[4]), number(line[5])]
            want = [row["part"], row["quantity"], row["unit_price"], row["total"]]
            assert got == want, (got, want)
        assert number(read[-1][5]) == plan["totals"]["cost"], read[-1]
        print("ok", lang, len(lines), "lines")


def check_next(myriad, folder):
    """The published design and its second phase: its own sums, in both languages; and what names
    no larger cluster, no rack and no device is refused before anything is written."""
    small, large = (str(ROOT / f"examples/h100-{size}.yaml") for size in (64, 128))
    for lang in ("en", "zh"):
        out = Path(folder) / f"next-{lang}"
        plan = json.loads(run(myriad, "plan", small, "--out", str(out), "--lang", lang, "--next",
                              large, "--labels", "oob", "-o", "json"))
        check_page(out / "report.html", plan, lang)
        text = (out / "report.html").read_text()
        for figure in ("28,286,200", "1,872,000", "50,553,100", "76,967,300"):
            assert figure in text, figure
        labels = (out / "labels.html").read_text()
        with open(out / "labels.csv", encoding="utf-8") as file:
            rows = [row for row in csv.DictReader(file)
                    if "oob" in row["label"]]  # both ends say where the cable goes
        assert labels.count('class="l"') == labels.count('class="qr"') == len(rows), len(rows)
        for row in rows:
            assert f"{row['cable']} {row['end']}</b>" in labels, row
        assert str(out / "labels.html") in plan["files"]
    new = Path(folder) / "refused"
    for words, said in ((["--next", small], "64"), (["--next", "none.yaml"], "none.yaml"),
                        (["--labels", "A99"], "A99"), (["--labels", ""], "--labels")):
        done = subprocess.run([myriad, "plan", large, "--out", str(new), *words],
                              capture_output=True, text=True, check=False)
        assert done.returncode == 2 and said in done.stderr, (words, done.stderr)
        assert not new.exists() or not list(new.iterdir()), words
    for words in (["--labels", "all"], ["--next", large]):
        done = subprocess.run([myriad, "plan", small, *words], capture_output=True, text=True,
                              check=False)
        assert done.returncode == 2 and "--out" in done.stderr, (words, done.stderr)
    print("ok the next phase, and labels")


def main():
    myriad = str(Path(sys.argv[1]).resolve())
    with tempfile.TemporaryDirectory(prefix="myriad-report-") as folder:
        if "--office" in sys.argv:
            check_office(myriad, folder)
            return
        for name in EXAMPLES:
            spec = ROOT / "examples" / f"{name}.yaml"
            for lang in ("en", "zh"):
                out = Path(folder) / f"{name}-{lang}"
                plan = json.loads(run(myriad, "plan", str(spec), "--out", str(out), "--lang", lang,
                                      "--date", "2026-11-16", "--revision", "B & <C>", "-o",
                                      "json"))
                check_page(out / "report.html", plan, lang)
                check_workbook(out / "bom.xlsx", plan)
                check_audit(myriad, spec, out, name)
                text = (out / "report.html").read_text()
                assert hashlib.sha256(spec.read_bytes()).hexdigest() in text
                assert "B &amp; &lt;C&gt;" in text and "2026-11-16" in text
            print("ok", name)
        check_next(myriad, folder)
        again = Path(folder) / "again"
        run(myriad, "plan", str(ROOT / "examples/h100-64.yaml"), "--out", str(again), "--lang",
            "zh", "--date", "2026-11-16", "--revision", "B & <C>")
        for name in ("report.html", "bom.xlsx"):
            assert (again / name).read_bytes() == \
                   (Path(folder) / "h100-64-zh" / name).read_bytes(), name
        done = subprocess.run([myriad, "plan", str(ROOT / "examples/h100-64.yaml"), "--lang", "fr"],
                              capture_output=True, text=True, check=False)
        assert done.returncode == 2 and "fr" in done.stderr, done.stderr
        print("ok the same bytes, and an unknown language")


if __name__ == "__main__":
    main()
