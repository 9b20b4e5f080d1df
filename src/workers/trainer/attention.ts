/**
 * Soft-max attention of blocks, there and back. In a block every token follows its ancestors, so queries are cut into chunks that
 * see only the keys up to their own end: half of the pairs are never computed.
 */
import type { Chunk } from '#shared/worker/attention-chunks.ts';
import { composedSoftmaxBack } from './composed.ts';
import type { Graph, Tensor } from './graph.ts';
import { headProduct, product } from './products.ts';
import type { Tape, Value } from './tape.ts';

export interface AttentionOptions {
  chunks: readonly Chunk[];
  /** By chunk, [to keys, to − from queries, 1, blocks]: 0 or −∞ */
  masks: readonly Tensor[];
  scale: number;
  length: number;
  blocks: number;
}

/** q [head, heads, tokens], k and v [head, kvHeads, tokens], tokens = length · blocks → [head · heads, tokens] */
export function attention(tape: Tape, q: Value, k: Value, v: Value, options: AttentionOptions): Value {
  const g = tape.graph;
  const { chunks, length, blocks, scale } = options;
  const [head, heads] = q.tensor.shape;
  const kvHeads = k.tensor.shape[1];
  const split = (a: Tensor, count: number): Tensor => g.reshape(a, head, count, length, blocks);
  /** [head, count, length, blocks] → [head, to − from, count, blocks], a view */
  const byHead = (a: Tensor, { from, to }: Chunk): Tensor => g.permute(g.range(a, 2, from, to), [0, 2, 1, 3]);
  /** The reverse: the parts side by side, in a tensor like `like`. */
  const byToken = (parts: readonly Tensor[], like: Tensor): Tensor => {
    const turned = parts.map((part) => g.permute(part, [0, 2, 1, 3]));
    const [only] = turned;
    const joined =
      turned.length === 1 && only !== undefined
        ? g.contiguous(only)
        : turned.reduce(
            (whole, part, index) => g.setRange(whole, part, chunks[index]?.from ?? 0, index > 0),
            like,
          );
    return g.reshape(joined, head, like.shape[1], length * blocks);
  };

  const [qs, ks, vs] = [split(q.tensor, heads), split(k.tensor, kvHeads), split(v.tensor, kvHeads)];
  const whole = { from: 0, to: length };
  const keyTurned = g.transposed(byHead(ks, whole));
  const valueTurned = g.transposed(byHead(vs, whole));
  const work = chunks.map((chunk, index) => {
    const seen = { from: 0, to: chunk.to };
    const mask = options.masks[index];
    if (mask === undefined) throw new RangeError(`no mask for the queries from ${chunk.from} on`);
    const query = g.contiguous(byHead(qs, chunk));
    const [key, value] = [byHead(ks, seen), byHead(vs, seen)];
    const [turnedKey, turnedValue] = [
      g.range(keyTurned, 0, 0, chunk.to),
      g.range(valueTurned, 0, 0, chunk.to),
    ];
    const probabilities = g.softmax(headProduct(g, key, turnedKey, query), mask, scale);
    return { chunk, query, turnedKey, value, turnedValue, probabilities };
  });
  const mixed = work.map(({ turnedValue, probabilities }) => product(g, turnedValue, probabilities));
  const out = tape.value(
    g.reshape(byToken(mixed, qs), head * heads, length * blocks),
    q.tracked || k.tracked || v.tracked,
  );

  tape.record(out, (d) => {
    const ds = split(d, heads);
    const dQuery: Tensor[] = [];
    const dKey: (Tensor | undefined)[] = [];
    const dValue: (Tensor | undefined)[] = [];
    // OUT_PROD sums over the queries as they lie; a product would need transposes of [keys, queries].
    const gather = (sums: (Tensor | undefined)[], over: Tensor, rows: Tensor, last: number): void => {
      chunks.slice(0, last + 1).forEach(({ from, to }, index) => {
        const term = g.outer(g.range(over, 0, from, to), rows);
        const sum = sums[index];
        sums[index] = sum === undefined ? term : g.add(sum, term);
      });
    };
    work.forEach(({ chunk, query, turnedKey, value, turnedValue, probabilities }, index) => {
      const dMixed = g.contiguous(byHead(ds, chunk));
      const dP = headProduct(g, value, turnedValue, dMixed);
      const dS = softmaxGradient(g, dP, probabilities, scale, v.tracked);
      if (q.tracked) dQuery.push(product(g, turnedKey, dS));
      if (k.tracked) gather(dKey, dS, query, index);
      if (v.tracked) {
        gather(dValue, probabilities, dMixed, index);
        for (const sum of dValue) if (sum !== undefined) g.expand(sum);
      }
    });
    // What the heads of a group gave to their shared key or value head, [keys, head, heads, blocks] each.
    const folded = (sums: readonly (Tensor | undefined)[]): Tensor[] =>
      sums.flatMap((sum) => (sum === undefined ? [] : [fold(g, g.transposed(sum), kvHeads)]));
    const like = kvHeads === heads ? ds : ks;
    if (q.tracked) tape.give(q, byToken(dQuery, ds));
    if (k.tracked) tape.give(k, byToken(folded(dKey), like));
    if (v.tracked) tape.give(v, byToken(folded(dValue), like));
  });
  return out;
}

/** [head, keys, heads, blocks] → [head, keys, kvHeads, blocks] */
function fold(g: Graph, a: Tensor, kvHeads: number): Tensor {
  const [head, keys, heads, blocks] = a.shape;
  if (heads === kvHeads) return a;
  const apart = g.reshape(a, head * keys, heads / kvHeads, kvHeads, blocks);
  let sum = g.contiguous(g.range(apart, 1, 0, 1));
  for (let index = 1; index < heads / kvHeads; index += 1)
    sum = g.add(sum, g.range(apart, 1, index, index + 1));
  return g.reshape(sum, head, keys, kvHeads, blocks);
}

/**
 * scale · P ∘ (dP − Σ dP ∘ P). The fused operation is safe only before the last reader of P (it would overwrite P); without
 * one, or where the back-end has no such operation, it is composed.
 */
function softmaxGradient(
  g: Graph,
  dP: Tensor,
  probabilities: Tensor,
  scale: number,
  readLater: boolean,
): Tensor {
  if (readLater) {
    const fused = g.softmaxBack(dP, probabilities, scale);
    if (g.supports(fused)) {
      g.expand(fused);
      return fused;
    }
  }
  return composedSoftmaxBack(g, dP, probabilities, scale);
}
