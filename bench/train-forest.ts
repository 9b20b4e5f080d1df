/** Prefix forests on real IWM rows (K = 8): tokens computed, gradient, and speed, against the same rows alone and PyTorch. */
import { openParams } from '#core/training/train-job.ts';
import type { OpenParams, TrainRow } from '#shared/worker/trainer.ts';
import { trainerMethods } from '#shared/worker/trainer.ts';
import type { ModelService } from '#core/llm/port.ts';
import { TrainerSession } from '#workers/trainer/session.ts';
import { medianOfPairs, ratioFigure, valueFigure } from './lib/figure.ts';
import type { Bench, BenchOptions, Figure, Pairs } from './lib/figure.ts';
import { benchThreads, openLlmBench } from './lib/llm.ts';
import { batchesOf, collectIwm, rowsOfState, rowsPerBatch } from './lib/training.ts';
import { findTorch, startTorch } from './lib/torch.ts';
import type { IwmData } from './lib/training.ts';

const never = new AbortController().signal;

type Rate = (rows: TrainRow[]) => Promise<number>;

async function paramsOf(data: IwmData, service: ModelService, change: object): Promise<OpenParams> {
  const base = await service.resolve(data.modelFile);
  return openParams({ ...data.run, threads: benchThreads, ...change }, base);
}

async function open(data: IwmData, service: ModelService, change: object): Promise<TrainerSession> {
  const session = new TrainerSession();
  await session.handlers.open(await paramsOf(data, service, change), never);
  return session;
}

/** Tokens that a row needs alone: nothing is computed from its last target on. */
function needed(rows: readonly TrainRow[]): number {
  return rows.reduce((sum, { targets }) => sum + (targets.at(-1) ?? 0), 0);
}

async function step(session: TrainerSession, rows: TrainRow[]) {
  const metrics = await session.handlers.step(
    { rows, objective: { kind: 'likelihood' }, learningRate: 1e-4, stopNorm: null },
    never,
  );
  return trainerMethods.step.result.parse(metrics);
}

async function gradients(session: TrainerSession, rows: TrainRow[]): Promise<Record<string, Float32Array>> {
  const result = await session.handlers.gradient({ rows, objective: { kind: 'likelihood' } }, never);
  return trainerMethods.gradient.result.parse(result).gradients;
}

/** ‖a − b‖ / ‖b‖ over all parameters together, and the worst of a parameter alone. */
function difference(a: Record<string, Float32Array>, b: Record<string, Float32Array>) {
  let gap = 0;
  let size = 0;
  let worst = 0;
  for (const [name, values] of Object.entries(b)) {
    const other = a[name] ?? new Float32Array(values.length);
    let ownGap = 0;
    let ownSize = 0;
    values.forEach((value, index) => {
      ownGap += (value - (other[index] ?? 0)) ** 2;
      ownSize += value ** 2;
    });
    gap += ownGap;
    size += ownSize;
    if (ownSize > 0) worst = Math.max(worst, Math.sqrt(ownGap / ownSize));
  }
  return { whole: Math.sqrt(gap / size), worst };
}

async function againstTorch(
  data: IwmData,
  service: ModelService,
  {
    ours,
    pairs,
    states,
    options,
  }: {
    ours: Rate;
    pairs: (ours: Rate, other: Rate) => Promise<Pairs>;
    states: TrainRow[][];
    options: BenchOptions;
  },
): Promise<Figure[]> {
  const torch = findTorch(options.say);
  if ('missing' in torch) {
    const figure = 'data-set tokens per second against PyTorch, float32';
    return [{ ...valueFigure(figure, 'tokens/s', Number.NaN, null), note: `not compared: ${torch.missing}` }];
  }
  const params = await paramsOf(data, service, {});
  const fresh = await open(data, service, {});
  const rows = states[0] ?? [];
  const { loss } = await step(fresh, rows);
  fresh.dispose();
  const figures: Figure[] = [];
  for (const bfloat16 of [false, true]) {
    const peer = startTorch(torch.python, params, { bfloat16 });
    try {
      const warm = await peer.train(rows, 1);
      if (!bfloat16) {
        const gap = Math.abs((warm.losses[0] ?? Number.NaN) - loss) / loss;
        figures.push(
          valueFigure('loss of a state against PyTorch, relative difference', '', gap, {
            op: '<=',
            limit: 1e-3,
          }),
        );
      }
      figures.push(
        ratioFigure(
          `data-set tokens per second against PyTorch, ${bfloat16 ? 'bfloat16 autocast' : 'float32'}`,
          'tokens/s',
          await pairs(ours, async (state) => (await peer.train(state, 1)).seconds * 1000),
          { op: '>=', limit: 3 },
        ),
      );
    } finally {
      peer.close();
    }
  }
  return figures;
}

const bench: Bench = {
  name: 'train-forest',
  summary: 'Prefix forests on IWM rows of household, K = 8, against the same rows computed alone and PyTorch',
  async run(options) {
    const lab = await openLlmBench(options);
    const data = await collectIwm({
      lab,
      seed: options.seed,
      tasks: options.quick ? 2 : 6,
      groupBy: 'state',
      signal: options.signal,
    });
    try {
      const batches = batchesOf(data);
      const lengths = data.rows.map(({ tokens }) => tokens.length).toSorted((a, b) => a - b);
      options.say(
        `${String(data.rows.length)} rows of ${String(lengths[0])} to ${String(lengths.at(-1))} tokens, batches of ${String(rowsPerBatch)}`,
      );
      const figures: Figure[] = [];
      const forest = await open(data, lab.service, {});
      const flat = await open(data, lab.service, { share: false });
      let rowTokens = 0;
      let unionTokens = 0;
      let computedTokens = 0;
      for (const batch of batches.slice(0, options.quick ? 4 : 16)) {
        options.signal.throwIfAborted();
        const metrics = await step(forest, batch);
        rowTokens += metrics.flatTokens;
        unionTokens += metrics.forestTokens;
        computedTokens += metrics.computedTokens;
      }
      const fewer = (computed: number) => ({
        value: rowTokens,
        baseline: computed,
        ratio: rowTokens / computed,
        ratios: [rowTokens / computed],
      });
      figures.push(
        ratioFigure(
          'tokens of the rows against those that the forest computes',
          'tokens',
          fewer(unionTokens),
          {
            op: '>=',
            limit: 5,
          },
        ),
        valueFigure('the same with the padding of its blocks', '×', rowTokens / computedTokens, null),
      );
      // One state at a time: both sides do the same work, and a pair takes seconds.
      const states = batchesOf(data, rowsOfState);
      const pairs = async (forestRate: Rate, otherRate: Rate): Promise<Pairs> => {
        let turn = 0;
        const next = (rate: Rate) => async (): Promise<number> => {
          options.signal.throwIfAborted();
          const state = states[Math.floor(turn / 2) % states.length] ?? [];
          turn += 1;
          return (needed(state) / (await rate(state))) * 1000;
        };
        return medianOfPairs(next(forestRate), next(otherRate), options.quick ? 5 : 7);
      };
      const ours = async (rows: TrainRow[]): Promise<number> => (await step(forest, rows)).ms;
      await step(flat, states[0] ?? []);
      figures.push(
        ratioFigure(
          'data-set tokens per second through the forest against rows alone',
          'tokens/s',
          await pairs(ours, async (rows) => (await step(flat, rows)).ms),
          { op: '>=', limit: 3 },
        ),
      );
      figures.push(...(await againstTorch(data, lab.service, { ours, pairs, states, options })));
      forest.dispose();
      flat.dispose();
      // A fresh adapter has no gradient in half of its matrices: the whole model has one everywhere.
      const whole = { weights: { ...data.run.weights, kind: 'full' } };
      const wholeForest = await open(data, lab.service, whole);
      const wholeFlat = await open(data, lab.service, { ...whole, share: false });
      const rows = states[0] ?? [];
      const { whole: gap, worst } = difference(
        await gradients(wholeForest, rows),
        await gradients(wholeFlat, rows),
      );
      wholeForest.dispose();
      wholeFlat.dispose();
      figures.push(
        valueFigure('‖forest − flat‖ / ‖flat‖ of the gradient, whole model', '', gap, {
          op: '<=',
          limit: 1e-5,
        }),
        valueFigure('the same for the worst single parameter', '', worst, null),
      );
      return figures;
    } finally {
      await lab.close();
    }
  },
};
export default bench;
