import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { z } from 'zod';
import type { SftRow } from '#shared/schema/dataset.ts';
import { trainRunSchema } from '#shared/schema/training.ts';
import { writeRandomGguf } from '#core/llm/index.ts';
import { createTrainJob, mergeAdapter } from '#core/training/index.ts';
import { openLab } from '#test/helpers/methods.ts';
import type { Lab } from '#test/helpers/methods.ts';
import { testModelService } from '#test/helpers/model-service.ts';
import type { TestService } from '#test/helpers/model-service.ts';
import { soundRow } from '#test/helpers/sft-rows.ts';

let folder: string;
let models: TestService;
let lab: Lab;

beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'daydream-train-'));
  models = testModelService();
  lab = openLab({ models: models.service });
  lab.services.jobs.register(createTrainJob(lab.services));
  writeRandomGguf(path.join(folder, 'random-weights-a.gguf'), {
    seed: 3,
    words: ['take', 'mug', 'shelf', 'open', 'drawer'],
  });
});
afterEach(async () => {
  await lab.close();
  await models.service.dispose();
  rmSync(folder, { recursive: true, force: true });
});

const objects = ['mug', 'shelf', 'drawer'];

function row(index: number, messages: SftRow['messages']): SftRow {
  return { ...soundRow(index), messages };
}

/** Says which object was named: something to learn in a few updates. */
function expertRows(): SftRow[] {
  return Array.from({ length: 24 }, (_, index) => {
    const object = objects[index % 3] ?? 'mug';
    return row(index, [
      { role: 'system', content: 'You act.' },
      { role: 'user', content: `there is a ${object}` },
      { role: 'assistant', content: `take ${object}` },
    ]);
  });
}

function writePart(part: string, rows: readonly SftRow[]): void {
  writeFileSync(path.join(folder, `${part}.jsonl`), rows.map((line) => `${JSON.stringify(line)}\n`).join(''));
}

function run(settings: Record<string, unknown> = {}) {
  return trainRunSchema.parse({
    dataset: { folder },
    base: path.join(folder, 'random-weights-a.gguf'),
    batchRows: 8,
    updates: 30,
    learningRate: 5e-3,
    maxBlockTokens: 256,
    threads: 1,
    checkpointEvery: 10,
    ...settings,
  });
}

const resultSchema = z.object({ file: z.string(), updates: z.int(), modelId: z.string().nullable() });
const trained = z.object({ updates: z.int(), trainedTokens: z.int() });

async function logprob(
  adapter: string | null,
  file = path.join(folder, 'random-weights-a.gguf'),
): Promise<number> {
  const base = await models.service.resolve(file);
  const { model, release } = await models.service.load(base, {
    adapters: adapter === null ? [] : [{ path: adapter, scale: 1 }],
    contextTokens: 256,
    sequences: 1,
    threads: 1,
    format: 'auto',
  });
  try {
    const [encoded] = await model.encode([expertRows()[1]?.messages ?? []]);
    if (encoded === undefined) throw new Error('nothing was encoded');
    const scores = await model.score(encoded);
    return scores.reduce((sum, score) => sum + score, 0);
  } finally {
    await release();
  }
}

it('trains an adapter that the inference process loads, and that says what it was taught', async () => {
  writePart('expert_sft', expertRows());
  const before = await logprob(null);
  const job = await lab.run('train', run());
  expect(job.error).toBeNull();
  const { file, updates } = resultSchema.parse(job.result);
  expect(updates).toBe(30);
  const losses = lab.services.store.jobs
    .metrics(job.jobId, { names: ['loss/il'], maxPoints: 100 })
    .map(({ value }) => value);
  expect(losses).toHaveLength(30);
  const after = await logprob(file);
  expect(after).toBeGreaterThan(before + 5);
  // The trainer’s own last loss and the other engine’s log-probabilities speak of the same weights.
  expect(-after / 3).toBeLessThan(1.5 * Math.max(0.05, losses.at(-1) ?? 0) + 0.3);
}, 60_000);

it('merges an adapter into a model that says the same', async () => {
  writePart('expert_sft', expertRows());
  const { file } = resultSchema.parse((await lab.run('train', run({ updates: 10 }))).result);
  const merged = path.join(folder, 'merged.gguf');
  const request = { base: path.join(folder, 'random-weights-a.gguf'), adapter: file, file: merged };
  const model = await mergeAdapter(request, lab.services);
  expect(model.problem).toBeNull();
  expect(await logprob(null, merged)).toBeCloseTo(await logprob(file), 2);
  await expect(mergeAdapter(request, lab.services)).rejects.toThrow('exists');
}, 60_000);

it('trains the whole model and registers the new file', async () => {
  writePart('expert_sft', expertRows());
  const job = await lab.run('train', run({ weights: { kind: 'full' }, learningRate: 1e-3, updates: 12 }));
  expect(job.error).toBeNull();
  const { file, modelId } = resultSchema.parse(job.result);
  const stored = (await models.service.list()).find((model) => model.modelId === modelId);
  expect(stored?.location).toBe(file);
  expect(stored?.problem).toBeNull();
}, 60_000);

it('trains with Muon when it is asked to', async () => {
  writePart('expert_sft', expertRows());
  const lossesWith = async (optimizer: string): Promise<number[]> => {
    const settings = { weights: { kind: 'full' }, learningRate: 3e-4, updates: 12, optimizer };
    const job = await lab.run('train', run(settings));
    expect(job.error).toBeNull();
    return lab.services.store.jobs
      .metrics(job.jobId, { names: ['loss/il'], maxPoints: 100 })
      .map(({ value }) => value);
  };
  const muon = await lossesWith('muon');
  const adamw = await lossesWith('adamw');
  expect(muon[0]).toBeCloseTo(adamw[0] ?? 0, 6);
  expect(muon.at(-1)).not.toBeCloseTo(adamw.at(-1) ?? 0, 3);
  expect(muon.at(-1)).toBeLessThan(0.7 * (muon[0] ?? 0));
}, 60_000);

it('is bit by bit the same with and without a death of the trainer process', async () => {
  writePart('expert_sft', expertRows());
  const whole = resultSchema.parse((await lab.run('train', run())).result);
  const spawned = lab.services.newTrainer;
  let kills = 0;
  const services = {
    ...lab.services,
    newTrainer: () => {
      const trainer = spawned();
      const step = trainer.step.bind(trainer);
      let steps = 0;
      trainer.step = async (...values) => {
        steps += 1;
        if (steps === 16 && kills === 0 && 'pid' in trainer) {
          kills += 1;
          process.kill(Number(trainer.pid), 'SIGKILL');
        }
        return step(...values);
      };
      return trainer;
    },
  };
  const other = openLab({ models: models.service });
  other.services.jobs.register(createTrainJob({ ...other.services, newTrainer: services.newTrainer }));
  const job = await other.run('train', run());
  expect(job.error).toBeNull();
  expect(kills).toBe(1);
  const again = resultSchema.parse(job.result);
  expect(readFileSync(again.file).equals(readFileSync(whole.file))).toBe(true);
  await other.close();
}, 90_000);

it('names the rule that stopped it, its numbers and its option', async () => {
  writePart('expert_sft', expertRows());
  const wild = { learningRate: 0.5, clipNorm: 0, divergenceFactor: 2, updates: 200 };
  const job = await lab.run('train', run({ weights: { kind: 'full' }, ...wild }));
  expect(job.error?.code).toBe('TRAINING_DIVERGED');
  expect(job.error?.message).toMatch(
    /^Update \d+ gave a gradient norm of [\d.]+, over the limit of [\d.]+ \(divergenceFactor=2 times the median of the last \d+ updates, [\d.]+; --set divergenceFactor=… changes it\), with a loss of [\d.]+\. Nothing was changed/,
  );
}, 60_000);

it('lets a wild start settle', async () => {
  writePart('expert_sft', expertRows());
  const job = await lab.run('train', run({ weights: { kind: 'full' }, learningRate: 0.5, updates: 40 }));
  expect(job.error).toBeNull();
  const losses = lab.services.store.jobs
    .metrics(job.jobId, { names: ['loss/il'], maxPoints: 100 })
    .map(({ value }) => value);
  const [first = 0] = losses;
  expect(Math.max(...losses.slice(0, 16))).toBeGreaterThan(first);
  expect(losses.at(-1)).toBeLessThan(first / 2);
}, 60_000);

it('names the rows that are too long, and trains nothing', async () => {
  const long = row(0, [
    { role: 'user', content: 'mug '.repeat(400) },
    { role: 'assistant', content: 'take mug' },
  ]);
  writePart('expert_sft', [...expertRows(), long]);
  const job = await lab.run('train', run());
  expect(job.state).toBe('failed');
  expect(job.error?.code).toBe('INVALID_INPUT');
  expect(job.error?.message).toMatch(
    /1 row is longer than the 256 tokens that fit: expert_sft\.jsonl:25 \((\d+)\)\..*--block-tokens \1/,
  );
}, 60_000);

it('refuses an empty data set', async () => {
  writePart('expert_sft', []);
  const job = await lab.run('train', run());
  expect(job.error?.message).toContain('no rows');
}, 60_000);

it.each([
  ['a number of updates', { updates: 3 }, 6],
  ['epochs', { updates: null, epochs: 2, iwmEpochs: 1 }, 10],
])(
  'controls for iwm-il with as many updates as it has, by %s',
  async (_, settings, updates) => {
    writePart('expert_sft', expertRows());
    writePart('iwm_sft', [...expertRows(), ...expertRows()].slice(0, 27));
    const updatesOf = async (recipe: string) => {
      const job = await lab.run('train', run({ ...settings, recipe }));
      expect(job.error).toBeNull();
      return resultSchema.parse(job.result).updates;
    };
    expect(await updatesOf('iwm-il')).toBe(updates);
    expect(await updatesOf('il2')).toBe(updates);
  },
  60_000,
);

it('sees each row once an epoch: the last update has what is left', async () => {
  const rows = expertRows().slice(0, 17);
  writePart('expert_sft', rows);
  const tokensOf = async (settings: Record<string, unknown>) => {
    const job = await lab.run('train', run(settings));
    expect(job.error).toBeNull();
    return trained.parse(job.result);
  };
  const whole = await tokensOf({ updates: null, epochs: 1, batchRows: 17 });
  const cut = await tokensOf({ updates: null, epochs: 1, batchRows: 8 });
  expect([whole.updates, cut.updates]).toEqual([1, 3]);
  expect(cut.trainedTokens).toBe(whole.trainedTokens);
}, 60_000);
