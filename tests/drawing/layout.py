#!/usr/bin/env python3
"""Plans many kinds of clusters and looks at their drawings as data: right texts, few shapes,
everything on the page, no text on another. The width of a text is an estimate: fonts differ."""
import re
import sys
import tempfile
import xml.etree.ElementTree as ET

import specs

SVG = "{http://www.w3.org/2000/svg}"
SHAPES_MAX = 700
BYTES_MAX = 250_000
OVERLAP_MAX = 0.12  # of the smaller text's box
SHAPES = {"rect", "line", "circle", "path"}


def classes_of(element):
    return element.get("class", "").split()


def font_sizes(root):
    css = "".join(style.text for style in root.iter(SVG + "style"))
    if css.count("@media (prefers-color-scheme:dark)") != 2:
        raise SystemExit("the stylesheets do not switch to dark")
    return {name: (int(size), "bold" if "font-weight" in rest else "")
            for name, size, rest in re.findall(r"\.([a-z0-9-]+)\{font-size:(\d+)px([^}]*)\}", css)}


def text_boxes(root, fonts):
    """(left, top, right, bottom, text) of every text with letters in it."""
    for element in root.iter(SVG + "text") if isinstance(root, ET.Element) else root:
        text = element.text or ""
        if not text.strip():
            continue
        size, bold = next((fonts[c] for c in classes_of(element) if c in fonts), (12, ""))
        ems = sum(1.0 if ord(c) >= 0x2E80 else 0.62 if bold else 0.58 for c in text)
        width = ems * size
        x, y = float(element.get("x")), float(element.get("y"))
        anchor = element.get("text-anchor", "start")
        left = x - {"start": 0, "middle": width / 2, "end": width}[anchor]
        yield left, y - 0.76 * size, left + width, y + 0.2 * size, text


def extent(element):
    """The points that bound a shape."""
    kind = element.tag.removeprefix(SVG)

    def number(name):
        return float(element.get(name))

    if kind == "rect":
        x, y = number("x"), number("y")
        return [(x, y), (x + number("width"), y + number("height"))]
    if kind == "line":
        return [(number("x1"), number("y1")), (number("x2"), number("y2"))]
    if kind == "circle":
        x, y, r = number("cx"), number("cy"), number("r")
        return [(x - r, y - r), (x + r, y + r)]
    data = element.get("d")
    if not re.fullmatch(r"([MLQ ]-?[0-9.]+ -?[0-9.]+|Z)*", data) or not data.startswith("M"):
        raise ValueError(f"path {data[:60]}")
    numbers = [float(n) for n in re.findall(r"-?[0-9.]+", data)]
    return list(zip(numbers[::2], numbers[1::2]))


def overlaps(boxes):
    """Pairs of texts of which one covers a good part of the other."""
    boxes = sorted(boxes)
    for i, a in enumerate(boxes):
        for b in boxes[i + 1:]:
            if b[0] >= a[2]:
                break
            width = min(a[2], b[2]) - b[0]
            height = min(a[3], b[3]) - max(a[1], b[1])
            if height <= 0:
                continue
            smaller = min((box[2] - box[0]) * (box[3] - box[1]) for box in (a, b))
            if width * height > OVERLAP_MAX * smaller:
                yield a[4], b[4]


def outgrown(root, fonts):
    """Numbers of boxes that are wider than the box they are in."""
    rects = [(*extent(rect)[0], *extent(rect)[1]) for rect in root.iter(SVG + "rect")
             if "page" not in classes_of(rect)]
    for element in root.iter(SVG + "text"):
        if "id" not in classes_of(element):
            continue
        for left, top, right, bottom, text in text_boxes([element], fonts):
            x, y = (left + right) / 2, (top + bottom) / 2
            around = [r for r in rects if r[0] <= x <= r[2] and r[1] <= y <= r[3]]
            box = min(around, key=lambda r: (r[2] - r[0]) * (r[3] - r[1]), default=None)
            if box and right - left > box[2] - box[0]:
                yield text


def findings(data, wanted):
    root = ET.fromstring(data)
    width, height = int(root.get("width")), int(root.get("height"))
    shapes = [e for e in root.iter() if e.tag.removeprefix(SVG) in SHAPES]
    boxes = list(text_boxes(root, font_sizes(root)))
    if width != 1400 or not 500 <= height <= 4000:
        yield f"the page is {width} x {height}"
    if len(shapes) > SHAPES_MAX or len(data) > BYTES_MAX:
        yield f"{len(shapes)} shapes, {len(data)} bytes"
    for shape in shapes:
        if "page" in classes_of(shape):
            continue
        for x, y in extent(shape):
            if not (0 <= x <= width and 0 <= y <= height):
                kind = shape.tag.removeprefix(SVG)
                yield f"{kind} {classes_of(shape)} at {x}, {y} is off the page"
                break
    for left, top, right, bottom, text in boxes:
        if left < 0 or top < 0 or right > width or bottom > height:
            yield f"'{text}' runs off the page"
    for one, other in overlaps(boxes):
        yield f"'{one}' and '{other}' overlap"
    for text in outgrown(root, font_sizes(root)):
        yield f"'{text}' is wider than its box"
    texts = {box[4] for box in boxes}
    for text in wanted:
        if text not in texts:
            yield f"'{text}' is missing"


def main():
    failed = 0
    for name, (_, wanted) in specs.SPECS.items():
        with tempfile.TemporaryDirectory() as folder:
            data = specs.plan(sys.argv[1], name, folder)
            again = specs.plan(sys.argv[1], name, folder)
        problems = list(findings(data, wanted))
        if data != again:
            problems.append("drawn twice, not the same bytes")
        for problem in problems[:8]:
            print(f"FAIL {name}: {problem}")
        failed += bool(problems)
    print(f"{len(specs.SPECS)} drawings, {failed} with faults")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
