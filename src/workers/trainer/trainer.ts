/** A model in training: rows in, log-probabilities or one optimiser step out. */
import { AppError } from '#shared/errors.ts';
import { chunksOf, pairsOf } from '#shared/worker/attention-chunks.ts';
import type { Architecture, StepMetrics, StopNorm } from '#shared/worker/trainer.ts';
import { BatchGraph, placeBlocks } from './batch.ts';
import type { BatchOptions, Placed } from './batch.ts';
import { planForest } from './forest.ts';
import type { Block, ForestPlan, ForestRow, PlanOptions } from './forest.ts';
import { Optimizer } from './optimizer.ts';
import type { OptimizerSettings } from './optimizer.ts';
import type { Fresh, Objective, RowResult } from './objectives/objective.ts';
import type { DeviceWeights } from './weights.ts';

export interface TrainerLimits {
  /** Longest block. */
  longestBlock: number;
  /** Most tokens (with padding) computed at once. */
  mostTokens: number;
  share: boolean;
}

interface Cached {
  key: string;
  graph: BatchGraph;
}

/** Graphs of so many different shapes are kept. */
const keptGraphs = 8;

function shortNumber(value: number): string {
  return String(Number(value.toPrecision(4)));
}

/** The rule that a step breaks, in words; null where it breaks none. */
function divergence({
  loss,
  gradientNorm,
  stopNorm,
}: {
  loss: number;
  gradientNorm: number;
  stopNorm: StopNorm | null;
}): string | null {
  if (!Number.isFinite(loss)) return 'gave a loss that is no finite number';
  if (!Number.isFinite(gradientNorm)) return 'gave a gradient norm that is no finite number';
  if (stopNorm === null || gradientNorm <= stopNorm.norm) return null;
  return `gave a gradient norm of ${shortNumber(gradientNorm)}, over the limit of ${shortNumber(stopNorm.norm)} (${stopNorm.rule})`;
}

export class ModelTrainer {
  readonly weights: DeviceWeights;
  readonly architecture: Architecture;
  readonly #limits: TrainerLimits;
  readonly #optimizer: Optimizer;
  readonly #graphs: Cached[] = [];
  /** Optimiser steps so far. */
  update = 0;

  constructor(
    architecture: Architecture,
    weights: DeviceWeights,
    options: { adam: OptimizerSettings; limits: TrainerLimits },
  ) {
    this.architecture = architecture;
    this.weights = weights;
    this.#limits = options.limits;
    this.#optimizer = new Optimizer(weights, options.adam);
  }

  /** @throws RangeError for tokens outside the vocabulary (ggml would end the process), and for rows too long */
  plan(rows: readonly ForestRow[]): ForestPlan {
    const { vocabulary } = this.architecture;
    rows.forEach(({ tokens }, row) => {
      const at = tokens.findIndex((token) => token < 0 || token >= vocabulary);
      if (at >= 0)
        throw new RangeError(
          `row ${row}: token ${tokens[at]} at position ${at} is not in the vocabulary of ${vocabulary}`,
        );
    });
    return planForest(rows, this.#planOptions());
  }

  /** Log-probabilities of each row's targets. @param adapters off gives the reference policy of a LoRA model */
  async score(
    rows: readonly ForestRow[],
    options: { adapters?: boolean; signal?: AbortSignal } = {},
  ): Promise<Float32Array[]> {
    const result = rows.map(({ targets }) => new Float32Array(targets.length));
    const adapters = options.adapters ?? true;
    for (const batch of this.#batches(this.plan(rows))) {
      options.signal?.throwIfAborted();
      const graph = this.#graph(batch, { backward: false, values: false }, adapters);
      const { logprobs } = await graph.forward(batch);
      scatter(batch, logprobs, result);
    }
    return result;
  }

  /** Adds the gradients of all rows to the weights' gradients. Returns the loss. */
  async accumulate(
    rows: readonly ForestRow[],
    objective: Objective,
    signal?: AbortSignal,
  ): Promise<{ loss: number; plan: ForestPlan; computedTokens: number }> {
    const plan = this.plan(rows);
    let computedTokens = 0;
    let loss = 0;
    for (const batch of this.#batches(plan)) {
      signal?.throwIfAborted();
      const graph = this.#graph(batch, { backward: true, values: objective.values }, true);
      const fresh = await graph.forward(batch);
      const results = new Map<number, RowResult>();
      // A row lies in one block as a whole: after its batch all of its log-probabilities are known.
      for (const [row, numbers] of freshRows(batch, rows, fresh)) {
        const result = objective.row(row, numbers);
        loss += result.loss;
        results.set(row, result);
      }
      const weights = new Float32Array(batch.cells.length);
      const seeds = objective.values ? new Float32Array(batch.sourceNodes.length) : null;
      batch.cells.forEach(({ cell, source }, index) => {
        for (const { row, index: target } of cell.targets) {
          const result = results.get(row);
          weights[index] = (weights[index] ?? 0) + (result?.weights[target] ?? 0);
          if (seeds !== null) seeds[source] = (seeds[source] ?? 0) + (result?.valueSeeds?.[target] ?? 0);
        }
      });
      signal?.throwIfAborted();
      await graph.backward(batch, weights, seeds);
      computedTokens += batch.shape.length * batch.shape.blocks;
    }
    return { loss, plan, computedTokens };
  }

  /**
   * One optimiser step on the rows.
   * @throws TRAINING_DIVERGED before any weight changes, when the loss or the gradient is no finite number, or too long
   */
  async step(
    rows: readonly ForestRow[],
    objective: Objective,
    {
      learningRate,
      stopNorm,
      signal,
    }: { learningRate: number; stopNorm: StopNorm | null; signal?: AbortSignal },
  ): Promise<StepMetrics> {
    const started = performance.now();
    this.weights.clearGradients();
    const { loss, plan, computedTokens } = await this.accumulate(rows, objective, signal);
    const gradientNorm = await this.#optimizer.gradientNorm();
    const why = divergence({ loss, gradientNorm, stopNorm });
    if (why !== null) {
      throw new AppError({
        code: 'TRAINING_DIVERGED',
        message:
          `Update ${this.update + 1} ${why}, with a loss of ${shortNumber(loss)}. Nothing was changed by it; ` +
          'the last good checkpoint is kept. Use a lower learning rate or a longer warm-up.',
      });
    }
    signal?.throwIfAborted();
    this.update += 1;
    await this.#optimizer.step(learningRate, this.update, gradientNorm);
    return {
      loss,
      gradientNorm,
      learningRate,
      update: this.update,
      targets: rows.reduce((sum, { targets }) => sum + targets.length, 0),
      flatTokens: plan.flatTokens,
      forestTokens: plan.forestTokens,
      computedTokens,
      ms: performance.now() - started,
      extra: objective.metrics(),
    };
  }

  /** The gradients that lie there now, by parameter. */
  gradients(): Record<string, Float32Array> {
    const { device } = this.weights;
    return Object.fromEntries(
      this.weights.slots.map(({ name, length }) => {
        const { gradient } = this.weights.get(name);
        if (gradient === null) throw new RangeError(`${name} is frozen`);
        return [name, device.read(gradient, length)];
      }),
    );
  }

  dispose(): void {
    for (const { graph } of this.#graphs) graph.dispose();
    this.#graphs.length = 0;
    this.#optimizer.dispose();
    this.weights.dispose();
  }

  #planOptions(): PlanOptions {
    const a = this.architecture;
    const attention = (a.heads + 2 * a.kvHeads) * a.headSize;
    // Multiply-adds there and back. Those of a pair of tokens are measured (docs/log.md): short products are slow, and it passes
    // through the soft-max and back.
    const token = 3 * a.layers * (a.width * (attention + a.heads * a.headSize) + 3 * a.width * a.hidden);
    const pair = a.layers * a.heads * (7 * a.headSize + 110);
    const cut = this.weights.device.info.kind === 'cpu';
    return {
      longestBlock: Math.min(this.#limits.longestBlock, Math.ceil(a.contextLength / 64) * 64),
      share: this.#limits.share,
      cost: (length) => length * token + pair * pairsOf(chunksOf(length, cut)),
    };
  }

  *#batches(plan: ForestPlan): Generator<Placed> {
    let batch: Block[] = [];
    for (const [index, block] of plan.blocks.entries()) {
      batch.push(block);
      const next = plan.blocks[index + 1];
      const full = (batch.length + 1) * block.length > this.#limits.mostTokens;
      if (next !== undefined && next.length === block.length && !full) continue;
      yield placeBlocks(batch, block.length);
      batch = [];
    }
  }

  #graph(batch: Placed, options: BatchOptions, adapters: boolean): BatchGraph {
    const key = JSON.stringify([batch.shape, options, adapters]);
    const at = this.#graphs.findIndex((cached) => cached.key === key);
    const [found] = at < 0 ? [] : this.#graphs.splice(at, 1);
    if (found !== undefined) {
      this.#graphs.push(found);
      return found.graph;
    }
    while (this.#graphs.length >= keptGraphs) this.#graphs.shift()?.graph.dispose();
    this.weights.adaptersOn = adapters;
    const graph = new BatchGraph(this.weights.device, this.architecture, this.weights, batch.shape, options);
    this.weights.adaptersOn = true;
    this.#graphs.push({ key, graph });
    return graph;
  }
}

function scatter(batch: Placed, logprobs: Float32Array, into: readonly Float32Array[]): void {
  batch.cells.forEach(({ cell }, index) => {
    for (const { row, index: target } of cell.targets) {
      const values = into[row];
      if (values !== undefined) values[target] = logprobs[index] ?? NaN;
    }
  });
}

function* freshRows(
  batch: Placed,
  rows: readonly ForestRow[],
  fresh: { logprobs: Float32Array; values: Float32Array | null },
): Generator<[number, Fresh]> {
  const found = new Map<number, Fresh>();
  batch.cells.forEach(({ cell, source }, at) => {
    for (const { row, index } of cell.targets) {
      const count = rows[row]?.targets.length ?? 0;
      const numbers = found.get(row) ?? {
        logprobs: new Float32Array(count),
        values: fresh.values === null ? null : new Float32Array(count),
      };
      found.set(row, numbers);
      numbers.logprobs[index] = fresh.logprobs[at] ?? NaN;
      if (numbers.values !== null) numbers.values[index] = fresh.values?.[source] ?? NaN;
    }
  });
  yield* found;
}
