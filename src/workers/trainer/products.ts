/**
 * Which of ggml's operations computes a product of matrices fastest. All ways have the same value up to rounding, so the choice
 * is by shape and processor alone: a resumed training takes the same way. Measured numbers: docs/log.md.
 */
import type { Graph, Tensor } from './graph.ts';

/** Up to here a row of the product is too short for dot products. */
const shortInner = 32;
/** Longest rows of which OUT_PROD keeps a block in the first cache. */
const cachedRow = 256;

/**
 * a [k, m], b [k, n] → [m, n], outer dimensions as in `Graph.matmul`. On x86 processors, in float32, ggml's blocked kernel
 * (tinyBLAS) stores its accumulators in every round; dot product by dot product is faster, and that is what ggml does when `b`
 * comes as many matrices of one row.
 */
export function product(g: Graph, a: Tensor, b: Tensor): Tensor {
  const [k, m] = a.shape;
  const [, n, outer, blocks] = b.shape;
  if (!g.x86 || a.type !== 'f32' || !b.contiguous) return g.matmul(a, b);
  return g.reshape(g.matmul(a, g.reshape(b, k, 1, n * outer, blocks)), m, n, outer, blocks);
}

/** The same from aᵗ [m, k]. Over a short `k` as a sum of outer products: nothing is added up across a register. */
export function turnedProduct(g: Graph, turned: Tensor, b: Tensor, longest = shortInner): Tensor {
  if (g.x86 && turned.shape[1] <= longest) return g.outer(turned, g.permute(b, [1, 0, 2, 3]));
  return product(g, g.transposed(turned), b);
}

/** a [head, keys], b [head, queries] → [keys, queries], with aᵗ at hand. */
export function headProduct(g: Graph, a: Tensor, turned: Tensor, b: Tensor): Tensor {
  if (turned.shape[0] > cachedRow) return g.matmul(a, b);
  return g.x86 ? g.outer(turned, g.permute(b, [1, 0, 2, 3])) : g.matmul(a, b);
}

/** a [m, k], b [n, k] → Σ over k of a ⊗ b as [m, n], with the longer rows inside. */
export function outerProduct(g: Graph, a: Tensor, b: Tensor): Tensor {
  return a.shape[0] < b.shape[0] ? g.transposed(g.outer(b, a)) : g.outer(a, b);
}
