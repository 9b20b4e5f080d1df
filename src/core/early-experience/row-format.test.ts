/** Every row has the messages that its policy is prompted with, whether or not a stage has asked that policy anything. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import type { SftRow } from '#shared/schema/dataset.ts';
import type { GgufFacts } from '#shared/schema/model.ts';
import { earlyExperienceRunSchema } from '#shared/schema/run.ts';
import type { FakeModel } from '#test/helpers/methods.ts';
import { fakeModel, openLab, soundReflection } from '#test/helpers/methods.ts';

/** The messages of the first expert row. */
async function firstRow(model: FakeModel, extra: { policy?: object; branching?: object }) {
  const lab = openLab({ model });
  try {
    const run = earlyExperienceRunSchema.parse({
      kind: 'early-experience',
      environment: { id: 'household-small', tasks: 1 },
      limits: { maxPromptTokens: 100_000 },
      ...extra,
      policy: { model: 'fake', ...extra.policy },
    });
    const job = await lab.run('early-experience', run);
    expect(job.error).toBeNull();
    const { folder } = (job.result as unknown as { export: { folder: string } }).export;
    const [line = ''] = readFileSync(path.join(folder, 'expert_sft.jsonl'), 'utf8').split('\n');
    return (JSON.parse(line) as SftRow).messages;
  } finally {
    await lab.close();
  }
}

/** Where nothing is proposed by the policy: no SR set at all, or one drawn from the admissible actions. */
const unasked = [{ sr: { enabled: false } }, { sr: { sampler: 'uniform' } }];

test('rows of a completion policy have its examples, also where it proposed nothing', async () => {
  const policy = { format: 'completion' };
  const asked = await firstRow(fakeModel(soundReflection, 'completion'), { policy });
  expect(asked.length).toBeGreaterThan(3);
  for (const branching of unasked) {
    expect(await firstRow(fakeModel(soundReflection, 'completion'), { policy, branching })).toEqual(asked);
  }
}, 30_000);

test('a base model’s file decides where the run leaves the format open', async () => {
  const base = fakeModel(soundReflection, 'completion');
  base.info.model.facts = { hasChatTemplate: false } as GgufFacts;
  const [branching = {}] = unasked;
  expect((await firstRow(base, { branching })).length).toBeGreaterThan(3);
  expect(await firstRow(fakeModel(soundReflection), { branching })).toHaveLength(3);
}, 30_000);
