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
        assert abs(money["electricity"] / (case["energy_mwh"] * 650) - 1) < 1e-4
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
            (("--tokens", "1e12"), "--tokens goes with --model"),
            (("--batch", "8"), "--batch goes with --model"),
            (("--target", "1.5"), "--target is '1.5', a number from 1e-06 to 0.999999"),
            (("--rate", "0"), "--rate is '0'"),
            (("--rate", "1e17"), "--rate is '1e17'"),
            (("--stall", "-1"), "--stall is '-1'"),
            (("--show", "parts"), "--show"),
            (("everything",), "everything"),
            (("parts", *JOB), "--model"),
            ((*JOB, "--target", "0.9"), "--target goes without --model"),
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
