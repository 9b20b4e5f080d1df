/**
 * The operations of the way back that a back-end may lack (Metal lacks all of them), made of forward operations that each has.
 * They need more memory and passes than the direct ones, so they are used only where those are missing.
 */
import { elements } from './shape.ts';
import type { Graph, Tensor } from './graph.ts';
import type { Shape } from './shape.ts';

/** OUT_PROD: a [m, k], b [n, k] → [m, n] */
export function composedOuter(g: Graph, a: Tensor, b: Tensor): Tensor {
  return g.matmul(g.transposed(a), g.transposed(b));
}

/** RMS_NORM_BACK: with y = x / r, r = √(mean x² + ε): (d − y · mean(d ∘ y)) / r */
export function composedRmsNormBack(g: Graph, d: Tensor, x: Tensor, epsilon: number): Tensor {
  const share = 1 / x.shape[0];
  const root = g.root(g.scale(g.sumRows(g.square(x)), share, epsilon));
  const normed = g.divide(x, root);
  const along = g.scale(g.sumRows(g.multiply(d, normed)), share);
  return g.divide(g.subtract(d, g.multiply(normed, along)), root);
}

/** REPEAT_BACK, of a vector that was repeated over all further dimensions: a [n, …] → [n] */
export function composedSumTo(g: Graph, a: Tensor, like: Shape): Tensor {
  const [n] = like;
  if (elements(like) !== n || a.shape[0] !== n)
    throw new RangeError(`no composed sum of [${a.shape.join(', ')}] to [${like.join(', ')}]`);
  const flat = g.reshape(a.contiguous ? a : g.contiguous(a), n, elements(a.shape) / n);
  return g.reshape(g.sumRows(g.transposed(flat)), n);
}

/** GET_ROWS_BACK: d [n, k], indices [k] → [n, rows] by a product with the one-hot matrix of the indices. */
export function composedRowsBack(g: Graph, d: Tensor, indices: Tensor, rows: number): Tensor {
  return g.matmul(g.transposed(d), g.oneHot(indices, rows));
}

/** SOFT_MAX_BACK: scale · P ∘ (d − Σ d ∘ P) by rows */
export function composedSoftmaxBack(g: Graph, d: Tensor, probabilities: Tensor, scale: number): Tensor {
  const inner = g.multiply(d, probabilities);
  return g.scale(g.subtract(inner, g.multiply(probabilities, g.sumRows(inner))), scale);
}
