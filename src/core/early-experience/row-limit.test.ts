/** How long a row may be is counted in the tokens of the policy that is trained on it, and of no other model. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import type { Dataset, SftRow } from '#shared/schema/dataset.ts';
import { earlyExperienceRunSchema } from '#shared/schema/run.ts';
import type { FakeModel } from '#test/helpers/methods.ts';
import { fakeModel, openLab, soundReflection } from '#test/helpers/methods.ts';

/** Tells `share` of the tokens that the fake counts: one a character. */
function telling(share: number, model: FakeModel): FakeModel {
  const generate = model.generate.bind(model);
  model.generate = async (request, options) => {
    const result = await generate(request, options);
    const promptTokens = result.promptTokens.slice(0, Math.floor(result.promptTokens.length * share));
    return { ...result, promptTokens, promptLength: promptTokens.length };
  };
  return model;
}

/** Characters of the longest expert row where a row may have `limit` tokens, of which the policy's answer 100. */
async function longestRow(limit: number, policy: FakeModel, reflector: FakeModel) {
  const lab = openLab({ model: policy });
  try {
    const { models } = lab.services;
    models.resolve = (reference) =>
      Promise.resolve({ ...policy.info.model, name: reference === 'reflector' ? 'reflector' : 'policy' });
    models.load = ({ name }) =>
      Promise.resolve({
        model: name === 'reflector' ? reflector : policy,
        release: () => Promise.resolve(),
      });
    const run = earlyExperienceRunSchema.parse({
      kind: 'early-experience',
      environment: { id: 'household-small', tasks: 2 },
      policy: { model: 'policy', maxTokens: 100 },
      reflection: { generator: { model: 'reflector' } },
      limits: { maxPromptTokens: limit - 100 },
    });
    const job = await lab.run('early-experience', run);
    expect(job.error).toBeNull();
    const { folder, filters } = (
      job.result as unknown as { export: Dataset['manifest'] & { folder: string } }
    ).export;
    expect(filters.some(({ part, filter }) => part === 'expert_sft' && filter === 'overlong')).toBe(true);
    const lines = readFileSync(path.join(folder, 'expert_sft.jsonl'), 'utf8').trim().split('\n');
    const characters = lines.map((line) =>
      (JSON.parse(line) as SftRow).messages.reduce((sum, { content }) => sum + content.length, 0),
    );
    return Math.max(...characters);
  } finally {
    await lab.close();
  }
}

const proposes = () => fakeModel(() => '<action>look</action>');
const reflects = () => fakeModel(soundReflection);

test('the reflector’s longer tokens let no longer row pass', async () => {
  const longest = await longestRow(2_700, telling(1, proposes()), telling(1 / 4, reflects()));
  expect(longest).toBeLessThanOrEqual(2_700);
});

test('a policy whose server tells no tokens is guessed at three characters each, not measured by the reflector', async () => {
  const longest = await longestRow(1_100, telling(0, proposes()), telling(1 / 4, reflects()));
  expect(longest).toBeGreaterThan(2_700);
  expect(longest).toBeLessThanOrEqual(3_300);
});
