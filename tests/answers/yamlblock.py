"""Reads YAML in the block style that answers are written in: enough to hold it against the JSON.

Maps and lists by indentation, JSON strings, numbers, true, false, null, plain words, [] and {}. No
code of the program is used.
"""
import json
import re

NUMBER = re.compile(r"-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$")
KEY = re.compile(r'("(?:[^"\\]|\\.)*"|[^\s:"][^:]*):(?: (.*))?$')


def scalar(text):
    if text in ("[]", "{}") or text.startswith('"') or NUMBER.match(text) \
            or text in ("true", "false", "null"):
        return json.loads(text)
    if not re.match(r"[A-Za-z]", text):
        raise ValueError(f"not a plain word: {text!r}")
    return text


def load(text):
    lines = [(len(line) - len(line.lstrip(" ")), line.lstrip(" ")) for line in text.splitlines()]
    value, at = node(lines, 0, 0)
    if at != len(lines):
        raise ValueError(f"line {at + 1} is left over: {lines[at]}")
    return value


def node(lines, at, depth):
    if lines[at][1].startswith("- "):
        return sequence(lines, at, depth)
    return mapping(lines, at, depth)


def sequence(lines, at, depth):
    items = []
    while at < len(lines) and lines[at][0] == depth and lines[at][1].startswith("- "):
        rest = lines[at][1][2:]
        if KEY.match(rest) and not rest.startswith('"') or re.match(r'"(?:[^"\\]|\\.)*": ?', rest) \
                or rest.startswith("- "):
            lines[at] = (depth + 2, rest)
            value, at = node(lines, at, depth + 2)
        else:
            value, at = scalar(rest), at + 1
        items.append(value)
    return items, at


def mapping(lines, at, depth):
    result = {}
    while at < len(lines) and lines[at][0] == depth and not lines[at][1].startswith("- "):
        found = KEY.match(lines[at][1])
        if not found:
            raise ValueError(f"line {at + 1} is no 'key: value': {lines[at][1]!r}")
        key = json.loads(found[1]) if found[1].startswith('"') else found[1]
        if key in result:
            raise ValueError(f"line {at + 1}: '{key}' twice")
        if found[2] is not None:
            result[key], at = scalar(found[2]), at + 1
        else:
            result[key], at = node(lines, at + 1, depth + 2)
    return result, at
