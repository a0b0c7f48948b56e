#!/usr/bin/env python3
"""The best layout through the command: contract, designs, bad input, curves.

    tests/fit/search.py MYRIAD
"""
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

EXAMPLES = Path(__file__).resolve().parent.parent.parent / "examples"
AXES = ("tp", "pp", "vp", "dp", "cp", "ep", "zero", "mbs", "recompute", "schedule")
GPT = ("--model", "gpt3-175b", "--gpus", "512", "--device", "h100", "--batch", "512")


def call(myriad, *words, code=0):
    result = subprocess.run([myriad, *words], capture_output=True, text=True, timeout=600,
                            check=False)
    assert result.returncode == code, f"{words}: exit {result.returncode}\n{result.stderr}"
    return result


def answer(myriad, *words, code=0):
    return json.loads(call(myriad, "fit", *words, "-o", "json", code=code).stdout)


def refused(myriad, *words):
    """Reason and hint of "nothing fits" (the answer is no), or of what cannot be asked (2)."""
    result = subprocess.run([myriad, "fit", *words, "-o", "json"], capture_output=True, text=True,
                            timeout=600, check=False)
    assert result.returncode in (1, 2), f"{words}: exit {result.returncode}\n{result.stderr}"
    if result.returncode == 1:
        said = json.loads(result.stdout)
        assert result.stderr == "" and not said["found"] and said["best"] is None
        return said["reason"] + "\n" + (said["hint"] or "")
    assert result.stdout == "" and 1 <= len(result.stderr.strip().splitlines()) <= 2, result.stderr
    return result.stderr.strip()


def check_contract(myriad):
    said = answer(myriad, *GPT)
    best = said["best"]
    for axis in AXES:
        assert axis in best, axis
    assert best["tp"] * best["pp"] * best["dp"] * best["cp"] == 512
    low, high = best["step_s_interval"]
    assert low < best["step_s"] < high
    assert abs(sum(best["memory_terms_gib"].values()) - best["memory_gib"]) < 0.02
    assert abs(sum(best["terms_s"].values()) - best["step_s"]) < 1e-4
    assert said["gap"] == 0 and said["evaluated"] > 1000000 and "timing" not in said
    assert answer(myriad, *GPT, "--timing")["timing"]["search_ms"] > 0
    times = [row["step_s"] for row in said["top"]]
    assert times == sorted(times) and len(times) == 5
    grids = {(row["tp"], row["cp"], row["pp"], row["ep"]) for row in said["top"]}
    assert len(grids) == len(times)
    for row in said["refused"]:
        assert row["step_s"] < best["step_s"] and row["over_gib"] > 0
        assert row["largest_term"] in row["memory_terms_gib"]
    assert set(said["launch"]) == {"megatron-lm", "deepspeed", "torchtitan"}
    assert said["topology"]["source"] == "generic"
    return best


def check_choices(myriad, best):
    """A forced axis gives what a search with that axis fixed gives, and costs time."""
    said = answer(myriad, *GPT)
    for row in said["choices"]:
        if not row["fits"]:
            continue
        assert row["costs_percent"] >= -1e-6 or not row["in_release"], row
        if row["axis"] in ("tp", "pp", "mbs"):
            forced = answer(myriad, *GPT, "--" + row["axis"], row["value"], "--top", "1")
            assert abs(forced["best"]["step_s"] - row["step_s"]) < 1e-5, row
    knobs = {row["knob"]: row for row in said["sensitivity"]}
    assert set(knobs) == {"peak", "memory", "scale-up", "nic", "latency"}
    for name, row in knobs.items():
        faster = row["plus_10_percent"] if name != "latency" else row["minus_10_percent"]
        slower = row["minus_10_percent"] if name != "latency" else row["plus_10_percent"]
        assert -10 < faster <= 0 <= slower < 12, row
    fixed = answer(myriad, *GPT, "--tp", str(best["tp"]), "--pp", str(best["pp"]))
    assert abs(fixed["best"]["step_s"] - best["step_s"]) < 1e-6


def check_precision(myriad):
    plain = answer(myriad, *GPT)
    assert all(row["precision"] == "bf16" for row in plain["top"])
    every = answer(myriad, *GPT, "--precision", "any", "--top", "1")
    assert every["best"]["precision"] == "fp8" and every["evaluated"] > plain["evaluated"]
    assert every["best"]["step_s"] < plain["best"]["step_s"]


def check_layout_block(myriad, folder):
    """The block reads back as a job's layout: the simulator takes the same axes."""
    said = answer(myriad, *GPT)
    block = said["layout"]
    assert block.startswith("layout:\n")
    found = dict(line.strip().split(": ") for line in block.splitlines()[1:])
    for axis in ("tp", "pp", "vp", "dp", "cp", "ep", "zero"):
        assert int(found[axis]) == said["best"][axis]
    assert int(found["micro_batch"]) == said["best"]["mbs"]
    assert os.path.isdir(folder)


def check_design(myriad, folder):
    design = os.path.join(folder, "h100-64", "design.myr")
    call(myriad, "plan", str(EXAMPLES / "h100-64.yaml"), "--out", os.path.dirname(design))
    ask = ("--design", design, "--model", "llama3-70b", "--batch", "512")
    said = answer(myriad, *ask)
    assert said["gpus"] == 512 and said["device"] == "h100"
    assert said["topology"]["source"] == "design"
    assert "oversubscription" in said["topology"]["slowdowns"]
    levels = {row["level"]: row for row in said["topology"]["levels"]}
    assert levels["scale-up"]["gpus"] == 8 and levels["leaf"]["gpus"] == 256
    assert said["best"]["placement"]["tp"] == "scale-up"
    smaller = answer(myriad, *ask, "--gpus", "256")
    assert smaller["gpus"] == 256 and smaller["best"]["step_s"] > said["best"]["step_s"]
    call(myriad, "sim", "contention", "--design", design, "--lb", "ecmp")
    crowded = answer(myriad, *ask)
    assert crowded["topology"]["slowdowns"].startswith("contention.json")
    worse = {row["level"]: row for row in crowded["topology"]["levels"]}
    assert worse["leaf"]["ring"] >= levels["leaf"]["ring"]
    error = call(myriad, "fit", *ask, "--gpus", "1024", code=2).stderr
    assert "512 GPUs" in error and "--gpus 512" in error


def check_layers_that_do_not_divide(myriad):
    """126 layers: no number of chunks that one may ask for beats what the search chooses."""
    said = answer(myriad, "--model", "llama3-405b", "--gpus", "1024", "--device", "h100",
                  "--batch", "512")
    chunks = [row for row in said["choices"] if row["axis"] == "vp"]
    assert chunks and all(row["costs_percent"] >= -1e-6 for row in chunks), chunks


def check_oversubscription(myriad, folder):
    """Less above the leaves costs copies between shards time, and nobody gains by it."""
    steps, free = [], []
    for ratio in (1, 4):
        spec = os.path.join(folder, f"cut-{ratio}.yaml")
        Path(spec).write_text("name: cut\nservers: 64\nserver: h100-8gpu\nnetworks:\n  compute: "
                              f"{{switch: mqm9790-ns2f, oversubscription: {ratio}}}\n")
        out = os.path.join(folder, f"cut-{ratio}")
        subprocess.run([myriad, "plan", spec, "--out", out], capture_output=True, timeout=600,
                       check=False)
        ask = ["--design", os.path.join(out, "design.myr"), "--model", "llama3-70b",
               "--batch", "64"]
        steps.append(answer(myriad, *ask, "--zero", "1", "--shard", "16")["best"]["step_s"])
        free.append(answer(myriad, *ask)["best"]["step_s"])
    assert steps[1] > steps[0] and free[1] >= free[0], (steps, free)


def check_layout_file(myriad, folder):
    """What --layout-out writes, --layout reads: the same step to the last digit, goodput too."""
    design = os.path.join(folder, "h100-64", "design.myr")
    path = os.path.join(folder, "layout.yaml")
    for model, more in (("llama3-70b", ()), ("qwen3-30b-a3b", ("--zero", "3")),
                        ("gpt3-175b", ("--pp", "8", "--recompute", "full"))):
        ask = ("--model", model, "--design", design)
        best = answer(myriad, *ask, "--batch", "512", *more, "--layout-out", path)["best"]
        given = answer(myriad, *ask, "--layout", path)
        assert given["best"] == best and len(given["top"]) == 1 and given["choices"] == []
        kept = json.loads(call(myriad, "goodput", *ask, "--layout", path, "-o", "json").stdout)
        assert all(case["step_s"] == best["step_s"] for case in kept["cases"])
        placed = json.loads(call(myriad, "sched", "place", *ask, "--layout", path, "-o",
                                 "json").stdout)["step"]
        assert placed["step_s"] == placed["best_step_s"] == best["step_s"], (placed, best)
        other = str(best["tp"] * 2)
        told = call(myriad, "fit", *ask, "--layout", path, "--tp", other, code=2).stderr
        assert f"tp is {best['tp']}, and {other} is asked for" in told
    Path(path).write_text("layout:\n  tp: eight\n")
    for verb in ("fit", "goodput"):
        told = call(myriad, verb, *ask, "--layout", path, code=2)
        assert f"{path}:2:7: 'tp' is 'eight'" in told.stderr and told.stdout == ""


def check_names(myriad):
    """Models and devices can be listed; the first words of a name suffice; else the names."""
    models = [row["name"] for row in answer(myriad, "models")["models"]]
    devices = [row["name"] for row in answer(myriad, "devices")["devices"]]
    assert "qwen3-235b-a22b" in models and "h100" in devices
    base = ("--gpus", "64", "--device", "h100", "--batch", "64")
    assert answer(myriad, "--model", "qwen3-30b", *base)["model"] == "qwen3-30b-a3b"
    told = call(myriad, "fit", "--model", "qwen3", *base, code=2).stderr
    assert "qwen3-30b-a3b, qwen3-32b, qwen3-8b" in told
    told = call(myriad, "fit", "curve", "--model", "llama3-8b", *base, "--report", "x", code=2)
    assert "--report" in told.stderr and not os.path.exists("x")


def check_nothing_fits(myriad):
    """The answer "no" is printed, in every form, by all that can give it."""
    job = ("--model", "llama3-405b", "--device", "h100", "--gpus", "8", "--batch", "8")
    for verb, rows in ((("fit",), "top"), (("fit", "curve"), "points"), (("goodput",), "cases")):
        done = call(myriad, *verb, *job, "-o", "json", code=1)
        said = json.loads(done.stdout)
        assert done.stderr == "" and said["found"] is False and said[rows] == [], said
        assert "does not fit on 8 x h100" in said["reason"] and "GPUs" in said["hint"], said
        page = call(myriad, *verb, *job, code=1)
        assert "No layout fits" in page.stdout and "hint" in page.stdout, page.stdout
        assert call(myriad, *verb, *job, "-o", "csv", code=1).stderr == ""


def check_options_that_do_not_apply(myriad, folder):
    design = os.path.join(folder, "h100-64", "design.myr")
    path = os.path.join(folder, "silent.yaml")
    Path(path).write_text("layout: {tp: 2, dp: 4, micro_batch: 1}\n")
    layout = ("fit", "--model", "llama3-8b", "--device", "h100", "--layout", path)
    cases = [
        ((*layout, "--top", "3"), "--top does not go with --layout"),
        ((*layout, "--exhaustive"), "--exhaustive does not go with --layout"),
        ((*layout, "--schedule", "any"), "something else is asked for"),
        (("goodput", "--gpus", "1024", "--software", "NeMo 25.02"),
         "--software says nothing without --model"),
        (("goodput", "--gpus", "1024", "--software", "NeMo 25.05"),
         "--software says nothing without --model"),
        (("goodput", "--model", "llama3-8b", "--design", design, "--batch", "512",
          "--gpus-per-node", "4"), "--gpus-per-node 4, the design's nodes have 8"),
    ]
    place = ("sched", "place", "--design", design, "--nodes", "8")
    cases += [((*place, *words), f"{words[0]} goes with --model")
              for words in (("--batch", "64"), ("--device", "h100"), ("--seq", "4096"))]
    cases += [((*place[:4], "--layout", path, "--batch", "64"), "--batch goes with --model"),
              ((*place, "--min-nodes", "9"), "--min-nodes 9, expected at most the gang's 8")]
    for words, expected in cases:
        done = call(myriad, *words, code=2)
        assert expected in done.stderr and done.stdout == "", (words, done.stderr)
    call(myriad, *place, "--tp", "8", "--batch", "64") # with axes the batch decides who may shrink
    said = answer(myriad, *layout[1:], "--batch", "64")
    assert (said["batch"], said["best"]["mbs"]) == (64, 1)


def check_devices(myriad, folder):
    """GPUs that take the place of the design's are said; those without units have no figure."""
    design = os.path.join(folder, "h100-64", "design.myr")
    job = ("--model", "llama3-8b", "--design", design, "--batch", "512")
    words = "a100-80, as --device says, in place of the design's h100-sxm"
    for verb in (("fit",), ("fit", "curve"), ("goodput",)):
        for device, there in (((), None), (("--device", "h100"), None),
                              (("--device", "a100-80"), "h100-sxm")):
            said = json.loads(call(myriad, *verb, *job, *device, "-o", "json").stdout)
            assert said["design_gpu"] == there, (verb, device, said["design_gpu"])
        assert words in call(myriad, *verb, *job, "--device", "a100-80").stdout
        assert "in place of" not in call(myriad, *verb, *job, "--device", "h100").stdout
    place = ("sched", "place", *job, "--nodes", "64", "--tp", "8", "--device", "a100-80")
    assert "The step is that of a100-80, as --device says" in call(myriad, *place).stdout
    for row in answer(myriad, "devices")["devices"]:
        for precision, key in (("fp8", "fp8_tflops"), ("nvfp4", "fp4_tflops")):
            done = subprocess.run([myriad, "fit", "--model", "llama3-8b", "--device", row["name"],
                                   "--gpus", "8", "--batch", "8", "--tp", "1", "--pp", "1",
                                   "--precision", precision], capture_output=True, text=True,
                                  timeout=600, check=False)
            known = f"has no {precision}" not in done.stderr
            assert (row[key] is not None) == known, (row, precision, done.stderr)


def check_curve(myriad):
    said = answer(myriad, "curve", "--model", "llama3-8b", "--gpus", "1024", "--device", "h100",
                  "--batch", "1024")
    weak, strong = ([row for row in said["points"] if row["scaling"] == kind]
                    for kind in ("weak", "strong"))
    assert [row["gpus"] for row in weak] == [8, 16, 32, 64, 128, 256, 512, 1024]
    for row in said["points"]:
        parts = row["step"]
        total = (parts["compute_s"] + parts["waiting_s"] + parts["communication_s"]
                 - parts["hidden_communication_s"] + parts["io_s"] - parts["hidden_io_s"])
        assert abs(total - row["step_s"]) < 1e-4 * row["step_s"], row
        effective = row["effective_compute"]
        product = (effective["peak_tflops_per_gpu"] * row["gpus"]
                   * effective["single_efficiency"] * effective["linearity"]
                   * effective["availability"] / 1000)
        assert abs(product / effective["pflops"] - 1) < 1e-3
    assert weak[-1]["linearity"] <= 1
    assert weak[-1]["step_s"] == strong[-1]["step_s"]
    for name in ("forward-compute", "backward-compute", "all-grads-sync", "optimizer"):
        assert name in said["timers_ms"]


def check_pools(myriad):
    ask = ("--model", "llama3-8b", "--batch", "256")
    said = answer(myriad, *ask, "--pool", "h800:64", "--pool", "a100-80:64")["pools"]
    assert said["verdict"] in ("share the batch", "share the layers") and said["gain_percent"] > 0
    assert sum(part["batch"] for part in said["batch"]["parts"]) == 256
    layers = [n for part in said["layers"]["parts"] for n in part["stage_layers"]]
    assert sum(layers) == 32
    assert said["step_s"] <= min(row["step_s"] for row in said["alone"])
    apart = answer(myriad, *ask, "--pool", "h100:64", "--pool", "ascend-910b:8")["pools"]
    assert apart["verdict"] == "do not mix" and apart["gain_percent"] == 0
    for words in (("--pool", "h100:8"), ("--pool", "h100", "--pool", "h800:8"),
                  ("--pool", "h100:0", "--pool", "h800:8"), ("--pool", "x:8", "--pool", "h100:8")):
        assert call(myriad, "fit", *ask, *words, code=2).stdout == ""


def check_refusals(myriad, folder):
    """The reason and the nearest thing that would work: a no is an answer, nonsense is refused."""
    nonsense = os.path.join(folder, "config.json")
    Path(nonsense).write_text('{"hidden_size": "many", "num_hidden_layers": -3}')
    broken = os.path.join(folder, "broken.json")
    Path(broken).write_text('{"hidden_size": 4096,')
    base = ["--gpus", "64", "--device", "h100", "--batch", "64"]
    cases = [
        (["--model", "llama3-405b", "--gpus", "8", "--device", "h100", "--batch", "8"],
         ("does not fit", "GPUs")),
        (["--model", "gpt3-175b", "--gpus", "1000", "--device", "h100", "--batch", "1536"],
         ("1000 GPUs", "would work")),
        (["--model", "gpt3-175b", "--gpus", "64", "--device", "h1000", "--batch", "64"],
         ("h1000", "h100")),
        (["--model", "gpt3-175c", *base], ("gpt3-175c", "gpt3-175b")),
        (["--model", nonsense, *base], ("config.json",)),
        (["--model", broken, *base], ("broken.json",)),
        (["--model", "gpt3-175b", *base, "--tp", "7"], ("tp 7", "would work")),
        (["--model", "gpt3-175b", *base, "--pp", "48", "--tp", "8"], ("does not divide", "would")),
        (["--model", "gpt3-175b", *base, "--ep", "8"], ("no experts",)),
        (["--model", "llama3-70b", *base, "--tp", "1", "--pp", "1", "--zero", "0", "--recompute",
          "none"], ("does not fit", "with open axes")),
        (["--model", "gpt3-175b", *base, "--cp", "3"], ("cp 3",)),
        (["--model", "gpt3-175b", "--gpus", "64", "--device", "h100"], ("--batch",)),
        (["--gpus", "64", "--device", "h100", "--batch", "64"], ("--model",)),
        (["--model", "gpt3-175b", *base, "--design", os.path.join(folder, "none.myr")],
         ("none.myr",)),
        (["--model", "gpt3-175b", *base, "--design", nonsense], ("config.json",)),
    ]
    for words, parts in cases:
        told = refused(myriad, *words)
        for part in parts:
            assert part in told, f"{words}: '{part}' is missing in {told}"
    said = answer(myriad, "--model", "llama3-405b", "--gpus", "8", "--device", "h100", "--batch",
                  "8", code=1)
    page = call(myriad, "fit", "--model", "llama3-405b", "--gpus", "8", "--device", "h100",
                "--batch", "8", code=1).stdout
    assert "No layout fits" in page and "nearest" in page
    nearest = said["nearest"]
    assert nearest["over_gib"] > 0 and nearest["largest_term"] in nearest["memory_terms_gib"]
    assert said["refused"] and said["hint"]


def changed(words, **options):
    """The same question with options set otherwise."""
    words = list(words)
    for name, value in options.items():
        if f"--{name}" in words:
            words[words.index(f"--{name}") + 1] = value
        else:
            words += [f"--{name}", value]
    return words


def check_advice(myriad):
    """What a refusal says would work does work."""
    cases = (
        ("llama3-405b", "h100", 8, 8, ()), ("deepseek-v3", "a100-40", 1, 1, ()),
        ("gpt3-175b", "h100", 1, 1, ()), ("llama3-70b", "h100", 1021, 1024, ()),
        ("llama3-70b", "h100", 64, 64, ("--seq", "1000001")), ("llama3-8b", "h100", 37, 3, ()),
        ("llama3-8b", "h100", 64, 65, ("--dp", "64")), ("grok-1", "h100", 24, 8, ("--tp", "16")),
        ("kimi-k2", "b200", 2, 100, ("--seq", "1001", "--pp", "5")),
        ("llama3-70b", "h100", 64, 64, ("--zero", "0", "--tp", "1", "--pp", "1")),
        ("llama3-8b", "a100-80", 8, 8, ("--precision", "fp8")),
        ("llama3-8b", "h100", 8, 8, ("--precision", "nvfp4")),
    )
    for model, device, gpus, batch, more in cases:
        words = ["--model", model, "--device", device, "--gpus", str(gpus), "--batch", str(batch),
                 *more]
        hint = refused(myriad, *words).splitlines()[1]
        whole = re.search(r"(\d+) GPUs with a batch of (\d+) x (\d+) tokens and open axes", hint)
        both = re.search(r"(\d+) GPUs with a batch of (\d+),", hint)
        axis = re.search(r"--(\w+) (\S+) would work", hint)
        tried = 0
        if whole:
            call(myriad, "fit", *changed(words[:4], gpus=whole[1], batch=whole[2], seq=whole[3]))
            continue
        if both:
            call(myriad, "fit", *changed(words, gpus=both[1], batch=both[2]))
            continue
        if axis:
            call(myriad, "fit", *changed(words, **{axis[1]: axis[2]}))
            continue
        for option, pattern in (("gpus", r"(\d+) GPUs"), ("batch", r"a batch of (\d+)"),
                                ("seq", r"sequences of (\d+) tokens")):
            for value in re.findall(pattern, hint):
                call(myriad, "fit", *changed(words, **{option: value}))
                tried += 1
        assert tried > 0, (words, hint)
    for option in ("seq", "batch", "gpus", "tp"):
        words = changed(["--model", "llama3-8b", "--device", "h100", "--gpus", "8", "--batch", "8"],
                        **{option: "0"})
        assert f"'--{option}' is '0'" in call(myriad, "fit", *words, code=2).stderr


def check_fewest(myriad):
    """Of whole servers between half of what works and all of it the fewest are named."""
    between = 0
    for model, device, gpus in (("llama3-405b", "h100", 8), ("llama3-405b", "h100", 64),
                                ("gpt3-175b", "a100-80", 8), ("deepseek-v3", "h100", 32),
                                ("nemotron4-340b", "h200", 16), ("grok-1", "a100-80", 16)):
        words = ["--model", model, "--device", device, "--gpus", str(gpus), "--batch", "1536"]
        hint = refused(myriad, *words).splitlines()[1]
        named = int(re.search(r"(\d+) GPUs", hint)[1])
        assert named % 8 == 0 and "batch" not in hint, hint
        call(myriad, "fit", *changed(words, gpus=str(named)))
        whole = gpus
        while whole < named:
            whole *= 2
        between += named < whole
        for part in (5, 6, 7):
            less = whole * part // 64 * 8
            if whole // 2 < less < named:
                refused(myriad, *changed(words, gpus=str(less)))
    assert between > 0


def main():
    myriad = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory(prefix="myriad-fit-") as folder:
        best = check_contract(myriad)
        check_choices(myriad, best)
        check_precision(myriad)
        check_layout_block(myriad, folder)
        check_design(myriad, folder)
        check_layout_file(myriad, folder)
        check_names(myriad)
        check_oversubscription(myriad, folder)
        check_layers_that_do_not_divide(myriad)
        check_nothing_fits(myriad)
        check_options_that_do_not_apply(myriad, folder)
        check_devices(myriad, folder)
        check_curve(myriad)
        check_pools(myriad)
        check_refusals(myriad, folder)
        check_advice(myriad)
        check_fewest(myriad)


if __name__ == "__main__":
    main()
