"""Launch scripts as they run: drawn questions, and programs that only note how they were called."""

import json
import os
import random
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

TRAINERS = ("megatron-lm", "deepspeed", "torchtitan", "megatron-bridge")
LAUNCHERS = ("torchrun", "srun", "sbatch", "submit")
MODELS = ("llama3-8b", "llama3-70b", "llama3-405b", "gpt3-175b", "qwen3-30b-a3b", "qwen3-235b-a22b",
          "qwen3-8b", "mixtral-8x7b", "deepseek-v3", "deepseek-v2", "gpt-oss-120b", "kimi-k2",
          "grok-1", "nemotron4-15b", "llama4-maverick", "gpt-neox-20b", "mpt-7b", "llama2-7b")
DEVICES = ("h100", "h200", "b200", "gb200", "gb300", "b300", "a100-80", "h800", "ascend-910b",
           "mi300x")
# Paths that a careless script would break on, or run.
NASTY = ("/srv/plain", "/srv/two words", "/srv/it's", '/srv/"q"', "/srv/$(touch pwned)",
         "/srv/`touch pwned`", "/srv/a;touch pwned", "/srv/a && touch pwned", "/srv/*", "/srv/#no",
         "/srv/\\back", "/srv/$HOME", "/srv/ümläut", "/srv/a|b>c<d", "/srv/{a,b}", "/srv/!x",
         "/srv/'; touch pwned; '", "/srv/%s%n", "/srv/END-OF-FILE")

# Called in place of the real ones: notes words, variables and the files that were named.
STUB = '''#!{python}
import os, sys, shutil
name, out = os.path.basename(sys.argv[0]), os.environ["NOTES"]
words = sys.argv[1:]
if name == "scontrol":
    print("\\n".join(f"host-{{i}}" for i in range(int(os.environ["NODES"]))))
elif name == "srun":
    while words and words[0].startswith("--"):
        words.pop(0)
    os.environ["SLURM_PROCID"] = "0"
    os.execvp(words[0], words)
else:
    with open(out + "/words", "wb") as file:
        file.write(b"".join(os.fsencode(w) + b"\\0" for w in words))
    with open(out + "/environment", "wb") as file:
        file.write(b"".join(k + b"=" + v + b"\\0" for k, v in os.environb.items()))
    with open(out + "/folder", "w") as file:
        file.write(os.getcwd())
    for word in words:
        folder = os.path.dirname(word)
        if word.endswith(("/deepspeed.json", "/run.toml", "/recipe.py")):
            for one in os.listdir(folder):
                shutil.copy(os.path.join(folder, one), out)
    if os.environ.get("SLURM_HOSTFILE"):
        shutil.copy(os.environ["SLURM_HOSTFILE"], out + "/hostfile")
'''


def draw(rng, configs=None):
    """A question, as words of a command line."""
    model = rng.choice(MODELS if not configs or rng.random() < 0.7 else configs)
    device = rng.choice(DEVICES)
    gpus = rng.choice((8, 16, 32, 64, 128, 256, 512, 1024))
    words = ["--model", str(model), "--device", device, "--gpus", str(gpus),
             "--batch", str(gpus * rng.choice((1, 2, 4, 8))),
             "--seq", str(rng.choice((2048, 4096, 8192)))]
    trainer, launcher = rng.choice(TRAINERS), rng.choice(LAUNCHERS)
    words += ["--trainer", trainer, "--for", launcher]
    if rng.random() < 0.4:
        words += ["--precision", rng.choice(("bf16", "fp8", "any"))]
    if rng.random() < 0.4:
        words += ["--schedule", rng.choice(("1f1b", "interleaved", "any"))]
    if rng.random() < 0.3:
        words += ["--recompute", rng.choice(("none", "selective", "full"))]
    if rng.random() < 0.3:
        words += ["--zero", str(rng.choice((0, 1, 2, 3)))]
    recipe = [f"{name}={rng.choice(values)}" for name, values in (
        ("dispatcher", ("alltoall", "flex-deepep", "flex-hybridep", "allgather")),
        ("cuda_graphs", ("none", "router", "parts", "layer", "full")),
        ("grouped_gemm", ("loop", "grouped", "fused")), ("tp_overlap", "01"),
        ("moe_a2a_overlap", "01"), ("token_drop", "01"),
        ("recompute_modules", ("none", "core_attn", "mlp", "moe_act;layernorm", "mla_up_proj")),
        ("fp8_recipe", ("delayed", "current", "blockwise"))) if rng.random() < 0.35]
    if recipe:
        words += ["--recipe", ",".join(recipe)]
    paths = {}
    for option in ("code", "data", "tokenizer", "checkpoint"):
        if rng.random() < 0.5:
            value = rng.choice(NASTY)
            if option == "code" and not value.startswith("/"):
                continue
            paths[option] = value
            words += [f"--{option}={value}"]
    return words, paths


class Refused(Exception):
    """The program says no to the question: that is an answer too."""


class Ask:
    """Runs the program and what it writes."""

    def __init__(self, program, folder):
        self.program, self.folder = str(Path(program).resolve()), Path(folder)
        self.stubs = self.folder / "stubs"
        self.stubs.mkdir()
        for name in ("torchrun", "srun", "scontrol", "python3", "ssh"):
            path = self.stubs / name
            path.write_text(STUB.format(python=sys.executable))
            path.chmod(path.stat().st_mode | stat.S_IXUSR)

    def answer(self, words):
        done = subprocess.run([self.program, "fit", "launch", *words, "-o", "json"],
                              capture_output=True, text=True, timeout=600, cwd=self.folder)
        if done.returncode == 2:
            raise Refused(done.stderr.strip())
        return json.loads(done.stdout)

    def run(self, answer, paths):
        """What the trainer's program would be told by the script."""
        notes = Path(tempfile.mkdtemp(dir=self.folder))
        script = answer["script"]
        environment = {"PATH": f"{self.stubs}:/usr/bin:/bin", "NOTES": str(notes), "NODE_RANK": "0",
                       "NODES": str(answer["nodes"]), "SLURM_JOB_NODELIST": "x", "HOME": "/nowhere",
                       "HOSTS": " ".join(f"host-{i}" for i in range(answer["nodes"])),
                       "LC_ALL": "C.UTF-8", "SLURM_SUBMIT_DIR": str(notes)}
        if answer["launcher"] == "submit":
            job = read_job(script)
            command = ["/bin/sh", "-c", job["command"]]
            environment.update(job["env"])
            assert job["gpus"] == answer["gpus"], "gpus of the job file"
            assert job.get("directory") == paths.get("code"), "directory of the job file"
            assert job.get("checkpoint") == paths.get("checkpoint"), "checkpoint of the job file"
        else:
            path = notes / "script"
            # The folder of the trainer is not here: the step into it is noted, not taken.
            body = script.replace("\ncd ", "\nplace=", 1) if "code" in paths else script
            for name in ("torchrun", "srun") if "code" in paths else ():
                body = body.replace(f"\n{name} ", f'\nenv PLACE="$place" {name} ')
            path.write_text(body)
            checked = subprocess.run(["bash", "-n", path], capture_output=True, text=True)
            assert checked.returncode == 0, checked.stderr
            command = ["bash", str(path)]
        done = subprocess.run(command, env=environment, cwd=notes, capture_output=True, text=True,
                              timeout=120)
        assert done.returncode == 0, f"the script ends with {done.returncode}: {done.stderr}"
        assert not list(notes.rglob("pwned")), "a path was run"
        return read_notes(notes, answer)


def read_notes(notes, answer):
    words = [os.fsdecode(w) for w in (notes / "words").read_bytes().split(b"\0")[:-1]]
    environment = dict(os.fsdecode(e).split("=", 1)
                       for e in (notes / "environment").read_bytes().split(b"\0")[:-1])
    start = next(i for i, w in enumerate(words)
                 if w in ("pretrain_gpt.py", "-m") or w.endswith("recipe.py"))
    files = {p.name: p.read_text() for p in notes.iterdir()
             if p.name in ("deepspeed.json", "run.toml", "recipe.py", "myriad_flavour.py")}
    return {"launcher": words[:start], "program": words[start:], "environment": environment,
            "files": files, "answer": answer}


def read_job(text):
    """A job file's keys: strings in JSON's quotes, one map, and blocks; no YAML library needed."""
    job, lines, i = {"env": {}}, text.splitlines(), 0
    while i < len(lines):
        line = lines[i]
        i += 1
        if not line or line.startswith("#"):
            continue
        key, _, value = line.partition(":")
        value = value.strip()
        if value == "|":
            block = []
            while i < len(lines) and (not lines[i] or lines[i].startswith("  ")):
                block.append(lines[i][2:])
                i += 1
            job[key] = "\n".join(block) + "\n"
        elif key.startswith("  ") and value.startswith('"'):
            job["env"][key.strip()] = json.loads(value)
        elif value.startswith('"'):
            job[key] = json.loads(value)
        elif value.isdigit():
            job[key] = int(value)
    return job


def questions(seed, configs=None):
    rng = random.Random(seed)
    while True:
        yield draw(rng, configs)


def configs_in(folder, source):
    """Configs of many families as files; the defaults of each type, which models have published."""
    paths, types = [], set()
    for line in Path(source).read_text().splitlines():
        config = json.loads(line)["config"]
        if config["model_type"] not in types:
            types.add(config["model_type"])
            paths.append(Path(folder, f"{config['model_type']}.json"))
            paths[-1].write_text(json.dumps(config))
    return paths
