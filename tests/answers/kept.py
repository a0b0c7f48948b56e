"""What the answers were when somebody last looked: tests/kept/answers, a file a command.

Schemas say what an answer is made of, and not that its numbers are right. So the wide text and the
JSON of every question are kept, and a checksum of each other format, of the wide text on a screen
where all columns of a table stand side by side ("broad"), and of each file that the command wrote.
Long lists and texts are cut in the middle, and a checksum stands for what is left out. Answers of
servers differ in times, ports and states from run to run, and are not kept.
"""
import copy
import difflib
import hashlib
import json
import re
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[1] / "kept" / "answers"
LINES, HEAD, TAIL = 60, 36, 12  # of texts
ITEMS, FIRST, LAST = 12, 8, 2  # of lists
DIFF_LINES_MAX = 40
WRITES = ("--out", "--svg", "--report", "--heatmap", "--fct", "--plot", "--picture",
          "--layout-out")
BINARY = {".myr", ".xlsx", ".state"}  # layouts of their own, with readers and tests of their own


def mark(text):
    return hashlib.sha256(text if isinstance(text, bytes) else text.encode()).hexdigest()[:16]


def trimmed(text):
    lines = text.splitlines()
    if len(lines) <= LINES:
        return lines
    return [*lines[:HEAD], f"[{len(lines)} lines, {mark(text)}]", *lines[-TAIL:]]


def cut(value):
    """The tree with long lists cut."""
    if isinstance(value, dict):
        return {key: cut(child) for key, child in value.items()}
    if isinstance(value, list):
        items = [cut(child) for child in value]
        if len(items) <= ITEMS:
            return items
        return [*items[:FIRST], f"[{len(items)} items, {mark(json.dumps(value))}]", *items[-LAST:]]
    return value


def tree_lines(document):
    """A line for each key at the top, and for each item of a list there. Of the question what was
    asked for: an option more changes no answer."""
    asked = document["question"]
    asked["options"] = {key: value for key, value in asked["options"].items() if value}
    for key, value in cut(document).items():
        if isinstance(value, list) and value:
            yield f"{key}:"
            yield from ("  " + json.dumps(item, ensure_ascii=False) for item in value)
        else:
            yield f"{key}: {json.dumps(value, ensure_ascii=False)}"


def written(words, folder):
    """Checksums of the texts that the command was asked to write."""
    for option, name in zip(words, words[1:]):
        path = Path(folder) / name
        if option not in WRITES or "NEW" in name:
            continue
        for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
            if file.is_file() and file.suffix not in BINARY:
                yield f"{file.relative_to(folder)}: {mark(file.read_bytes())}"


def account(words, outputs, document, folder):
    """The lines to keep of one question."""
    lines = ["$ myriad " + " ".join(words), "-- wide", *trimmed(outputs["wide"]), "-- json",
             *tree_lines(copy.deepcopy(document))]
    lines += [f"-- {form}: {mark(outputs[form])}" for form in ("table", "broad", "csv", "yaml")]
    return [*lines, *written(words, folder)]


def path_of(name):
    return FOLDER / (name.replace(" ", "-") + ".txt")


def blocks(lines):
    """The lines of each question, by its first."""
    found = {}
    for line in lines:
        if line.startswith("$ myriad "):
            now = found.setdefault(line, [])
        elif line:
            now.append(line)
    return found


def compare(name, accounts):
    """Lines that say what differs from what was kept."""
    path = path_of(name)
    before = blocks(path.read_text().splitlines() if path.exists() else [])
    for lines in accounts:
        question, *now = [line.rstrip() for line in lines if line.strip()]
        yield from list(difflib.unified_diff(before.get(question, []), now,
                                             f"{path.name}: {question}", "now",
                                             lineterm=""))[:DIFF_LINES_MAX]


def rewrite(name, accounts):
    FOLDER.mkdir(exist_ok=True)
    path_of(name).write_text("".join(re.sub(r"\s+$", "", line) + "\n"
                                     for lines in accounts for line in [*lines, ""]))
