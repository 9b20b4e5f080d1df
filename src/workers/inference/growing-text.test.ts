import { expect, test } from 'vitest';
import fc from 'fast-check';
import { GrowingText } from './growing-text.ts';

/** A vocabulary of single bytes and one control token, 256, decoded as llama.cpp does: unfinished characters become U+FFFD. */
const textOf = (tokens: readonly number[]): string =>
  Buffer.from(tokens.filter((token) => token < 256)).toString('utf8');

test('after each token whose bytes end a character, the text is the text of all tokens', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 40 }), (text) => {
      const growing = new GrowingText(textOf);
      const tokens: number[] = [];
      for (const character of text.toWellFormed()) {
        for (const byte of Buffer.from(character, 'utf8')) {
          tokens.push(byte);
          growing.push(byte);
        }
        expect(growing.text).toBe(textOf(tokens));
        tokens.push(256);
        growing.push(256);
      }
    }),
  );
});

test('bytes that never become a character do not stay open for ever', () => {
  const asked: number[] = [];
  const growing = new GrowingText((tokens) => {
    asked.push(tokens.length);
    return textOf(tokens);
  });
  for (let index = 0; index < 100; index += 1) growing.push(0x80);
  growing.push(0x61);
  expect(Math.max(...asked)).toBe(4);
  expect(growing.text.endsWith('a')).toBe(true);
});

test('the text before is told, and a control token does not hide it', () => {
  const before: (readonly number[])[] = [];
  const growing = new GrowingText((tokens, last) => {
    before.push(last);
    return textOf(tokens);
  });
  for (const token of [0x61, 256, 0x62]) growing.push(token);
  expect(before).toEqual([[], [0x61], [0x61]]);
});
