import { expect, test } from 'vitest';
import { z } from 'zod';
import { issueSentences } from './issue-words.ts';
import { sentence } from './sentence.ts';

test.each([
  ['boom inside', 'boom inside.'],
  ['Invalid URL', 'Invalid URL.'],
  ['It ended.', 'It ended.'],
  ['Is it running?\n', 'Is it running?'],
  ['it said "no."', 'it said "no."'],
  ['it said "no"', 'it said "no".'],
  ['', ''],
])('%j can be followed by a sentence as %j', (words, expected) => {
  expect(sentence(words)).toBe(expected);
});

test('what a schema says in its own words ends like ours', () => {
  const value = { baseUrl: 'nowhere', name: 1 };
  const parsed = z.object({ baseUrl: z.url(), name: z.string() }).safeParse(value);
  expect(issueSentences(parsed.error?.issues ?? [], value)).toMatch(/^baseUrl: Invalid URL\. name: .+\.$/u);
});
