#!/usr/bin/env python3
"""bom.xlsx, cell by cell, as a spreadsheet shows it: values, formulas, bold type, the format of
numbers, the width of columns, what stays in sight. Read by the rules of the format alone.

    tests/plan/workbook.py MYRIAD                 compares with tests/kept/workbook.txt
    MYRIAD_KEPT=write tests/plan/workbook.py ...  writes it; read the diff
"""
import difflib
import os
import re
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from xml.etree import ElementTree

ROOT = Path(__file__).resolve().parent.parent.parent
KEPT = ROOT / "tests" / "kept" / "workbook.txt"
MAIN = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
# Prices and none, findings and none, one of them accepted; and another language.
PLANS = (("h100-64", "en"), ("h100-64", "zh"), ("h100-64-corrected", "en"), ("h100-128-room", "en"))


def formats_of(styles):
    """The words for each style that a cell can name."""
    bold = [font.find(MAIN + "b") is not None for font in styles.find(MAIN + "fonts")]
    own = {row.get("numFmtId"): row.get("formatCode") for row in styles.iter(MAIN + "numFmt")}
    named = {"0": "", "3": "#,##0", "4": "#,##0.00", **own}
    for row in styles.find(MAIN + "cellXfs"):
        yield " ".join(word for word in ("bold" if bold[int(row.get("fontId"))] else "",
                                         named[row.get("numFmtId")]) if word)


def sheet_lines(sheet, words, formats):
    for view in sheet.iter(MAIN + "pane"):
        yield f"stays in sight: {view.get('ySplit')} rows, {view.get('xSplit')} columns"
    for column in sheet.iter(MAIN + "col"):
        yield f"columns {column.get('min')} to {column.get('max')}: {column.get('width')}"
    for cell in sheet.iter(MAIN + "c"):
        value, formula = cell.find(MAIN + "v"), cell.find(MAIN + "f")
        said = words[int(value.text)] if cell.get("t") == "s" else value.text
        form = formats[int(cell.get("s") or 0)]
        said += f" [={formula.text}]" if formula is not None else ""
        yield f"{cell.get('r')}: {said}" + (f" ({form})" if form else "")


def read(path):
    """The lines of a workbook."""
    with zipfile.ZipFile(path) as book:
        def tree(name):
            return ElementTree.fromstring(book.read(name))
        words = ["".join(item.itertext()) for item in tree("xl/sharedStrings.xml")]
        formats = list(formats_of(tree("xl/styles.xml")))
        core = book.read("docProps/core.xml").decode()
        yield f"title: {re.search('<dc:title>(.*)</dc:title>', core)[1]}"
        yield f"made: {re.search('<dcterms:created[^>]*>(.*)</dcterms:created>', core)[1]}"
        for at, sheet in enumerate(tree("xl/workbook.xml").iter(MAIN + "sheet"), 1):
            yield f"sheet: {sheet.get('name')}"
            yield from sheet_lines(tree(f"xl/worksheets/sheet{at}.xml"), words, formats)


def main():
    myriad = str(Path(sys.argv[1]).resolve())
    lines = []
    with tempfile.TemporaryDirectory(prefix="myriad-workbook-") as folder:
        for name, lang in PLANS:
            out = Path(folder) / f"{name}-{lang}"
            subprocess.run([myriad, "plan", str(ROOT / "examples" / f"{name}.yaml"), "--out",
                            str(out), "--lang", lang], check=True, capture_output=True)
            lines += [f"== {name}, {lang}", *read(out / "bom.xlsx")]
            left = [path.name for path in out.iterdir() if path.name.startswith(".")]
            assert not left, left
    text = "\n".join(lines) + "\n"
    if os.environ.get("MYRIAD_KEPT") == "write":
        KEPT.write_text(text)
    diff = list(difflib.unified_diff(KEPT.read_text().splitlines(), lines, "kept", "now",
                                     lineterm=""))
    print("\n".join(diff) or f"ok, {len(lines)} lines")
    return 1 if diff else 0


if __name__ == "__main__":
    sys.exit(main())
