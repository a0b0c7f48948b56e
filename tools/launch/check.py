#!/usr/bin/env python3
"""Holds launch scripts of drawn answers against the trainers' own argument code.

    tools/launch/check.py MYRIAD --count 200 --checkouts DIR       their code, run or read
    tools/launch/check.py MYRIAD --count 20 --facts FILE           facts written before
    tools/launch/check.py --checkouts DIR --write-facts FILE

DIR holds checkouts named Megatron-LM, Megatron-DeepSpeed, DeepSpeed, torchtitan (v0.2.2) and
Megatron-Bridge. Scripts are run with programs that only note how they were called.
"""

import argparse
import ast
import json
import os
import subprocess
import sys
import tempfile
import tomllib
from collections import Counter
from pathlib import Path

import asked

HERE = Path(__file__).resolve().parent


def value_after(words, name):
    return words[words.index(name) + 1] if name in words else None


def check_paths(record, paths):
    """What a user wrote arrived as it was, in one piece."""
    words, files = record["program"], record["files"]
    trainer = record["answer"]["trainer"]
    if "code" in paths and record["answer"]["launcher"] != "submit":
        assert record["environment"].get("PLACE") == paths["code"], "the folder of the code"
    if trainer in ("megatron-lm", "deepspeed"):
        for option, name in (("data", "--data-path"), ("tokenizer", "--tokenizer-model"),
                             ("checkpoint", "--save")):
            assert value_after(words, name) == paths.get(option), f"{name}: {words}"
    elif trainer == "torchtitan":
        toml = tomllib.loads(files["run.toml"])
        for option, section, key in (("data", "training", "dataset_path"),
                                     ("tokenizer", "model", "hf_assets_path"),
                                     ("checkpoint", "checkpoint", "folder")):
            assert toml.get(section, {}).get(key) == paths.get(option), f"{section}.{key}"
    else:
        texts = {n.value for n in ast.walk(ast.parse(files["recipe.py"]))
                 if isinstance(n, ast.Constant) and isinstance(n.value, str)}
        for option in ("data", "tokenizer", "checkpoint"):
            assert option not in paths or paths[option] in texts, f"{option} in the recipe"


def check_ranks(record):
    answer, words = record["answer"], record["launcher"]
    if answer["launcher"] != "submit":
        assert value_after(words, "--nnodes") == str(answer["nodes"])
        assert value_after(words, "--nproc-per-node") == str(answer["gpus_per_node"])
        assert value_after(words, "--node-rank") == "0"
    assert answer["nodes"] * answer["gpus_per_node"] == answer["gpus"]


def check_told(record):
    """Every capability that was predicted is switched on, or a note says that it is not."""
    answer = record["answer"]
    recipe, layout, notes = answer["recipe"], answer["layout"], " ".join(answer["notes"])
    told = {i["name"] for i in answer["arguments"]}
    values = {i["name"]: i["value"] for i in answer["arguments"]}
    if answer["trainer"] not in ("megatron-lm", "megatron-bridge"):
        return
    experts = "--expert-model-parallel-size" in told
    if recipe["tp_overlap"] == "1" and layout["tp"] > 1:
        assert "--tp-comm-overlap" in told or "transfers of tensor groups" in notes, "tp overlap"
    if experts and layout["ep"] > 1 and recipe["moe_a2a_overlap"] == "1":
        assert "--overlap-moe-expert-parallel-comm" in told or "all-to-alls are" in notes, "a2a"
    if recipe["cuda_graphs"] != "none" and (experts or recipe["cuda_graphs"] != "router"):
        assert "--cuda-graph-impl" in told or "graph" in notes, "graphs"
    if experts:
        assert ("--moe-grouped-gemm" in told) == (recipe["grouped_gemm"] != "loop"), "grouped"
        dropped = "--moe-expert-capacity-factor" in told
        assert dropped == (recipe["token_drop"] == "1"), "token drop"
        alone = layout["ep"] * layout["etp"] == 1
        expected = {"alltoall": "alltoall", "allgather": "allgather"}.get(recipe["dispatcher"],
                                                                         "flex")
        assert alone or values["--moe-token-dispatcher-type"] == expected, "dispatcher"
    again = recipe["recompute_modules"] != "none" and layout["recompute"] == "none"
    if again and recipe["recompute_modules"] not in ("moe_act", "mla_up_proj"):
        assert "--recompute-modules" in told or "again" in notes or not experts, "parts"


def check_facts(record, facts):
    """Names, kinds and choices, without any checkout."""
    trainer, words = record["answer"]["trainer"], record["program"]
    if trainer == "torchtitan":
        check_keys(tomllib.loads(record["files"]["run.toml"]), facts["torchtitan"])
        return
    if trainer == "megatron-bridge":
        check_recipe(record["files"]["recipe.py"],
                     lambda cls, name: name in facts["megatron-bridge"][cls],
                     facts["megatron-bridge"]["precisions"])
        return
    if trainer == "deepspeed":
        for key, value in json.loads(record["files"]["deepspeed.json"]).items():
            assert key in facts["deepspeed"], key
            for inner in value if isinstance(value, dict) else ():
                assert inner in facts["deepspeed"][key], f"{key}.{inner}"
    known = facts["megatron-lm" if trainer == "megatron-lm" else "megatron-deepspeed"]
    check_words(words[1:], known)
    if trainer == "megatron-lm":
        check_megatron(words, record["answer"]["gpus"])


def check_megatron(words, world):
    """What Megatron-LM's validate_args() asks of arguments together (0.17 to 0.20)."""
    def number(name, otherwise):
        return int(value_after(words, name) or otherwise)

    tp, pp, cp = (number(f"--{n}-parallel-size", 1)
                  for n in ("tensor-model", "pipeline-model", "context"))
    ep = number("--expert-model-parallel-size", 1)
    etp = number("--expert-tensor-parallel-size", tp)
    full = value_after(words, "--recompute-granularity") == "full"
    assert world % (tp * pp * cp) == 0, f"{world} ranks do not divide by {tp * pp * cp}"
    assert world // pp % (ep * etp) == 0, f"{world // pp} ranks of experts"
    dp = world // (tp * pp * cp)
    assert number("--global-batch-size", 1) % (number("--micro-batch-size", 1) * dp) == 0, "batch"
    assert "--eval-iters" not in words or number("--eval-interval", 0) > 0, "no --eval-interval"
    assert ("--recompute-method" in words) == full, "--recompute-method goes with full"
    assert not full or "--recompute-modules" not in words, "--recompute-modules with full"
    assert "--sequence-parallel" not in words or tp > 1, "--sequence-parallel without tp"
    assert "--tp-comm-overlap" not in words or "--sequence-parallel" in words, "--tp-comm-overlap"
    if "--num-experts" in words:
        assert number("--num-experts", 1) % ep == 0, "experts do not divide"
        assert tp == 1 or "--sequence-parallel" in words, "experts and tp ask for cut sequences"
    else:
        assert ep == 1, "--expert-model-parallel-size without experts"
    chunks = [n for n in ("--num-layers-per-virtual-pipeline-stage",
                          "--num-virtual-stages-per-pipeline-rank",
                          "--pipeline-model-parallel-layout") if n in words]
    assert len(chunks) < 2 and (not chunks or pp > 1), chunks
    if "--overlap-moe-expert-parallel-comm" in words:
        assert ep > 1 and not full and (pp == 1 or chunks), "covered all-to-alls"
    if value_after(words, "--cuda-graph-impl") == "transformer_engine":
        assert not full and "--cpu-offloading-num-layers" not in words, "graphs of parts"
    assert "--num-distributed-optimizer-instances" not in words or \
        "--use-distributed-optimizer" in words, "instances of no distributed optimizer"


def check_words(words, known):
    at, seen = 0, set()
    while at < len(words):
        name = words[at]
        at += 1
        assert name in known, f"{name} is no argument"
        assert name not in seen, f"{name} is said twice"
        seen.add(name)
        fact, values = known[name], []
        while at < len(words) and words[at] not in known:
            values.append(words[at])
            at += 1
        assert bool(values) == (fact["kind"] != "switch"), f"{name} {values}"
        assert len(values) < 2 or fact.get("many"), f"{name} {values}"
        for value in values:
            assert "choices" not in fact or value in fact["choices"], f"{name} {value}"
            if fact["kind"] == "number":
                (int if fact.get("whole") else float)(value)


def check_keys(toml, known, path=""):
    for key, value in toml.items():
        if isinstance(value, dict):
            check_keys(value, known, f"{path}{key}.")
            continue
        fact = known[path + key]
        kinds = {"int": int, "str": str, "bool": bool, "list": list, "float": (int, float)}
        if fact["kind"] == "choice":
            assert value in fact["choices"], f"{path}{key} = {value}"
        else:
            assert isinstance(value, kinds[fact["kind"]]), f"{path}{key} = {value!r}"


def check_recipe(source, has, precisions):
    """Attributes that the recipe sets are fields of the classes that it sets them on."""
    from own import Bridge
    tree = ast.parse(source)
    provider = next(n.func.id for n in ast.walk(tree) if isinstance(n, ast.Call)
                    and isinstance(n.func, ast.Name) and n.func.id.endswith("ModelProvider"))
    parts = Bridge.PARTS | {"model": provider}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                name = ast.unparse(target).split(".")
                if len(name) == 3:
                    assert has(parts[name[1]], name[2]), ".".join(name)
                if name[-1] == "mixed_precision" and isinstance(node.value, ast.Constant):
                    assert node.value.value is None or node.value.value in precisions
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.keywords:
            for word in node.keywords:
                assert node.func.id == "pretrain" or has(node.func.id, word.arg), word.arg


class Own:
    """One trainer's own code; each in a process of its own, for their packages share names."""

    def __init__(self, trainer, checkouts):
        import own
        folder = lambda name: str(Path(checkouts, name))
        self.trainer = trainer
        if trainer == "megatron-lm":
            self.code = own.Megatron(folder("Megatron-LM"))
        elif trainer == "deepspeed":
            own.stand_in()
            self.parser = own.MegatronDeepSpeed(folder("Megatron-DeepSpeed")).parser()
            self.code = own.DeepSpeed(folder("DeepSpeed"))
        elif trainer == "torchtitan":
            self.code = own.Torchtitan(folder("torchtitan"))
        else:
            self.code = own.Bridge(folder("Megatron-Bridge"), folder("Megatron-LM"))

    def check(self, record):
        answer, words = record["answer"], record["program"]
        if self.trainer == "megatron-lm":
            environment = {i["name"]: i["value"] for i in answer["environment"]}
            self.code.check(words[1:], answer["gpus"], environment)
        elif self.trainer == "deepspeed":
            self.parser.parse_args(words[1:])
            self.code.check(json.loads(record["files"]["deepspeed.json"]), answer["layout"]["dp"])
        elif self.trainer == "torchtitan":
            self.code.check(tomllib.loads(record["files"]["run.toml"]))
            self.code.check_flavour(record["files"]["myriad_flavour.py"])
        else:
            check_recipe(record["files"]["recipe.py"], self.code.has, self.code.precisions)


def write_facts(checkouts, path):
    """All arguments of all trainers; run once for each, in processes of their own."""
    commits = Path(checkouts, "commits.json")  # which state each was in, by whoever fetched them
    facts = {"sources": json.loads(commits.read_text())} if commits.exists() else {}
    for trainer in asked.TRAINERS:
        done = subprocess.run([sys.executable, __file__, "--checkouts", checkouts,
                               "--facts-of", trainer], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise SystemExit(f"{trainer}: {done.stderr}")
        facts |= json.loads(done.stdout.splitlines()[-1])  # they log, too
    Path(path).write_text(json.dumps(facts, indent=0, sort_keys=True) + "\n")


def facts_of(trainer, checkouts):
    import own
    it = Own(trainer, checkouts)
    if trainer == "megatron-lm":
        return {trainer: own.facts_of(it.code.parser())}
    if trainer == "torchtitan":
        return {trainer: it.code.facts()}
    if trainer == "deepspeed":
        zero = list(it.code.zero.DeepSpeedZeroConfig.model_fields)
        known = {v: [] for v in vars(it.code.constants).values()
                 if isinstance(v, str) and v.isidentifier() and v.islower()}
        return {"megatron-deepspeed": own.facts_of(it.parser),
                trainer: known | {"zero_optimization": zero, "bf16": ["enabled"],
                                  "fp16": ["enabled"]}}
    names = set(own.Bridge.PARTS.values()) | {"GPTModelProvider", "MLAModelProvider",
                                              "CommOverlapConfig"}
    return {trainer: {name: sorted(it.code.facts(name)) for name in sorted(names)} | {
        "precisions": sorted(p for p in it.code.precisions if p.endswith("_mixed"))}}


def check_answer(ask, words, paths, check):
    answer = ask.answer(words)
    if not answer["found"]:
        return None
    record = ask.run(answer, paths)
    check_paths(record, paths)
    check_ranks(record)
    check_told(record)
    check(record)
    return record


def run(args):
    facts = json.loads(Path(args.facts).read_text()) if args.facts else None
    own = Own(args.trainer, args.checkouts) if args.checkouts else None
    check = own.check if own else lambda record: check_facts(record, facts)
    good, bad, seen = 0, 0, Counter()
    with tempfile.TemporaryDirectory() as folder:
        ask = asked.Ask(args.program, folder)
        configs = asked.configs_in(folder, HERE.parent.parent / "tests/data/model-configs.jsonl")
        for words, paths in asked.questions(args.seed, configs):
            if good + bad >= args.count:
                break
            if args.trainer and value_after(words, "--trainer") != args.trainer:
                continue
            try:
                record = check_answer(ask, words, paths, check)
                good += record is not None
                seen[value_after(words, "--trainer") if record else "nothing fits"] += 1
            except asked.Refused:
                seen["refused"] += 1
            except (Exception, SystemExit) as error:  # every failure is told, none ends the rest
                bad += 1
                print(f"myriad fit launch {' '.join(words)}\n    {type(error).__name__}: {error}")
    print(f"{args.trainer or 'all'}: {good} of {good + bad} scripts; {dict(seen)}")
    return 1 if bad else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program", nargs="?")
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--trainer", choices=asked.TRAINERS)
    parser.add_argument("--checkouts")
    parser.add_argument("--facts")
    parser.add_argument("--facts-of", choices=asked.TRAINERS)
    parser.add_argument("--write-facts")
    args = parser.parse_args()
    if args.facts_of:
        print(json.dumps(facts_of(args.facts_of, args.checkouts)))
        return 0
    if args.write_facts:
        write_facts(args.checkouts, args.write_facts)
        return 0
    if args.checkouts and not args.trainer:
        share = -(-args.count // len(asked.TRAINERS))
        codes = [subprocess.call([sys.executable, __file__, args.program, "--trainer", t, "--count",
                                  str(share), "--seed", str(args.seed), "--checkouts",
                                  args.checkouts]) for t in asked.TRAINERS]
        return max(codes)
    return run(args)


if __name__ == "__main__":
    os.environ.setdefault("PYTHONDONTWRITEBYTECODE", "1")
    sys.dont_write_bytecode = True
    sys.exit(main())
