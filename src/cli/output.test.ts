import { describe, expect, it } from 'vitest';
import { roughly } from './output.ts';

describe('time left', () => {
  it.each([
    [0, 'less than a second'],
    [595, 'less than a second'],
    [1_400, 'about 1 s'],
    [12_345, 'about 12 s'],
    [43_000, 'about 45 s'],
    [119_000, 'about 2 min'],
    [190_000, 'about 3 min'],
    [1_000_000, 'about 17 min'],
    [8_000_000, 'about 2 h 13 min'],
  ])('%i ms is "%s"', (ms, words) => {
    expect(roughly(ms)).toBe(words);
  });
});
