"""Trains LoRA adapters on a Llama with PyTorch, eager; see train-flat.ts. One JSON object a line in, one out.

first in  {"architecture": {...}, "file": GGUF, "tensors": [{"name", "shape", "offset"}], "rank": int, "alpha": float,
           "threads": int, "bfloat16": bool, "device": "cpu" | "cuda"}
then in   {"steps": int, "rows": [[token]], "targets": [[position]]}
out       {"losses": [float], "seconds": float}    the time of the optimiser steps alone

Float32 weights only. The same mathematics as the trainer's: RMS norms, rotary pairs, grouped attention, SwiGLU, AdamW with
clipping; adapters on all seven matrices of a layer. Rows are padded to the longest, the unembedding runs on targets only, each
target counts alike. Attention is PyTorch's own fused one.
"""
import json
import math
import sys
import time

import numpy
import torch
from torch.nn import functional


def read(file, tensors, device):
    weights = {}
    with open(file, "rb") as source:
        for tensor in tensors:
            shape = list(reversed(tensor["shape"]))
            source.seek(tensor["offset"])
            values = numpy.fromfile(source, dtype="<f4", count=math.prod(shape)).reshape(shape)
            weights[tensor["name"]] = torch.from_numpy(values).to(device)
    return weights


class Model:
    def __init__(self, request):
        self.a = request["architecture"]
        self.weights = read(request["file"], request["tensors"], request["device"])
        self.scale = request["alpha"] / request["rank"]
        self.adapters = {}
        generator = torch.Generator().manual_seed(1)
        for name, weight in self.weights.items():
            if name.startswith("blk.") and weight.dim() == 2:
                out, inner = weight.shape
                a = (torch.randn(request["rank"], inner, generator=generator) / math.sqrt(inner)).to(weight.device)
                b = torch.zeros(out, request["rank"], device=weight.device)
                self.adapters[name] = (a.requires_grad_(), b.requires_grad_())
        half = self.a["ropeDimensions"] // 2
        turn = self.a["ropeBase"] ** (-torch.arange(half, dtype=torch.float64) / half)
        angle = torch.arange(self.a["contextLength"], dtype=torch.float64)[:, None] * turn
        self.cos, self.sin = (angle.cos().float().to(request["device"]), angle.sin().float().to(request["device"]))

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
        cos, sin = self.cos[: x.shape[-2]], self.sin[: x.shape[-2]]
        return torch.stack((even * cos - odd * sin, even * sin + odd * cos), -1).flatten(-2)

    def heads(self, x, count):
        rows, length, _ = x.shape
        return x.view(rows, length, count, self.a["headSize"]).transpose(1, 2)

    def loss(self, ids, sources, labels):
        x = functional.embedding(ids, self.weights["token_embd.weight"])
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
        x = self.norm(x, "output_norm.weight").flatten(0, 1)[sources]
        logits = functional.linear(x, self.weights.get("output.weight", self.weights["token_embd.weight"]))
        return functional.cross_entropy(logits.float(), labels)


def batch(rows, targets):
    """→ ids [rows, longest − 1], the flat index of the token before each target, the target's id"""
    length = max(len(row) for row in rows) - 1
    ids = torch.zeros(len(rows), length, dtype=torch.long)
    for index, row in enumerate(rows):
        ids[index, : len(row) - 1] = torch.tensor(row[:-1])
    pairs = [(index, position) for index, own in enumerate(targets) for position in own]
    sources = torch.tensor([index * length + position - 1 for index, position in pairs])
    return ids, sources, torch.tensor([rows[index][position] for index, position in pairs])


def main():
    request = json.loads(sys.stdin.readline())
    torch.set_num_threads(request["threads"])
    model = Model(request)
    parameters = model.parameters()
    optimizer = torch.optim.AdamW(parameters, lr=1e-4, weight_decay=0.0)
    for line in sys.stdin:
        work = json.loads(line)
        inputs = [part.to(request["device"]) for part in batch(work["rows"], work["targets"])]
        losses = []
        started = time.perf_counter()
        for _ in range(work["steps"]):
            with torch.autocast(request["device"], dtype=torch.bfloat16, enabled=request["bfloat16"]):
                loss = model.loss(*inputs)
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(parameters, 1.0)
            optimizer.step()
            losses.append(loss.item())
        print(json.dumps({"losses": losses, "seconds": time.perf_counter() - started}), flush=True)


main()
