/**
 * Reverse-mode differentiation that emits ordinary forward operations of ggml. Its own `build_backward_expand` is not used:
 * it is slow on frozen half-precision weights, and the allocator may run SOFT_MAX_BACK over the probabilities that it needs.
 */
import type { Graph, Rope, Tensor } from './graph.ts';
import { outerProduct, product, turnedProduct } from './products.ts';

export interface Value {
  readonly tensor: Tensor;
  /** Whether anything trainable lies behind it. */
  readonly tracked: boolean;
  gradient: Tensor | null;
}

/** A trainable tensor, or a frozen one (`gradient` null). */
export interface Weight {
  readonly name: string;
  readonly tensor: Tensor;
  /** The frozen matrix the other way round, for the gradient of its input. */
  readonly transposed: Tensor | null;
  /** Where gradients are added up; in the device's memory for as long as the weights. */
  readonly gradient: Tensor | null;
}

export interface Adapter {
  a: Weight;
  b: Weight;
  scale: number;
}

export class Tape {
  readonly graph: Graph;
  readonly #backward: (() => void)[] = [];

  constructor(graph: Graph) {
    this.graph = graph;
  }

  constant(tensor: Tensor): Value {
    return { tensor, tracked: false, gradient: null };
  }

  /** Runs the tape backwards from `value`, whose gradient is `seed`. Parameter gradients are added to their weights. */
  backward(value: Value, seed: Tensor): void {
    this.give(value, seed);
    for (const step of this.#backward.toReversed()) step();
  }

  /** A result of an operation of one's own (attention.ts). */
  value(tensor: Tensor, tracked: boolean): Value {
    return { tensor, tracked, gradient: null };
  }

  /** How its gradient goes back. */
  record(out: Value, step: (gradient: Tensor) => void): void {
    if (!out.tracked) return;
    this.#backward.push(() => {
      if (out.gradient !== null) step(out.gradient);
    });
  }

  /** Adds to the gradient of an operand. */
  give(value: Value, gradient: Tensor): void {
    if (!value.tracked) return;
    value.gradient = value.gradient === null ? gradient : this.graph.add(value.gradient, gradient);
  }

  add(a: Value, b: Value): Value {
    const out = this.value(this.graph.add(a.tensor, b.tensor), a.tracked || b.tracked);
    this.record(out, (d) => {
      this.give(a, d);
      this.give(b, d);
    });
    return out;
  }

  scale(a: Value, factor: number): Value {
    const out = this.value(this.graph.scale(a.tensor, factor), a.tracked);
    this.record(out, (d) => {
      this.give(a, this.graph.scale(d, factor));
    });
    return out;
  }

  /** x [in, n] → W x [out, n], with W [in, out]; + bias; + scale · B A x. */
  linear(x: Value, weight: Weight, bias: Weight | null, adapter: Adapter | null): Value {
    const g = this.graph;
    let result = product(g, weight.tensor, x.tensor);
    if (bias !== null) result = g.add(result, bias.tensor);
    // The scale stands where the numbers are few.
    const bTurned = adapter === null ? null : g.transposed(adapter.b.tensor);
    const low = adapter === null ? null : g.scale(product(g, adapter.a.tensor, x.tensor), adapter.scale);
    if (bTurned !== null && low !== null) result = g.add(result, turnedProduct(g, bTurned, low));
    const tracked =
      x.tracked || weight.gradient !== null || adapter !== null || (bias?.gradient ?? null) !== null;
    const out = this.value(result, tracked);
    this.record(out, (d) => {
      this.#accumulate(weight, () => outerProduct(g, x.tensor, d));
      if (bias !== null) this.#accumulate(bias, () => g.sumTo(d, bias.tensor));
      let dx = x.tracked ? this.#inputGradient(weight, d) : null;
      if (adapter !== null && bTurned !== null && low !== null) {
        this.#accumulate(adapter.b, () => outerProduct(g, low, d));
        const dLow = g.scale(product(g, bTurned, d), adapter.scale);
        this.#accumulate(adapter.a, () => outerProduct(g, x.tensor, dLow));
        if (dx !== null) dx = g.add(dx, turnedProduct(g, adapter.a.tensor, dLow));
      }
      if (dx !== null) this.give(x, dx);
    });
    return out;
  }

  /** Rows of the table [width, vocabulary] at ids [n] → [width, n]. */
  embed(table: Weight, ids: Tensor): Value {
    const out = this.value(this.graph.rows(table.tensor, ids), table.gradient !== null);
    this.record(out, (d) => {
      this.#accumulate(table, () => this.graph.rowsBack(d, ids, table.tensor));
    });
    return out;
  }

  /** Rows of x [width, n] at indices [k] → [width, k]. An index may repeat. */
  pick(x: Value, indices: Tensor): Value {
    const out = this.value(this.graph.rows(x.tensor, indices), x.tracked);
    this.record(out, (d) => {
      this.give(x, this.graph.rowsBack(d, indices, x.tensor));
    });
    return out;
  }

  /** x / rms(x) ∘ weight over the first dimension. */
  rmsNorm(x: Value, weight: Weight, epsilon: number): Value {
    const g = this.graph;
    const normed = g.rmsNorm(x.tensor, epsilon);
    const out = this.value(g.multiply(normed, weight.tensor), x.tracked || weight.gradient !== null);
    this.record(out, (d) => {
      this.#accumulate(weight, () => g.sumTo(g.multiply(d, normed), weight.tensor));
      if (x.tracked) this.give(x, g.rmsNormBack(g.multiply(d, weight.tensor), x.tensor, epsilon));
    });
    return out;
  }

  /** x [head, heads, n] turned by its positions; the way back is the turn by the negated positions. */
  rope(
    x: Value,
    positions: { there: Tensor; back: Tensor | null },
    factors: Tensor | null,
    rope: Rope,
  ): Value {
    const out = this.value(this.graph.rope(x.tensor, positions.there, factors, rope), x.tracked);
    this.record(out, (d) => {
      if (positions.back === null) throw new RangeError('the way back needs negated positions');
      this.give(x, this.graph.rope(d, positions.back, factors, rope));
    });
    return out;
  }

  reshape(x: Value, ...dimensions: readonly [number, number?, number?, number?]): Value {
    const out = this.value(this.graph.reshape(x.tensor, ...dimensions), x.tracked);
    this.record(out, (d) => {
      this.give(x, this.graph.reshape(d, ...x.tensor.shape));
    });
    return out;
  }

  /** act(gate) ∘ up */
  gated(gate: Value, up: Value, activation: 'silu' | 'gelu'): Value {
    const g = this.graph;
    const silu = activation === 'silu';
    const active = silu ? g.silu(gate.tensor) : geluForward(g, gate.tensor).result;
    const out = this.value(
      silu ? g.swiglu(gate.tensor, up.tensor) : g.multiply(active, up.tensor),
      gate.tracked || up.tracked,
    );
    this.record(out, (d) => {
      this.give(up, g.multiply(d, active));
      const dActive = g.multiply(d, up.tensor);
      this.give(gate, silu ? g.siluBack(dActive, gate.tensor) : geluBack(g, dActive, gate.tensor));
    });
    return out;
  }

  /** Wᵀ d: by the kept transpose; else by a fresh one, since the weight changes; else (a huge table) without any. */
  #inputGradient(weight: Weight, d: Tensor): Tensor {
    const g = this.graph;
    if (weight.transposed !== null) return product(g, weight.transposed, d);
    if (weight.gradient !== null) return product(g, g.transposed(weight.tensor), d);
    return g.outer(weight.tensor, g.permute(d, [1, 0, 2, 3]));
  }

  #accumulate(weight: Weight, gradient: () => Tensor): void {
    if (weight.gradient === null) return;
    this.graph.expand(
      this.graph.addInto(weight.gradient, this.graph.reshape(gradient(), ...weight.gradient.shape)),
    );
  }
}

const rootTwoOverPi = Math.sqrt(2 / Math.PI);
const cubic = 0.044715;

/** The tanh form, exactly (ggml's own kernel looks it up in half precision): 0.5 x (1 + tanh(√(2/π) (x + 0.044715 x³))) */
function geluForward(g: Graph, x: Tensor): { result: Tensor; tanh: Tensor } {
  const inner = g.scale(g.multiply(x, g.scale(g.square(x), cubic, 1)), rootTwoOverPi);
  const tanh = g.tanh(inner);
  return { result: g.multiply(x, g.scale(tanh, 0.5, 0.5)), tanh };
}

/** d · (0.5 (1 + t) + 0.5 x (1 − t²) √(2/π) (1 + 3 · 0.044715 x²)), with t as above */
function geluBack(g: Graph, d: Tensor, x: Tensor): Tensor {
  const { tanh } = geluForward(g, x);
  const slope = g.multiply(
    g.multiply(x, g.scale(g.square(tanh), -0.5, 0.5)),
    g.scale(g.square(x), 3 * cubic * rootTwoOverPi, rootTwoOverPi),
  );
  return g.multiply(d, g.add(g.scale(tanh, 0.5, 0.5), slope));
}
