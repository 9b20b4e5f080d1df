import { expect, it } from 'vitest';
import { intervalWords, rateWords, successRows } from '#shared/success.ts';

it('tells each task type and all of them, each with its interval', () => {
  const byTaskType = { pick: { scored: 10, successes: 4 }, look: { scored: 6, successes: 0 } };
  const rows = successRows({ scored: 16, successes: 4, byTaskType }, 'all');
  expect(rows.map((row) => [row.name, rateWords(row), intervalWords(row)])).toEqual([
    ['look', '0.0 %', '0.0 to 39.0 %'],
    ['pick', '40.0 %', '16.8 to 68.7 %'],
    ['all', '25.0 %', '10.2 to 49.5 %'],
  ]);
});

it('does not tell a single task type twice, and nothing of what scores nothing', () => {
  const one = { scored: 3, successes: 1, byTaskType: { pick: { scored: 3, successes: 1 } } };
  expect(successRows(one, 'seen')).toEqual([{ name: 'seen', scored: 3, successes: 1 }]);
  expect(successRows({ texts: 4 }, 'all')).toEqual([]);
  expect(successRows(null, 'all')).toEqual([]);
});

it('says nothing of a rate where nothing was scored', () => {
  const row = { name: 'all', scored: 0, successes: 0 };
  expect([rateWords(row), intervalWords(row)]).toEqual(['–', '–']);
});
