/**
 * AdamW on the flat arrays (Loshchilov & Hutter 2019), with the global norm clipped; and Muon (Jordan et al. 2024) for the
 * matrices of a whole model: Nesterov momentum, made nearly orthogonal by five Newton–Schulz steps, scaled by √max(1, out/in).
 */
import { Graph } from './graph.ts';
import type { Tensor } from './graph.ts';
import type { Pointer } from './library.ts';
import type { DeviceWeights, FlatGroup, UpdateRule } from './weights.ts';

export interface OptimizerSettings {
  beta1: number;
  beta2: number;
  epsilon: number;
  weightDecay: number;
  /** Gradients longer than this are shortened to it; 0: never. */
  clipNorm: number;
  muon: { momentum: number; rateFactor: number } | null;
}

export class Optimizer {
  readonly #weights: DeviceWeights;
  readonly #settings: OptimizerSettings;
  readonly #graph: Graph;
  readonly #allocator: Pointer;
  readonly #normGraph: Pointer;
  readonly #stepGraph: Pointer;
  readonly #norm: Tensor;
  readonly #factor: Tensor;
  /** By group. */
  readonly #groupSettings: { rule: UpdateRule; tensor: Tensor }[] = [];

  constructor(weights: DeviceWeights, settings: OptimizerSettings) {
    this.#weights = weights;
    this.#settings = settings;
    const graph = new Graph(weights.device, 128 + weights.slots.length * 80);
    this.#graph = graph;
    this.#factor = graph.input('f32', 1);
    let squares: Tensor | null = null;
    for (const { gradients } of weights.groups) {
      const sum = graph.sum(graph.sumRows(graph.square(gradients)));
      squares = squares === null ? sum : graph.add(squares, sum);
    }
    if (squares === null) throw new RangeError('nothing to train');
    this.#norm = graph.output(squares);
    const normNodes = graph.expand(this.#norm);
    for (const group of weights.groups) {
      const tensor = graph.input('f32', group.rule === 'muon' ? 1 : 7);
      this.#groupSettings.push({ rule: group.rule, tensor });
      if (group.rule === 'muon') this.#muon(graph, group, tensor);
      else {
        graph.expand(
          graph.adamw(
            group.parameters,
            graph.multiply(group.gradients, this.#factor),
            group.firstMoments,
            group.secondMoments,
            tensor,
          ),
        );
      }
    }
    this.#allocator = weights.device.newAllocator();
    weights.device.place(this.#allocator, graph.whole);
    this.#normGraph = graph.part(0, normNodes);
    this.#stepGraph = graph.part(normNodes, graph.nodes);
  }

  /** Euclidean norm of the gradients that lie there now. */
  async gradientNorm(): Promise<number> {
    await this.#weights.device.compute(this.#normGraph);
    return Math.sqrt(this.#weights.device.read(this.#norm, 1)[0] ?? NaN);
  }

  /** @param update 1 for the first step. */
  async step(learningRate: number, update: number, gradientNorm: number): Promise<void> {
    const { beta1, beta2, epsilon, weightDecay, clipNorm } = this.#settings;
    const settings = (decay: number): Float32Array =>
      Float32Array.of(
        learningRate,
        beta1,
        beta2,
        epsilon,
        decay,
        1 / (1 - beta1 ** update),
        1 / (1 - beta2 ** update),
      );
    const { device } = this.#weights;
    device.write(
      this.#factor,
      Float32Array.of(clipNorm > 0 && gradientNorm > clipNorm ? clipNorm / gradientNorm : 1),
    );
    for (const { rule, tensor } of this.#groupSettings) {
      if (rule === 'muon')
        device.write(tensor, Float32Array.of(-learningRate * (this.#settings.muon?.rateFactor ?? 1)));
      else device.write(tensor, settings(rule === 'decay' ? weightDecay : 0));
    }
    await device.compute(this.#stepGraph);
  }

  /** @param rate [1]: minus the step */
  #muon(graph: Graph, group: FlatGroup, rate: Tensor): void {
    const momentum = this.#settings.muon?.momentum ?? 0.95;
    const gradient = graph.multiply(group.gradients, this.#factor);
    const remembered = graph.add(graph.scale(group.firstMoments, momentum), gradient);
    // The copy stands after the last reader of the old momentum: nothing below reads `firstMoments`.
    graph.expand(graph.copyInto(remembered, group.firstMoments));
    const ahead = graph.add(graph.scale(remembered, momentum), gradient);
    for (const { shape, offset, group: rule } of this.#weights.slots) {
      if (rule !== group.rule) continue;
      const direction = orthogonal(graph, graph.view(ahead, offset, ...shape));
      const scale = Math.sqrt(Math.max(1, shape[1] / shape[0]));
      const weight = graph.view(group.parameters, offset, ...shape);
      graph.expand(graph.addInto(weight, graph.multiply(graph.scale(direction, scale), rate)));
    }
  }

  dispose(): void {
    this.#weights.device.freeAllocator(this.#allocator);
    this.#graph.dispose();
  }
}

const newtonSchulz = [3.4445, -4.775, 2.0315] as const;
const iterations = 5;

/** x [in, out] → a matrix with the same singular vectors and singular values near 1: X ← aX + (bA + cA²)X, A = XXᵀ. */
function orthogonal(graph: Graph, x: Tensor): Tensor {
  const wide = x.shape[0] >= x.shape[1];
  // A is the smaller of XXᵀ and XᵀX.
  let rows = graph.contiguous(wide ? x : graph.transposed(x));
  const norm = graph.root(graph.sum(graph.square(rows)));
  rows = graph.divide(rows, graph.scale(norm, 1, 1e-7));
  const [a, b, c] = newtonSchulz;
  for (let step = 0; step < iterations; step += 1) {
    const gram = graph.matmul(rows, rows);
    const polynomial = graph.add(graph.scale(gram, b), graph.scale(graph.matmul(gram, gram), c));
    rows = graph.add(graph.scale(rows, a), graph.matmul(graph.transposed(rows), polynomial));
  }
  return wide ? rows : graph.transposed(rows);
}
