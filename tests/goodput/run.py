#!/usr/bin/env python3
"""Training runs planned through the command: figures that must follow from each other.

    tests/goodput/run.py MYRIAD

Figures themselves move with the fitted constants, so that relations are checked and not values.
"""
import json
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
JOB = ["--model", "llama3-70b", "--gpus", "4096", "--device", "h100", "--batch", "1024"]


def call(myriad, *words, code=0):
    result = subprocess.run([myriad, *words], capture_output=True, text=True, timeout=600,
                            check=False)
    assert result.returncode == code, f"{words}: exit {result.returncode}\n{result.stderr}"
    return result


def ask(myriad, *words):
    return json.loads(call(myriad, "goodput", *words, "-o", "json").stdout)


def plain_rows(myriad, *words):
    return ask(myriad, *words)["cases"]


def listed(myriad, what, *words):
    return json.loads(call(myriad, "goodput", what, *words, "-o", "json").stdout)[what]


def check_case(case, tokens):
    parts = sum(case[key] for key in ("goodput", "stalled", "recovering", "repeated"))
    assert abs(parts - 1) < 1e-4, case
    assert abs(case["days"] * case["tokens_per_day"] / tokens - 1) < 1e-3
    low, high = case["days_interval"]
    assert low < case["days"] < high
    within, beyond = case["days_interval_failures"]
    assert low < within <= case["days"] <= beyond < high
    assert 0 <= case["layout_gap_percent"] < 5
    assert case["spares_out"] <= 0.001
    assert len(case["tiers"]) == (2 if case["practice"] == "best" else 1)
    assert case["tiers"][-1]["interval_steps"] % case["tiers"][0]["interval_steps"] == 0
    for tier in case["tiers"]:
        assert tier["interval_s"] > 0 and tier["recovery_s"] > 0


def check_run(myriad, design):
    open_run = ask(myriad, *JOB, "--tokens", "15e12")
    assert [case["practice"] for case in open_run["cases"]] == ["common", "best"] * 2
    for case in open_run["cases"]:
        check_case(case, 15e12)
        assert case["money"]["total"] is None and case["money"]["electricity"] > 0
    planned = ask(myriad, *JOB, "--tokens", "15e12", "--design", design)
    assert planned["storage"] == "planned" and open_run["storage"] == "practice"
    for case in planned["cases"]:
        check_case(case, 15e12)
        # The example's book has no price of GPU servers: the rest is no total.
        money = case["money"]
        assert money["machines"] > 0 and money["total"] is None
        assert money["machines_without_gpu_servers"]
    priced = ask(myriad, *JOB, "--tokens", "15e12", "--design", design, "--gpu-hour", "14")
    for case in priced["cases"]:
        money, hours = case["money"], case["days"] * 24
        watts = priced["power_mw"] * (512 + case["spares"]) / 512
        assert abs(case["energy_mwh"] / (hours * watts) - 1) < 1e-4
        price = priced["facility"]["kwh"]["value"]
        assert abs(money["electricity"] / (case["energy_mwh"] * 1000 * price) - 1) < 1e-4
        assert abs(money["machines"] / (hours * 14 * 8 * (512 + case["spares"])) - 1) < 1e-4
        assert abs(money["total"] - money["electricity"] - money["machines"]) <= 1
    # More failures, fewer tokens; a worse interval, fewer tokens; twice the tokens, twice the days.
    good, bad = open_run["cases"][0], open_run["cases"][2]
    assert bad["failures_per_1000_node_days"] > good["failures_per_1000_node_days"]
    assert bad["goodput"] < good["goodput"] and bad["spares"] >= good["spares"]
    for case in ask(myriad, *JOB, "--play", "20000")["cases"]:
        assert abs(case["played"] - case["goodput"]) < 5 * case["played_error"] + 1e-4, case
    seldom = ask(myriad, *JOB, "--tokens", "30e12", "--rate", "llama3", "--interval", "7200")
    assert seldom["cases"][0]["goodput"] < good["goodput"]
    twice = ask(myriad, *JOB, "--tokens", "30e12", "--rate", "llama3")
    assert abs(twice["cases"][0]["days"] / good["days"] - 2) < 1e-3
    whole = ask(myriad, "--model", "llama3-70b", "--batch", "2560", "--design", design)
    assert whole["gpus"] == 10240 and whole["device"] == "h100"
    # A job on all of a design leaves no node for spares, and the answer says so.
    assert whole["cases"][0]["spares_in_design"] == 0 < whole["cases"][0]["spares"]
    text = call(myriad, "goodput", "--model", "llama3-70b", "--batch", "2560", "--design", design)
    assert "the design has 0 left" in " ".join(text.stdout.split())
    assert planned["cases"][0]["spares_in_design"] == (10240 - 4096) // 8
    classes = ask(myriad, *JOB, "--rate", "classes")
    sum_of_classes = sum(row["per_day"] for row in classes["failures_per_day_by_class"])
    tier = classes["cases"][0]["tiers"][0]
    assert abs(tier["failures_per_day"] / sum_of_classes - 1) < 1e-3


def check_facility(myriad, folder):
    """One truth: what 'plan' and 'compare' say of a design is what a run on it is charged by."""
    spec, out = Path(folder) / "small.yaml", Path(folder) / "small"
    job = ["--model", "llama3-8b", "--design", str(out / "design.myr"), "--batch", "192",
           "--tokens", "1e12", "--rate", "llama3"]
    ours = "facility: {cooling: cold-plate, energy: {tariff_per_kwh: 0.6, currency: CNY, years: 7}}"
    stated = "facility: {it_kw: 999, energy: {exchange: 7}}"
    for own in ("", ours, stated):
        spec.write_text(f"name: small\nservers: 24\nserver: h100-8gpu\n{own}\n", encoding="utf-8")
        plan = json.loads(call(myriad, "plan", str(spec), "--out", str(out), "-o", "json").stdout)
        total, energy = plan["totals"], plan["power"]["energy"]
        run = ask(myriad, *job)
        facility = run["facility"]
        assert abs(run["power_mw"] * 1000 - total["facility_power_kw"]) < 0.06, own
        assert abs(facility["pue"]["value"] - plan["power"]["pue"]["value"]) < 1e-4
        kwh = energy["tariff_per_kwh"] * energy["exchange"]
        assert abs(facility["kwh"]["value"] / kwh - 1) < 1e-4, (own, facility)
        assert facility["years"]["value"] == energy["years"]
        assert facility["currency"] == {"value": "CNY", "from": "design"}
        assert all(facility[key]["from"] == "design" for key in ("it_mw", "pue", "kwh", "years"))
        table = json.loads(call(myriad, "compare", str(spec), str(spec), "-o", "json").stdout)
        kilowatts = {row["row"]: row["a"] for row in table["rows"]}["facility_kw"]
        assert abs(kilowatts - run["power_mw"] * 1000) < 0.11, (own, kilowatts, run["power_mw"])
        half = ask(myriad, *job, "--gpus", "96")
        assert abs(half["power_mw"] * 2 - run["power_mw"]) < 2e-4
    given = ask(myriad, *job, "--pue", "1.1", "--kwh", "0.3", "--years", "3")["facility"]
    assert all(given[key]["from"] == "option" for key in ("pue", "kwh", "years")), given
    assert (given["pue"]["value"], given["kwh"]["value"], given["years"]["value"]) == (1.1, 0.3, 3)
    text = call(myriad, "goodput", *job).stdout
    assert "999.0 kW IT (the design's)" in text and "assumed there" in text, text
    # Without a design nothing that was assumed stays unsaid.
    free = ask(myriad, *JOB, "--tokens", "1e12", "--rate", "llama3")["facility"]
    assert all(free[key]["from"] == "default" for key in ("it_mw", "pue", "kwh")), free
    assert all(free[key]["basis"] == "assumed" for key in ("it_mw", "pue", "kwh")), free
    assert free["pue"]["value"] == 1.25 and free["kwh"]["value"] == 0.65 and free["years"] is None
    text = " ".join(call(myriad, "goodput", *JOB, "--tokens", "1e12").stdout.split())
    assert "PUE 1.25 (assumed)" in text and "0.65 CNY a kWh (assumed)" in text, text


def check_contention(myriad, folder):
    """A table beside the design shapes the step: whoever uses it says so, and one of another
    design is refused by its name."""
    spec, out = Path(folder) / "loaded.yaml", Path(folder) / "loaded"
    names = ("l.yaml", "design.myr", "contention.json")
    layout, design, table = (str(out / name) for name in names)
    spec.write_text("name: loaded\nservers: 24\nserver: h100-8gpu\nnetworks:\n  compute: {switch: "
                    "mqm9790-ns2f, topology: clos, oversubscription: 2}\n", encoding="utf-8")
    call(myriad, "plan", str(spec), "--out", str(out))
    case = ["--model", "llama3-8b", "--design", design]
    call(myriad, "fit", *case, "--batch", "192", "--layout-out", layout)
    verbs = {"fit": ["fit", *case, "--layout", layout],
             "goodput": ["goodput", *case, "--layout", layout],
             "sched place": ["sched", "place", *case, "--layout", layout],
             "fit curve": ["fit", "curve", *case, "--batch", "192"],
             "fit why": ["fit", "why", *case, "--batch", "192", "tp=1,pp=1", "tp=2,pp=1"],
             "fit launch": ["fit", "launch", *case, "--layout", layout]}

    def told():
        return {verb: json.loads(call(myriad, *words, "-o", "json").stdout)
                for verb, words in verbs.items()}

    without = told()
    call(myriad, "sim", "contention", "--design", design)
    loaded = told()
    for verb, answer in loaded.items():
        assert without[verb]["contention"] is None, verb
        assert answer["contention"] == table, verb
        assert answer["device"] == "h100" and answer["sequence"] == 8192, verb
        assert answer["software"].startswith("Megatron"), verb
        assert answer["parameters"]["total"] > 8e9 and answer["model"] == "llama3-8b", verb
    assert loaded["fit"]["batch"] == loaded["goodput"]["batch"] == 192
    # The same layout under the same keys, and all that is in its file.
    best = loaded["fit"]["best"]
    place, run = loaded["sched place"]["layout"], loaded["goodput"]["cases"][0]["layout"]
    for key in run:
        assert best[key] == run[key] == place[key], key
    assert place["global_batch"] == 192 and place["micro_batch"] == place["mbs"]
    assert loaded["goodput"]["cases"][0]["step_s"] == best["step_s"]
    for verb in ("fit", "goodput", "sched place", "fit curve", "fit why"):
        assert table in call(myriad, *verbs[verb]).stdout, verb
    old = Path(table).read_text(encoding="utf-8")
    Path(table).write_text(old.replace('"gpus": 192', '"gpus": 191'), encoding="utf-8")
    assert Path(table).read_text(encoding="utf-8") != old
    for words in verbs.values():
        result = call(myriad, *words, code=2)
        assert f"{table}: the contention table is of a fabric with 191 GPUs" in result.stderr
        assert "hint: 'myriad sim contention' makes it again" in result.stderr, result.stderr


def check_store(myriad, folder):
    """A storage network that is narrow above its leaves is slow, and slow checkpoints cost."""
    spec = (ROOT / "examples" / "h100-10k.yaml").read_text(encoding="utf-8")
    wide = "storage: {switch: mqm9790-ns2f, extra_nodes: 32}"
    assert wide in spec
    narrow = wide.replace("}", ", oversubscription: 31}")
    path = Path(folder) / "narrow.yaml"
    path.write_text(spec.replace(wide, narrow), encoding="utf-8")
    call(myriad, "plan", str(path), "--out", str(Path(folder) / "narrow"))
    rates = {}
    for name in ("wide", "narrow"):
        design = Path(folder) / ("design.myr" if name == "wide" else "narrow/design.myr")
        cases = ask(myriad, *JOB, "--rate", "llama3", "--design", str(design))["cases"]
        rates[name] = cases[1]["write_gb_per_s"], cases[1]["goodput"]
    assert rates["narrow"][0] < rates["wide"][0] and rates["narrow"][1] < rates["wide"][1], rates


def check_simple(myriad):
    """Without a model: published rates are of nodes with 8 GPUs, whatever the nodes are here."""
    plain = plain_rows(myriad, "--gpus", "16384")
    assert [row["practice"] for row in plain] == ["common", "best"] * 2
    for size in ("1", "4", "72"):
        other = plain_rows(myriad, "--gpus", "16384", "--gpus-per-node", size)
        assert all(abs(a["mtbf_h"] - b["mtbf_h"]) < 1e-5 for a, b in zip(plain, other))
    hang = plain_rows(myriad, "--gpus", "16384", "--fault", "hang")
    assert abs(hang[0]["recovery_s"] - plain[0]["recovery_s"] - 570) < 1e-6
    # Meta at 100,000 GPUs: RSC-1's rate, copies nine and two minutes apart.
    meta = ("--gpus", "100000", "--rate", "rsc-1", "--stall", "0")
    slow = plain_rows(myriad, *meta, "--recovery", "600", "--interval", "540")[0]["goodput"]
    quick = plain_rows(myriad, *meta, "--recovery", "180", "--interval", "120")[0]["goodput"]
    assert abs(slow - 0.44) < 0.01 and abs(quick - 0.80) < 0.01, (slow, quick)
    for row in plain_rows(myriad, "--gpus", "100000", "--play", "20000"):
        assert abs(row["played"] - row["goodput"]) < 5 * row["played_error"] + 1e-4, row
    unreachable = plain_rows(myriad, "--gpus", "100000", "--target", "0.999")
    assert all(row["recovery_needed_s"] is None for row in unreachable)
    for words in (("--rate", "1e6"), ("--rate", "1e-6"), ("--gpus", "1"), ("--gpus", "1000000"),
                  ("--recovery", "1e7"), ("--stall", "1e7"), ("--interval", "1e9"),
                  ("--interval", "0.001"), ("--recovery", "0", "--stall", "0")):
        for row in plain_rows(myriad, *words):
            shares = [row[key] for key in ("goodput", "stalled", "recovering", "repeated")]
            assert min(shares) >= 0 and abs(sum(shares) - 1) < 1e-6, (words, row)


def check_show(myriad):
    data = listed(myriad, "data", "--gpus", "100000")
    assert len(data) == 138 and all(row["source"] and row["scales"] for row in data)
    here = {row["key"]: row["here"] for row in data}
    assert abs(here["b.comm_reform"] - 3.8 * (100000 / 1024) ** 0.5) < 1e-3
    parts = listed(myriad, "parts", "--gpus", "100000")
    for practice, seconds in (("common", 997), ("best", 69)):
        total = sum(row["seconds"] for row in parts if row["practice"] == practice)
        assert abs(total - seconds) < 1, (practice, total)
    llama = listed(myriad, "classes", "--gpus", "16384")
    assert abs(sum(row["per_day"] for row in llama) * 54 / 419 - 1) < 0.02
    rsc = listed(myriad, "classes", "--gpus", "16384", "--rate", "rsc-1")
    assert abs(sum(row["per_day"] for row in rsc) - 6.5 * 2.048) < 1e-3


def check_own_data(myriad, folder):
    """A user's rows take the place of the shipped ones; bad ones are refused with their place."""
    path = Path(folder) / "own.yaml"
    path.write_text("recovery:\n  a.diagnose: {low: 1, typical: 60, high: 90}\n", encoding="utf-8")
    plain = plain_rows(myriad, "--gpus", "4096")
    own = plain_rows(myriad, "--gpus", "4096", "--data", str(path))
    assert abs(plain[0]["recovery_s"] - own[0]["recovery_s"] - 240) < 1e-6
    run = ask(myriad, *JOB, "--rate", "llama3", "--data", str(path))["cases"][0]
    usual = ask(myriad, *JOB, "--rate", "llama3")["cases"][0]
    assert abs(usual["tiers"][0]["recovery_s"] - run["tiers"][0]["recovery_s"] - 240) < 1e-3
    for text, expected in (
            ("recovery:\n  a.diagnose: {low: 1}\n", f"{path}:2:15: the row lacks 'typical'"),
            ("recovery:\n  rate.job_stop_all_node: {low: 0, typical: 0, high: 0}\n",
             "no failures"),
            ("rows: 3\n", str(path)),
            ("", str(path)),
    ):
        path.write_text(text, encoding="utf-8")
        result = call(myriad, "goodput", "--data", str(path), code=2)
        assert expected in result.stderr and result.stdout == "", (text, result.stderr)
    result = call(myriad, "goodput", "--data", "/nowhere/own.yaml", code=2)
    assert "/nowhere/own.yaml" in result.stderr


def check_currency(myriad):
    """The default price of electricity is in CNY: elsewhere it is not known until it is given."""
    words = (*JOB, "--tokens", "1e12", "--rate", "llama3", "--currency", "USD", "--gpu-hour", "2")
    money = ask(myriad, *words)["cases"][0]["money"]
    assert money["currency"] == "USD" and money["machines"] > 0
    assert money["electricity"] is None and money["total"] is None
    money = ask(myriad, *words, "--kwh", "0.08")["cases"][0]["money"]
    assert abs(money["total"] - money["electricity"] - money["machines"]) <= 1


def check_extremes(myriad):
    """Runs that never end, or end before their first checkpoint, are told in valid JSON."""
    small = ["--model", "llama3-8b", "--gpus", "64", "--device", "h100", "--batch", "128"]
    for case in ask(myriad, *small, "--tokens", "1e12", "--rate", "1e6")["cases"]:
        assert case["days"] is None and case["money"] is None and case["goodput"] == 0
    for words in (("--tokens", "1e6"), ("--tokens", "1e18"), ("--rate", "1e-6"),
                  ("--interval", "1e9"), ("--gpus-per-node", "1024")):
        for case in ask(myriad, *small, "--tokens", "1e12", *words)["cases"]:
            low, high = case["days_interval"]
            assert 0 <= low <= case["days"] <= high and 0 < case["goodput"] <= 1, words


def check_bad_input(myriad, design):
    for words, expected in (
            ((*JOB, "--tokens", "many"), "--tokens is 'many'"),
            ((*JOB, "--tokens", "-1"), "--tokens is '-1'"),
            ((*JOB, "--tokens", "nan"), "--tokens is 'nan'"),
            ((*JOB, "--design", "/nowhere"), "/nowhere"),
            ((*JOB, "--rate", "rsc-9"), "--rate is 'rsc-9'"),
            (("--model", "llama3-70b", "--batch", "8"), "give --device"),
            (("--model", "llama3-70b", "--device", "h100", "--gpus", "64"), "give --batch"),
            (("--model", "llama3-70b", "--device", "h100", "--batch", "8"), "give --gpus"),
            (("--model", "llama9", "--device", "h100", "--gpus", "64", "--batch", "8"), "llama9"),
            (("--tokens", "1e12"), "--tokens says nothing without --model"),
            (("--batch", "8"), "--batch says nothing without --model"),
            (("--target", "1.5"), "--target is '1.5', a number from 1e-06 to 0.999999"),
            (("--rate", "0"), "--rate is '0'"),
            (("--rate", "1e17"), "--rate is '1e17'"),
            (("--stall", "-1"), "--stall is '-1'"),
            (("--show", "parts"), "--show"),
            (("everything",), "everything"),
            (("parts", *JOB), "--model"),
            ((*JOB, "--target", "0.9"), "--target does not go with --model"),
            ((*JOB, "--spare-risk", "2"), "--spare-risk is '2'"),
            ((*JOB, "--pue", "0.5"), "--pue is '0.5'"),
            ((*JOB, "--currency", "a long story"), "--currency is 'a long story'"),
            ((*JOB, "--currency", "USD", "--design", design), "priced in CNY, not in USD"),
            ((*JOB[:2], "--gpus", "200000", *JOB[4:], "--design", design),
             "GPUs, 200000 are asked for"),
    ):
        result = call(myriad, "goodput", *words, code=2)
        assert expected in result.stderr and result.stdout == "", (words, result.stderr)


def main():
    myriad = sys.argv[1]
    with tempfile.TemporaryDirectory(prefix="myriad-goodput-") as folder:
        call(myriad, "plan", str(ROOT / "examples" / "h100-10k.yaml"), "--out", folder)
        design = str(Path(folder) / "design.myr")
        check_run(myriad, design)
        check_facility(myriad, folder)
        check_contention(myriad, folder)
        check_store(myriad, folder)
        check_simple(myriad)
        check_show(myriad)
        check_own_data(myriad, folder)
        check_currency(myriad)
        check_extremes(myriad)
        check_bad_input(myriad, design)
    print("ok")


if __name__ == "__main__":
    main()
