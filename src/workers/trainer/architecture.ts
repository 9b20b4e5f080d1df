/** What a decoder is made of, by architecture: which tensors, which rotation. The host reads the metadata. */
import type { Architecture } from '#shared/worker/trainer.ts';
import type { Rope } from './graph.ts';

export function windowed(architecture: Architecture, layer: number): boolean {
  return architecture.window !== null && (layer + 1) % architecture.windowPattern !== 0;
}

export function ropeOf(architecture: Architecture, layer: number): Rope {
  const local = windowed(architecture, layer);
  return {
    dimensions: architecture.ropeDimensions,
    mode: architecture.name === 'llama' ? 'pairs' : 'halves',
    base: local ? architecture.windowRopeBase : architecture.ropeBase,
    scale: local ? 1 : architecture.ropeScale,
  };
}

export interface TensorShape {
  name: string;
  /** ggml's order: [in, out] for a matrix. */
  shape: readonly number[];
}

/** Tensors that a file of this architecture must have, and those that it may have. */
export function tensorsOf(a: Architecture): { required: TensorShape[]; optional: TensorShape[] } {
  const required: TensorShape[] = [
    { name: 'token_embd.weight', shape: [a.width, a.vocabulary] },
    { name: 'output_norm.weight', shape: [a.width] },
  ];
  const optional: TensorShape[] = [
    { name: 'output.weight', shape: [a.width, a.vocabulary] },
    { name: 'rope_freqs.weight', shape: [a.ropeDimensions / 2] },
  ];
  const query = a.heads * a.headSize;
  const shared = a.kvHeads * a.headSize;
  for (let layer = 0; layer < a.layers; layer += 1) {
    const name = (part: string): string => `blk.${layer}.${part}`;
    required.push(
      { name: name('attn_norm.weight'), shape: [a.width] },
      { name: name('attn_q.weight'), shape: [a.width, query] },
      { name: name('attn_k.weight'), shape: [a.width, shared] },
      { name: name('attn_v.weight'), shape: [a.width, shared] },
      { name: name('attn_output.weight'), shape: [query, a.width] },
      { name: name('ffn_norm.weight'), shape: [a.width] },
      { name: name('ffn_gate.weight'), shape: [a.width, a.hidden] },
      { name: name('ffn_up.weight'), shape: [a.width, a.hidden] },
      { name: name('ffn_down.weight'), shape: [a.hidden, a.width] },
    );
    const biases = [
      { name: name('attn_q.bias'), shape: [query] },
      { name: name('attn_k.bias'), shape: [shared] },
      { name: name('attn_v.bias'), shape: [shared] },
    ];
    const headNorms = [
      { name: name('attn_q_norm.weight'), shape: [a.headSize] },
      { name: name('attn_k_norm.weight'), shape: [a.headSize] },
    ];
    const postNorms = [
      { name: name('post_attention_norm.weight'), shape: [a.width] },
      { name: name('post_ffw_norm.weight'), shape: [a.width] },
    ];
    if (a.name === 'qwen2') required.push(...biases);
    if (a.name === 'llama') optional.push(...biases);
    if (a.name === 'qwen3' || a.name === 'gemma3') required.push(...headNorms);
    if (a.name === 'gemma3') required.push(...postNorms);
  }
  return { required, optional };
}
