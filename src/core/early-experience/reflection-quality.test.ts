/**
 * Precision and recall of the rules on a sample that was read and labelled by hand: what the starter and Gemma 3 270M (a base model)
 * wrote, 40 more of the starter that were labelled after the rules were done, texts written by hand in the way of a capable
 * model, two thirds of them faithful ones that discuss alternatives, and 21 that a reviewer wrote against the rules: of its 12
 * contradictions they found none, of its 9 faithful texts they flagged 3, before they were widened on these very texts.
 *
 * `contradiction`: a reader takes another action from it, or the answer itself acts otherwise. `noise`: no reasoning about this
 * decision at all. Nothing: it may be trained on. The counts are exact, so that a change of a rule shows what it costs.
 */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { detect } from '#core/early-experience/filters.ts';

const labelled = z.object({
  source: z.string(),
  labels: z.array(z.enum(['contradiction', 'noise'])),
  expert: z.string(),
  alternatives: z.array(z.string()),
  admissible: z.array(z.string()),
  text: z.string(),
  raw: z.string().optional(),
});
const file = path.join(import.meta.dirname, '../../../test/golden/reflections-labelled.jsonl');
const sample = readFileSync(file, 'utf8')
  .split('\n')
  .filter((line) => line !== '')
  .map((line) => labelled.parse(JSON.parse(line)))
  .map((row) => {
    const findings = detect({
      ...row,
      raw: row.raw ?? row.text,
      expertAction: row.expert,
      known: '',
      outcomes: [],
      minWords: 0,
      maxWords: 200,
      cutOff: false,
    });
    return { ...row, flags: new Set<string>(findings.map(({ flag }) => flag)) };
  });
type Row = (typeof sample)[number];
const FAITHFUL = sample.filter(({ labels }) => labels.length === 0);
const SOURCES = [...new Set(sample.map(({ source }) => source))];

/** By source: found of those that are there, and found where nothing is. */
function measured(label: 'contradiction' | 'noise', found: (row: Row) => boolean, where = sample) {
  return SOURCES.map((source) => {
    const rows = where.filter((row) => row.source === source);
    const there = rows.filter(({ labels }) => labels.includes(label));
    const wrong = rows.filter((row) => !row.labels.includes(label) && found(row));
    return `${source}: ${String(there.filter(found).length)} of ${String(there.length)}, ${String(wrong.length)} wrong`;
  });
}

test('what a text concludes against the expert is found, and hardly anything else', () => {
  expect(measured('contradiction', ({ flags }) => flags.has('contradiction'))).toEqual([
    'daydream-starter: 58 of 61, 0 wrong',
    'gemma-3-270m: 1 of 1, 2 wrong',
    'written: 17 of 19, 0 wrong',
    'daydream-starter, unseen: 24 of 26, 0 wrong',
    'written against the rules: 10 of 12, 1 wrong',
  ]);
});

test('noise is found where it does not speak of what the expert acts on', () => {
  const isNoise = ({ flags }: Row) => flags.has('garbled') || flags.has('unrelated');
  // A contradiction may also be unrelated; what counts against the rule is a faithful text.
  const where = sample.filter(({ labels }) => labels.length === 0 || labels.includes('noise'));
  expect(measured('noise', isNoise, where)).toEqual([
    'daydream-starter: 21 of 27, 0 wrong',
    'gemma-3-270m: 17 of 27, 0 wrong',
    'written: 2 of 2, 2 wrong',
    'daydream-starter, unseen: 13 of 16, 0 wrong',
    'written against the rules: 0 of 0, 1 wrong',
  ]);
});

test('faithful texts that discuss alternatives are kept, but for three that name nothing and one plan', () => {
  expect(FAITHFUL).toHaveLength(45);
  const dropped = FAITHFUL.filter(({ flags }) => flags.size > 0);
  expect(dropped.map(({ text, flags }) => `${[...flags].join()}: ${text.slice(0, 30)}`)).toEqual([
    'unrelated: Everything is prepared: I hold',
    'unrelated: I want something cold, and of ',
    'contradiction: Since I must heat it later, I ',
    'unrelated: Let me think: going to microwa',
  ]);
});
