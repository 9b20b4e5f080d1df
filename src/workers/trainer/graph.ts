/**
 * Tensors and their operations, checked before ggml sees them: a misuse is a RangeError here, there it kills the process.
 * A `Graph` describes; a `Device` owns memory and computes. Shapes are in ggml's order: the fastest dimension first.
 */
import { composedOuter, composedRmsNormBack, composedRowsBack, composedSumTo } from './composed.ts';
import type { Device } from './device.ts';
import type { GgmlLibrary, Pointer } from './library.ts';
import { elements, equal, full, need, repeats } from './shape.ts';
import type { Dimensions, Shape } from './shape.ts';

export const tensorTypes = { f32: 0, f16: 1, i32: 26, i64: 27, bf16: 30 } as const;
/** GGML_PREC_F32: Vulkan and CUDA would multiply float32 in halves where they can. */
const fullPrecision = 10;
export type TensorType = keyof typeof tensorTypes;

export interface Tensor {
  readonly pointer: Pointer;
  readonly shape: Shape;
  readonly type: TensorType;
  /** Rows follow each other without gaps, and so do the elements of a row. */
  readonly contiguous: boolean;
}

/** How a rotary embedding turns (ggml's `rope_ext`). */
export interface Rope {
  dimensions: number;
  /** `pairs`: neighbours turn together (Llama); `halves`: i with i + n/2 (NeoX: Qwen, Gemma). */
  mode: 'pairs' | 'halves';
  base: number;
  /** Positions are multiplied by it (linear scaling: 1 / factor). */
  scale: number;
}

export class Graph {
  readonly #library: GgmlLibrary;
  readonly #device: Device;
  readonly #context: Pointer;
  readonly #graph: Pointer;
  readonly #size: number;
  #nodes = 0;

  /** @param size most nodes of the graph */
  constructor(device: Device, size: number) {
    this.#device = device;
    this.#library = device.library;
    this.#size = size;
    const bytes =
      size * 2 * this.#library.number('ggml_tensor_overhead') +
      3 * this.#library.number('ggml_graph_overhead_custom', size, false) +
      65_536;
    this.#context = this.#library.newContext(bytes);
    this.#graph = this.#library.pointer('ggml_new_graph_custom', this.#context, size, false);
  }

  /** Whether an x86 processor computes it (see products.ts). */
  get x86(): boolean {
    return this.#device.info.kind === 'cpu' && process.arch === 'x64';
  }

  get context(): Pointer {
    return this.#context;
  }

  get whole(): Pointer {
    return this.#graph;
  }

  get nodes(): number {
    return this.#nodes;
  }

  /** Memory that the caller fills before computing. It keeps its place until its last reader. */
  input(type: TensorType, ...dimensions: Dimensions): Tensor {
    const made = this.constant(type, ...dimensions);
    this.#library.call('ggml_set_input', made.pointer);
    return made;
  }

  /** A tensor without a computation behind it (allocated with the context). */
  constant(type: TensorType, ...dimensions: Dimensions): Tensor {
    const shape = full(dimensions);
    const pointer = this.#library.pointer('ggml_new_tensor_4d', this.#context, tensorTypes[type], ...shape);
    return { pointer, shape, type, contiguous: true };
  }

  /** Like `constant`, of any of ggml's types (a quantised tensor of a file). Only to copy from. */
  raw(type: number, shape: Shape): Tensor {
    const pointer = this.#library.pointer('ggml_new_tensor_4d', this.#context, type, ...shape);
    return { pointer, shape, type: 'f32', contiguous: true };
  }

  /** Keeps the result readable after the computation. */
  output(tensor: Tensor): Tensor {
    this.#library.call('ggml_set_output', tensor.pointer);
    return tensor;
  }

  /** Adds the tensor and all that it needs to the computation, in this order. Returns the number of nodes so far. */
  expand(tensor: Tensor): number {
    if (this.#nodes + 8 > this.#size) throw new RangeError(`the graph has more than ${this.#size} nodes`);
    this.#library.call('ggml_build_forward_expand', this.#graph, tensor.pointer);
    this.#nodes = this.#library.number('ggml_graph_n_nodes', this.#graph);
    return this.#nodes;
  }

  /** A computation of the nodes `from` … `to` − 1 of this graph; memory is that of the whole. */
  part(from: number, to: number): Pointer {
    const graph = this.#library.pointer(
      'ggml_new_graph_custom',
      this.#context,
      Math.max(1, to - from),
      false,
    );
    for (let index = from; index < to; index += 1) {
      this.#library.call(
        'ggml_graph_add_node',
        graph,
        this.#library.call('ggml_graph_node', this.#graph, index),
      );
    }
    return graph;
  }

  dispose(): void {
    this.#library.call('ggml_free', this.#context);
  }

  // Shapes ------------------------------------------------------------------------------------------------------------

  reshape(a: Tensor, ...dimensions: Dimensions): Tensor {
    const shape = full(dimensions);
    need(a.contiguous && elements(shape) === elements(a.shape), 'reshape', a.shape, shape);
    return this.#make('ggml_reshape_4d', shape, a.type, true, a.pointer, ...shape);
  }

  /** The dimension i of `a` becomes the dimension axes[i] of the result. A view: no copy. */
  permute(a: Tensor, axes: readonly [number, number, number, number]): Tensor {
    const shape: [number, number, number, number] = [1, 1, 1, 1];
    axes.forEach((axis, index) => {
      shape[axis] = a.shape[index] ?? 1;
    });
    return this.#make('ggml_permute', shape, a.type, false, a.pointer, ...axes);
  }

  /** [x, y, …] → [y, x, …], copied. */
  transposed(a: Tensor): Tensor {
    return this.contiguous(this.permute(a, [1, 0, 2, 3]));
  }

  contiguous(a: Tensor): Tensor {
    return this.#make('ggml_cont', a.shape, a.type, true, a.pointer);
  }

  /** A part of a contiguous tensor. @param offset in elements of four bytes */
  view(a: Tensor, offset: number, ...dimensions: Dimensions): Tensor {
    const shape = full(dimensions);
    need(a.contiguous && offset + elements(shape) <= elements(a.shape), 'view', a.shape, shape);
    const row = shape[0] * 4;
    return this.#make(
      'ggml_view_4d',
      shape,
      a.type,
      true,
      a.pointer,
      ...shape,
      row,
      row * shape[1],
      row * shape[1] * shape[2],
      offset * 4,
    );
  }

  /** The part from … to − 1 of a dimension of a contiguous tensor. A view. */
  range(a: Tensor, axis: 0 | 1 | 2, from: number, to: number): Tensor {
    need(a.contiguous && from < to && to <= a.shape[axis], 'range', a.shape, [axis, from, to, 0]);
    if (to - from === a.shape[axis]) return a;
    const shape: [number, number, number, number] = [...a.shape];
    shape[axis] = to - from;
    const [n, m, p] = a.shape;
    const strides = [4, n * 4, n * m * 4, n * m * p * 4] as const;
    return this.#make(
      'ggml_view_4d',
      shape,
      a.type,
      false,
      a.pointer,
      ...shape,
      strides[1],
      strides[2],
      strides[3],
      strides[axis] * from,
    );
  }

  /** A copy of `a` [n, m, p, q] with `part` [n, m, r, q] from `from` on in its third dimension. @param inPlace in the memory of `a` */
  setRange(a: Tensor, part: Tensor, from: number, inPlace: boolean): Tensor {
    const [n, m, p, q] = a.shape;
    need(
      a.contiguous &&
        part.shape[0] === n &&
        part.shape[1] === m &&
        from + part.shape[2] <= p &&
        part.shape[3] === q,
      'setRange',
      a.shape,
      part.shape,
    );
    const row = n * 4;
    return this.#make(
      inPlace ? 'ggml_set_inplace' : 'ggml_set',
      a.shape,
      a.type,
      true,
      a.pointer,
      part.pointer,
      row,
      row * m,
      row * m * p,
      row * m * from,
    );
  }

  /** The reverse of repeating `like` to the shape of `a`: sums the copies. */
  sumTo(a: Tensor, like: Tensor): Tensor {
    need(repeats(like.shape, a.shape), 'sumTo', a.shape, like.shape);
    if (equal(a.shape, like.shape)) return a;
    return this.#directOr(
      this.#make('ggml_repeat_back', like.shape, a.type, true, a.pointer, like.pointer),
      () => composedSumTo(this, a, like.shape),
    );
  }

  // Elementwise; the second operand may repeat into the first --------------------------------------------------------------

  add(a: Tensor, b: Tensor): Tensor {
    return this.#elementwise('ggml_add', a, b);
  }

  /** a ← a + b, in the memory of `a`. */
  addInto(a: Tensor, b: Tensor): Tensor {
    return this.#elementwise('ggml_add_inplace', a, b);
  }

  subtract(a: Tensor, b: Tensor): Tensor {
    return this.#elementwise('ggml_sub', a, b);
  }

  multiply(a: Tensor, b: Tensor): Tensor {
    return this.#elementwise('ggml_mul', a, b);
  }

  divide(a: Tensor, b: Tensor): Tensor {
    return this.#elementwise('ggml_div', a, b);
  }

  /** a · factor + offset */
  scale(a: Tensor, factor: number, offset = 0): Tensor {
    return offset === 0
      ? this.#make('ggml_scale', a.shape, 'f32', true, a.pointer, factor)
      : this.#make('ggml_scale_bias', a.shape, 'f32', true, a.pointer, factor, offset);
  }

  square(a: Tensor): Tensor {
    return this.#make('ggml_sqr', a.shape, 'f32', true, a.pointer);
  }

  root(a: Tensor): Tensor {
    return this.#make('ggml_sqrt', a.shape, 'f32', true, a.pointer);
  }

  log(a: Tensor): Tensor {
    return this.#make('ggml_log', a.shape, 'f32', true, a.pointer);
  }

  tanh(a: Tensor): Tensor {
    return this.#make('ggml_tanh', a.shape, 'f32', true, a.pointer);
  }

  clamp(a: Tensor, low: number, high: number): Tensor {
    // ggml clamps in place: a copy keeps the operand.
    return this.#make('ggml_clamp', a.shape, 'f32', true, this.scale(a, 1).pointer, low, high);
  }

  silu(a: Tensor): Tensor {
    return this.#make('ggml_silu', a.shape, 'f32', true, a.pointer);
  }

  /** d · silu′(x) */
  siluBack(d: Tensor, x: Tensor): Tensor {
    need(equal(d.shape, x.shape), 'siluBack', d.shape, x.shape);
    return this.#make('ggml_silu_back', x.shape, 'f32', true, d.pointer, x.pointer);
  }

  /** silu(gate) ∘ up */
  swiglu(gate: Tensor, up: Tensor): Tensor {
    need(equal(gate.shape, up.shape), 'swiglu', gate.shape, up.shape);
    return this.#make('ggml_swiglu_split', gate.shape, 'f32', true, gate.pointer, up.pointer);
  }

  // Reductions ------------------------------------------------------------------------------------------------------------

  sum(a: Tensor): Tensor {
    return this.#make('ggml_sum', [1, 1, 1, 1], 'f32', true, a.pointer);
  }

  /** [n, …] → [1, …] */
  sumRows(a: Tensor): Tensor {
    return this.#make('ggml_sum_rows', [1, a.shape[1], a.shape[2], a.shape[3]], 'f32', true, a.pointer);
  }

  // Matrices --------------------------------------------------------------------------------------------------------------

  /** a [k, m], b [k, n] → [m, n]: element (m, n) is ⟨a row m, b row n⟩. `a` repeats over the outer dimensions of `b`. */
  matmul(a: Tensor, b: Tensor): Tensor {
    need(
      a.shape[0] === b.shape[0] && b.shape[2] % a.shape[2] === 0 && b.shape[3] % a.shape[3] === 0,
      'matmul',
      a.shape,
      b.shape,
    );
    const shape: Shape = [a.shape[1], b.shape[1], b.shape[2], b.shape[3]];
    const product = this.#make('ggml_mul_mat', shape, 'f32', true, a.pointer, b.pointer);
    this.#library.call('ggml_mul_mat_set_prec', product.pointer, fullPrecision);
    return product;
  }

  /** a [m, k], b [n, k] → [m, n]: Σ over k of a ⊗ b. `a` repeats over the outer dimensions of `b`. Float32 only. */
  outer(a: Tensor, b: Tensor): Tensor {
    need(
      a.shape[1] === b.shape[1] && b.shape[2] % a.shape[2] === 0 && b.shape[3] % a.shape[3] === 0,
      'outer',
      a.shape,
      b.shape,
    );
    const shape: Shape = [a.shape[0], b.shape[0], b.shape[2], b.shape[3]];
    return this.#directOr(this.#make('ggml_out_prod', shape, 'f32', true, a.pointer, b.pointer), () =>
      composedOuter(this, a, b),
    );
  }

  // Of transformers -------------------------------------------------------------------------------------------------------

  rmsNorm(a: Tensor, epsilon: number): Tensor {
    return this.#make('ggml_rms_norm', a.shape, 'f32', true, a.pointer, epsilon);
  }

  /** d: gradient of the normed rows; x: what was normed. */
  rmsNormBack(d: Tensor, x: Tensor, epsilon: number): Tensor {
    need(equal(d.shape, x.shape), 'rmsNormBack', d.shape, x.shape);
    return this.#directOr(
      this.#make('ggml_rms_norm_back', x.shape, 'f32', true, d.pointer, x.pointer, epsilon),
      () => composedRmsNormBack(this, d, x, epsilon),
    );
  }

  /** soft-max over the rows of scale · a + mask. @param mask [keys, queries, 1, blocks] */
  softmax(a: Tensor, mask: Tensor | null, scale: number): Tensor {
    if (mask !== null) {
      need(
        mask.shape[0] === a.shape[0] &&
          mask.shape[1] >= a.shape[1] &&
          a.shape[2] % mask.shape[2] === 0 &&
          a.shape[3] % mask.shape[3] === 0,
        'softmax',
        a.shape,
        mask.shape,
      );
    }
    return this.#make('ggml_soft_max_ext', a.shape, 'f32', true, a.pointer, mask?.pointer ?? null, scale, 0);
  }

  /**
   * scale · P ∘ (d − Σ d ∘ P) by rows, in one pass. ggml may put it into the memory of P once nobody else reads P, and that is a
   * wrong gradient: expand a later reader of P after it. @param d gradient of the probabilities P
   */
  softmaxBack(d: Tensor, probabilities: Tensor, scale: number): Tensor {
    need(equal(d.shape, probabilities.shape), 'softmaxBack', d.shape, probabilities.shape);
    return this.#make(
      'ggml_soft_max_ext_back',
      d.shape,
      'f32',
      true,
      d.pointer,
      probabilities.pointer,
      scale,
      0,
    );
  }

  /** a [head, heads, tokens], positions [tokens]. Negative positions turn back: that is the gradient. */
  rope(a: Tensor, positions: Tensor, factors: Tensor | null, rope: Rope): Tensor {
    need(a.shape[2] === positions.shape[0] && a.shape[3] === 1, 'rope', a.shape, positions.shape);
    return this.#make(
      'ggml_rope_ext',
      a.shape,
      'f32',
      true,
      a.pointer,
      positions.pointer,
      factors?.pointer ?? null,
      rope.dimensions,
      rope.mode === 'halves' ? 2 : 0,
      0,
      rope.base,
      rope.scale,
      0,
      1,
      32,
      1,
    );
  }

  /** a [n, rows], indices [k] → [n, k] as float32 */
  rows(a: Tensor, indices: Tensor): Tensor {
    need(indices.type === 'i32' && a.shape[2] === 1, 'rows', a.shape, indices.shape);
    return this.#make(
      'ggml_get_rows',
      [a.shape[0], indices.shape[0], 1, 1],
      'f32',
      true,
      a.pointer,
      indices.pointer,
    );
  }

  /** The reverse of `rows`: adds each row of d at its index. */
  rowsBack(d: Tensor, indices: Tensor, like: Tensor): Tensor {
    need(d.shape[0] === like.shape[0] && d.shape[1] === indices.shape[0], 'rowsBack', d.shape, like.shape);
    return this.#directOr(
      this.#make('ggml_get_rows_back', like.shape, 'f32', true, d.pointer, indices.pointer, like.pointer),
      () => composedRowsBack(this, d, indices, like.shape[1]),
    );
  }

  /** indices [k] → [k, rows]: 1 where the index is the row. Whole numbers: exact in float32 below 2²⁴. */
  oneHot(indices: Tensor, rows: number): Tensor {
    const shape = full([indices.shape[0], rows]);
    const asFloat = this.#make('ggml_cast', indices.shape, 'f32', true, indices.pointer, tensorTypes.f32);
    const places = this.#make('ggml_repeat_4d', shape, 'f32', true, asFloat.pointer, ...shape);
    const counting = this.reshape(this.#make('ggml_arange', full([rows]), 'f32', true, 0, rows, 1), 1, rows);
    const distance = this.square(this.subtract(places, counting));
    return this.#make('ggml_step', shape, 'f32', true, this.scale(distance, -1, 0.5).pointer);
  }

  /** Writes the rows of `values` into `a` (in its memory) at the indices (i64). */
  setRows(a: Tensor, values: Tensor, indices: Tensor): Tensor {
    need(a.shape[0] === values.shape[0] && indices.type === 'i64', 'setRows', a.shape, values.shape);
    return this.#make('ggml_set_rows', a.shape, a.type, true, a.pointer, values.pointer, indices.pointer);
  }

  copyInto(from: Tensor, into: Tensor): Tensor {
    need(elements(from.shape) === elements(into.shape), 'copyInto', from.shape, into.shape);
    return this.#make('ggml_cpy', into.shape, into.type, true, from.pointer, into.pointer);
  }

  /** One step of AdamW on `weights`. @param settings [7]: rate, β1, β2, ε, decay, 1/(1 − β1ᵗ), 1/(1 − β2ᵗ) */
  adamw(weights: Tensor, gradient: Tensor, first: Tensor, second: Tensor, settings: Tensor): Tensor {
    for (const other of [gradient, first, second])
      need(equal(other.shape, weights.shape), 'adamw', other.shape, weights.shape);
    this.#library.call('ggml_set_param', weights.pointer);
    return this.#make(
      'ggml_opt_step_adamw',
      weights.shape,
      'f32',
      true,
      weights.pointer,
      gradient.pointer,
      first.pointer,
      second.pointer,
      settings.pointer,
    );
  }

  /** Whether the back-end has the operation that makes this tensor. */
  supports(tensor: Tensor): boolean {
    return !this.#device.composed && this.#device.supports(tensor.pointer);
  }

  #directOr = (direct: Tensor, composed: () => Tensor): Tensor =>
    this.supports(direct) ? direct : composed();

  #elementwise(
    name: 'ggml_add' | 'ggml_add_inplace' | 'ggml_sub' | 'ggml_mul' | 'ggml_div',
    a: Tensor,
    b: Tensor,
  ): Tensor {
    need(repeats(b.shape, a.shape), name, a.shape, b.shape);
    return this.#make(name, a.shape, 'f32', a.contiguous, a.pointer, b.pointer);
  }

  #make(
    name: Parameters<GgmlLibrary['pointer']>[0],
    shape: Shape,
    type: TensorType,
    contiguous: boolean,
    ...values: readonly unknown[]
  ): Tensor {
    return { pointer: this.#library.pointer(name, this.#context, ...values), shape, type, contiguous };
  }
}
