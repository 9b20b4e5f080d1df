import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findText } from './find-text.ts';

describe('finding text', () => {
  it('highlights evidence across a line break and in any case', () => {
    const spans = findText('I know the Expert\naction is best.', ['expert action']);
    expect(spans).toEqual([
      { text: 'I know the ', match: null },
      { text: 'Expert\naction', match: 0 },
      { text: ' is best.', match: null },
    ]);
  });

  it('leaves overlaps to the match that starts first', () => {
    const spans = findText('alternative 2 fails', ['2 fails', 'alternative 2']);
    expect(spans.filter((span) => span.match !== null)).toEqual([{ text: 'alternative 2', match: 1 }]);
  });

  it('takes pattern characters literally and gives the text back', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme', maxLength: 60 }),
        fc.array(fc.string({ unit: 'grapheme', maxLength: 6 }), { maxLength: 4 }),
        (text, needles) => {
          expect(
            findText(text, needles)
              .map((span) => span.text)
              .join(''),
          ).toBe(text);
        },
      ),
    );
    expect(findText('a.b axb', ['a.b']).filter((span) => span.match === 0)).toHaveLength(1);
  });
});
