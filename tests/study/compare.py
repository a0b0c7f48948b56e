#!/usr/bin/env python3
"""compare against the verbs that it is made of: plan, explain, sim, sim contention and fit, each
asked by itself on the same design.

    tests/study/compare.py MYRIAD [--large]

Four comparisons: InfiniBand and RoCE at 1,024 GPUs, the same at 10,240 (with --large), a campus of
two buildings, and a cluster of training and inference. Nothing of the program is used but what it
prints.
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
EXAMPLES = ROOT / "examples" / "compare"
LIMIT_S = 1200
FAILED = []
# What each row of the plan is called there.
PATHS = {"gpus": "gpus", "switches": "networks.compute.switches.total",
         "cables": "networks.compute.cables.total", "racks": "power.racks.count",
         "bisection_gbps": "networks.compute.bisection_gbps", "it_kw": "power.it.kw",
         "facility_kw": "power.facility_kw", "capex": "totals.cost",
         "tco": "power.energy.cost_of_years"}

CAMPUS = """name: campus-{kind}
servers: 64
server: h100-8gpu
supplied: [servers]
networks:
  compute: {{fabric: {fabric}, switch: {switch}, tiers: 3}}
room:
  rows: 10
  columns: 10
  rack: rack-42u-15kw
  buildings: [{{name: north}}, {{name: south}}]
  distance_m: 300
prices: {{book: cn-2024-05, parts: {{sn5600: 320000, mms4x50-nm: 20000}}}}
"""
MIXED = """name: mixed-{kind}
groups:
  - {{name: train, servers: 64, server: h100-8gpu}}
  - {{name: other, servers: 16, server: {other}}}
  - {{name: infer, servers: 16, server: a100-8gpu, networks: [oob]}}
networks:
  compute: {{fabric: {fabric}}}
  oob: {{}}
"""


def check(what, held):
    if not held:
        FAILED.append(what)


def run(myriad, *words, codes=(0, 1), cwd=None):
    done = subprocess.run([myriad, *map(str, words)], capture_output=True, text=True,
                          timeout=LIMIT_S, check=False, cwd=cwd,
                          env={**os.environ, "COLUMNS": "80"})
    if done.returncode not in codes:
        FAILED.append(f"myriad {words}: exit {done.returncode}: {done.stderr}")
    return done


def ask(myriad, *words):
    done = run(myriad, *words, "-o", "json")
    return json.loads(done.stdout) if done.stdout else {}


def at(tree, path):
    for word in path.split("."):
        tree = tree[int(word)] if isinstance(tree, list) else tree[word]
    return tree


def near(a, b, digits):
    return a is not None and b is not None and abs(a - b) <= 0.51 * 10 ** -digits + 1e-9 * abs(b)


def check_plan(myriad, letter, spec, answer):
    plan = ask(myriad, "plan", spec)
    rows = {row["row"]: row for row in answer["rows"]}
    traces = {(t["row"], t["design"]): t for t in answer["traces"]}
    for row, path in PATHS.items():
        said, true = rows[row][letter], at(plan, path)
        if row == "tco" and plan["totals"]["cost"] is None:
            true = None  # energy without a bill is no cost of ownership
        check(f"{spec} {row}: {said}, plan says {true}",
              said is None and true is None or near(said, true, 1))
        trace = traces[row, letter]
        check(f"{row}: path {trace['path']}", trace["path"] == path)
        if at(plan, path) is not None:
            told = ask(myriad, "explain", "plan", spec, path)["numbers"][0]
            check(f"{row}: rule {trace['rule']} against {told['rule']}",
                  (trace["rule"], trace["inputs"], trace["basis"])
                  == (told["rule"], told["inputs"], told["basis"]))
    gpus = plan["gpus"]
    if plan["totals"]["cost"] is not None:
        check(f"{spec}: price of a GPU", near(rows["capex_per_gpu"][letter],
                                              plan["totals"]["cost"] / gpus, 2))
    return plan


def check_sim(myriad, folder, letter, spec, answer):
    """The same workload on the design's file; then the table beside it, then fit on both."""
    side = next(s for s in answer["designs"] if s["design"] == letter)
    rows = {row["row"]: row for row in answer["rows"]}
    out = folder / letter
    run(myriad, "plan", spec, "--out", out)
    design = out / "design.myr"
    alone = ask(myriad, "sim", "--design", design, "--workload", answer["workload"], "--lb",
                side["policy"], "--efficiency", side["efficiency_permille"])
    bus = alone["collective"]["busbw_gbytes_per_s"]
    check(f"{spec}: bus bandwidth {rows['busbw'][letter]}, sim says {bus}",
          near(rows["busbw"][letter], bus, 2))
    check(f"{spec}: {side['algorithm']}", alone["jobs"][0]["algorithm"] == side["algorithm"])
    table = ask(myriad, "sim", "contention", "--design", design, "--lb", side["policy"])
    ring = next(r["mean"] for r in table["rows"]
                if (r["pattern"], r["level"], r["load"]) == ("ring", "fabric", 1))
    check(f"{spec}: rings {rows['ring_slowdown'][letter]}, sim says {ring}",
          near(rows["ring_slowdown"][letter], ring, 3))
    return design


def check_fit(myriad, letter, design, plan, answer, model, batch):
    rows = {row["row"]: row for row in answer["rows"]}
    fit = ask(myriad, "fit", "--design", design, "--model", model, "--batch", batch)
    best = fit["best"]
    check(f"{design}: step {rows['step_s'][letter]}, fit says {best['step_s']}",
          near(rows["step_s"][letter], best["step_s"], 4))
    rate = fit["batch"] * fit["sequence"] / best["step_s"]  # tokens a GPU are told to 3 digits
    energy = plan["power"]["energy"]
    kwh = plan["power"]["facility_kw"] * plan["power"]["load"] / 3600 / (rate * 0.9) * 1e6
    check(f"{design}: {rows['kwh_per_mtoken'][letter]} kWh, by hand {kwh}",
          near(rows["kwh_per_mtoken"][letter], kwh, 4))
    if rows["cost_per_mtoken"][letter] is not None:
        cost = energy["cost_of_years"] / (energy["years"] * 8760 * 3600 * 0.9 * rate) * 1e6
        check(f"{design}: {rows['cost_per_mtoken'][letter]} a million tokens, by hand {cost}",
              near(rows["cost_per_mtoken"][letter], cost, 4))


def check_winners(answer):
    """Who is best follows from the figures as they are printed."""
    letters = [side["design"] for side in answer["designs"]]
    for row in answer["rows"]:
        values = [row[letter] for letter in letters]
        if row["why"] is not None or row["better"] is None:
            check(f"{row['row']}: best {row['best']} though {row['why']}", row["best"] is None)
            continue
        check(f"{row['row']}: {values} has no reason", None not in values)
        most = (min if row["better"] == "less" else max)(values)
        true = "equal" if len(set(values)) == 1 else letters[values.index(most)]
        check(f"{row['row']}: best {row['best']}, of {values} {true}", row["best"] == true)
        for letter, value in zip(letters[1:], values[1:]):
            if values[0]:
                check(f"{row['row']}: {letter}_percent",
                      abs(row[f"{letter}_percent"] - 100 * (value / values[0] - 1)) < 0.6)


def check_table(myriad, *words):
    for form in ("table", "wide"):
        done = run(myriad, *words, "-o", form)
        wide = [line for line in done.stdout.splitlines() if len(line) > 80]
        check(f"wider than 80: {wide[:2]}", form == "wide" or not wide)
        check("a page", "bus bandwidth" in done.stdout and "What to know" in done.stdout)


def both(myriad, folder, specs, model, batch):
    answer = ask(myriad, "compare", *specs, "--model", model, "--batch", batch)
    check_winners(answer)
    for letter, spec in zip("ab", specs):
        plan = check_plan(myriad, letter, spec, answer)
        design = check_sim(myriad, folder, letter, spec, answer)
        check_fit(myriad, letter, design, plan, answer, model, batch)
    return answer


def technologies(answer):
    return [side["technology"] for side in answer["designs"]]


def campus(myriad, folder):
    specs = []
    for kind, switch in (("infiniband", "mqm9790-ns2f"), ("roce", "sn5600")):
        specs.append(folder / f"{kind}.yaml")
        specs[-1].write_text(CAMPUS.format(kind=kind, fabric=kind, switch=switch))
    answer = both(myriad, folder, specs, "llama3-8b", 512)
    check("campus technologies", technologies(answer) == ["infiniband", "ethernet"])


def mixed(myriad, folder):
    specs = []
    for kind, other in (("infiniband", "h200-8gpu"), ("roce", "h200-8gpu")):
        specs.append(folder / f"{kind}.yaml")
        specs[-1].write_text(MIXED.format(kind=kind, fabric=kind, other=other))
    words = [*specs, "--model", "llama3-8b", "--batch", "512"]
    answer = ask(myriad, "compare", *words)
    check_winners(answer)
    for letter, spec in zip("ab", specs):
        check_plan(myriad, letter, spec, answer)
    for side in answer["designs"]:
        check(f"group {side['group']} of {side['job_gpus']}",
              (side["group"], side["job_gpus"], side["gpus"]) == ("train", 512, 768))
        check("it trains", side["step_s_interval"] is not None)
    other = ask(myriad, "compare", *words, "--group", "other")
    check("another group", {s["job_gpus"] for s in other["designs"]} == {128})
    check("another GPU",
          {s["device"] for s in other["designs"]} != {answer["designs"][0]["device"]})
    done = run(myriad, "compare", *words, "--group", "infer", codes=(2,))
    check(f"off the network: {done.stderr}", "infer" in done.stderr)


def shapes(myriad, folder):
    """Rails against the middle of the rack, two tiers against three, in one table."""
    specs = []
    for name, net in (("rail", "{topology: rail}"), ("middle", "{topology: middle-of-rack}"),
                      ("three", "{topology: rail, tiers: 3}")):
        specs.append(folder / f"{name}.yaml")
        specs[-1].write_text(f"name: {name}\nservers: 32\nsupplied: [servers]\n"
                             f"networks: {{compute: {net}}}\nprices: cn-2024-05\n")
    answer = ask(myriad, "compare", *specs)
    check_winners(answer)
    rows = {row["row"]: row for row in answer["rows"]}
    check("no model, no step", "step_s" not in rows)
    check("three tiers", [rows["tiers"][letter] for letter in "abc"] == [2, rows["tiers"]["b"], 3])
    check("three tiers have more switches", rows["switches"]["c"] > rows["switches"]["a"])
    check("copper in the rack", rows["copper"]["b"] > 0)
    check_table(myriad, "compare", *specs)
    again = ask(myriad, "compare", *specs)
    check("the same question, the same answer", again == answer)


def documents(myriad, folder):
    specs = [EXAMPLES / "infiniband-1k.yaml", EXAMPLES / "roce-1k.yaml"]
    words = ["compare", *specs, "--model", "llama3-8b", "--batch", "1024"]
    english = re.compile(r"(?<![\w/.\-])[A-Za-z]?[a-z]{2,}(?: (?:a |of |to )?[a-z]{2,}){1,}"
                         r"(?![\w/\-])")
    for lang in ("en", "zh"):
        page, picture = folder / f"{lang}.html", folder / f"{lang}.svg"
        run(myriad, *words, "--report", page, "--picture", picture, "--lang", lang)
        text = page.read_text()
        check("nothing from elsewhere", "src=" not in text and "http" not in
              text.replace("http://www.w3.org/2000/svg", ""))
        check("a picture in it and beside it", "<svg" in text and "<svg" in picture.read_text())
        if lang == "zh":
            body = re.sub(r"<style>.*?</style>", "", text, flags=re.S)
            words_left = re.sub(r"'[^']*'", "", re.sub(r"<[^>]+>", "\n", body))
            left = [m.group() for m in english.finditer(words_left)
                    if set(m.group().split()) - {"ceil", "tiers", "fill", "regular"}]
            check(f"English in the Chinese page: {left[:5]}", not left)
    check_table(myriad, *words)


def bad(myriad, folder):
    good = EXAMPLES / "infiniband-1k.yaml"
    (folder / "broken.yaml").write_text("servers: 0\n")
    (folder / "prices.csv").write_text("part,price\nsn5600,much\n")
    cases = [
        ([good], "needs PLAN PLAN"), ([good] * 9, "one too many"),
        ([good, folder / "none.yaml"], "none.yaml"),
        ([good, folder / "broken.yaml"], "broken.yaml:1"), ([good, good, "--lb", "best"], "best"),
        ([good, good, good, "--lb", "spray", "--lb", "spray"], "2 times"),
        ([good, good, "--efficiency", "1001"], "1001"), ([good, good, "--efficiency", "x"], "'x'"),
        ([good, good, "--in-use", "0"], "--in-use"), ([good, good, "--in-use", "1.5"], "--in-use"),
        ([good, good, "--workload", "nonsense"], "nonsense"),
        ([good, good, "--model", "no-such-model", "--batch", "8"], "no-such-model"),
        ([good, good, "--model", "llama3-8b"], "--batch"),
        ([good, good, "--batch", "8"], "--model"),
        ([good, good, "--layout", "l.yaml"], "--model"),
        ([good, good, "--group", "train"], "train"), ([good, good, "--lang", "fr"], "fr"),
        ([good, good, "--prices", folder / "prices.csv"], "prices.csv:2"),
        ([good, good, "--report", folder / "no" / "such" / "page.html"], "page.html"),
        ([good, good, "--model", "llama3-8b", "--batch", "1024", "--gpus", "4096"], "4096"),
    ]
    for words, said in cases:
        done = run(myriad, "compare", *words, codes=(2, 3))
        lines = done.stderr.strip().splitlines()
        check(f"{words}: {done.stderr!r} lacks {said}", said in done.stderr)
        check(f"{words}: {lines}", 1 <= len(lines) <= 3 and not done.stdout)


def main():
    myriad = sys.argv[1]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        sizes = ["10k"] if "--large" in sys.argv else ["1k"]
        for size in sizes:
            specs = [EXAMPLES / f"infiniband-{size}.yaml", EXAMPLES / f"roce-{size}.yaml"]
            small = size == "1k"
            answer = both(myriad, folder, specs, "llama3-70b" if small else "llama3-405b",
                          1024 if small else 2560)
            check("technologies", technologies(answer) == ["infiniband", "ethernet"])
            check("GPUs", [side["gpus"] for side in answer["designs"]]
                  == ([1024, 1024] if small else [10240, 10240]))
            check("a priced winner", {row["row"]: row for row in answer["rows"]}["capex"]["best"])
        if "--large" not in sys.argv:
            for test in (campus, mixed, shapes, documents, bad):
                test(myriad, pathlib.Path(tempfile.mkdtemp(dir=folder)))
    for what in FAILED[:20]:
        print("FAILED", what)
    print(f"{len(FAILED)} failed")
    return 1 if FAILED else 0


if __name__ == "__main__":
    sys.exit(main())
