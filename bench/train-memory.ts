/** Thousands of optimiser steps of ever other shapes: the trainer process must not grow. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { uniformInt } from 'pure-rand/distribution/uniformInt';
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus';
import type { TrainRow } from '#shared/worker/trainer.ts';
import { trainRunSchema } from '#shared/schema/training.ts';
import { writeRandomGguf } from '#core/llm/index.ts';
import { openParams } from '#core/training/train-job.ts';
import { median, valueFigure } from './lib/figure.ts';
import type { Bench } from './lib/figure.ts';
import { benchThreads, openLlmBench } from './lib/llm.ts';
import { newBenchTrainer } from './lib/training.ts';

/** Resident memory of a process in MiB; null where the system has no /proc. */
function residentMiB(pid: number): number | null {
  try {
    const line = /^VmRSS:\s+(\d+) kB$/mu.exec(readFileSync(`/proc/${String(pid)}/status`, 'utf8'));
    return line === null ? null : Number(line[1]) / 1024;
  } catch {
    return null;
  }
}

const bench: Bench = {
  name: 'train-memory',
  summary: '2,000 optimiser steps of varying shapes: resident memory of the trainer process',
  async run(options) {
    const steps = options.quick ? 600 : 2000;
    const lab = await openLlmBench(options);
    const trainer = newBenchTrainer();
    try {
      const modelFile = path.join(lab.folder, 'random-weights-tiny.gguf');
      writeRandomGguf(modelFile, { seed: options.seed, layers: 2, dim: 64 });
      const base = await lab.service.resolve(modelFile);
      const run = trainRunSchema.parse({
        dataset: { folder: lab.folder },
        base: modelFile,
        threads: benchThreads,
        maxBlockTokens: 512,
      });
      const params = openParams(run, base);
      await trainer.open(params, { signal: options.signal });
      const { pid } = trainer;
      if (pid === undefined) throw new Error('the trainer process has no pid');
      const random = xoroshiro128plus(options.seed);
      const { vocabulary } = params.architecture;
      const draw = (low: number, high: number): number => uniformInt(random, low, high);
      const batch = (): TrainRow[] => {
        const start = Array.from({ length: draw(1, 100) }, () => draw(3, vocabulary - 1));
        return Array.from({ length: draw(1, 6) }, () => {
          const length = start.length + draw(4, 60);
          const tokens = Int32Array.from({ length }, (_, at) => start[at] ?? draw(3, vocabulary - 1));
          const count = draw(1, length - start.length);
          return {
            tokens,
            targets: Int32Array.from({ length: count }, (_, at) => length - count + at),
            weights: new Float32Array(count).fill(1 / count),
          };
        });
      };
      const sizes: number[] = [];
      for (let index = 0; index < steps; index += 1) {
        await trainer.step(
          batch(),
          { objective: { kind: 'likelihood' }, learningRate: 1e-4, stopNorm: null },
          { signal: options.signal },
        );
        const resident = residentMiB(pid);
        if (resident !== null) sizes.push(resident);
        if ((index + 1) % (steps / 10) === 0)
          options.say(`after ${String(index + 1)} steps: ${resident?.toFixed(0) ?? '?'} MiB resident`);
      }
      const figure = 'lowest resident memory of the last fifth of the steps over that of the second fifth';
      if (sizes.length < steps) {
        return [
          {
            ...valueFigure(figure, '×', Number.NaN, null),
            note: 'not measured: this system has no /proc to read resident memory from',
          },
        ];
      }
      const fifth = steps / 5;
      // The first fifth is warm-up: the kept graphs fill, V8 sizes its heap. The lowest, since garbage comes and goes; a leak stays.
      const early = Math.min(...sizes.slice(fifth, 2 * fifth));
      const late = Math.min(...sizes.slice(-fifth));
      return [
        valueFigure(figure, '×', late / early, { op: '<', limit: 1.05 }),
        valueFigure('resident memory, median of the last fifth', 'MiB', median(sizes.slice(-fifth)), null),
      ];
    } finally {
      await trainer.close();
      await lab.close();
    }
  },
};
export default bench;
