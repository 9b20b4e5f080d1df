import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { sideBySide } from './text-diff.ts';

const join = (parts: readonly { text: string }[]) => parts.map((part) => part.text).join('');

describe('side-by-side text diff', () => {
  it('marks the words that differ and nothing else', () => {
    const { left, right, equal } = sideBySide('You open the fridge 1.', 'You open the drawer 1.');
    expect(left.filter((part) => part.changed).map((part) => part.text)).toEqual(['fridge']);
    expect(right.filter((part) => part.changed).map((part) => part.text)).toEqual(['drawer']);
    expect(equal).toBe(false);
  });

  it('marks a run of changed words as one change', () => {
    const { right } = sideBySide('You see nothing.', 'You hold the red mug.');
    expect(right.filter((part) => part.changed)).toHaveLength(1);
  });

  it('calls equal texts equal without marking anything', () => {
    const result = sideBySide('Nothing happens.', 'Nothing happens.');
    expect(result.equal).toBe(true);
    expect(result.similarity).toBe(1);
    expect(result.left.some((part) => part.changed)).toBe(false);
  });

  it('gives both texts back whatever they hold', () => {
    const text = fc.string({ unit: 'grapheme', maxLength: 80 });
    fc.assert(
      fc.property(text, text, (a, b) => {
        const { left, right, similarity } = sideBySide(a, b);
        expect(join(left)).toBe(a);
        expect(join(right)).toBe(b);
        expect(similarity).toBeGreaterThanOrEqual(0);
        expect(similarity).toBeLessThanOrEqual(1);
      }),
    );
  });

  it('keeps head and tail of texts too long for a word diff', () => {
    const a = `start ${'x '.repeat(20_000)} end`;
    const b = `start ${'y '.repeat(20_000)} end`;
    const { left, right } = sideBySide(a, b);
    expect(join(left)).toBe(a);
    expect(join(right)).toBe(b);
    expect(left[0]).toEqual({ text: 'start ', changed: false });
  });
});
