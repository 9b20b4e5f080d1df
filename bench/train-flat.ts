/** LoRA on flat rows against PyTorch eager, float32 and bfloat16 autocast: same weights, rows, rank, threads, in turn. */
import path from 'node:path';
import { uniformInt } from 'pure-rand/distribution/uniformInt';
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus';
import { trainRunSchema } from '#shared/schema/training.ts';
import { writeRandomGguf } from '#core/llm/index.ts';
import { openParams, trainRows } from '#core/training/train-job.ts';
import { medianOfPairs, ratioFigure, valueFigure } from './lib/figure.ts';
import type { Bench, Figure } from './lib/figure.ts';
import { benchThreads, openLlmBench } from './lib/llm.ts';
import { newBenchTrainer } from './lib/training.ts';
import { findTorch, startTorch } from './lib/torch.ts';

const rowTokens = 256;
const rowCount = 8;
const bar = 0.6;

const bench: Bench = {
  name: 'train-flat',
  summary: 'LoRA r = 16 on rows of 256 tokens against PyTorch eager, float32 and bfloat16 autocast',
  async run(options) {
    const torch = findTorch(options.say);
    if ('missing' in torch) {
      const figure = 'tokens per second against PyTorch, float32';
      return [
        { ...valueFigure(figure, 'tokens/s', Number.NaN, null), note: `not compared: ${torch.missing}` },
      ];
    }
    const lab = await openLlmBench(options);
    const trainer = newBenchTrainer();
    try {
      const modelFile = path.join(lab.folder, 'random-weights-flat.gguf');
      writeRandomGguf(modelFile, { seed: options.seed, layers: 6, dim: 256 });
      const run = trainRunSchema.parse({
        dataset: { folder: lab.folder },
        base: modelFile,
        threads: benchThreads,
        device: options.device,
        share: false,
      });
      const params = openParams(run, await lab.service.resolve(modelFile));
      const opened = await trainer.open(params, { signal: options.signal });
      const random = xoroshiro128plus(options.seed);
      const tokens = Array.from({ length: rowCount }, () =>
        Array.from({ length: rowTokens }, () => uniformInt(random, 3, params.architecture.vocabulary - 1)),
      );
      const rows = trainRows(
        tokens.map((row, index) => ({
          id: String(index),
          group: String(index),
          tokens: Int32Array.from(row),
          targets: Int32Array.from({ length: rowTokens - 1 }, (_, at) => at + 1),
        })),
      );
      const steps = options.quick ? 1 : 3;
      const perCall = rowCount * rowTokens * steps;
      const step = async (): Promise<number> => {
        options.signal.throwIfAborted();
        const metrics = await trainer.step(rows, {
          objective: { kind: 'likelihood' },
          learningRate: 1e-4,
          stopNorm: null,
        });
        return metrics.loss;
      };
      const ours = async (): Promise<number> => {
        const started = performance.now();
        for (let index = 0; index < steps; index += 1) await step();
        return (perCall / (performance.now() - started)) * 1000;
      };
      options.say(
        `PyTorch ${torch.version}${params.device === 'cuda' ? ' on the same GPU' : ''}, trained on ${params.device}, ${String(params.threads)} thread(s), ${String(opened.trainable)} trainable numbers`,
      );
      const figures: Figure[] = [];
      let first: number | null = null;
      for (const bfloat16 of [false, true]) {
        const peer = startTorch(torch.python, params, { bfloat16 });
        try {
          const warm = await peer.train(rows, 1);
          const own = await step();
          if (first === null) {
            first = own;
            const gap = Math.abs((warm.losses[0] ?? Number.NaN) - own) / own;
            figures.push(
              valueFigure('loss of the same weights and rows, relative difference', '', gap, {
                op: '<=',
                limit: 1e-3,
              }),
            );
          }
          const pairs = await medianOfPairs(
            ours,
            async () => perCall / (await peer.train(rows, steps)).seconds,
            options.quick ? 5 : 7,
          );
          figures.push(
            ratioFigure(
              `tokens per second against PyTorch, ${bfloat16 ? 'bfloat16 autocast' : 'float32'}`,
              'tokens/s',
              pairs,
              { op: '>=', limit: bar },
            ),
          );
        } finally {
          peer.close();
        }
      }
      return figures;
    } finally {
      await trainer.close();
      await lab.close();
    }
  },
};
export default bench;
