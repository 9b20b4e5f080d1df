import { describe, expect, it } from 'vitest';
import { initialWeights } from './initial-weights.ts';

const width = 128;
const heads = 4;
const headSize = width / heads;
const vocabulary = 300;
const plan = { seed: 3, layers: 4, heads, previousTokens: 2 };
const weights = initialWeights(plan);

const deviation = (values: Float32Array): number =>
  Math.sqrt(values.reduce((sum, value) => sum + value ** 2, 0) / values.length);

/** Llama's first attention, by its definition: RMS norm, projections, rotated pairs, soft-max over the past. → [query][key] */
function attention(head: number, ids: readonly number[]): number[][] {
  const embeddings = weights('token_embd.weight', [width, vocabulary]);
  const [q, k] = ['q', 'k'].map((part) => weights(`blk.0.attn_${part}.weight`, [width, width]));
  const project = (matrix: Float32Array | undefined, id: number, position: number): number[] => {
    const embedding = embeddings.subarray(id * width, (id + 1) * width);
    const norm = deviation(embedding);
    const rows = Array.from({ length: headSize }, (_, index) => {
      const row = (head * headSize + index) * width;
      return embedding.reduce((sum, value, input) => sum + ((matrix?.[row + input] ?? 0) * value) / norm, 0);
    });
    return rows.map((value, index) => {
      const pair = Math.floor(index / 2);
      const angle = position * 10_000 ** ((-2 * pair) / headSize);
      const other = rows[index ^ 1] ?? 0;
      return index % 2 === 0
        ? value * Math.cos(angle) - other * Math.sin(angle)
        : value * Math.cos(angle) + other * Math.sin(angle);
    });
  };
  const queries = ids.map((id, position) => project(q, id, position));
  const keys = ids.map((id, position) => project(k, id, position));
  return queries.map((query, position) => {
    const logits = keys
      .slice(0, position + 1)
      .map(
        (key) =>
          key.reduce((sum, value, index) => sum + value * (query[index] ?? 0), 0) / Math.sqrt(headSize),
      );
    const most = Math.max(...logits);
    const powers = logits.map((logit) => Math.exp(logit - most));
    const total = powers.reduce((sum, power) => sum + power, 0);
    return powers.map((power) => power / total);
  });
}

describe('weights before training', () => {
  it('have the deviations of GPT-2’s rule, and norms of 1', () => {
    expect([...weights('blk.1.attn_norm.weight', [3])]).toEqual([1, 1, 1]);
    expect(deviation(weights('blk.1.attn_q.weight', [width, width]))).toBeCloseTo(1 / Math.sqrt(width), 2);
    const output = deviation(weights('blk.1.attn_output.weight', [width, width]));
    expect(output).toBeCloseTo(1 / Math.sqrt(width * 8), 2);
    const plain = initialWeights({ ...plan, previousTokens: 0 });
    expect(deviation(plain('token_embd.weight', [width, vocabulary]))).toBeCloseTo(0.02, 3);
  });

  it('are the same for the same seed, and others for another tensor or seed', () => {
    const name = 'blk.2.ffn_up.weight';
    expect(initialWeights(plan)(name, [4, 4])).toEqual(weights(name, [4, 4]));
    expect(weights('blk.3.ffn_up.weight', [4, 4])).not.toEqual(weights(name, [4, 4]));
    expect(initialWeights({ ...plan, seed: 4 })(name, [4, 4])).not.toEqual(weights(name, [4, 4]));
  });

  it('let the first heads look one and two tokens back, near and far', () => {
    const ids = Array.from({ length: 300 }, (_, index) => (index * 7919) % vocabulary);
    for (const head of [0, 1]) {
      const looked = attention(head, ids);
      for (const position of [5, 40, 150, 299]) {
        expect(
          looked[position]?.[position - 1 - head],
          `head ${String(head)} at ${String(position)}`,
        ).toBeGreaterThan(0.9);
      }
    }
    const other = attention(2, ids.slice(0, 50));
    expect(Math.max(...(other[49] ?? []))).toBeLessThan(0.5);
  });
});
