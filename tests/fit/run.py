#!/usr/bin/env python3
"""A user's own measurements through the command: calibrated from runs, and used; a log compared.

    tests/fit/run.py MYRIAD
"""
import csv
import json
import os
import subprocess
import sys
import tempfile
import xml.etree.ElementTree
from pathlib import Path

DATA = Path(__file__).resolve().parent.parent / "data"

# The fewest columns that say what ran; a model of the catalogue by its name alone.
HEAD = "software,model,hw,gpus,tp,pp,mbs,gbs,precision,recompute,iter_s"
SHAPES = (
    ("llama3-8b", 64, 1, 1, 1, 128), ("llama3-8b", 128, 1, 1, 2, 512),
    ("llama3-70b", 256, 4, 4, 1, 256), ("llama3-70b", 512, 8, 2, 1, 512),
    ("llama3-70b", 1024, 8, 4, 1, 1024), ("gpt3-175b", 512, 8, 8, 1, 512),
)


def call(myriad, *words, code=0):
    result = subprocess.run([myriad, *words], capture_output=True, text=True, timeout=600,
                            check=False)
    assert result.returncode == code, f"{words}: exit {result.returncode}\n{result.stderr}"
    return result


def answer(myriad, *words):
    return json.loads(call(myriad, *words, "-o", "json").stdout)


def rows(times):
    lines = [HEAD]
    for (model, gpus, tp, pp, mbs, gbs), time in zip(SHAPES, times):
        lines.append(f"NeMo 25.05,{model},h100,{gpus},{tp},{pp},{mbs},{gbs},bf16,none,{time}")
    return "\n".join(lines) + "\n"


def check_calibrate(myriad, folder):
    runs, profile = os.path.join(folder, "runs.csv"), os.path.join(folder, "mine.yaml")
    with open(runs, "w", encoding="utf-8") as file:
        file.write(rows([1] * len(SHAPES)))
    shipped = answer(myriad, "fit", "validate", runs)
    assert shipped["coverage"] == 100, shipped
    # A machine that is a sixth slower all over.
    with open(runs, "w", encoding="utf-8") as file:
        file.write(rows([row["predicted"] * 1.17 for row in shipped["rows"]]))
    result = answer(myriad, "fit", "calibrate", runs, "--out", profile)
    assert result["worth_it"] and 13 < result["before"]["mean"] < 16, result
    assert result["left_out"]["mean"] < 6 and result["after"]["mean"] < 4, result
    own = answer(myriad, "fit", "validate", runs, "--profile", profile)
    assert abs(own["mean"] - result["after"]["mean"]) < 0.01
    words = ("fit", "--model", "llama3-70b", "--gpus", "512", "--device", "h100", "--batch", "512",
             "--software", "NeMo 25.05")
    slow = answer(myriad, *words, "--profile", profile)["best"]["step_s"]
    assert slow > 1.08 * answer(myriad, *words)["best"]["step_s"]
    text = call(myriad, "fit", "calibrate", runs).stdout
    assert "each left out" in text and "--out mine.yaml" in text


def check_forms(myriad, folder):
    """The same numbers in every form, and no form that quietly becomes another."""
    runs = os.path.join(folder, "forms.csv")
    with open(runs, "w", encoding="utf-8") as file:
        file.write(rows([1] * len(SHAPES)) + "NeMo 25.05,llama3-8b,v100,8,1,1,1,8,bf16,none,1\n")
    told = answer(myriad, "fit", "validate", runs)["rows"]
    table = list(csv.DictReader(call(myriad, "fit", "validate", runs, "-o",
                                     "csv").stdout.splitlines()))
    for row, line in zip(told, table, strict=True):
        assert row["id"] == line["id"]
        if row["predicted"] is None:
            assert line["predicted"] == "" and line["refused"] == row["refused"]
        else:
            assert abs(float(line["predicted"]) / row["predicted"] - 1) < 1e-5
            assert abs(float(line["error"]) - row["error"]) < 1e-3 * (1 + row["error"])
            assert row["error"] == abs(row["signed_error"])
    constants = csv.DictReader(call(myriad, "fit", "constants", "-o", "csv").stdout.splitlines())
    assert [c["name"] for c in constants] == [
        c["name"] for c in answer(myriad, "fit", "constants")["constants"]]
    plain = ("fit", "--model", "llama3-8b", "--gpus", "8", "--device", "h100", "--batch", "8")
    top = answer(myriad, *plain)["top"]
    lines = list(csv.DictReader(call(myriad, *plain, "-o", "csv").stdout.splitlines()))
    for row, line in zip(top, lines, strict=True):
        assert float(line["step_s"]) == row["step_s"] and int(line["tp"]) == row["tp"]
        assert float(line["terms_s.gemm"]) == row["terms_s"]["gemm"]


def check_compare(myriad, folder):
    words = ("fit", "compare", "--model", "seed-130b", "--device", "h100", "--tp", "8", "--pp", "8")
    for gpus, seconds in ((1024, 10.8004), (2048, 10.9369)):
        log = str(DATA / f"megatron-130b-{gpus}.log")
        result = answer(myriad, *words, "--gpus", str(gpus), "--log", log)
        assert result["measured_s"] == seconds and result["iterations"] == 1
        for side in ("predicted_s", "measured_s"):
            assert abs(sum(phase[side] for phase in result["phases"]) - result[side]) < 1e-4
        assert abs(result["model_tflops"] / result["log_tflops"] - 1) < 0.02
        assert result["worst"] in [phase["phase"] for phase in result["phases"]]
        # The run as a row, read back by 'validate' and 'calibrate'.
        row = os.path.join(folder, "row.csv")
        with open(row, "w", encoding="utf-8") as file:
            file.write(call(myriad, *words, "--gpus", str(gpus), "--log", log, "-o", "csv").stdout)
        again = answer(myriad, "fit", "validate", row)
        assert again["coverage"] == 100 and again["rows"][0]["measured"] == seconds
        assert abs(again["rows"][0]["predicted"] / result["predicted_s"] - 1) < 0.02, again
    text = call(myriad, *words, "--gpus", "1024", "--log",
                str(DATA / "megatron-130b-1024.log")).stdout
    assert "Of the gap of" in text and "backward" in text


def check_told_layouts(myriad, folder):
    """What ran is compared as it ran, chunks that are not searched included; the row says it."""
    log = os.path.join(folder, "vp.log")
    with open(log, "w", encoding="utf-8") as file:
        file.write("iteration 1/ 9 | elapsed time per iteration (ms): 14610 | "
                   "global batch size: 128 |\n")
    words = ("fit", "compare", "--log", log, "--device", "h100", "--model", "llama3-70b", "--gpus",
             "64", "--tp", "4", "--pp", "4", "--vp", "20", "--mbs", "1", "--zero", "0")
    told = answer(myriad, *words)
    assert told["layout"]["vp"] == 20 and told["worst"] is None, told
    row = call(myriad, *words, "-o", "csv").stdout.splitlines()
    fields = dict(zip(row[0].split(","), row[1].split(",")))
    assert fields["sharding"] == "none" and fields["vp"] == "20", fields
    bad = ("fit", "compare", "--log", log, "--device", "h100", "--model", "llama3-70b", "--gpus",
           "60", "--tp", "8")
    assert "does not divide" in call(myriad, *bad, code=2).stderr


def drawings(page):
    """The SVG elements of a page that needs nothing else, by title."""
    assert page.count("<svg") == page.count("</svg>") and "<script" not in page
    for word in ("src=", "href=", "@import", "url("):
        assert word not in page, word
    found = {}
    for part in page.split("<svg")[1:]:
        root = xml.etree.ElementTree.fromstring("<svg" + part.split("</svg>")[0] + "</svg>")
        titles = [node.text for node in root.iter() if node.tag.endswith("title")]
        found[titles[0]] = root
    return found


def check_timelines(myriad, folder):
    """Every schedule draws each stage, with the parts that it has."""
    for schedule in ("1f1b", "interleaved", "zero-bubble", "dualpipe"):
        call(myriad, "fit", "--model", "llama3-70b", "--gpus", "64", "--device", "h100", "--batch",
             "256", "--pp", "8", "--schedule", schedule, "--plots", folder)
        root = xml.etree.ElementTree.parse(os.path.join(folder, "pipeline.svg")).getroot()
        texts = [node.text for node in root.iter() if node.tag.endswith("text")]
        assert [f"stage {i}" for i in range(8)] == [t for t in texts if t.startswith("stage ")]
        assert any(schedule in text and "micro-batches" in text for text in texts), texts
        assert {"warm-up", "drain"} <= set(texts), texts
        assert ("weights' gradients" in texts) == (schedule in ("zero-bubble", "dualpipe"))


def check_reports(myriad, folder):
    words = ("--model", "llama3-70b", "--gpus", "1024", "--device", "h100", "--batch", "512")
    pages = [os.path.join(folder, name) for name in ("a.html", "b.html")]
    plots = os.path.join(folder, "plots")
    for page in pages:
        call(myriad, "fit", *words, "--report", page, "--plots", plots)
    first, second = (Path(page).read_text(encoding="utf-8") for page in pages)
    assert first == second and len(first) < 200000
    assert set(drawings(first)) - {"What each stage does when"} == {
        "Where a step's time goes", "Memory of the fullest rank", "Linearity", "Time and cost"}
    for name in ("step.svg", "memory.svg", "linearity.svg"):
        xml.etree.ElementTree.parse(os.path.join(plots, name))
    check_timelines(myriad, folder)
    # One size is no line, and layers made again are counted.
    call(myriad, "fit", "--model", "llama3-8b", "--gpus", "8", "--device", "h100", "--batch", "8",
         "--report", pages[1])
    assert set(drawings(Path(pages[1]).read_text(encoding="utf-8"))) == {
        "Where a step's time goes", "Memory of the fullest rank"}
    found = answer(myriad, "fit", *words)["top"]
    for layout in found:
        layers = layout["recompute_layers"]
        assert not layers or f"{layers} layer" in first
    call(myriad, "goodput", *words, "--tokens", "1e12", "--report", pages[0])
    page = Path(pages[0]).read_text(encoding="utf-8")
    assert {"Goodput and the interval between copies", "Time and cost"} <= set(drawings(page))
    nowhere = os.path.join(folder, "no", "such", "folder.html")
    assert "no/such" in call(myriad, "fit", *words, "--report", nowhere, code=2).stderr


def check_bad_logs(myriad, folder):
    bad = os.path.join(folder, "bad.log")
    with open(bad, "w", encoding="utf-8") as file:
        file.write("nothing\n")
    for words, expected in (
            ((), "give --log"),
            (("--log", bad), "--device"),
            (("--log", bad, "--device", "h100"), "no 'elapsed time"),
            (("--log", folder, "--device", "h100"), folder),
            (("--log", "/dev/zero", "--device", "h100"), "/dev/zero:1:1: looks like binary data"),
            (("--log", "/nowhere", "--device", "h100"), "/nowhere"),
            (("--log", str(DATA / "megatron-130b-1024.log"), "--device", "h100"), "--model"),
            (("--log", str(DATA / "megatron-130b-1024.log"), "--device", "h100", "--model",
              "seed-130b"), "--gpus"),
    ):
        result = call(myriad, "fit", "compare", *words, code=2)
        assert expected in result.stderr and result.stdout == "", (words, result.stderr)


def check_bad_input(myriad, folder):
    bad = os.path.join(folder, "bad")
    out = os.path.join(folder, "never.yaml")
    for text, expected in (
            ("", "1:1: the file is empty"),
            ("software,hw,gpus,gbs\nNeMo 25.05,h100,8,8\n", "'model'"),
            ("model,hw,gpus,gbs\nllama3-8b,h100,8,8\n", "'software' is missing"),
            ("software,model,hw,gpus,gbs,seconds\nNeMo 25.05,llama3-8b,h100,8,8,1\n",
             "expected 'iter_s' or 'tokens_per_s_per_gpu'"),
            (HEAD + "\n", "1:1: no rows below the header, one is expected"),
            (HEAD + "\nNeMo 25.05,llama3-8b,h100,8,1,1,1,8,bf16,none,\n", "nothing to calibrate"),
            (HEAD + "\nNeMo 25.05,llama3-8b,h900,8,1,1,1,8,bf16,none,1\n", "nothing to calibrate"),
            (HEAD + '\n"NeMo', "2:"),
    ):
        with open(bad, "w", encoding="utf-8") as file:
            file.write(text)
        result = call(myriad, "fit", "calibrate", bad, "--out", out, code=2)
        assert expected in result.stderr and not os.path.exists(out), (text, result.stderr)
        if "iter_s" in expected:
            assert expected in call(myriad, "fit", "validate", bad, code=2).stderr
    with open(bad, "w", encoding="utf-8") as file: # no row has a time: nothing to calibrate
        file.write(HEAD + "\nNeMo 25.05,llama3-8b,h100,8,1,1,1,8,bf16,none,\n")
    assert "next:" not in call(myriad, "fit", "validate", bad).stdout
    call(myriad, "fit", "calibrate", code=2)
    call(myriad, "fit", "calibrate", os.path.join(folder, "absent.csv"), code=2)
    call(myriad, "fit", "calibrate", "--kernels", bad, code=2)
    with open(bad, "w", encoding="utf-8") as file:
        file.write("constants: {warp: 9}\n")
    result = call(myriad, "fit", "constants", "--profile", bad, code=2)
    assert "unknown constant 'warp'" in result.stderr


def devices_that_nobody_fitted_are_told_from_their_sheets(myriad):
    """189 runs that no constant was fitted to: TPU, AMD, Trainium, Ascend, and trainers unknown."""
    path = DATA / "device-runs.csv"
    said = json.loads(call(myriad, "fit", "validate", str(path), "-o", "json").stdout)
    with open(path, newline="") as file:
        trust = {row["id"]: row for row in csv.DictReader(file)}
    rows = [r for r in said["rows"] if r["error"] is not None
            and trust[r["id"]]["confidence"] in ("high", "medium")]
    errors = sorted(r["error"] for r in rows)
    assert len(rows) > 100 and errors[len(rows) // 2] <= 15, errors[len(rows) // 2]
    assert errors[int(0.9 * (len(rows) - 1))] <= 40, errors
    sheet = [r for r in rows if trust[r["id"]]["hw"].startswith(("TPU", "MI", "Trainium"))]
    for some, least in ((rows, 0.85), (sheet, 0.85)):
        inside = sum(r["interval"][0] <= r["measured"] <= r["interval"][1] for r in some)
        assert least <= inside / len(some) <= (0.96 if some is rows else 1), (inside, len(some))
    lora = [r for r in said["rows"] if trust[r["id"]]["task"] == "lora"]
    assert lora and all("adapters are not priced" in r["refused"] for r in lora
                        if "lora" in r["refused"]), lora


def main():
    with tempfile.TemporaryDirectory(prefix="myriad-fit-") as folder:
        check_calibrate(sys.argv[1], folder)
        check_forms(sys.argv[1], folder)
        check_compare(sys.argv[1], folder)
        check_told_layouts(sys.argv[1], folder)
        check_reports(sys.argv[1], folder)
        check_bad_logs(sys.argv[1], folder)
        check_bad_input(sys.argv[1], folder)
    devices_that_nobody_fitted_are_told_from_their_sheets(sys.argv[1])
    print("ok")


if __name__ == "__main__":
    main()
