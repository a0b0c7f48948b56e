#!/usr/bin/env python3
"""Launch scripts run, with programs that only note how they were called.

    tests/fit/launch.py MYRIAD

Drawn answers are held against the trainers' arguments (tests/data/trainer-arguments.json) by
tools/launch/check.py; here also names that a careless script would run, hosts in the order of
ranks, and what is refused.
"""
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
DATA = ROOT / "tests" / "data"
EVERY = int(os.environ.get("MYRIAD_EVERY", "1"))  # make test asks one in so many
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "tools" / "launch"))

import asked  # noqa: E402
import check  # noqa: E402

SMALL = ["--device", "h100", "--gpus", "8", "--batch", "16"]
CONFIG = {"model_type": "llama", "hidden_size": 1024, "intermediate_size": 2816,
          "num_hidden_layers": 8, "num_attention_heads": 16, "vocab_size": 32000,
          "max_position_embeddings": 2048, "rope_theta": 500000.0, "hidden_act": "silu",
          "rms_norm_eps": 1e-5}


def call(myriad, *words, code=0):
    result = subprocess.run([myriad, *words], capture_output=True, text=True, timeout=600,
                            check=False)
    assert result.returncode == code, f"{words}: exit {result.returncode}\n{result.stderr}"
    return result


def drawn_answers_hold(myriad):
    done = subprocess.run([sys.executable, ROOT / "tools/launch/check.py", myriad, "--count", "12",
                           "--seed", "7", "--facts", DATA / "trainer-arguments.json"],
                          capture_output=True, text=True, timeout=900, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "12 of 12" in done.stdout, done.stdout


def names_of_files_are_never_run(myriad, folder, ask, facts):
    """The model's path is in comments, in the job's name and in no command."""
    names = ["two words", "it's", '"q"', "$(touch pwned)", "`touch pwned`", "a;touch pwned",
             "#x", "-rf", "ümlaut", "a\nb", "END-OF-FILE"]
    for name in names[::EVERY]:
        path = Path(folder, name)
        path.mkdir()
        file = path / "config.json"
        file.write_text(json.dumps(CONFIG))
        for i, trainer in enumerate(asked.TRAINERS):  # with another launcher each time
            launcher = asked.LAUNCHERS[(i + len(name)) % len(asked.LAUNCHERS)]
            words = ["--model", str(file), *SMALL, "--trainer", trainer, "--for", launcher]
            record = check.check_answer(ask, words, {}, lambda r: check.check_facts(r, facts))
            assert record, words
        script = ask.answer(["--model", str(file), *SMALL])["script"]
        assert not any(line.startswith("b") for line in script.splitlines()), "a line smuggled in"
    assert not list(Path(folder).rglob("pwned"))


def details_of_a_config_are_told(myriad, folder, ask):
    file = Path(folder, "config.json")
    file.write_text(json.dumps(CONFIG))
    answer = ask.answer(["--model", str(file), *SMALL, "--trainer", "megatron-lm"])
    told = {i["name"]: i["value"] for i in answer["arguments"]}
    assert told["--rotary-base"] == "500000" and told["--norm-epsilon"] == "1e-05", told
    assert "--swiglu" in told and told["--num-layers"] == "8", told
    assert not any("does not say" in note for note in answer["notes"]), answer["notes"]


def hosts_stand_in_the_order_of_ranks(myriad, folder):
    plan, layout = f"{folder}/plan", f"{folder}/layout.yaml"
    call(myriad, "plan", str(ROOT / "examples/h100-128.yaml"), "--out", plan)
    design = f"{plan}/design.myr"
    names = Path(folder, "hosts")
    words = ["--model", "llama3-8b", "--design", design, "--gpus", "64", "--batch", "128"]
    call(myriad, "fit", *words, "--layout-out", layout)
    state = Path(folder, "state.csv")
    state.write_text("node,job\n0,a\n1,a\n5,b\n")
    placed = json.loads(call(myriad, "sched", "place", "--design", design, "--layout", layout,
                             "--model", "llama3-8b", "--state", str(state), "-o", "json").stdout)
    order = [rank["index"] for rank in placed["ranks"]]
    assert len(order) == 8 and not {0, 1, 5} & set(order), order
    names.write_text("".join(f"gpu{i}.site\n" for i in range(placed["cluster"]["nodes"])))
    for launcher in ("torchrun", "srun", "sbatch"):
        answer = json.loads(call(myriad, "fit", "launch", *words, "--layout", layout, "--state",
                                 str(state), "--hosts", str(names), "--for", launcher, "-o",
                                 "json").stdout)
        assert [h["host"] for h in answer["hosts"]] == [f"gpu{i}.site" for i in order]
        assert [h["first_rank"] for h in answer["hosts"]] == list(range(0, 64, 8))
        lines = answer["script"].splitlines()
        at = lines.index("hosts=(")
        assert [l.strip() for l in lines[at + 1:at + 9]] == [f"gpu{i}.site" for i in order]
    plain = json.loads(call(myriad, "fit", "launch", *words, "--layout", layout, "--state",
                            str(state), "-o", "json").stdout)
    assert plain["hosts"][0]["host"].endswith(f"{order[0]:05d}"), plain["hosts"][0]
    state.write_text("node,job\n" + "".join(
        f"{i},a\n" for i in range(placed["cluster"]["nodes"] - 4)))
    full = call(myriad, "fit", "launch", *words, "--layout", layout, "--state", str(state), code=1)
    assert "not free at once" in full.stdout, full.stdout
    names.write_text("one\ntwo; reboot\n")
    bad = call(myriad, "fit", "launch", *words, "--hosts", str(names), code=2)
    assert f"{names}:2:1: not a host's name" in bad.stderr, bad.stderr


def what_cannot_be_meant_is_refused(myriad, folder):
    model = ["--model", "llama3-8b", *SMALL]
    for words, said in (
            (["--data", "a\nb"], "--data: a control character at byte 2"),
            (["--code", "-rf"], "--code begins with '-'"), (["--name", ""], "--name"),
            (["--state", "x"], "--state goes with --design"),
            (["--hosts", "x"], "--hosts goes with --design"),
            (["--gpus-per-node", "3"], "8 GPUs do not fill nodes of 3"),
            (["--for", "qsub"], "--for"), (["--trainer", "jax"], "--trainer")):
        result = call(myriad, "fit", "launch", *model, *[w for w in words], code=2)
        assert said in result.stderr and len(result.stderr.splitlines()) <= 2, result.stderr
    out = Path(folder, "none")
    call(myriad, "fit", "launch", "--model", "llama3-405b", *SMALL, "--out", str(out), code=1)
    assert not out.exists()
    call(myriad, "fit", "launch", *model, "--out", str(out))
    assert out.read_text().startswith("#!/usr/bin/env bash\n")


def a_pool_is_started_where_mixing_does_not_pay(myriad, folder):
    """'fit --pool' and 'fit launch --pool' decide alike; a mixture is not started in silence."""
    started = refused = 0
    for pools in (("h100:7", "a100-80:5"), ("h100:64", "ascend-910b:8"), ("h800:64", "a100-80:64"),
                  ("a100-80:5", "h100:7", "a100-40:3")):
        words = ["--model", "llama3-8b", "--batch", "64"]
        for pool in pools:
            words += ["--pool", pool]
        said = json.loads(call(myriad, "fit", *words, "-o", "json").stdout)["pools"]
        mixed = said["verdict"] != "do not mix"
        answer = json.loads(call(myriad, "fit", "launch", *words, "--trainer", "megatron-lm", "-o",
                                 "json", code=int(mixed)).stdout)
        if mixed:
            assert answer["script"] is None and said["verdict"] in answer["reason"], answer
            assert "--device" in answer["hint"], answer["hint"]
            refused += 1
            continue
        started += 1
        fastest = min((a for a in said["alone"] if a["fits"]), key=lambda a: a["step_s"])
        assert (answer["device"], answer["gpus"]) == (fastest["device"], fastest["gpus"]), answer
        note = f"of the pools {fastest['device']}:{fastest['gpus']} alone is started"
        assert any(note in n for n in answer["notes"]), answer["notes"]
        assert note[:30] in answer["script"].replace("\n#", ""), answer["script"][:2000]
    assert started > 0 and refused > 0
    for words, said in ((["--pool", "h100:8"], "1 of --pool"),
                        (["--pool", "h100:8", "--pool", "b200:8", "--gpus", "8"],
                         "--gpus does not go with --pool"),
                        (["--pool", "h100:8", "--pool", "b200"], "is not DEVICE:GPUS")):
        result = call(myriad, "fit", "launch", "--model", "llama3-8b", "--batch", "8", *words,
                      code=2)
        assert said in result.stderr, result.stderr


def main(myriad):
    facts = json.loads((DATA / "trainer-arguments.json").read_text())
    drawn_answers_hold(myriad)
    with tempfile.TemporaryDirectory() as folder:
        ask = asked.Ask(myriad, folder)
        names_of_files_are_never_run(myriad, folder, ask, facts)
        details_of_a_config_are_told(myriad, folder, ask)
        hosts_stand_in_the_order_of_ranks(myriad, folder)
        what_cannot_be_meant_is_refused(myriad, folder)
        a_pool_is_started_where_mixing_does_not_pay(myriad, folder)
    print("launch scripts hold")


if __name__ == "__main__":
    main(sys.argv[1])
