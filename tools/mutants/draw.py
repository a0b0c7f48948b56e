"""Single-line mutants of C sources: where a line can be changed, and a seeded choice of them.

Four kinds: a comparison is flipped, an operator is swapped, a statement is deleted, a constant is
changed. The sources are laid out by clang-format, and that is what is relied upon here: a binary
operator has a blank on either side, a statement of one line ends in ';'.
"""
import random
import re
from dataclasses import dataclass

COMPARE = {"<": ">=", ">": "<=", "<=": ">", ">=": "<", "==": "!=", "!=": "=="}
SWAP = {"+": "-", "-": "+", "*": "/", "/": "*", "%": "/", "&&": "||", "||": "&&", "&": "|",
        "|": "&", "^": "&", "<<": ">>", ">>": "<<", "+=": "-=", "-=": "+=", "*=": "/=",
        "/=": "*=", "|=": "&=", "&=": "|=", "<<=": ">>=", ">>=": "<<="}
OPERATOR = re.compile(r"(?<= )(<<=|>>=|&&|\|\||<<|>>|<=|>=|==|!=|[-+*/|&]=|[-+*/%&|^<>])(?= |$)")
STEP = re.compile(r"\+\+|--")
NUMBER = re.compile(r"(?<![\w.])(0[xX][0-9a-fA-F]+|\d+\.\d*(?:[eE][-+]?\d+)?|\d+[eE][-+]?\d+|\d+)"
                    r"([uUlLfF]*)(?![\w.])")
WORD = re.compile(r"\b(true|false)\b")
TOKEN = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)
# A right program does not change when an assertion goes; declarations only fail to compile.
LEFT_OUT = re.compile(r"^\s*(#|MYR_(SLOW_)?ASSERT\b|static_assert\b|_Static_assert\b|case \w+:$)")
STATEMENT = re.compile(r"^\s+(?:[\w*(>.\[\]-]+(?: *[-+*/%|&^]?=[^=]|\(|\+\+;|--;|\[)|\(void\)|"
                       r"break;|continue;|return\b|\*).*;$|^\s+(?:\+\+|--)\S+;$")
DECLARATION = re.compile(r"^\s+(?:static |const |struct |enum |union |unsigned |signed |char |int |"
                         r"bool |double |float |size_t |u?int\d+_t |FILE |va_list )")


@dataclass(frozen=True)
class Mutant:
    """One changed line; 'line' counts from 1, and 'text' takes the line's place."""
    file: str
    line: int
    kind: str
    before: str
    text: str

    @property
    def key(self):
        return f"{self.file}:{self.line}:{self.before.strip()}=>{self.text.strip()}"

    def diff(self):
        return f"-{self.before.strip()}\n+{self.text.strip() or '(deleted)'}"


def bare(text):
    """The text with comments, strings and character constants blanked, in place."""
    return TOKEN.sub(lambda found: re.sub(r"[^\n]", " ", found.group()), text)


def number_changes(digits, suffix):
    """Other constants in place of one."""
    if digits[:2] in ("0x", "0X"):
        return [f"{hex(int(digits, 16) ^ 1)}{suffix}"]
    if re.fullmatch(r"\d+", digits):
        if digits != "0" and digits[0] == "0":
            return []  # octal: file modes
        value = int(digits)
        return [f"{value + 1}{suffix}", f"{value - 1 if value else 2}{suffix}"]
    return [f"({digits}{suffix} * 2)", f"({digits}{suffix} + 1)"]


def line_changes(line, blank, statement):
    """Every way to change one line, by kind; 'blank' is the line without comments and strings."""
    changes = {"comparison": [], "operator": [], "statement": [], "constant": []}

    def put(kind, at, end, word):
        changes[kind].append(line[:at] + word + line[end:])

    for found in OPERATOR.finditer(blank):
        word = found.group(1)
        if word in COMPARE:
            put("comparison", *found.span(1), COMPARE[word])
        elif word in SWAP:
            put("operator", *found.span(1), SWAP[word])
    for found in STEP.finditer(blank):
        put("operator", *found.span(), "--" if found.group() == "++" else "++")
    for found in NUMBER.finditer(blank):
        for other in number_changes(found.group(1), found.group(2)):
            put("constant", *found.span(), other)
    for found in WORD.finditer(blank):
        put("constant", *found.span(), "false" if found.group() == "true" else "true")
    if statement:
        changes["statement"].append("")
    return {kind: found for kind, found in changes.items() if found}


def is_statement(lines, at):
    """Whether the line is a whole statement that can go: what is before it has ended."""
    line = lines[at].rstrip()
    if not STATEMENT.match(line) or DECLARATION.match(line):
        return False
    if line.lstrip().startswith("return") and not line.startswith(" " * 8):
        return False  # a function's last word: without it the program means nothing
    before = next((lines[i].rstrip() for i in range(at - 1, -1, -1) if lines[i].strip()), "")
    return before.endswith((";", "{", "}", ":"))


def changes_of(text):
    """(line number, changes by kind) of every line of a source that can be changed."""
    lines, blanks = text.split("\n"), bare(text).split("\n")
    asserted = False
    for at, blank in enumerate(blanks):
        asserted = asserted or bool(re.match(r"\s*MYR_(SLOW_)?ASSERT\b", blank))
        skip = asserted or LEFT_OUT.match(blank) or not blank.strip()
        if asserted and blank.rstrip().endswith(";"):
            asserted = False
        if skip:
            continue
        found = line_changes(lines[at], blank, is_statement(blanks, at))
        if found:
            yield at + 1, found


def stream(sources, seed, module):
    """Mutants of a module without end to them but the lines: each line at most once, any order.

    'sources' are (name, text). The order is a function of the seed, the module and the texts alone.
    """
    places = [(name, line, found, text.split("\n")[line - 1])
              for name, text in sorted(sources) for line, found in changes_of(text)]
    rng = random.Random(f"{seed} {module}")
    rng.shuffle(places)
    for name, line, found, before in places:
        kind = rng.choice(sorted(found))
        yield Mutant(name, line, kind, before, rng.choice(found[kind]))
