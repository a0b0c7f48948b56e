#!/usr/bin/env python3
"""Training steps of Llama-shaped models in plain PyTorch on one GPU: time and peak memory, as rows.

    tools/torch/runs.py [--out runs.csv] [--only NAME,...] [--seconds 550]
    tools/torch/runs.py --shape NAME=LAYERS,HIDDEN,FFN,HEADS,KV_HEADS,VOCAB,SEQ,MBS ...

Each row is a whole step: forward, loss, backward, gradient norm clipped, AdamW (fused). `eager`
and `compile` differ by torch.compile(model) alone. Weights are fp32 under autocast to bf16
(`amp`), or bf16 throughout (`bf16`). Attention is scaled_dot_product_attention, causal; logits
are turned to fp32 for the loss. Slices of large models keep their width and lose layers.

Rows are written as they come; what does not fit the GPU is left out with a line that says so. The
time is the median of ten steps after four; `spread` is the largest less the smallest of them over
that. tests/data/torch-h200.csv was written by this program.
"""
import argparse
import csv
import statistics
import sys
import time

import torch
import torch.nn as nn
import torch.nn.functional as F

# name: layers, hidden, ffn, heads, kv_heads, vocab, seq, mbs
SHAPES = {
    "llama-160m": (12, 768, 2048, 12, 12, 32000, 2048, 16),
    "llama3.2-1b": (16, 2048, 8192, 32, 8, 128256, 4096, 2),
    "llama3.2-1b-long": (16, 2048, 8192, 32, 8, 128256, 16384, 1),
    "llama3.2-3b": (28, 3072, 8192, 24, 8, 128256, 4096, 1),
    "llama2-7b/8": (8, 4096, 11008, 32, 32, 32000, 4096, 2),
    "llama3-8b/4": (4, 4096, 14336, 32, 8, 128256, 8192, 1),
    "llama3-8b/12": (12, 4096, 14336, 32, 8, 128256, 8192, 1),
    "llama3-70b/2": (2, 8192, 28672, 64, 8, 128256, 8192, 1),
    "llama3-70b/6": (6, 8192, 28672, 64, 8, 32000, 4096, 1),
    "llama3-405b/1": (1, 16384, 53248, 128, 8, 128256, 8192, 1),
    "qwen2.5-0.5b": (24, 896, 4864, 14, 2, 151936, 4096, 4),
    "tinyllama-1.1b": (22, 2048, 5632, 32, 4, 32000, 2048, 8),
    "mistral-7b/10": (10, 4096, 14336, 32, 8, 32000, 8192, 2),
}
MODES = ("eager", "compile")


class Norm(nn.Module):
    def __init__(self, hidden):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(hidden))

    def forward(self, x):
        wide = x.float()
        wide = wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + 1e-5)
        return wide.type_as(x) * self.weight


def rotate(x, cos, sin):
    left, right = x.chunk(2, dim=-1)
    return x * cos + torch.cat((-right, left), dim=-1) * sin


class Layer(nn.Module):
    def __init__(self, hidden, ffn, heads, kv_heads):
        super().__init__()
        self.heads, self.kv_heads, self.width = heads, kv_heads, hidden // heads
        self.norm_a, self.norm_f = Norm(hidden), Norm(hidden)
        self.q = nn.Linear(hidden, hidden, bias=False)
        self.k = nn.Linear(hidden, kv_heads * self.width, bias=False)
        self.v = nn.Linear(hidden, kv_heads * self.width, bias=False)
        self.o = nn.Linear(hidden, hidden, bias=False)
        self.gate = nn.Linear(hidden, ffn, bias=False)
        self.up = nn.Linear(hidden, ffn, bias=False)
        self.down = nn.Linear(ffn, hidden, bias=False)

    def attention(self, x, cos, sin):
        batch, seq, hidden = x.shape
        q = self.q(x).view(batch, seq, self.heads, self.width).transpose(1, 2)
        k = self.k(x).view(batch, seq, self.kv_heads, self.width).transpose(1, 2)
        v = self.v(x).view(batch, seq, self.kv_heads, self.width).transpose(1, 2)
        cos, sin = cos.to(q.dtype), sin.to(q.dtype)
        q, k = rotate(q, cos, sin), rotate(k, cos, sin)
        again = self.heads // self.kv_heads
        if again > 1:
            k, v = k.repeat_interleave(again, 1), v.repeat_interleave(again, 1)
        out = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.o(out.transpose(1, 2).reshape(batch, seq, hidden))

    def forward(self, x, cos, sin):
        x = x + self.attention(self.norm_a(x), cos, sin)
        wide = self.norm_f(x)
        return x + self.down(F.silu(self.gate(wide)) * self.up(wide))


class Model(nn.Module):
    def __init__(self, layers, hidden, ffn, heads, kv_heads, vocab, seq):
        super().__init__()
        self.embedding = nn.Embedding(vocab, hidden)
        self.layers = nn.ModuleList(Layer(hidden, ffn, heads, kv_heads) for _ in range(layers))
        self.norm = Norm(hidden)
        self.head = nn.Linear(hidden, vocab, bias=False)
        width = hidden // heads
        angles = torch.outer(torch.arange(seq), 1.0 / 500000 ** (torch.arange(0, width, 2) / width))
        angles = torch.cat((angles, angles), dim=-1)
        self.register_buffer("cos", angles.cos(), persistent=False)
        self.register_buffer("sin", angles.sin(), persistent=False)

    def forward(self, tokens, targets):
        x = self.embedding(tokens)
        for layer in self.layers:
            x = layer(x, self.cos, self.sin)
        logits = self.head(self.norm(x)).float()
        return F.cross_entropy(logits.view(-1, logits.shape[-1]), targets.reshape(-1))


def measure(shape, mode, weights):
    layers, hidden, ffn, heads, kv_heads, vocab, seq, mbs = shape
    torch.manual_seed(1)
    torch._dynamo.reset()
    dtype = torch.bfloat16 if weights == "bf16" else torch.float32
    with torch.device("cuda"):
        model = Model(layers, hidden, ffn, heads, kv_heads, vocab, seq).to(dtype)
        tokens = torch.randint(vocab, (mbs, seq + 1))
    optimiser = torch.optim.AdamW(model.parameters(), lr=1e-5, fused=True)
    run = torch.compile(model) if mode == "compile" else model
    began = time.monotonic()
    times = []
    for step in range(14):
        if step == 4:
            torch.cuda.synchronize()
            torch.cuda.reset_peak_memory_stats()
        start, end = torch.cuda.Event(True), torch.cuda.Event(True)
        start.record()
        with torch.autocast("cuda", torch.bfloat16, enabled=weights == "amp"):
            loss = run(tokens[:, :-1], tokens[:, 1:])
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0, foreach=True)
        optimiser.step()
        optimiser.zero_grad(set_to_none=True)
        end.record()
        if step >= 4:
            times.append((start, end))
    torch.cuda.synchronize()
    milliseconds = [start.elapsed_time(end) for start, end in times]
    return {
        "iter_s": statistics.median(milliseconds) / 1e3,
        "spread": (max(milliseconds) - min(milliseconds)) / statistics.median(milliseconds),
        "peak_mem_gib": torch.cuda.max_memory_allocated() / 2**30,
        "reserved_gib": torch.cuda.max_memory_reserved() / 2**30,
        "params": sum(p.numel() for p in model.parameters()),
        "loss": loss.item(),
        "took_s": time.monotonic() - began,
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", default="runs.csv")
    parser.add_argument("--only", help="names of shapes, by commas")
    parser.add_argument("--shape", action="append", default=[], metavar="NAME=NUMBERS",
                        help="a shape that is not in the list; the list is left alone then")
    parser.add_argument("--weights", default="amp,bf16")
    parser.add_argument("--seconds", type=float, default=550, help="no run begins after so long")
    options = parser.parse_args()
    for text in options.shape:
        name, numbers = text.split("=", 1)
        SHAPES[name] = tuple(int(number) for number in numbers.split(","))
        if len(SHAPES[name]) != 8:
            parser.error(f"--shape {text}: eight numbers are expected")
    asked = options.only.split(",") if options.only else []
    names = asked + [text.split("=", 1)[0] for text in options.shape] or list(SHAPES)
    began = time.monotonic()
    print(f"torch {torch.__version__}, {torch.cuda.get_device_name()}", flush=True)
    shape = ("model", "layers", "hidden", "ffn", "heads", "kv_heads", "vocab", "seq", "mbs")
    fields = ("id", "source", "software", *shape, "gated", "hw", "gpus", "gbs", "sharding",
              "recompute", "precision", "compile", "iter_s", "spread", "peak_mem_gib",
              "reserved_gib", "params", "loss", "took_s")
    device = torch.cuda.get_device_name()
    with open(options.out, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, fields)
        writer.writeheader()
        for weights in options.weights.split(","):
            for name in names:
                for mode in MODES:
                    if time.monotonic() - began > options.seconds:
                        print(f"{name} {mode} {weights}: no time left", flush=True)
                        continue
                    row = dict(zip(shape, (name, *SHAPES[name])))
                    row.update(id=f"{name}-{mode}-{weights}", source="torch-own", gated=1, gpus=1,
                               software=f"torch {mode}", hw=device, gbs=row["mbs"],
                               sharding="none", recompute="none", compile=int(mode == "compile"),
                               precision="amp_bf16" if weights == "amp" else "bf16")
                    try:
                        row.update(measure(SHAPES[name], mode, weights))
                    except torch.cuda.OutOfMemoryError:
                        print(f"{name} {mode} {weights}: does not fit", flush=True)
                        row = None
                    torch.cuda.empty_cache()
                    if row is None:
                        continue
                    writer.writerow(row)
                    file.flush()
                    print(f"{name:18s} {mode:7s} {weights:4s} {row['iter_s'] * 1e3:8.1f} ms "
                          f"{row['peak_mem_gib']:6.1f} GiB spread {row['spread']:.3f} "
                          f"took {row['took_s']:.0f} s", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
