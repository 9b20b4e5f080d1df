/** Adapters: what a training goes on from, what it refuses, and what is told of their descent. */
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { Job } from '#shared/schema/job.ts';
import { trainRunSchema } from '#shared/schema/training.ts';
import { readGguf, writeRandomGguf } from '#core/llm/index.ts';
import { readAdapter } from '#core/training/adapter.ts';
import {
  TrainingDevices,
  checkTraining,
  createTrainJob,
  lineageOf,
  mergeAdapter,
} from '#core/training/index.ts';
import { openLab } from '#test/helpers/methods.ts';
import type { Lab } from '#test/helpers/methods.ts';
import { testModelService } from '#test/helpers/model-service.ts';
import type { TestService } from '#test/helpers/model-service.ts';
import { soundRow } from '#test/helpers/sft-rows.ts';

let folder: string;
let base: string;
let models: TestService;
let lab: Lab;
let first: Job;
let adapter: string;
const devices = new TrainingDevices(() => ({
  probe: ({ device }) =>
    device === 'cpu' ? Promise.resolve({ name: 'A processor' }) : Promise.reject(new Error('No driver.')),
  close: () => Promise.resolve(),
}));

const words = ['take', 'mug', 'shelf', 'open', 'drawer'];
const resultSchema = z.object({
  file: z.string(),
  lora: z.object({ rank: z.int(), alpha: z.number(), targets: z.array(z.string()) }),
});

beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'daydream-adapter-'));
  base = path.join(folder, 'random-weights-a.gguf');
  writeRandomGguf(base, { seed: 3, words });
  models = testModelService();
  lab = openLab({ models: models.service });
  lab.services.jobs.register(createTrainJob(lab.services));
  const rows = ['mug', 'shelf', 'drawer'].map((object, index) =>
    JSON.stringify({
      ...soundRow(index),
      messages: [
        { role: 'user', content: `there is a ${object}` },
        { role: 'assistant', content: `take ${object}` },
      ],
    }),
  );
  writeFileSync(path.join(folder, 'expert_sft.jsonl'), `${rows.join('\n')}\n`);
  writeFileSync(path.join(folder, 'reflection_sft.jsonl'), '');
  first = await lab.run('train', run({ weights: { rank: 4, targets: ['attn_q', 'ffn_up'] } }));
  adapter = resultSchema.parse(first.result).file;
}, 60_000);
afterAll(async () => {
  await lab.close();
  await models.service.dispose();
  rmSync(folder, { recursive: true, force: true });
});

function run(settings: Record<string, unknown> = {}) {
  return trainRunSchema.parse({
    dataset: { folder },
    base,
    batchRows: 3,
    updates: 8,
    learningRate: 5e-3,
    schedule: { kind: 'constant', warmupShare: 0 },
    maxBlockTokens: 128,
    threads: 1,
    ...settings,
  });
}

const losses = ({ jobId }: Job) =>
  lab.services.store.jobs.metrics(jobId, { names: ['loss/il'], maxPoints: 100 }).map(({ value }) => value);

describe('an adapter of a training', () => {
  it('has twice its rank for alpha, where none was set', () => {
    expect(resultSchema.parse(first.result).lora).toMatchObject({ rank: 4, alpha: 8 });
  });

  it('is continued with its own rank, alpha and targets, from where it stood, and names its descent', async () => {
    const second = await lab.run('train', run({ adapter: { path: adapter }, updates: 4 }));
    expect(second.error).toBeNull();
    const { file, lora } = resultSchema.parse(second.result);
    expect(lora).toMatchObject({ rank: 4, alpha: 8, targets: ['attn_q', 'ffn_up'] });
    // It starts where the first one ended, not at the base.
    expect(losses(second)[0]).toBeLessThan((losses(first)[0] ?? 0) - 0.5);
    const third = await lab.run('train', run({ adapter: { path: file }, updates: 1 }));
    expect(lineageOf(third.jobId, lab.services.store.jobs).map(({ training }) => training?.jobId)).toEqual([
      first.jobId,
      second.jobId,
    ]);
    expect(lineageOf(first.jobId, lab.services.store.jobs)).toEqual([]);
    rmSync(file);
    const gone = lineageOf(third.jobId, lab.services.store.jobs);
    expect(gone.map(({ exists }) => exists)).toEqual([true, false]);
    lab.services.store.jobs.remove(second.jobId);
    expect(lineageOf(third.jobId, lab.services.store.jobs)).toEqual([
      { file, exists: false, training: null },
    ]);
  }, 60_000);

  it('is merged under a name alone into the data folder, and never over a file', async () => {
    const merged = await mergeAdapter({ base, adapter, file: 'taught' }, lab.services);
    expect(merged.location).toBe(path.join(lab.services.dataFolder, 'models', 'taught.gguf'));
    expect(merged.problem).toBeNull();
    await expect(mergeAdapter({ base, adapter, file: 'taught.gguf' }, lab.services)).rejects.toThrow(
      'exists',
    );
    // The tokens are those of the base: the adapter still fits.
    const header = readGguf(merged.location);
    expect(readAdapter(adapter, { file: merged.location, header }).lora.rank).toBe(4);
  }, 60_000);
});

describe('an adapter that does not belong to the base', () => {
  const refused = async (request: { base: string; adapter: string }, message: RegExp) => {
    const file = path.join(folder, 'refused.gguf');
    await expect(mergeAdapter({ ...request, file }, lab.services)).rejects.toThrow(message);
    expect(existsSync(file)).toBe(false);
    await expect(
      checkTraining(run({ base: request.base, adapter: { path: request.adapter } }), lab.services, devices),
    ).rejects.toThrow(message);
  };

  it('is refused for another tokenizer, also as a policy', async () => {
    const other = path.join(folder, 'random-weights-other-words.gguf');
    writeRandomGguf(other, { seed: 3, words: words.toReversed() });
    await refused({ base: other, adapter }, /trained with another tokenizer than that of .*other-words/);
    await expect(
      models.service.load(await models.service.resolve(other), {
        adapters: [{ path: adapter, scale: 1 }],
        contextTokens: 64,
        sequences: 1,
        threads: 1,
        format: 'auto',
      }),
    ).rejects.toThrow(/another tokenizer/);
  });

  it('is refused for matrices of other sizes or more layers, by their names', async () => {
    const wide = path.join(folder, 'random-weights-wide.gguf');
    writeRandomGguf(wide, { seed: 3, words, dim: 128 });
    await refused(
      { base: wide, adapter },
      /blk\.0\.attn_q\.weight\.lora_a is 64 × 4, it would have to be 128 × 4.*and \d+ more/,
    );
    const deep = path.join(folder, 'random-weights-deep.gguf');
    writeRandomGguf(deep, { seed: 3, words, layers: 3 });
    await refused({ base: deep, adapter }, /blk\.2\.attn_q\.weight\.lora_a is missing/);
  });

  it('is refused when it is a model, or no file', async () => {
    await refused({ base, adapter: base }, /is no adapter/);
    await refused({ base, adapter: path.join(folder, 'gone.gguf') }, /There is no file .*gone\.gguf/);
  });
});

describe('before a job exists', () => {
  const check = (settings: Record<string, unknown>) => checkTraining(run(settings), lab.services, devices);

  it.each([
    [
      'a device that is not there',
      { device: 'cuda' },
      /no cuda to train on: .*No driver\. Nothing was started/,
    ],
    ['a part without rows', { recipe: 'sr' }, /reflection_sft\.jsonl has no rows, so the recipe sr/],
    ['a part that is missing', { recipe: 'iwm-il' }, /needs .*iwm_sft\.jsonl, which is not there/],
    ['a part that would only be counted', { recipe: 'il2' }, /needs .*iwm_sft\.jsonl, which is not there/],
  ])('refuses %s', async (_, settings, message) => {
    await expect(check(settings)).rejects.toThrow(message);
  });

  it('refuses an adapter for all weights, and says how it goes', async () => {
    await expect(check({ weights: { kind: 'full' }, adapter: { path: adapter } })).rejects.toThrow(
      /merge the adapter into its base first/,
    );
  });

  it('lets a sound training pass', async () => {
    expect(await check({})).toBe('Train il on random-weights-a');
  });
});
