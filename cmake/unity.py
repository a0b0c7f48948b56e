#!/usr/bin/env python3
"""Which sources of a module can be compiled as one: cmake/unity.py FOLDER SOURCE...

A line "SOURCE;GROUP" for each. Two sources keep apart when both know a name at the level of files
and mean different things by it, or when one defines a macro by a name that the other uses.
"""
import re
import sys
from pathlib import Path

# Headers are read a twelfth as often, and there is still work for every processor.
MOST = 12

NOISE = re.compile(r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'", re.S)
MACRO = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)", re.M)
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]+"([^"]+)"', re.M)
DIRECTIVE = re.compile(r"^[ \t]*#(?:\\\n|[^\n])*", re.M)
TOKEN = re.compile(r"[A-Za-z_]\w*|[{}()\[\]=;,]")


class Text:
    """One source or header: its own names, all words in it, and what it includes by quotes."""

    def __init__(self, path):
        raw = path.read_text(encoding="utf-8")
        plain = NOISE.sub(lambda m: '""' if m[0][0] == '"' else " ", raw)
        self.macros = set(MACRO.findall(plain))
        self.includes = INCLUDE.findall(raw)
        self.words = set(re.findall(r"[A-Za-z_]\w*", plain))
        self.names = self.macros | file_level(DIRECTIVE.sub("", plain))


def file_level(text):
    """What a file keeps for itself: statics, types and constants of enums; rather too many."""
    names, depth, parens, before, body, last = set(), 0, 0, [], False, ""
    for token in TOKEN.findall(text):
        own = "static" in before or "typedef" in before
        constants = depth == 1 and not body and "enum" in before
        if token in "{}":
            if token == "{" and depth == 0:
                body = last == ")"
                if before[-2:-1] in (["struct"], ["union"], ["enum"]):
                    names.add(before[-1])
            depth += 1 if token == "{" else -1
            if depth == 0 and body:
                before = []
        elif token in "()[]":
            if token in "([" and depth == parens == 0 and own:
                names.update(before[-1:])
            parens += 1 if token in "([" else -1
        elif token in "=;,":
            if depth == parens == 0 and own:
                names.update(before[-1:])
            if token == ";" and depth == 0:
                before = []
        elif depth == 0:
            before.append(token)
        elif constants:
            names.add(token)
        last = token
    return names


class Source:
    """A source with the headers of its module: each name with the file that says it."""

    def __init__(self, path, folder, texts):
        self.path = path
        self.said, self.macros, self.words = {}, {}, set()
        queue, seen = [path], set()
        while queue:
            file = queue.pop()
            if file in seen:
                continue
            seen.add(file)
            if file not in texts:
                texts[file] = Text(file)
            text = texts[file]
            self.said.update((name, file) for name in text.names)
            self.macros.update((name, file) for name in text.macros)
            self.words |= text.words
            for name in text.includes:
                queue += [base / name for base in (file.parent, folder) if (base / name).is_file()]


class Group:
    def __init__(self):
        self.sources, self.said, self.macros, self.words = [], {}, {}, set()

    def takes(self, source):
        return (len(self.sources) < MOST
                and apart(self.said, source.said)
                and undisturbed(self.macros, source) and undisturbed(source.macros, self))

    def add(self, source):
        self.sources.append(source)
        self.said.update(source.said)
        self.macros.update(source.macros)
        self.words |= source.words


def apart(one, other):
    return all(one[name] == other[name] for name in one.keys() & other.keys())


def undisturbed(macros, other):
    return all(other.macros.get(name) == macros[name] for name in macros.keys() & other.words)


def main():
    folder, texts, groups = Path(sys.argv[1]), {}, []
    for path in map(Path, sys.argv[2:]):
        source = Source(path, folder, texts)
        group = next((group for group in groups if group.takes(source)), None)
        if group is None:
            group = Group()
            groups.append(group)
        group.add(source)
    for number, group in enumerate(groups):
        for source in group.sources:
            print(f"{source.path};{number}")


if __name__ == "__main__":
    main()
