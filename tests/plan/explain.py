#!/usr/bin/env python3
"""Every number of a plan has an explanation.

    tests/plan/explain.py MYRIAD

Plans examples of every kind and asks for the rule behind each number of their answers: one by one
for some, in the list of all for the rest. A number without a rule, or with another value, fails.
"""
import json
import pathlib
import random
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
FAILED = []
SLOWEST_S = 600
LEFT_OUT = {"schema", "question", "findings", "figures", "files", "assumed"}
SPECS = ["examples/h100-64.yaml", "examples/h100-128-room.yaml", "examples/mixed-train-infer.yaml",
         "examples/nvl72-9k.yaml"]
MORE = {
    "torus": "servers: 64\nserver: generic-1gpu\nnetworks: {compute: {topology: torus-3d, "
             "dims: [4, 4, 4]}}\n",
    "dragonfly": "servers: 64\nserver: h100-8gpu\nnetworks: {compute: {topology: dragonfly}}\n",
    "storage": "servers: 64\nnetworks: {compute: , storage: }\nstorage: {capacity_pb: 3, "
               "files: 10G, file_kb: 16, checkpoint: {model: llama3-70b, window_s: 60}, "
               "availability_percent: 99.99, tiers: [{kind: object, capacity_pb: 5}]}\n"
               "facility: {cooling: cold-plate, module: {racks: 20}}\n",
}


def check(what, held):
    if not held:
        FAILED.append(what)


def call(myriad, *words):
    done = subprocess.run([myriad, *words], capture_output=True, text=True, timeout=SLOWEST_S,
                          check=False, cwd=ROOT)
    check(f"{words}: exit {done.returncode}: {done.stderr}", done.returncode in (0, 1))
    return json.loads(done.stdout)


def numbers(value, path=""):
    if isinstance(value, dict):
        for key, inner in value.items():
            if path or key not in LEFT_OUT:
                yield from numbers(inner, f"{path}.{key}" if path else key)
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from numbers(inner, f"{path}.{index}")
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        yield path, value


def look_at(myriad, spec, rng):
    plan = call(myriad, "plan", spec, "-o", "json")
    wanted = dict(numbers(plan))
    listed = {row["path"]: row for row in call(myriad, "explain", "plan", spec, "-o",
                                               "json")["numbers"]}
    for path in ("networks.compute.switches", "power.pue"):
        below = call(myriad, "explain", "plan", spec, path, "-o", "json")["numbers"]
        check(f"{spec}: below {path}",
              below == [row for row in listed.values() if row["path"].startswith(path + ".")])
    for path, value in wanted.items():
        check(f"{spec}: {path} has no explanation", path in listed)
        if path in listed:
            check(f"{spec}: {path} has no rule", listed[path]["rule"])
            check(f"{spec}: {path} is {value}, explained as {listed[path]['value']}",
                  float(listed[path]["value"]) == float(value))
    for path in rng.sample(sorted(wanted), 4):
        row = call(myriad, "explain", "plan", spec, path, "-o", "json")["numbers"]
        check(f"{spec}: {path} alone", len(row) == 1 and row[0] == listed.get(path))


def bad(myriad, folder):
    for words, says in ((["examples/h100-64.yaml", "power.nothing"], "no number"),
                        (["examples/h100-64.yaml", "next.cost"], "no number"),
                        (["examples/h100-64.yaml", "racks.A1.kw"], "no number"),
                        (["examples/h100-64.yaml", "next.cost", "--next", "none.yaml"],
                         "none.yaml"),
                        (["none.myr", "gpus", "--prices", "none.csv"], "has its prices"),
                        (["examples/h100-64.yaml", "--prices", "none.csv"], "none.csv"),
                        (["examples/h100-128.yaml", "--next", "examples/h100-64.yaml"], "64"),
                        (["examples/h100-64.yaml", "cooling.kind.x"], "no number"),
                        (["examples/h100-64.yaml", "name"], "a word"),
                        ([str(folder / "nowhere.yaml"), "power.load"], "nowhere.yaml"),
                        (["no.such.path"], "no design.myr here")):
        done = subprocess.run([myriad, "explain", "plan", *words], capture_output=True, text=True,
                              timeout=SLOWEST_S, check=False, cwd=ROOT)
        check(f"{words}: exit {done.returncode}, {done.stderr}",
              done.returncode in (2, 3) and says in done.stderr and not done.stdout)


def main():
    myriad = str(pathlib.Path(sys.argv[1]).resolve())
    rng = random.Random(1)
    for spec in SPECS:
        look_at(myriad, spec, rng)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for word, text in MORE.items():
            path = folder / f"{word}.yaml"
            path.write_text(text)
            look_at(myriad, str(path), rng)
        bad(myriad, folder)
    for what in FAILED[:40]:
        print("FAILED", what)
    print(f"{len(FAILED)} failed")
    return 1 if FAILED else 0


if __name__ == "__main__":
    sys.exit(main())
