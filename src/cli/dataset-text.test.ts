import { expect, test } from 'vitest';
import type { Dataset, Manifest } from '#shared/schema/dataset.ts';
import { datasetSchema, manifestSchema } from '#shared/schema/dataset.ts';
import { wholeManifest } from '#test/helpers/sft-rows.ts';
import { datasetText } from './dataset-text.ts';

const file = (part: string, candidates: number | null, rows: number) => ({
  part,
  file: `${part}.jsonl`,
  candidates,
  rows,
  repeated: part === 'iwm_sft' ? 4 : 0,
  bytes: 1,
  sha256: 'a'.repeat(64),
});
const count = (part: string | null, filter: string, dropped: number, flagged: number | null = null) => ({
  part,
  filter,
  dropped,
  flagged,
  help: '',
});
const dataset = (manifest: Manifest): Dataset =>
  datasetSchema.parse({ datasetId: 'd', name: 'n', jobId: null, folder: '/data', manifest, createdAt: 0 });

test('each file has its own sum, and flags stand beside the reasons', () => {
  const manifest = manifestSchema.parse({
    ...wholeManifest(),
    branches: {
      executed: 36,
      expert: 3,
      iwm: 24,
      sr: 9,
      accepted: 35,
      rejected: 1,
      invalid: 2,
      inadmissible: 0,
      sameAsExpert: 0,
      refilled: 1,
      unasked: 3,
      promptTooLong: 1,
    },
    iwmTargets: {
      rows: 24,
      distinct: 9,
      characters: 1000,
      kinds: [
        { kind: 'help', rows: 2, distinct: 1, characters: 530 },
        { kind: 'go', rows: 22, distinct: 8, characters: 470 },
      ],
    },
    files: [file('expert_sft', 3, 2), file('iwm_sft', 26, 24), file('reflection_sft', 3, 1)],
    filters: [
      count('reflection_sft', 'numbering', 1, 2),
      count('reflection_sft', 'too-long', 0, 2),
      count('expert_sft', 'overlong', 1),
      count('iwm_sft', 'overlong', 2),
      count('reflection_sft', 'overlong', 1),
    ],
  });
  expect(datasetText(dataset(manifest))).toMatchInlineSnapshot(`
    "What was collected
      tasks                                                        1
      expert demonstrations                                        1
      expert states                                                3

    Branches: one action each, executed from an expert state
      all                                                         36
        the expert’s own action, once more                         3
        alternatives for the world model (IWM)                    24
        alternatives for self-reflection (SR)                      9
      all, again                                                  36
        proved and accepted                                       35
        rejected (start not proved equal), not executed            1
      of the accepted (one may be several of these)
        invalid in the environment, kept as signal                 2
        not admissible, executed all the same                      0
        alternative with the expert’s outcome                      0
        refilled (bad or duplicate proposal)                       1
        drawn without asking the policy (prompt too long)          3
      states whose prompt did not fit the policy                   1

    expert_sft.jsonl: imitation
      expert states                                                3
        left out: overlong (limits.maxPromptTokens)                1
      rows                                                         2

    iwm_sft.jsonl: world model
      accepted branches of this set                               26
        left out: overlong (limits.maxPromptTokens)                2
      rows                                                        24
        the same as an earlier row, kept                           4
      distinct target texts                                        9
      by command, most target text first
        help                         2 rows    8.3 %   53.0 % of the target text
        go                          22 rows   91.7 %   47.0 % of the target text

    reflection_sft.jsonl: self-reflection
      reflections wanted                                           3
        left out: numbering                                        1
        left out: overlong (limits.maxPromptTokens)                1
      rows                                                         1

    Flags on the reflections (one may carry several, so they do not add up; above each counts once, under its first)
      numbering                                                    2
      too-long                                                     2

    Files: /data"
  `);
});

test('a manifest of before files had sums is still a table', () => {
  const manifest = manifestSchema.parse({
    ...wholeManifest(),
    files: [file('expert_sft', null, 3)],
    filters: [count(null, 'overlong', 3)],
  });
  const text = datasetText(dataset(manifest));
  expect(text).toMatch(/rows +3\n/);
  expect(text).toMatch(/left out: overlong .* +3\n/);
  expect(text).not.toContain('expert’s own action');
});

test('refused demonstrations are told by line and reason, and what became of each proposal adds up', () => {
  const refusals = Array.from({ length: 12 }, (_, index) => ({
    line: index + 2,
    taskId: index === 0 ? null : 'mug',
    reason: index === 0 ? 'not JSON' : 'the task was not solved in 2 steps',
  }));
  const manifest = manifestSchema.parse({
    ...wholeManifest(),
    refusedDemonstrations: { total: 12, file: '/data/import.jsonl', listed: refusals },
    proposals: {
      ...{ drawn: 50, used: 20, expert: 9, duplicate: 8, unreadable: 3 },
      ...{ inadmissible: 7, excluded: 0, surplus: 3 },
    },
  });
  const text = datasetText(dataset(manifest));
  expect(text).toMatch(/refused as demonstrations +12\n +of \/data\/import\.jsonl\n +line 2: not JSON\n/u);
  expect(text).toContain('    line 3, task mug: the task was not solved in 2 steps\n');
  expect(text).toContain('    … and 2 more: refusedDemonstrations in manifest.json\n');
  const count = (name: string) => Number(new RegExp(`${name}.* (\\d+)\\n`, 'u').exec(text)?.[1]);
  expect(count('drawn ')).toBe(50);
  const parts = [
    'executed as alternatives',
    'expert’s own action ',
    'said before',
    'could be read',
    'dropped: not admissible',
    'K was reached',
  ];
  expect(parts.reduce((sum, name) => sum + count(name), 0)).toBe(50);
});
