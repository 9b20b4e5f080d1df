/** The computation of one batch of blocks: forward, and backward when asked; inputs filled from a plan. */
import { chunksOf } from '#shared/worker/attention-chunks.ts';
import type { Chunk } from '#shared/worker/attention-chunks.ts';
import type { Architecture } from '#shared/worker/trainer.ts';
import { head, hiddenStates } from './decoder.ts';
import type { Device } from './device.ts';
import { fillMasks } from './forest.ts';
import type { Block, Cell } from './forest.ts';
import { Graph } from './graph.ts';
import type { Tensor } from './graph.ts';
import type { Pointer } from './library.ts';
import { Tape } from './tape.ts';
import type { DeviceWeights } from './weights.ts';

export interface BatchShape {
  length: number;
  blocks: number;
  sources: number;
  cells: number;
}

export interface BatchOptions {
  backward: boolean;
  /** Also predict a value at each source, by `value_head.weight`. */
  values: boolean;
}

const granularity = 32;

/** Cells of a batch with their place among its sources. */
export interface Placed {
  shape: BatchShape;
  blocks: readonly Block[];
  cells: readonly { cell: Cell; source: number }[];
  sourceNodes: readonly number[];
}

export function placeBlocks(blocks: readonly Block[], length: number): Placed {
  const sources = new Map<number, number>();
  const cells = blocks.flatMap((block, index) =>
    block.cells.map((cell) => {
      const node = index * length + cell.node;
      let source = sources.get(node);
      if (source === undefined) {
        source = sources.size;
        sources.set(node, source);
      }
      return { cell, source };
    }),
  );
  const rounded = (count: number): number => Math.max(1, Math.ceil(count / granularity)) * granularity;
  return {
    shape: { length, blocks: blocks.length, sources: rounded(sources.size), cells: rounded(cells.length) },
    blocks,
    cells,
    sourceNodes: [...sources.keys()],
  };
}

export class BatchGraph {
  readonly shape: BatchShape;
  readonly #device: Device;
  readonly #architecture: Architecture;
  readonly #graph: Graph;
  readonly #allocator: Pointer;
  readonly #chunks: readonly Chunk[];
  readonly #forward: Pointer;
  readonly #backward: Pointer | null;
  readonly #inputs: {
    ids: Tensor;
    positions: Tensor;
    masks: Tensor[];
    windowMasks: Tensor[] | null;
    sources: Tensor;
    cells: Tensor;
  };
  /** What only the way back reads (an input that nothing reads has no memory). */
  readonly #back: {
    negatedPositions: Tensor;
    cellsWide: Tensor;
    weights: Tensor;
    sourceWeights: Tensor;
    valueSeed: Tensor | null;
  } | null;
  readonly #logprobs: Tensor;
  readonly #values: Tensor | null;
  /** Bytes that the results take. */
  readonly bytes: number;

  constructor(
    device: Device,
    architecture: Architecture,
    weights: DeviceWeights,
    shape: BatchShape,
    options: BatchOptions,
  ) {
    this.shape = shape;
    this.#device = device;
    this.#architecture = architecture;
    const { length, blocks, sources, cells } = shape;
    const chunks = chunksOf(length, device.info.kind === 'cpu');
    this.#chunks = chunks;
    const graph = new Graph(
      device,
      512 + architecture.layers * (256 + 32 * chunks.length * (chunks.length + 4)),
    );
    this.#graph = graph;
    const masks = (): Tensor[] => chunks.map(({ from, to }) => graph.input('f32', to, to - from, 1, blocks));
    const tokens = length * blocks;
    this.#inputs = {
      ids: graph.input('i32', tokens),
      positions: graph.input('i32', tokens),
      masks: masks(),
      windowMasks: architecture.window === null ? null : masks(),
      sources: graph.input('i32', sources),
      cells: graph.input('i32', cells),
    };
    this.#back = options.backward
      ? {
          negatedPositions: graph.input('i32', tokens),
          cellsWide: graph.input('i64', cells),
          weights: graph.input('f32', 1, cells),
          sourceWeights: graph.input('f32', 1, sources),
          valueSeed: options.values ? graph.input('f32', 1, sources) : null,
        }
      : null;
    const tape = new Tape(graph);
    const hidden = hiddenStates(tape, architecture, weights, {
      ...this.#inputs,
      negatedPositions: this.#back?.negatedPositions ?? null,
      chunks,
      length,
      blocks,
    });
    const top = head(tape, weights, hidden, this.#inputs);
    const value = options.values
      ? tape.linear(top.picked, weights.get('value_head.weight'), null, null)
      : null;
    this.#logprobs = graph.output(top.logprobs);
    this.#values = value === null ? null : graph.output(value.tensor);
    for (const result of [this.#logprobs, this.#values]) if (result !== null) graph.expand(result);
    const forwardNodes = graph.nodes;
    if (this.#back !== null) {
      if (value !== null) value.gradient = this.#back.valueSeed;
      tape.backward(top.logits, top.seed(this.#back));
    }
    this.#allocator = device.newAllocator();
    this.bytes = device.place(this.#allocator, graph.whole);
    this.#forward = graph.part(0, forwardNodes);
    this.#backward = options.backward ? graph.part(forwardNodes, graph.nodes) : null;
  }

  /** Log-probability of each cell, in order; values by source, when asked for. */
  async forward(batch: Placed): Promise<{ logprobs: Float32Array; values: Float32Array | null }> {
    this.#fill(batch);
    await this.#device.compute(this.#forward);
    return {
      logprobs: this.#device.read(this.#logprobs, batch.cells.length),
      values: this.#values === null ? null : this.#device.read(this.#values, batch.sourceNodes.length),
    };
  }

  /**
   * Adds the gradient of −Σ weight · log-probability (+ Σ seed · value) to the weights' gradients. After `forward`.
   * @param weights by cell
   * @param valueSeeds by source
   */
  async backward(batch: Placed, weights: Float32Array, valueSeeds: Float32Array | null): Promise<void> {
    if (this.#backward === null || this.#back === null)
      throw new RangeError('this graph has no backward pass');
    const { sources, cells } = this.shape;
    const cellWeights = new Float32Array(cells);
    const sourceWeights = new Float32Array(sources);
    batch.cells.forEach(({ source }, index) => {
      const weight = weights[index] ?? 0;
      cellWeights[index] = weight;
      sourceWeights[source] = (sourceWeights[source] ?? 0) + weight;
    });
    this.#device.write(this.#back.weights, cellWeights);
    this.#device.write(this.#back.sourceWeights, sourceWeights);
    if (this.#back.valueSeed !== null) {
      const seeds = new Float32Array(sources);
      if (valueSeeds !== null) seeds.set(valueSeeds.subarray(0, sources));
      this.#device.write(this.#back.valueSeed, seeds);
    }
    await this.#device.compute(this.#backward);
  }

  dispose(): void {
    this.#device.freeAllocator(this.#allocator);
    this.#graph.dispose();
  }

  #fill(batch: Placed): void {
    const { length, blocks, sources, cells } = this.shape;
    const ids = new Int32Array(length * blocks);
    const depths = new Int32Array(length * blocks);
    const negated = new Int32Array(length * blocks);
    const empty = (): Float32Array[] =>
      this.#chunks.map(({ from, to }) => new Float32Array(to * (to - from) * blocks));
    const masks = empty();
    const windowMasks = this.#inputs.windowMasks === null ? null : empty();
    batch.blocks.forEach((block, index) => {
      ids.set(block.ids, index * length);
      depths.set(block.depths, index * length);
      fillMasks(masks, this.#chunks, index, block, null);
      if (windowMasks !== null) fillMasks(windowMasks, this.#chunks, index, block, this.#architecture.window);
    });
    depths.forEach((depth, index) => {
      negated[index] = -depth;
    });
    const sourceNodes = new Int32Array(sources);
    sourceNodes.set(batch.sourceNodes);
    const vocabulary = this.#architecture.vocabulary;
    // Unused cells point at one another source's cell each: writing a cell twice would be a race.
    const cellIds = new Int32Array(cells);
    const used = new Set<number>();
    batch.cells.forEach(({ cell, source }, index) => {
      const id = source * vocabulary + cell.token;
      cellIds[index] = id;
      used.add(id);
    });
    let spare = 0;
    for (let index = batch.cells.length; index < cells; index += 1) {
      while (used.has(spare)) spare += 1;
      cellIds[index] = spare;
      spare += 1;
    }
    const device = this.#device;
    device.write(this.#inputs.ids, ids);
    device.write(this.#inputs.positions, depths);
    this.#inputs.masks.forEach((tensor, chunk) => {
      device.write(tensor, masks[chunk] ?? new Float32Array());
    });
    this.#inputs.windowMasks?.forEach((tensor, chunk) => {
      device.write(tensor, windowMasks?.[chunk] ?? new Float32Array());
    });
    device.write(this.#inputs.sources, sourceNodes);
    device.write(this.#inputs.cells, cellIds);
    if (this.#back !== null) {
      device.write(this.#back.negatedPositions, negated);
      device.write(this.#back.cellsWide, BigInt64Array.from(cellIds, BigInt));
    }
  }
}
