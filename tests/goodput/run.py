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
    result = subprocess.run([myriad, *words], capture_output=True, text=True, timeout=120,
                            check=False)
    assert result.returncode == code, f"{words}: exit {result.returncode}\n{result.stderr}"
    return result


def ask(myriad, *words):
    return json.loads(call(myriad, "goodput", *words, "-o", "json").stdout)


def check_case(case, tokens):
    parts = sum(case[key] for key in ("goodput", "stalled", "recovering", "repeated"))
    assert abs(parts - 1) < 1e-4, case
    assert abs(case["days"] * case["tokens_per_day"] / tokens - 1) < 1e-3
    low, high = case["days_interval"]
    assert low < case["days"] < high
    assert case["spares_out"] <= 0.001
    assert len(case["tiers"]) == (2 if case["practice"] == "best" else 1)
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
        assert case["money"]["total"] > case["money"]["electricity"]
    # More failures, fewer tokens; a worse interval, fewer tokens; twice the tokens, twice the days.
    good, bad = open_run["cases"][0], open_run["cases"][2]
    assert bad["failures_per_1000_node_days"] > good["failures_per_1000_node_days"]
    assert bad["goodput"] < good["goodput"] and bad["spares"] >= good["spares"]
    seldom = ask(myriad, *JOB, "--tokens", "30e12", "--rate", "llama3", "--interval", "7200")
    assert seldom["cases"][0]["goodput"] < good["goodput"]
    twice = ask(myriad, *JOB, "--tokens", "30e12", "--rate", "llama3")
    assert abs(twice["cases"][0]["days"] / good["days"] - 2) < 1e-3
    whole = ask(myriad, "--model", "llama3-70b", "--batch", "2560", "--design", design)
    assert whole["gpus"] == 10240 and whole["device"] == "h100"
    classes = ask(myriad, *JOB, "--rate", "classes")
    sum_of_classes = sum(classes["failures_per_day_by_class"].values())
    tier = classes["cases"][0]["tiers"][0]
    assert abs(tier["failures_per_day"] / sum_of_classes - 1) < 1e-3


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
            (("--tokens", "1e12"), "go with --model"),
            (("--target", "1.5"), "a share below 1"),
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
        check_bad_input(myriad, design)
    print("ok")


if __name__ == "__main__":
    main()
