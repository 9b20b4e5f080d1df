import { expect, test } from 'vitest';
import { readReviewQuery, writeReviewQuery } from './review-query.ts';

const filterOf = (text: string) => readReviewQuery(new URLSearchParams(text)).filter;

test('the queue is what somebody has to decide on: not decided, and kept by the filters', () => {
  expect(filterOf('')).toEqual({ decision: 'pending', kept: true });
  expect(filterOf('run=job-1&reflection=r')).toMatchObject({ decision: 'pending', kept: true });
});

test('what the filters dropped is there for who looks for it', () => {
  expect(filterOf('kept=all')).toEqual({ decision: 'pending' });
  expect(filterOf('kept=false')).toEqual({ decision: 'pending', kept: false });
  expect(filterOf('flag=contradiction')).toEqual({ decision: 'pending', flag: 'contradiction' });
  expect(filterOf('decision=drop')).toEqual({ decision: 'drop' });
  expect(filterOf('decision=all')).toEqual({});
});

test('a change is written into the address and read back', () => {
  const written = writeReviewQuery({ decision: 'keep', kept: 'all', selected: 'r1' }, new URLSearchParams());
  expect(readReviewQuery(written)).toEqual({ filter: { decision: 'keep' }, selected: 'r1' });
});
