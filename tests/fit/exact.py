#!/usr/bin/env python3
"""Does the search find what --exhaustive finds, on real models and devices at full size?

    tests/fit/exact.py MYRIAD [--cases 500] [--seed 1] [--layouts 1500000] [--first 0]
                       [--seconds S] [--verbose]

Each case draws a model of the catalogue, a device, 64 to 16,384 GPUs, a trainer's release, a
batch, a precision and how many layouts are asked for. Visiting every layout of such a question
takes minutes, so axes are fixed by the program's own options, one after the other in a drawn order,
to what the search of the open question chose or to a neighbour of it, until no more than --layouts
are left to visit. Both programs then have to print the same layouts with the same times, and the
same number of layouts covered; a question without an answer has to be refused with the same words.
"""
import argparse
import json
import random
import subprocess
import sys
import time

MODELS = ("llama3-8b llama3-70b llama3-405b gpt3-175b nemotron4-340b mt-nlg-530b qwen3-32b "
          "mcore-70b bloom-176b deepseek-v2 deepseek-v3 gpt-oss-20b gpt-oss-120b grok-1 kimi-k2 "
          "llama4-maverick mixtral-8x7b mixtral-8x22b qwen3-30b-a3b qwen3-235b-a22b").split()
DEVICES = ("a100-40 a100-80 h100 h100-96 h800 h200 b200 gb200 b300 gb300 mi300x "
           "ascend-910b").split()
STACKS = ("", "", "", "Megatron-LM 2022", "Megatron-LM 2024", "NeMo 25.02", "NeMo 25.05",
          "Megatron-Bridge 25.11", "Megatron-Bridge 26.06", "Meta FSDP", "DeepSpeed ZeRO-3 2021",
          "HAI-LLM", "torchtitan")
GPUS = (64, 96, 128, 256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 12288, 16384)
KEYS = ("tp", "cp", "pp", "vp", "dp", "ep", "zero", "mbs", "recompute", "schedule", "precision",
        "step_s")
AXES = ("tp", "pp", "mbs", "vp", "cp", "ep", "zero", "recompute")


def ask(myriad, words):
    """(exit status, answer or None, what was said); the answer covers the search alone."""
    result = subprocess.run([myriad, "fit", *words, "-o", "json"], capture_output=True, text=True,
                            check=False)
    try:
        return result.returncode, json.loads(result.stdout), result.stderr
    except ValueError:
        return result.returncode, None, result.stderr


def draw(rng):
    """An open question, as words of the command."""
    gpus = rng.choice(GPUS)
    words = ["--model", rng.choice(MODELS), "--device", rng.choice(DEVICES), "--gpus", str(gpus),
             "--batch", str(max(1, int(gpus * rng.choice((0.25, 0.5, 1, 2, 3, 8))))),
             "--top", str(rng.choice((1, 1, 3, 5, 8)))]
    stack = rng.choice(STACKS)
    words += ["--software", stack] if stack else []
    if rng.random() < 0.2:
        words += ["--schedule", rng.choice(("any", "1f1b", "interleaved", "zero-bubble",
                                            "dualpipe"))]
    if rng.random() < 0.15:
        words += ["--seq", str(rng.choice((2048, 8192, 16384, 32768)))]
    if rng.random() < 0.1:
        words += ["--precision", rng.choice(("any", "fp8"))]
    return words


def near(rng, axis, value):
    """The value of the open question's answer, or one beside it."""
    if axis == "recompute":
        return rng.choice(("none", "full"))
    if axis == "zero":
        return str(rng.choice((value, rng.randrange(4))))
    return str(max(1, rng.choice((value, value, value, 2 * value, value // 2))))


def narrow(rng, myriad, words, most):
    """The same with axes fixed until it is small enough, or None: out of reach."""
    _, answer, _ = ask(myriad, words)
    if answer is None:
        return None
    best = answer.get("best") or {"tp": 8, "pp": 4, "mbs": 1, "vp": 1, "cp": 1, "ep": 1, "zero": 1}
    axes = list(AXES)
    rng.shuffle(axes)
    while axes and answer["evaluated"] > most:
        axis = axes.pop()
        tried = [*words, "--" + axis, near(rng, axis, best.get(axis, 1))]
        _, other, _ = ask(myriad, tried)
        if other is not None and other["evaluated"] > 0:
            answer, words = other, tried
    return words if answer["evaluated"] <= most else None


def told(answer):
    rows = [tuple(row.get(key) for key in KEYS) for row in answer["top"]]
    return answer["found"], answer["evaluated"], answer.get("layout"), rows, answer.get("reason")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("myriad")
    parser.add_argument("--cases", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0, help="number of the first case")
    parser.add_argument("--layouts", type=int, default=1500000)
    parser.add_argument("--seconds", type=float, default=1e9, help="no new case after so long")
    parser.add_argument("--verbose", action="store_true")
    args = parser.parse_args()
    cases = found = wrong = layouts = 0
    start = time.monotonic()
    number = args.first
    while cases < args.cases and time.monotonic() - start < args.seconds:
        rng = random.Random(args.seed * 1000003 + number)
        number += 1
        words = narrow(rng, args.myriad, draw(rng), args.layouts)
        if words is None:
            continue
        cases += 1
        quick, slow = ask(args.myriad, words), ask(args.myriad, [*words, "--exhaustive"])
        if quick[1] is None or slow[1] is None:
            same = quick == slow
        else:
            found += slow[1]["found"]
            layouts += slow[1]["evaluated"]
            same = quick[0] == slow[0] and told(quick[1]) == told(slow[1])
        if args.verbose:
            print(number - 1, " ".join(words), "same" if same else "OTHER", flush=True)
        if not same:
            wrong += 1
            print(f"case {number - 1}: the two answers differ: myriad fit {' '.join(words)}",
                  flush=True)
    print(f"{cases} cases, {found} with an answer, {layouts} layouts visited, {wrong} mismatches, "
          f"{time.monotonic() - start:.0f} s")
    sys.exit(wrong > 0 or found * 2 < cases)


if __name__ == "__main__":
    main()
