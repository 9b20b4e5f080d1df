/** Prefix forests on real IWM rows (K = 8): tokens computed, gradient, and speed, against the same rows each computed alone. */
import { openParams } from '#core/training/train-job.ts';
import type { TrainRow } from '#shared/worker/trainer.ts';
import { trainerMethods } from '#shared/worker/trainer.ts';
import type { ModelService } from '#core/llm/port.ts';
import { TrainerSession } from '#workers/trainer/session.ts';
import { medianOfPairs, ratioFigure, valueFigure } from './lib/figure.ts';
import type { Bench, Figure } from './lib/figure.ts';
import { benchThreads, openLlmBench } from './lib/llm.ts';
import { batchesOf, collectIwm, rowsPerBatch } from './lib/training.ts';
import type { IwmData } from './lib/training.ts';

const never = new AbortController().signal;

async function open(data: IwmData, service: ModelService, change: object) {
  const base = await service.resolve(data.modelFile);
  const session = new TrainerSession();
  await session.handlers.open(openParams({ ...data.run, threads: benchThreads, ...change }, base), never);
  return session;
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

const bench: Bench = {
  name: 'train-forest',
  summary: 'Prefix forests on IWM rows of household-small, K = 8, against the same rows computed alone',
  async run(options) {
    const lab = await openLlmBench(options);
    const data = await collectIwm({
      lab,
      seed: options.seed,
      tasks: options.quick ? 3 : 8,
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
      let turn = 0;
      const rate = async (session: TrainerSession): Promise<number> => {
        const batch = batches[Math.floor(turn / 2) % batches.length] ?? [];
        turn += 1;
        options.signal.throwIfAborted();
        const { flatTokens, ms } = await step(session, batch);
        return (flatTokens / ms) * 1000;
      };
      await step(flat, batches[0] ?? []);
      figures.push(
        ratioFigure(
          'data-set tokens per second through the forest against rows alone',
          'tokens/s',
          await medianOfPairs(
            () => rate(forest),
            () => rate(flat),
            options.quick ? 5 : 7,
          ),
          { op: '>=', limit: 3 },
        ),
      );
      forest.dispose();
      flat.dispose();
      // A fresh adapter has no gradient in half of its matrices: the whole model has one everywhere.
      const whole = { weights: { ...data.run.weights, kind: 'full' } };
      const wholeForest = await open(data, lab.service, whole);
      const wholeFlat = await open(data, lab.service, { ...whole, share: false });
      const rows = batches[0] ?? [];
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
