import { expect, test } from 'vitest';
import type { SftRow } from '#shared/schema/dataset.ts';
import { earlyExperienceRunSchema } from '#shared/schema/run.ts';
import { parseAnswer } from '#core/agents/index.ts';
import { rowProblem } from '#core/datasets/index.ts';
import type { RowSource } from '#core/early-experience/rows.ts';
import { demonstrationRows } from '#core/early-experience/rows.ts';
import { exportable } from '#core/early-experience/verdicts.ts';
import { makeBranch, makeEpisode, makeReflection, makeStep } from '#test/helpers/store-records.ts';

const plain = { tokens: null, completion: null, thought: null, promptHash: null };
const demonstration = {
  episode: makeEpisode(0, {
    instruction: 'put some mug in cabinet.',
    policy: {
      kind: 'solver',
      modelId: null,
      modelSha256: null,
      adapterSha256: [],
      chatTemplateHash: null,
      settings: {},
    },
    initialObservation: 'You are in a room.',
    initialAdmissible: ['go to desk 1', 'look'],
  }),
  steps: [
    makeStep('episode-0', 0, {
      ...plain,
      action: 'go to desk 1',
      observation: 'On the desk 1, you see a mug 1.',
      admissible: ['look', 'take mug 1 from desk 1'],
    }),
    makeStep('episode-0', 1, {
      ...plain,
      action: 'jump',
      valid: false,
      observation: 'Nothing happens.',
      admissible: ['look', 'take mug 1 from desk 1'],
    }),
    makeStep('episode-0', 2, {
      ...plain,
      action: 'take mug 1 from desk 1',
      observation: 'You pick up the mug 1.',
      admissible: ['look'],
      terminated: true,
    }),
  ],
};
const branches = [
  makeBranch('episode-0', 2, 0, {
    purpose: 'expert',
    source: 'expert',
    action: 'take mug 1 from desk 1',
    observation: 'You pick up the mug 1.',
    proposal: null,
  }),
  makeBranch('episode-0', 2, 1, { action: 'look', observation: 'You see a desk 1.', proposal: null }),
  makeBranch('episode-0', 2, 2, { action: 'eat desk 1', observation: 'Nothing happens.', valid: false }),
  makeBranch('episode-0', 2, 3, { status: 'rejected', rejectReason: 'elsewhere', observation: '' }),
  makeBranch('episode-0', 2, 4, { purpose: 'sr', action: 'look' }),
];
const reflections = [
  makeReflection('episode-0', 2, { text: 'I need the mug in my hand.', branchIds: ['branch-episode-0-2-4'] }),
];

const source: RowSource = { demonstration, branches, exported: exportable(reflections) };

function rowsOf(
  extra: object = {},
  settings: object = {},
  from: RowSource = source,
): { part: string; row: SftRow }[] {
  const run = earlyExperienceRunSchema.parse({
    kind: 'early-experience',
    environment: { id: 'household' },
    policy: { model: 'm' },
    ...extra,
  });
  return [
    ...demonstrationRows(from, {
      run,
      actionGuide: 'Commands: go to, take, look.',
      settings: { history: { style: 'append' }, style: 'full', thought: true, fewShot: false, ...settings },
    }),
  ].flatMap(({ part, row }) => (row === null ? [] : { part, row }));
}

test('the rows of a demonstration are what they were', async () => {
  await expect(JSON.stringify(rowsOf(), null, 2)).toMatchFileSnapshot(
    '../../../test/golden/early-experience-rows.json',
  );
});

test('a row is named by what it is, never by the job or the store that it came from', () => {
  const rows = rowsOf();
  const elsewhere = {
    demonstration,
    branches: branches.map((branch) => ({ ...branch, branchId: `x${branch.branchId}`, jobId: 'job-2' })),
    exported: reflections.map((one) => ({
      ...one,
      reflectionId: 'other',
      jobId: 'job-3',
      branchIds: one.branchIds.map((id) => `x${id}`),
    })),
  } as unknown as RowSource;
  expect(rowsOf({}, {}, elsewhere)).toEqual(rows);
  expect(rows.map(({ row }) => row.meta.branch_ids)).toEqual([
    [],
    [],
    ['episode-0/2/expert/0'],
    ['episode-0/2/iwm/1'],
    ['episode-0/2/iwm/2'],
    ['episode-0/2/sr/4'],
  ]);
  expect(rows.at(-1)?.row.meta.reflection_id).toBe('episode-0/2/reflection/4/0');
  const reworded = {
    demonstration,
    branches,
    exported: reflections.map((one) => ({ ...one, text: 'No.' })),
  };
  expect(rowsOf({}, {}, reworded).at(-1)?.row.id).not.toBe(rows.at(-1)?.row.id);
});

test('every row is sound', () => {
  for (const { row } of [
    ...rowsOf(),
    ...rowsOf({}, { history: { style: 'window', steps: 2 }, fewShot: true }),
  ]) {
    expect(rowProblem(row, { maxCharacters: null })).toBeNull();
  }
});

test('what the environment refused is history, never a target', () => {
  const expert = rowsOf().filter(({ part }) => part === 'expert_sft');
  expect(expert.map(({ row }) => row.meta.action)).toEqual(['go to desk 1', 'take mug 1 from desk 1']);
  expect(expert[1]?.row.messages.map(({ content }) => content)).toContain('<action>jump</action>');
});

test('IWM holds the expert’s triple and errors, no rejected branch and none of the other sampler', () => {
  const actions = (extra: object) =>
    rowsOf(extra).flatMap(({ part, row }) => (part === 'iwm_sft' ? [row.meta.action] : []));
  expect(actions({})).toEqual(['take mug 1 from desk 1', 'look', 'eat desk 1']);
  expect(actions({ branching: { iwm: { expertTriple: false } } })).toEqual(['look', 'eat desk 1']);
  expect(actions({ branching: { iwm: { enabled: false } } })).toEqual([]);
});

test('a placeholder thought is written only where it is asked for', () => {
  const target = (extra: object) => parseAnswer(rowsOf(extra)[0]?.row.messages.at(-1)?.content ?? '').thought;
  expect(target({})).toBeNull();
  expect(target({ export: { expertThought: true } })).not.toBeNull();
});

test('expert and reflection rows have one prompt, and it allows what their targets hold', () => {
  const system = (list: ReturnType<typeof rowsOf>, part: string) =>
    new Set(list.flatMap(({ part: own, row }) => (own === part ? [row.messages[0]?.content ?? ''] : [])));
  for (const history of [{ style: 'append' }, { style: 'window', steps: 2 }]) {
    for (const fewShot of [false, true]) {
      const rows = rowsOf({}, { history, fewShot, thought: false });
      const [prompt, ...others] = system(rows, 'expert_sft');
      expect(others).toEqual([]);
      expect(prompt).toContain('<think>');
      expect(system(rows, 'reflection_sft')).toEqual(new Set([prompt]));
      const input = (part: string, step: number) =>
        rows.find(({ part: own, row }) => own === part && row.meta.step === step)?.row.messages.slice(0, -1);
      expect(input('reflection_sft', 2)).toEqual(input('expert_sft', 2));
    }
  }
  const [plain] = system(rowsOf({ reflection: { enabled: false } }, { thought: false }), 'expert_sft');
  expect(plain).not.toContain('<think>');
});

test('no two rows share an object: changing one changes no other', () => {
  const rows = rowsOf().map(({ row }) => row);
  const seen = new Set<unknown>();
  for (const row of rows) {
    for (const part of [row, row.messages, row.meta, row.meta.branch_ids, ...row.messages]) {
      expect(seen.has(part)).toBe(false);
      seen.add(part);
    }
  }
  const others = structuredClone(rows.slice(1));
  for (const message of rows[0]?.messages ?? []) message.content += message.content;
  rows[0]?.messages.push({ role: 'user', content: 'again' });
  expect(rows.slice(1)).toEqual(others);
});
