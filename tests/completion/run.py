#!/usr/bin/env python3
"""The completion scripts at work in the shells that they are for.

    tests/completion/run.py MYRIAD

Each line of CASES is typed into bash and fish up to the cursor; what they offer is compared. zsh
has no way to ask without a terminal, so its script is parsed and loaded there, and its rows are
compared with what the program says of itself.
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile

SKIPPED = 77
# What is typed, what must be offered, what must not.
CASES = (
    ("myriad ", ("plan", "fit", "catalog", "completion"), ("--output", "curve")),
    ("myriad cat", ("catalog",), ("plan",)),
    ("myriad catalog --", ("--kind", "--catalog", "--output", "--timing"), ("--gpus",)),
    ("myriad catalog -o ", ("table", "json", "yaml", "csv"), ("--kind",)),
    ("myriad catalog --output j", ("json",), ("yaml",)),
    ("myriad completion ", ("bash", "zsh", "fish"), ("--output",)),
)


def ask(command, **more):
    return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False, **more)


# One shell for all lines: starting it takes longer than asking it.
BETWEEN = "-- next line --"


def bash_offers(script, lines):
    program = [f"source {script}"]
    for line in lines:
        words = line.split(" ")
        program += [f"COMP_WORDS=({' '.join(map(repr, words))})", f"COMP_CWORD={len(words) - 1}",
                    "COMPREPLY=()", "_myriad", "printf '%s\\n' \"${COMPREPLY[@]}\"",
                    f"echo '{BETWEEN}'"]
    said = ask(["bash", "--norc", "-c", "\n".join(program)]).stdout
    return [set(part.split()) for part in said.split(BETWEEN + "\n")[:-1]]


def fish_offers(script, lines):
    program = [f"source {script}"]
    for line in lines:
        program += [f"complete -C {line!r}", f"echo '{BETWEEN}'"]
    said = ask(["fish", "--no-config", "-c", "\n".join(program)]).stdout
    return [{row.split("\t")[0] for row in part.splitlines()}
            for part in said.split(BETWEEN + "\n")[:-1]]


def check_offers(shell, offers, script):
    asked = list(cases())
    answers = offers(script, [line for line, _, _ in asked])
    if len(answers) != len(asked):
        yield f"{shell}: {len(answers)} answers to {len(asked)} lines"
    for (line, wanted, unwanted), found in zip(asked, answers):
        for word in wanted:
            if word not in found:
                yield f"{shell}: '{line}' does not offer '{word}', but {sorted(found)[:8]}"
        for word in unwanted:
            if word in found:
                yield f"{shell}: '{line}' offers '{word}'"


def cases():
    """The fixed ones, and for each sub-verb of the program its name and its options."""
    yield from CASES
    listed = json.loads(ask([sys.argv[1], "commands", "-o", "json"]).stdout)["commands"]
    for row in listed:
        verb, _, sub = row["name"].partition(" ")
        if sub:
            yield f"myriad {verb} ", (sub,), ("--output",)
        names = tuple("--" + option["name"] for option in row["options"])
        if names:
            yield f"myriad {row['name']} --", names, ()
        for option in row["options"]:
            if option["choices"]:
                yield f"myriad {row['name']} --{option['name']} ", tuple(option["choices"]), ()


def check_zsh(script):
    for flags in (["-f", "-n", script],
                  ["-f", "-c", f"autoload -Uz compinit; compinit -u -D; source {script}"]):
        result = ask(["zsh", *flags])
        if result.returncode != 0 or result.stderr:
            yield f"zsh: {result.stderr.strip()}"
    text = open(script, encoding="utf-8").read()
    for line, wanted, _ in cases():
        for word in wanted:
            if word not in text:
                yield f"zsh: the script lacks '{word}' of '{line}'"


def main():
    missing = [shell for shell in ("bash", "fish", "zsh") if not shutil.which(shell)]
    if missing:
        print(f"not installed: {', '.join(missing)}")
        return SKIPPED
    faults = []
    with tempfile.TemporaryDirectory(prefix="myriad-completion-") as folder:
        os.environ.update(HOME=folder, XDG_CONFIG_HOME=folder, XDG_DATA_HOME=folder)
        for shell in ("bash", "zsh", "fish"):
            script = os.path.join(folder, "myriad." + shell)
            with open(script, "w", encoding="utf-8") as file:
                file.write(ask([sys.argv[1], "completion", shell]).stdout)
            if shell == "zsh":
                faults += check_zsh(script)
            else:
                faults += check_offers(shell, bash_offers if shell == "bash" else fish_offers,
                                       script)
    for fault in faults:
        print(fault)
    print(f"{len(list(cases()))} lines in three shells, {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
