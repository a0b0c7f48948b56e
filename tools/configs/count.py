#!/usr/bin/env python3
"""Parameters of configs, summed from the public modelling code.

    tools/configs/count.py TRANSFORMERS [TYPE...] > tests/data/model-configs.jsonl

TRANSFORMERS is a checkout of huggingface/transformers. For each type the modelling code's own
constructor is run with tensors that are shapes (shapes.py), for the defaults of the type's config
class and for variants drawn from a seed; what it allocates is summed. This program knows no
formula of any model, and shares nothing with the reader that it checks.
"""

import argparse
import copy
import dataclasses
import importlib
import inspect
import json
import random
import sys
import traceback

import shapes

# Buffers that checkpoints hold and routers add to their scores: counted as the reader counts them.
COUNTED_BUFFERS = ("e_score_correction_bias", "expert_bias")


class Config:
    """The frame that config classes stand in: fields with defaults, and names that are aliases."""

    attribute_map = {}
    sub_configs = {}
    model_type = ""

    def __init__(self, **kwargs):
        names = {}
        for cls in reversed(type(self).__mro__):
            for name in cls.__dict__.get("__annotations__", {}):
                if hasattr(cls, name):
                    names[name] = copy.deepcopy(getattr(cls, name))
        for name, value in names.items():
            if isinstance(value, dataclasses.Field):
                value = value.default_factory()
            setattr(self, name, value)
        rest = {}
        for key, value in kwargs.items():
            if key in names or self.attribute_map.get(key) in names:
                setattr(self, key, value)
            else:
                rest[key] = value
        self.__post_init__(**rest)

    def __post_init__(self, **kwargs):
        if self.__dict__.get("rope_parameters", 0) is None:
            self.rope_parameters = Turns(rope_type="default", rope_theta=10000.0)
        for key, value in kwargs.items():
            setattr(self, key, value)

    def __setattr__(self, key, value):
        self.__dict__[type(self).attribute_map.get(key, key)] = value

    def __getattribute__(self, key):
        alias = type(self).attribute_map.get(key)  # before the class's own default of that name
        return object.__getattribute__(self, alias or key)

    def __getattr__(self, key):
        if key.startswith("__") or (not key.startswith("_") and key not in FRAME):
            raise AttributeError(key)
        return "eager" if key.startswith("_") else FRAME[key]


# What the frame gives every config.
FRAME = {"tie_word_embeddings": True, "is_encoder_decoder": False, "use_cache": True,
         "chunk_size_feed_forward": 0, "dtype": None, "pad_token_id": None, "rope_theta": 10000.0}


class Turns(dict):
    """Numbers of the rotation, of which none decides a shape."""

    def __missing__(self, _key):
        return 1.0


class Rope(shapes.Module):
    def __init__(self, *_a, **_k):
        super().__init__()


class Model(shapes.Module):
    """PreTrainedModel: keeps its config."""

    _tied_weights_keys = None

    def __init__(self, config=None, *_a, **_k):
        super().__init__()
        self.config = config

    def post_init(self):
        pass

    @classmethod
    def _from_config(cls, config, **_k):
        return cls(config)


def frame(root):
    torch = shapes.install(root)
    utils = importlib.import_module("transformers.configuration_utils")
    utils.PreTrainedConfig = utils.PretrainedConfig = Config
    utils.layer_type_validation = lambda *a, **k: None
    utils.remap_legacy_layer_types = lambda kinds: list(kinds)
    modeling = importlib.import_module("transformers.modeling_utils")
    modeling.PreTrainedModel = Model
    layers = importlib.import_module("transformers.modeling_layers")
    layers.GradientCheckpointingLayer = shapes.Module
    layers.GenericForSequenceClassification = layers.GenericForTokenClassification = shapes.Empty
    layers.GenericForQuestionAnswering = shapes.Empty
    kernels = importlib.import_module("transformers.integrations")
    kernels.use_kernelized_func = lambda *_a, **_k: lambda it: it
    pytorch = importlib.import_module("transformers.pytorch_utils")

    class Conv1D(shapes.Module):  # out and in features, weights the other way round, with a bias
        def __init__(self, nf, nx):
            super().__init__()
            self.weight = shapes.Parameter(shapes.Shape(nx, nf))
            self.bias = shapes.Parameter(shapes.Shape(nf))

    pytorch.Conv1D = Conv1D
    generic = importlib.import_module("transformers.utils")
    logging = shapes.Anything("logging")
    generic.logging = logging
    activations = importlib.import_module("transformers.activations")
    del activations
    return torch


FOLDERS = {"gemma3_text": "gemma3", "llama4_text": "llama4", "qwen2_vl_text": "qwen2_vl",
           "qwen2_5_vl_text": "qwen2_5_vl", "qwen3_vl_text": "qwen3_vl",
           "qwen3_vl_moe_text": "qwen3_vl_moe"}


def load(kind):
    """The config class and the class of the whole model, or of its language part."""
    folder = FOLDERS.get(kind, kind)
    config = importlib.import_module(f"transformers.models.{folder}.configuration_{folder}")
    modeling = importlib.import_module(f"transformers.models.{folder}.modeling_{folder}")
    for name, value in list(vars(modeling).items()):
        if isinstance(value, type) and name.endswith("RotaryEmbedding"):
            setattr(modeling, name, Rope)
    configs = [v for n, v in vars(config).items()
               if isinstance(v, type) and v.__module__ == config.__name__ and n.endswith("Config")]
    config_class = next((v for v in configs if v.__dict__.get("model_type") == kind), configs[0])
    own = [(n, v) for n, v in vars(modeling).items()
           if isinstance(v, type) and v.__module__ == modeling.__name__]
    heads = [v for n, v in own if n.endswith(("ForCausalLM", "LMHeadModel"))]
    return config_class, (heads or [v for n, v in own if n.endswith("TextModel")])[0]


def count(kind, config):
    """Parameters of a config.json by the modelling code, and buffers that count as such."""
    config_class, whole = load(kind)
    it = config_class(**{k: copy.deepcopy(v) for k, v in config.items() if k != "model_type"})
    model = whole(it)
    names = dict(model.named_parameters())
    total = sum(p.numel() for p in names.values())
    tied = whole._tied_weights_keys or {}
    if whole.__name__.endswith("TextModel"):  # the head is in the class around it
        total += 0 if it.tie_word_embeddings else it.vocab_size * it.hidden_size
    elif it.tie_word_embeddings:
        total -= sum(p.numel() for n, p in names.items() if n in tied)
    return total + sum(b.numel() for n, b in model.named_buffers() if n.endswith(COUNTED_BUFFERS))


def plain(value):
    if isinstance(value, (list, tuple)):
        return all(plain(v) for v in value)
    if isinstance(value, dict):
        return all(plain(v) for v in value.values())
    return isinstance(value, (bool, int, float, str, type(None)))


# Keys that decide neither a shape nor what a reader makes of the rest.
UNWANTED = ("token_id", "initializer", "dropout", "pdrop", "output_", "use_cache", "aux_loss",
            "pretraining_tp", "return_dict", "problem_type", "label", "jitter", "softcapping",
            "base_model", "default_theta", "summary_", "scale_attn", "reorder_and", "slow_but")


def defaults(kind):
    """The class's own defaults, written as its config.json is."""
    config_class, _ = load(kind)
    values = {}
    for cls in reversed(config_class.__mro__):
        for name in cls.__dict__.get("__annotations__", {}):
            values[name] = getattr(cls, name, None)
    if "__init__" in config_class.__dict__:
        for name, it in inspect.signature(config_class.__init__).parameters.items():
            if it.default is not inspect.Parameter.empty:
                values[name] = it.default
    for name, value in list(values.items()):
        if isinstance(value, Config) or isinstance(value, dataclasses.Field):
            del values[name]
    return {"model_type": kind} | {
        k: list(v) if isinstance(v, tuple) else v for k, v in values.items()
        if v is not None and plain(v) and not any(part in k for part in UNWANTED)
        and not k.startswith("_")}


# What a class leaves open and its published models say, so that there is a model at all.
SAID = {
    "bailing_moe": {"intermediate_size": 5632, "moe_intermediate_size": 1408,
                    "num_key_value_heads": 4},
    "dots1": {"hidden_size": 4096, "n_routed_experts": 128, "n_shared_experts": 2,
              "first_k_dense_replace": 1, "num_experts_per_tok": 6, "head_dim": 128},
    "deepseek_v2": {"num_experts_per_tok": 6},
    "glm4_moe": {"head_dim": 128},
    "hunyuan_v1_dense": {"head_dim": 128},
    "hunyuan_v1_moe": {"head_dim": 128, "num_experts": 64, "moe_topk": 8,
                       "intermediate_size": 3072},
    "ministral": {"head_dim": 128},
    "nemotron": {"num_key_value_heads": 8},
    "falcon": {"new_decoder_architecture": False, "multi_query": True, "parallel_attn": True},
    "dbrx": {"attn_config": {"kv_n_heads": 8}, "ffn_config": {"ffn_hidden_size": 10752,
             "moe_num_experts": 16, "moe_top_k": 4}, "d_model": 6144, "n_heads": 48,
             "n_layers": 40},
    "mpt": {"attn_config": {"alibi": True}, "d_model": 4096},
    "granitemoeshared": {"shared_intermediate_size": 1024},
    "qwen2_vl_text": {"tie_word_embeddings": False},
    "qwen2_5_vl_text": {"tie_word_embeddings": False},
    "qwen3_vl_text": {"head_dim": 128, "tie_word_embeddings": False},
}

TYPES = """apertus arcee bailing_moe bailing_moe_v2 bloom codegen cohere cohere2 dbrx deepseek_v2
deepseek_v3 deepseek_v32 dots1 ernie4_5 ernie4_5_moe exaone4 falcon gemma gemma2 gemma3_text glm
glm4 glm4_moe glm4_moe_lite glm_moe_dsa gpt2 gpt_bigcode gpt_neox gpt_oss gptj granite granitemoe
granitemoeshared helium hunyuan_v1_dense hunyuan_v1_moe jais2 llama llama4_text minimax_m2
ministral ministral3 mistral mixtral mpt nemotron olmo olmo2 olmo3 olmoe opt phi phi3 phimoe qwen2
qwen2_5_vl_text qwen2_moe qwen2_vl_text qwen3 qwen3_moe qwen3_next qwen3_vl_moe_text qwen3_vl_text
seed_oss smollm3 solar_open stablelm starcoder2 youtu""".split()

LAYERS = ("num_hidden_layers", "n_layer", "n_layers", "num_layers")
WIDTHS = ("intermediate_size", "moe_intermediate_size", "n_inner", "ffn_dim",
          "shared_expert_intermediate_size", "shared_intermediate_size", "intermediate_size_mlp")
EXPERTS = ("num_experts", "num_local_experts", "n_routed_experts", "moe_num_experts")
FLAGS = ("attention_bias", "mlp_bias", "use_bias", "use_qkv_bias", "tie_word_embeddings",
         "use_qk_norm", "bias", "attention_out_bias", "lm_head_bias", "multi_query",
         "moe_router_enable_expert_bias")


def draw(kind, rng):
    """The defaults with other sizes and flags, as another model of the family would have them."""
    it = defaults(kind) | copy.deepcopy(SAID.get(kind, {}))
    for key in LAYERS:
        if key in it:
            it[key] = rng.choice((8, 12, 16, 24))
    for key in WIDTHS:
        if it.get(key):
            it[key] = 64 * rng.randint(2, 96)
    for key in EXPERTS:
        if it.get(key):
            it[key] = rng.choice((16, 32, 48, 128))
    for key in FLAGS:
        if key in it:
            it[key] = rng.random() < 0.5
    for key in ("vocab_size",):
        it[key] = rng.randint(1000, 260000)
    hidden = next(k for k in ("hidden_size", "n_embd", "d_model") if k in it)
    heads = next(k for k in ("num_attention_heads", "n_head", "n_heads") if k in it)
    groups = it.get("num_key_value_heads") not in (None, it[heads])
    it[heads] = rng.choice((8, 16, 24, 32))
    it[hidden] = it[heads] * rng.choice((64, 128))
    if "num_key_value_heads" in it:
        it["num_key_value_heads"] = it[heads] // rng.choice((2, 4)) if groups else it[heads]
    if "word_embed_proj_dim" in it:
        it["word_embed_proj_dim"] = it[hidden]
    if "head_dim" in it and kind != "helium":  # whose output projection forgets it
        it["head_dim"] = rng.choice((64, 128, 192))
    elif "head_dim" in it:
        it["head_dim"] = it[hidden] // it[heads]
    for key in ("q_lora_rank", "kv_lora_rank", "index_head_dim", "linear_key_head_dim"):
        if it.get(key):
            it[key] = 64 * rng.randint(1, 12)
    if kind == "ernie4_5_moe":
        it["use_bias"] = False  # the reader refuses biases beside experts without them
    if kind == "deepseek_v2":
        it["mlp_bias"] = False  # likewise
    if kind == "bailing_moe":
        it["first_k_dense_replace"] = rng.randint(0, 3)
    return it


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("checkout", help="src/transformers of a checkout")
    parser.add_argument("types", nargs="*", help="all when absent")
    parser.add_argument("--draws", type=int, default=3, help="beside the defaults")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    frame(args.checkout)
    failed = 0
    for kind in args.types or TYPES:
        rng = random.Random(f"{args.seed}/{kind}")
        for i in range(args.draws + 1):
            try:
                config = draw(kind, rng) if i else defaults(kind) | copy.deepcopy(
                    SAID.get(kind, {}))
                print(json.dumps({"parameters": count(kind, config), "config": config},
                                 separators=(",", ":")))
            except Exception as error:  # the one that fails is named, the others are counted
                failed += 1
                print(f"{kind}: {error!r}", file=sys.stderr)
                if args.types:
                    traceback.print_exc()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
