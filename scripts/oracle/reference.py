"""The trainer's losses and gradients once more, in plain PyTorch with autograd.

Reads FOLDER/NAME.json and FOLDER/NAME.f32 (written by main.ts) and writes FOLDER/NAME.out.json. It shares no code with the
trainer: a decoder by GGUF's conventions, the losses by their papers, gradients by autograd, all in float64.
"""

import json
import math
import platform
import sys

import torch
import torch.nn.functional as F

torch.set_num_threads(1)
DTYPE = torch.float64


def rms_norm(x, weight, epsilon):
    return x / torch.sqrt((x * x).mean(-1, keepdim=True) + epsilon) * weight


def rotate(x, base, scale, dimensions, interleaved, factors):
    """x [tokens, heads, head]; GGUF permutes Llama's query and key so that neighbours (not halves) make a pair."""
    half = dimensions // 2
    frequency = base ** (-torch.arange(half, dtype=DTYPE) * 2 / dimensions)
    if factors is not None:
        frequency = frequency / factors
    angle = torch.arange(x.shape[0], dtype=DTYPE)[:, None] * scale * frequency  # [tokens, half]
    cos, sin = angle.cos()[:, None, :], angle.sin()[:, None, :]
    turned, rest = x[..., :dimensions], x[..., dimensions:]
    if interleaved:
        a, b = turned[..., 0::2], turned[..., 1::2]
        turned = torch.stack((a * cos - b * sin, a * sin + b * cos), -1).flatten(-2)
    else:
        a, b = turned[..., :half], turned[..., half:]
        turned = torch.cat((a * cos - b * sin, a * sin + b * cos), -1)
    return torch.cat((turned, rest), -1)


class Model:
    def __init__(self, architecture, tensors, lora_scale):
        self.a, self.t, self.lora_scale = architecture, tensors, lora_scale

    def linear(self, x, name, adapters):
        y = x @ self.t[name + ".weight"].T
        if adapters:
            low = x @ self.t[name + ".weight.lora_a"].T
            y = y + self.lora_scale * (low @ self.t[name + ".weight.lora_b"].T)
        bias = self.t.get(name + ".bias")
        return y if bias is None else y + bias

    def hidden(self, tokens, adapters):
        """-> [tokens, width], after the last norm"""
        a, t = self.a, self.t
        gemma = a["name"] == "gemma3"
        count, heads, shared, size = len(tokens), a["heads"], a["kvHeads"], a["headSize"]
        at = torch.arange(count)
        distance = at[:, None] - at[None, :]
        x = t["token_embd.weight"][tokens]
        if gemma:
            x = x * math.sqrt(a["width"])
        for layer in range(a["layers"]):
            name = "blk.%d." % layer
            local = a["window"] is not None and (layer + 1) % a["windowPattern"] != 0
            hidden = distance < 0
            if local:
                hidden = hidden | (distance >= a["window"])

            def turned(v, part, n):
                v = self.linear(v, name + part, adapters).view(count, n, size)
                norm = t.get(name + part + "_norm.weight")
                if norm is not None:
                    v = rms_norm(v, norm, a["epsilon"])
                return rotate(
                    v,
                    a["windowRopeBase"] if local else a["ropeBase"],
                    1.0 if local else a["ropeScale"],
                    a["ropeDimensions"],
                    a["name"] == "llama",
                    None if local else t.get("rope_freqs.weight"),
                )

            h = rms_norm(x, t[name + "attn_norm.weight"], a["epsilon"])
            q = turned(h, "attn_q", heads)
            k = turned(h, "attn_k", shared).repeat_interleave(heads // shared, 1)
            v = self.linear(h, name + "attn_v", adapters).view(count, shared, size)
            v = v.repeat_interleave(heads // shared, 1)
            scores = torch.einsum("qhd,khd->hqk", q, k) * a["attentionScale"]
            mixed = torch.einsum("hqk,khd->qhd", scores.masked_fill(hidden, -math.inf).softmax(-1), v)
            mixed = self.linear(mixed.reshape(count, heads * size), name + "attn_output", adapters)
            if gemma:
                mixed = rms_norm(mixed, t[name + "post_attention_norm.weight"], a["epsilon"])
            x = x + mixed

            h = rms_norm(x, t[name + "ffn_norm.weight"], a["epsilon"])
            gate = self.linear(h, name + "ffn_gate", adapters)
            gate = F.gelu(gate, approximate="tanh") if gemma else F.silu(gate)
            fed = self.linear(gate * self.linear(h, name + "ffn_up", adapters), name + "ffn_down", adapters)
            if gemma:
                fed = rms_norm(fed, t[name + "post_ffw_norm.weight"], a["epsilon"])
            x = x + fed
        return rms_norm(x, t["output_norm.weight"], a["epsilon"])

    def row(self, row, adapters):
        """-> log-probabilities of the targets and values of the tokens before them, [targets] each"""
        tokens, targets = torch.tensor(row["tokens"]), torch.tensor(row["targets"])
        hidden = self.hidden(tokens, adapters)[targets - 1]
        table = self.t.get("output.weight", self.t["token_embd.weight"])
        logprobs = (hidden @ table.T).log_softmax(-1)
        return logprobs[torch.arange(len(targets)), tokens[targets]], hidden @ self.t["value_head.weight"]


def policy_loss(spec, row, logprobs, values, old, reference):
    """PPO, Eq. 7 and 9 (Schulman et al. 2017); GRPO, Eq. 3 and 4 (Shao et al. 2024), clip-higher of DAPO (Yu et al. 2025)"""
    weights, advantages = number(row["weights"]), number(row["advantages"])
    ratio = (logprobs - old).exp()
    clipped = ratio.clamp(1 - spec["clipLow"], 1 + spec["clipHigh"])
    loss = -torch.minimum(ratio * advantages, clipped * advantages)
    gap = reference - logprobs
    loss = loss + spec["klCoefficient"] * (gap.exp() - gap - 1)
    if spec["valueCoefficient"] > 0:
        before, returns = number(row["oldValues"]), number(row["returns"])
        held = before + (values - before).clamp(-spec["valueClip"], spec["valueClip"])
        worse = torch.maximum((values - returns) ** 2, (held - returns) ** 2)
        loss = loss + spec["valueCoefficient"] * 0.5 * worse
    return (weights * loss).sum()


def dpo_loss(spec, logprobs, references):
    """Eq. 7 (Rafailov et al. 2023): rows 2i are preferred to rows 2i + 1."""
    gains = [(logprob - reference).sum() for logprob, reference in zip(logprobs, references)]
    margins = torch.stack([spec["beta"] * (gains[i] - gains[i + 1]) for i in range(0, len(gains), 2)])
    return -F.logsigmoid(margins).mean()


def number(values):
    return torch.tensor(values, dtype=DTYPE)


def told(value):
    return float("%.6g" % value)


def run_mode(case, tensors, mode, directions):
    adapters = mode == "lora"
    trained = "lora" if adapters else "base"
    model = Model(case["architecture"], tensors, case["lora"]["alpha"] / case["lora"]["rank"])
    rows = case["rows"]
    with torch.no_grad():
        now = [[round(x, 6) for x in model.row(row, adapters)[0].tolist()] for row in rows]
        base = [[round(x, 6) for x in model.row(row, False)[0].tolist()] for row in rows]
    old = [number(x) + number(row["oldNoise"]) for x, row in zip(now, rows)]
    reference = [number(x) + number(row["referenceNoise"]) for x, row in zip(base, rows)]
    results = {}
    for name, spec in case["objectives"].items():
        values_too = spec.get("valueCoefficient", 0) > 0
        wanted = [
            t["name"]
            for t in case["tensors"]
            if (t["role"] == trained or (values_too and t["role"] == "value-head"))
            and t["name"] != "rope_freqs.weight"
        ]
        for key, tensor in tensors.items():
            tensor.requires_grad_(key in wanted)
            tensor.grad = None
        fresh = [model.row(row, adapters) for row in rows]
        if spec["kind"] == "likelihood":
            loss = -sum((number(row["weights"]) * logprobs).sum() for row, (logprobs, _) in zip(rows, fresh))
        elif spec["kind"] == "policy":
            loss = sum(
                policy_loss(spec, row, logprobs, values, old[i], reference[i])
                for i, (row, (logprobs, values)) in enumerate(zip(rows, fresh))
            )
        else:
            loss = dpo_loss(spec, [logprobs for logprobs, _ in fresh], reference)
        loss.backward()
        gradients = {}
        for key in wanted:
            flat = tensors[key].grad.flatten()
            sums = [(flat * direction[: len(flat)]).sum().item() for direction in directions]
            gradients[key] = [told(flat.norm().item())] + [told(x) for x in sums]
        results[name] = {"loss": told(loss.item()), "gradients": gradients}
    for tensor in tensors.values():
        tensor.requires_grad_(False)
    return {"logprobs": now, "baseLogprobs": base, "objectives": results}


def main(folder, name):
    with open("%s/%s.json" % (folder, name), encoding="utf-8") as file:
        case = json.load(file)
    with open("%s/%s.f32" % (folder, name), "rb") as file:
        flat = torch.frombuffer(bytearray(file.read()), dtype=torch.float32).to(DTYPE)
    tensors, at = {}, 0
    for tensor in case["tensors"]:
        shape = tensor["shape"][::-1]  # ggml's [in, out] is a row-major [out, in]
        length = math.prod(shape)
        tensors[tensor["name"]] = flat[at : at + length].reshape(shape).clone()
        at += length
    assert at == len(flat), "the weights file has another length"
    directions = [number(direction) for direction in case["directions"]]
    result = {
        "versions": {
            "python": platform.python_version(),
            "torch": torch.__version__,
            "dtype": str(DTYPE).removeprefix("torch."),
        },
        "modes": {mode: run_mode(case, tensors, mode, directions) for mode in ("full", "lora")},
    }
    with open("%s/%s.out.json" % (folder, name), "w", encoding="utf-8") as file:
        json.dump(result, file)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
