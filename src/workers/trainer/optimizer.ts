/** AdamW on the flat arrays (Loshchilov & Hutter 2019), with the global norm clipped. */
import { Graph } from './graph.ts';
import type { Tensor } from './graph.ts';
import type { Pointer } from './library.ts';
import type { DeviceWeights } from './weights.ts';

export interface AdamSettings {
  beta1: number;
  beta2: number;
  epsilon: number;
  weightDecay: number;
  /** Gradients longer than this are shortened to it; 0: never. */
  clipNorm: number;
}

export class Adam {
  readonly #weights: DeviceWeights;
  readonly #settings: AdamSettings;
  readonly #graph: Graph;
  readonly #allocator: Pointer;
  readonly #normGraph: Pointer;
  readonly #stepGraph: Pointer;
  readonly #norm: Tensor;
  readonly #factor: Tensor;
  /** By group. */
  readonly #groupSettings: { decays: boolean; tensor: Tensor }[] = [];

  constructor(weights: DeviceWeights, settings: AdamSettings) {
    this.#weights = weights;
    this.#settings = settings;
    const graph = new Graph(weights.device, 128);
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
      const tensor = graph.input('f32', 7);
      this.#groupSettings.push({ decays: group.decays, tensor });
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
    for (const { decays, tensor } of this.#groupSettings)
      device.write(tensor, settings(decays ? weightDecay : 0));
    await device.compute(this.#stepGraph);
  }

  dispose(): void {
    this.#weights.device.freeAllocator(this.#allocator);
    this.#graph.dispose();
  }
}
