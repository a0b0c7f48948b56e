"""The trainers' own argument code, run where there is no torch.

Each trainer's parser and its checks are imported from a checkout and run as they are; torch and the
libraries around it are stood in for by names (tools/configs/shapes.py). Nothing of that code is
kept in this tree.
"""

import argparse
import dataclasses
import importlib
import importlib.machinery
import json
import os
import sys
import types
import typing
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "configs"))
import shapes  # noqa: E402

STOOD_IN = ("torch", "numpy", "tqdm", "omegaconf", "hydra", "triton", "transformer_engine",
            "deepspeed_kernels", "py_cpuinfo", "cpuinfo", "psutil", "hjson", "ninja", "einops",
            "msgpack", "regex", "transformers", "sentencepiece", "tyro", "torchdata", "datasets",
            "torchao", "intel_extension_for_pytorch", "tools", "tokenizers", "wandb",
            "tensorboard", "nltk", "tiktoken", "apex")


class Finder(shapes.Finder):
    def __init__(self, names):
        super().__init__("")
        self.names = names

    def find_spec(self, name, path, target=None):
        if name.split(".")[0] in self.names:
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
        return None

    def exec_module(self, module):
        module.__path__ = []


def stand_in(names=STOOD_IN):
    """torch as names and shapes; a GPU of the newest kind that answers what checks ask it."""
    torch = shapes.make_torch()
    torch.__version__ = "2.12.0"
    torch.dtype = type("dtype", (), {})
    for name in ("float32", "bfloat16", "float16", "uint8", "float", "half", "int64", "long",
                 "float8_e4m3fn", "int32", "float64", "int8"):
        setattr(torch, name, torch.dtype())
    torch.cuda = shapes.Blank("torch.cuda")
    torch.cuda.get_device_capability = lambda *a: (10, 0)
    torch.cuda.get_device_properties = lambda *a: types.SimpleNamespace(major=10, minor=0)
    torch.cuda.device_count = lambda: 8
    torch.is_grad_enabled = lambda: True
    torch.distributed = shapes.Blank("torch.distributed")
    torch.distributed.is_initialized = lambda: False
    for name, module in (("torch", torch), ("torch.nn", torch.nn),
                         ("torch.nn.functional", torch.nn.functional),
                         ("torch.nn.init", torch.nn.init),
                         ("torch.cuda", torch.cuda),
                         ("torch.distributed", torch.distributed)):
        module.__spec__ = importlib.machinery.ModuleSpec(name, None, is_package=True)
        sys.modules[name] = module
    sys.meta_path.insert(0, Finder(names))
    import pip._vendor.packaging.specifiers
    import pip._vendor.packaging.version
    for name in [n for n in sys.modules if n.startswith("pip._vendor.packaging")]:
        sys.modules[name.replace("pip._vendor.", "")] = sys.modules[name]
    if not hasattr(typing, "override"):
        typing.override = lambda it: it
    return torch


class Quiet:
    """Trainers print what they decide: not here."""

    def __enter__(self):
        self.out = sys.stdout
        sys.stdout = open(os.devnull, "w")
        return self

    def __exit__(self, *_a):
        sys.stdout.close()
        sys.stdout = self.out


class Megatron:
    """Parser, validate_args() and the checks of the model's configuration."""

    def __init__(self, checkout):
        stand_in()
        sys.path.insert(0, checkout)
        import warnings
        warnings.simplefilter("ignore")
        te = importlib.import_module("transformer_engine")
        te.__version__ = "2.18.0"
        utils = importlib.import_module("megatron.core.utils")
        for name in ("get_te_version", "get_torch_version"):
            version = "2.18.0" if "te" in name else "2.12.0"
            from packaging.version import Version
            setattr(utils, name, lambda version=version: Version(version))
        utils.is_te_min_version = lambda *_a, **_k: True
        utils.is_torch_min_version = lambda *_a, **_k: True
        self.arguments = importlib.import_module("megatron.training.arguments")
        for module in list(sys.modules.values()):
            for name in ("is_te_min_version", "is_torch_min_version"):
                if getattr(module, "__name__", "").startswith("megatron") and name in vars(module):
                    setattr(module, name, lambda *_a, **_k: True)
        self.util = importlib.import_module("megatron.training.argument_utils")

    def parser(self):
        parser = argparse.ArgumentParser(allow_abbrev=False, exit_on_error=False)
        self.arguments.add_megatron_arguments(parser)
        return parser

    def check(self, words, world, environment):
        saved = dict(os.environ)
        os.environ.pop("CUDA_DEVICE_MAX_CONNECTIONS", None)
        os.environ.update(environment, WORLD_SIZE=str(world), RANK="0")
        generation = self.arguments.get_device_arch_version
        blackwell = "CUDA_DEVICE_MAX_CONNECTIONS" not in environment
        self.arguments.get_device_arch_version = lambda: 10 if blackwell else 9
        argv, sys.argv = sys.argv, ["pretrain_gpt.py", *words]
        try:
            with Quiet():
                args = self.arguments.parse_args()
                args.rank, args.world_size = 0, world
                self.arguments.validate_args(args)
                self.util.core_transformer_config_from_args(args)
        finally:
            sys.argv = argv
            self.arguments.get_device_arch_version = generation
            os.environ.clear()
            os.environ.update(saved)


def facts_of(parser):
    """Every argument as (kind, choices, values): what a later run needs no checkout for."""
    out = {}
    for action in parser._actions:
        number = action.type in (int, float)
        kind = "switch" if action.nargs == 0 else "number" if number else "text"
        choices = None
        if action.choices is not None:
            choices = [getattr(c, "name", c) for c in action.choices]
            choices = [str(c) for c in choices]
        for option in action.option_strings:
            out[option] = {"kind": kind} | ({"choices": choices} if choices else {}) | (
                {"many": True} if action.nargs in ("+", "*") else {}) | (
                {"whole": True} if action.type is int else {})
    return out


class MegatronDeepSpeed:
    def __init__(self, checkout):
        sys.path.insert(0, checkout)
        for name in [n for n in sys.modules if n == "megatron" or n.startswith("megatron.")]:
            del sys.modules[name]
        library = Finder(("deepspeed",))
        sys.meta_path.insert(0, library)
        importlib.import_module("deepspeed").add_config_arguments = self.config_arguments
        self.arguments = importlib.import_module("megatron.arguments")
        sys.meta_path.remove(library)
        for name in [n for n in sys.modules if n.split(".")[0] == "deepspeed"]:
            del sys.modules[name]

    @staticmethod
    def config_arguments(parser):
        parser.add_argument("--deepspeed", action="store_true")
        parser.add_argument("--deepspeed_config", type=str)
        return parser

    def parser(self):
        parser = argparse.ArgumentParser(allow_abbrev=False, exit_on_error=False)
        for name, add in vars(self.arguments).items():
            if name.startswith("_add_") and callable(add):
                add(parser)
        return self.config_arguments(parser)


class Partly(Finder):
    """Some modules of a package as they are, its folders without what they would load."""

    def __init__(self, real, checkout):
        super().__init__(("deepspeed",))
        self.real_names, self.checkout = real, checkout

    def find_spec(self, name, path, target=None):
        folder = Path(self.checkout, *name.split("."))
        if name in self.real_names and not folder.is_dir():
            return None
        return super().find_spec(name, path, target)

    def exec_module(self, module):
        folder = Path(self.checkout, *module.__name__.split("."))
        module.__path__ = [str(folder)] if folder.is_dir() else []


class DeepSpeed:
    """Its configuration, read and checked by its own classes."""

    def __init__(self, checkout):
        sys.modules.pop("deepspeed", None)
        package = types.ModuleType("deepspeed")
        package.__path__ = [checkout + "/deepspeed"]
        sys.modules["deepspeed"] = package
        # What configurations are made of is real; what runs is not.
        real = ("deepspeed.runtime", "deepspeed.runtime.zero", "deepspeed.runtime.zero.config",
                "deepspeed.runtime.zero.offload_config",
                "deepspeed.runtime.zero.leaf_module_config",
                "deepspeed.runtime.precision_config", "deepspeed.runtime.config_utils",
                "deepspeed.runtime.constants", "deepspeed.runtime.fp16.loss_scaler")
        sys.meta_path.insert(0, Partly(real, checkout))
        self.zero = importlib.import_module("deepspeed.runtime.zero.config")
        self.precision = importlib.import_module("deepspeed.runtime.precision_config")
        self.constants = importlib.import_module("deepspeed.runtime.constants")

    def check(self, config, replicas):
        known = {v for module in (self.constants, self.zero, self.precision)
                 for v in vars(module).values() if isinstance(v, str)}
        for key in config:
            assert key in known, f"{key}: no key of DeepSpeed's"
        if "zero_optimization" in config:
            self.zero.DeepSpeedZeroConfig(**config["zero_optimization"])
        self.precision.get_bfloat16_config(config)
        self.precision.get_float16_config(config)
        batch = config["train_micro_batch_size_per_gpu"] * config["gradient_accumulation_steps"]
        assert config["train_batch_size"] == batch * replicas, "the batch's own product"


class Torchtitan:
    """job_config.py's dataclasses: every key, and the type of every value."""

    def __init__(self, checkout):
        stand_in()
        sys.path.insert(0, checkout)
        source = Path(checkout, "torchtitan/config/job_config.py").read_text()
        self.config = types.ModuleType("job_config")
        sys.modules["job_config"] = self.config
        exec(compile(source, "job_config.py", "exec"), vars(self.config))
        self.checkout = checkout

    def fits(self, value, kind):
        origin = typing.get_origin(kind)
        if origin is typing.Literal:
            return value in typing.get_args(kind)
        if origin in (typing.Union, types.UnionType):
            return any(self.fits(value, one) for one in typing.get_args(kind))
        if origin is list:
            return isinstance(value, list) and all(
                self.fits(v, typing.get_args(kind)[0]) for v in value)
        if kind is float:
            return isinstance(value, (int, float)) and not isinstance(value, bool)
        return isinstance(value, kind) and (kind is not int or not isinstance(value, bool))

    def check(self, toml, cls=None, path=""):
        cls = cls or self.config.JobConfig
        hints = typing.get_type_hints(cls)
        names = {f.name for f in dataclasses.fields(cls)}
        for key, value in toml.items():
            assert key in names, f"{path}{key}: no key of torchtitan's"
            if dataclasses.is_dataclass(hints[key]):
                self.check(value, hints[key], f"{path}{key}.")
            else:
                assert self.fits(value, hints[key]), f"{path}{key} = {value!r}: {hints[key]}"

    def facts(self, cls=None, path=""):
        cls = cls or self.config.JobConfig
        hints, out = typing.get_type_hints(cls), {}
        for field in dataclasses.fields(cls):
            kind = hints[field.name]
            if dataclasses.is_dataclass(kind):
                out |= self.facts(kind, f"{path}{field.name}.")
                continue
            origin, args = typing.get_origin(kind), typing.get_args(kind)
            one = [a for a in args if a is not type(None)] if origin in (
                typing.Union, types.UnionType) else [kind]
            word = ("choice" if origin is typing.Literal else
                    "list" if typing.get_origin(one[0]) is list else one[0].__name__)
            out[path + field.name] = {"kind": word} | (
                {"choices": list(args)} if origin is typing.Literal else {})
        return out

    def check_flavour(self, source):
        """The Python beside it: names that exist, arguments that the classes have."""
        import ast
        tree = ast.parse(source)
        known = {}
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom):
                folder = Path(self.checkout, node.module.replace(".", "/"))
                texts = [p.read_text() for p in folder.rglob("*.py")]
                for alias in node.names:
                    assert any(f"{alias.name} = " in t or f"class {alias.name}" in t
                               for t in texts), f"{node.module} has no {alias.name}"
                    for text in texts:
                        for part in ast.walk(ast.parse(text)):
                            if isinstance(part, ast.ClassDef) and part.name == alias.name:
                                known[alias.name] = {
                                    a.target.id for a in part.body if isinstance(a, ast.AnnAssign)}
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                for word in node.keywords:
                    assert word.arg in known[node.func.id], f"{node.func.id} has no {word.arg}"


class Bridge:
    """Fields of Megatron-Bridge's classes and of the core's that they stand on, by their trees."""

    PARTS = {"train": "TrainingConfig", "ddp": "DistributedDataParallelConfig",
             "checkpoint": "CheckpointConfig", "dist": "DistributedInitConfig",
             "rng": "RNGConfig", "rerun_state_machine": "RerunStateMachineConfig",
             "dataset": "GPTDatasetConfig", "tokenizer": "TokenizerConfig"}

    def __init__(self, bridge, megatron):
        self.fields, self.bases, self.functions = {}, {}, set()
        import ast
        roots = [Path(bridge, "src/megatron/bridge"), Path(megatron, "megatron/core"),
                 Path(megatron, "megatron/training")]
        for root in roots:
            for path in root.rglob("*.py"):
                for node in ast.walk(ast.parse(path.read_text())):
                    if isinstance(node, ast.FunctionDef):
                        self.functions.add(node.name)
                    if isinstance(node, ast.ClassDef):
                        names = {a.target.id for a in node.body if isinstance(a, ast.AnnAssign)
                                 and isinstance(a.target, ast.Name)}
                        self.fields.setdefault(node.name, set()).update(names)
                        bases = [b.id if isinstance(b, ast.Name) else getattr(b, "attr", "")
                                 for b in node.bases]
                        self.bases.setdefault(node.name, set()).update(
                            b.replace("MTrain", "").replace("MCore", "") for b in bases)
        self.precisions = self.functions

    def has(self, cls, name, seen=()):
        return name in self.fields.get(cls, ()) or any(
            self.has(base, name, (*seen, cls)) for base in self.bases.get(cls, ())
            if base not in seen and base != cls)

    def facts(self, cls, seen=()):
        out = set(self.fields.get(cls, ()))
        for base in self.bases.get(cls, ()):
            if base not in seen and base != cls:
                out |= self.facts(base, (*seen, cls))
        return out


def load_json(path):
    with open(path) as file:
        return json.load(file)
