"""Trains LoRA adapters on a Llama with PyTorch, eager; see train-flat.ts. One JSON object a line in, one out.

first in  {"architecture": {...}, "file": GGUF, "tensors": [{"name", "shape", "offset"}], "rank": int, "alpha": float,
           "threads": int, "rows": [[token]], "bfloat16": bool}
then in   {"steps": int}
out       {"losses": [float], "seconds": float}    the time of the optimiser steps alone

Float32 weights only. The same mathematics as the trainer's: RMS norms, rotary pairs, grouped attention, SwiGLU, AdamW with
clipping; adapters on all seven matrices of a layer, the loss on every token but the first. Attention is PyTorch's own fused one.
"""
import json
import math
import sys
import time

import numpy
import torch
from torch.nn import functional


def read(file, tensors):
    weights = {}
    with open(file, "rb") as source:
        for tensor in tensors:
            shape = list(reversed(tensor["shape"]))
            source.seek(tensor["offset"])
            values = numpy.fromfile(source, dtype="<f4", count=math.prod(shape)).reshape(shape)
            weights[tensor["name"]] = torch.from_numpy(values)
    return weights


class Model:
    def __init__(self, request):
        self.a = request["architecture"]
        self.weights = read(request["file"], request["tensors"])
        self.scale = request["alpha"] / request["rank"]
        self.adapters = {}
        generator = torch.Generator().manual_seed(1)
        for name, weight in self.weights.items():
            if name.startswith("blk.") and weight.dim() == 2:
                out, inner = weight.shape
                a = torch.randn(request["rank"], inner, generator=generator) / math.sqrt(inner)
                self.adapters[name] = (a.requires_grad_(), torch.zeros(out, request["rank"]).requires_grad_())
        length = len(request["rows"][0]) - 1
        half = self.a["ropeDimensions"] // 2
        turn = self.a["ropeBase"] ** (-torch.arange(half, dtype=torch.float64) / half)
        angle = torch.arange(length, dtype=torch.float64)[:, None] * turn
        self.cos, self.sin = angle.cos().float(), angle.sin().float()

    def parameters(self):
        return [matrix for pair in self.adapters.values() for matrix in pair]

    def linear(self, x, name):
        a, b = self.adapters[name]
        low = functional.linear(functional.linear(x, a), b)
        return functional.linear(x, self.weights[name]) + low * self.scale

    def norm(self, x, name):
        return functional.rms_norm(x, (self.a["width"],), self.weights[name], self.a["epsilon"])

    def turned(self, x):
        even, odd = x[..., 0::2], x[..., 1::2]
        return torch.stack((even * self.cos - odd * self.sin, even * self.sin + odd * self.cos), -1).flatten(-2)

    def heads(self, x, count):
        rows, length, _ = x.shape
        return x.view(rows, length, count, self.a["headSize"]).transpose(1, 2)

    def loss(self, ids):
        x = functional.embedding(ids[:, :-1], self.weights["token_embd.weight"])
        for layer in range(self.a["layers"]):
            part = f"blk.{layer}."
            h = self.norm(x, part + "attn_norm.weight")
            q = self.turned(self.heads(self.linear(h, part + "attn_q.weight"), self.a["heads"]))
            k = self.turned(self.heads(self.linear(h, part + "attn_k.weight"), self.a["kvHeads"]))
            v = self.heads(self.linear(h, part + "attn_v.weight"), self.a["kvHeads"])
            # Autocast leaves the rotation in float32; the fused kernel wants one type.
            mixed = functional.scaled_dot_product_attention(
                q.to(v.dtype), k.to(v.dtype), v, is_causal=True, enable_gqa=self.a["heads"] != self.a["kvHeads"]
            )
            mixed = mixed.transpose(1, 2).flatten(-2)
            x = x + self.linear(mixed, part + "attn_output.weight")
            h = self.norm(x, part + "ffn_norm.weight")
            gate = functional.silu(self.linear(h, part + "ffn_gate.weight"))
            x = x + self.linear(gate * self.linear(h, part + "ffn_up.weight"), part + "ffn_down.weight")
        x = self.norm(x, "output_norm.weight")
        logits = functional.linear(x, self.weights.get("output.weight", self.weights["token_embd.weight"]))
        return functional.cross_entropy(logits.flatten(0, 1).float(), ids[:, 1:].flatten())


def main():
    request = json.loads(sys.stdin.readline())
    torch.set_num_threads(request["threads"])
    model = Model(request)
    ids = torch.tensor(request["rows"])
    parameters = model.parameters()
    optimizer = torch.optim.AdamW(parameters, lr=1e-4, weight_decay=0.0)
    for line in sys.stdin:
        steps = json.loads(line)["steps"]
        losses = []
        started = time.perf_counter()
        for _ in range(steps):
            with torch.autocast("cpu", dtype=torch.bfloat16, enabled=request["bfloat16"]):
                loss = model.loss(ids)
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(parameters, 1.0)
            optimizer.step()
            losses.append(loss.item())
        print(json.dumps({"losses": losses, "seconds": time.perf_counter() - started}), flush=True)


main()
