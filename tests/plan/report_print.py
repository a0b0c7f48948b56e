#!/usr/bin/env python3
"""Reports as they are printed and shown, in Chromium: A4 sheets with nothing wider than the sheet,
no page that scrolls sideways on a phone or a desk, every chapter there in both languages, no
sentence of the other language.

    tests/plan/report_print.py MYRIAD
"""
import base64
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/web"))
from chrome import Chrome  # noqa: E402

SMALL = """name: roce-small
servers: 16
server: h200-8gpu
networks: {compute: {fabric: roce}, storage: , service: , oob: }
storage: {capacity: 1P}
facility: {cooling: cold-plate, bill: true}
room: {rows: 8, columns: 6, rack_kw: 40}
prices: market-2026
"""
SHEET_PX = 703  # 186 mm between the margins of A4
CHAPTERS = {"en": ["Summary", "Scope", "What is built", "Topology", "Bill of materials",
                   "Room and racks", "Power and cooling", "Delivery, acceptance and maintenance",
                   "Terms", "What to look at", "Where the quantities come from"],
            "zh": ["摘要", "范围", "建设内容", "拓扑", "物料清单", "机房与机柜", "供电与散热",
                   "交付、验收与维保", "条款", "需要注意的事项", "数量的由来"]}
SOME = {"en": {"Storage in figures": "storage", "Cold plates": "plates"},
        "zh": {"存储指标": "storage", "冷板式液冷": "plates"}}
# What is wider than the sheet, with its text; drawings have a box of their own.
WIDE = """(() => {
  const limit = document.body.getBoundingClientRect().right + 1, found = [];
  for (const one of document.querySelectorAll('body *:not(svg *)')) {
    const box = one.getBoundingClientRect();
    if (box.width > 0 && box.right > limit) {
      found.push(one.tagName + ': ' + one.textContent.slice(0, 60));
    }
  }
  return found;
})()"""
# The same of a screen, where tables and drawings may scroll in themselves.
SIDEWAYS = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
HEADINGS = "[...document.querySelectorAll('h2')].map(one => one.textContent)"
WORDS = """[...document.querySelectorAll('h1, h2, h3, p, th, td')]
  .filter(one => !one.querySelector('code')).map(one => one.innerText)"""
COLOURS = """(() => { const style = getComputedStyle(document.body);
  return [style.color, style.backgroundColor]; })()"""


def specs(folder):
    small = folder / "roce-small.yaml"
    small.write_text(SMALL)
    yield small, {"storage", "plates"}, ["--model", "llama3-8b", "--batch", "256"]
    yield ROOT / "examples/h100-10k.yaml", {"storage"}, []
    yield ROOT / "examples/ascend-910b-1k.yaml", set(), []


def printed(chrome, wrong):
    """Laid out as on paper, then printed: the size of every sheet."""
    chrome.call("Emulation.setEmulatedMedia", media="print")
    chrome.size(SHEET_PX, 1000)
    wrong += [f"wider than a sheet: {text}" for text in chrome.run(WIDE)[:3]]
    chrome.call("Emulation.setEmulatedMedia", media="")
    pdf = base64.b64decode(chrome.call("Page.printToPDF", preferCSSPageSize=True,
                                       printBackground=True)["data"])
    sheets = {tuple(round(float(number)) for number in box.split())
              for box in re.findall(rb"/MediaBox \[([\d. ]+)\]", pdf)}
    if sheets != {(0, 0, 595, 842)}:
        wrong.append(f"sheets of {sheets}, A4 is expected")


def shown(chrome, wrong):
    colours = []
    for width in (390, 1440):
        chrome.size(width, 900)
        for scheme in ("light", "dark"):
            chrome.scheme(scheme)
            colours.append(chrome.run(COLOURS))
            if chrome.run(SIDEWAYS) > 0:
                wrong.append(f"at {width} pixels the page scrolls by {chrome.run(SIDEWAYS)}")
    if colours[0] == colours[1] or colours[0][0] == colours[0][1]:
        wrong.append(f"dark is as light: {colours[:2]}")


def told(chrome, lang, has, wrong):
    headings = chrome.run(HEADINGS)
    wanted = CHAPTERS[lang] + [name for name, what in SOME[lang].items() if what in has]
    wrong += [f"no chapter '{name}'" for name in wanted if name not in headings]
    wrong += [f"chapter '{name}' of a plan without it" for name, what in SOME[lang].items()
              if what not in has and name in headings]
    for text in chrome.run(WORDS):
        if lang == "en" and re.search(r"[\u4e00-\u9fff]", text):
            wrong.append(f"Chinese: {text}")
        # Six words of small letters are a sentence; names of parts and paths are not.
        if lang == "zh" and re.search(r"(?:\b[a-z]{2,} ){5}[a-z]{2,}", text):
            wrong.append(f"English: {text}")


def main():
    failed = sheets = 0
    chrome = Chrome()
    try:
        with tempfile.TemporaryDirectory(prefix="myriad-print-") as name:
            folder = pathlib.Path(name)
            for spec, has, more in specs(folder):
                for lang in ("en", "zh"):
                    out, wrong = folder / f"{spec.stem}-{lang}", []
                    done = subprocess.run([sys.argv[1], "plan", spec, "--out", out, "--lang", lang,
                                           "--acceptance", *more], capture_output=True, text=True,
                                          check=False)
                    assert done.returncode in (0, 1), done.stderr
                    chrome.call("Page.navigate", url=f"file://{out}/report.html")
                    chrome.wait("document.readyState == 'complete' && document.querySelector('h2')"
                                " != null", "the report")
                    told(chrome, lang, has, wrong)
                    printed(chrome, wrong)
                    shown(chrome, wrong)
                    for line in wrong[:8]:
                        print("FAIL", spec.stem, lang, line)
                    failed += len(wrong)
                    sheets += 1
            # The checker itself: a table that is too wide, and a sentence of the other language.
            wrong = []
            chrome.run("document.body.insertAdjacentHTML('beforeend', '<table><tr><td style="
                       "\"white-space:nowrap\">' + 'wide '.repeat(90) + '</td></tr></table>')")
            printed(chrome, wrong)
            told(chrome, "zh", set(), wrong)
            assert any("wider" in line for line in wrong) and \
                any("English" in line for line in wrong), wrong
    finally:
        chrome.close()
    print(f"{sheets} reports printed, {failed} faults")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
