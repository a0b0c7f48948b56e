#!/usr/bin/env python3
"""Opens drawings in headless Chromium, light and dark, and measures what was laid out: every text
inside the page, hardly a text on another, and a ground that follows the colour scheme."""
import json
import pathlib
import sys
import tempfile

import specs

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "web"))
from chrome import Chrome  # pylint: disable=wrong-import-position

NAMES = ["h100-64", "h100-10k", "twin-planar", "rail-only", "dragonfly", "torus-3"]

# Written into the page beside the drawing; leaves its findings as text in the document.
PROBE = """
<pre id="found"></pre><script>
const found = {texts: 0, outside: [], overlaps: []};
const svg = document.querySelector("svg");
const page = svg.getBoundingClientRect();
const boxes = [];
for (const text of svg.querySelectorAll("text")) {
  const box = text.getBoundingClientRect();
  if (!text.textContent.trim()) continue;
  found.texts++;
  boxes.push([box, text.textContent]);
  if (box.left < page.left || box.right > page.right || box.top < page.top ||
      box.bottom > page.bottom) found.outside.push(text.textContent);
}
for (let i = 0; i < boxes.length; i++) for (let k = i + 1; k < boxes.length; k++) {
  const [a, one] = boxes[i], [b, other] = boxes[k];
  const width = Math.min(a.right, b.right) - Math.max(a.left, b.left);
  // Boxes are as high as the font, letters are not: rows may touch.
  const height = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) - 5;
  const smaller = Math.min(a.width * a.height, b.width * b.height);
  if (width > 0 && height > 0 && width * height > 0.15 * smaller)
    found.overlaps.push(one + " / " + other);
}
found.width = innerWidth;
found.small = boxes.filter(([box]) => box.height < 6).length;
found.height = page.height;
found.ground = getComputedStyle(svg.querySelector(".page")).fill;
document.getElementById("found").textContent = JSON.stringify(found);
</script>"""


def look(chrome, drawing, dark, width=1400):
    chrome.call("Emulation.setDeviceMetricsOverride", width=width, height=1200,
                deviceScaleFactor=1, mobile=False)
    chrome.scheme("dark" if dark else "light")
    with tempfile.TemporaryDirectory() as folder:
        page = pathlib.Path(folder) / "page.html"
        page.write_text("<!DOCTYPE html><meta charset=utf-8><body style='margin:0'>" +
                        drawing.decode() + PROBE, encoding="utf-8")
        chrome.call("Page.navigate", url=page.as_uri())
        # The folder is another one each time: it is this page that was looked at.
        found = chrome.wait(f"location.href == {json.dumps(page.as_uri())} && "
                            "document.readyState == 'complete' && "
                            "document.getElementById('found').textContent", "findings of a drawing")
    return json.loads(found)


def narrow(chrome, drawing, texts):
    """On a phone: one column, nothing cut off, hardly a text on another, most of them legible."""
    found = look(chrome, drawing, dark=False, width=390)
    yield from (f"narrow: '{text}' is cut off" for text in found["outside"])
    yield from (f"narrow: {pair} overlap" for pair in found["overlaps"])
    if found["texts"] != texts:
        yield f"narrow: {found['texts']} texts of {texts}"
    if found["small"] > 0.5 * texts:
        yield f"narrow: {found['small']} of {texts} texts are too small to read"
    if found["height"] < 2 * found["width"]:
        yield f"narrow: {found['width']} x {found['height']} is no column"


def faulty(chrome, name):
    """Whether something is wrong with a drawing; told."""
    with tempfile.TemporaryDirectory() as folder:
        drawing = specs.plan(sys.argv[1], name, folder)
    light = look(chrome, drawing, dark=False)
    problems = [f"'{text}' is cut off" for text in light["outside"]]
    problems += [f"{pair} overlap" for pair in light["overlaps"]]
    if light["texts"] < 40:
        problems.append(f"only {light['texts']} texts")
    problems += narrow(chrome, drawing, light["texts"])
    if name == NAMES[0]:
        wide = look(chrome, drawing, dark=False, width=1920)
        problems += [f"1920 pixels: '{text}' is cut off" for text in wide["outside"]]
        if wide["small"]:
            problems.append(f"1920 pixels: {wide['small']} texts are tiny")
        dark = look(chrome, drawing, dark=True)
        if (light["ground"], dark["ground"]) != ("rgb(255, 255, 255)", "rgb(13, 17, 23)"):
            problems.append(f"grounds are {light['ground']} and {dark['ground']}")
    for problem in problems[:8]:
        print(f"FAIL {name}: {problem}")
    return bool(problems)


def main():
    chrome = Chrome()
    try:
        failed = sum(faulty(chrome, name) for name in NAMES)
    finally:
        chrome.close()
    print(f"{len(NAMES)} drawings in the browser, {failed} with faults")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
