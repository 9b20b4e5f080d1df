import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  formatAbout,
  formatAgo,
  formatBytes,
  formatCompact,
  formatDevice,
  formatDuration,
  formatNames,
  formatNumber,
  formatPercent,
  formatRate,
} from './format.ts';

describe('formatters', () => {
  it('writes durations as people say them', () => {
    expect([340, 4230, 192_000, 59_600, 7_500_000, 273_600_000].map(formatDuration)).toEqual([
      '340 ms',
      '4.2 s',
      '3 min 12 s',
      '1 min 00 s',
      '2 h 05 min',
      '3 d 4 h',
    ]);
  });

  it('never shows sixty of a smaller unit', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 400_000_000 }), (ms) => {
        expect(formatDuration(ms)).not.toMatch(/\b60 (s|min)\b/);
      }),
    );
  });

  it('gives estimates without false precision', () => {
    expect([20_000, 61_000, 540_000, 7_200_000, 300_000_000].map(formatAbout)).toEqual([
      'less than a minute',
      'about a minute',
      'about 9 minutes',
      'about 2 hours',
      'about 3 days',
    ]);
  });

  it('scales bytes so that at most three digits stand before the unit', () => {
    expect([0, 999, 1000, 874_000, 59_000_000, 25_300_000_000].map(formatBytes)).toEqual([
      '0 B',
      '999 B',
      '1.0 KiB',
      '854 KiB',
      '56.3 MiB',
      '23.6 GiB',
    ]);
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 999_000_000_000_000 }), (bytes) => {
        expect(formatBytes(bytes)).toMatch(/^\d{1,3}(\.\d)? (B|KiB|MiB|GiB|TiB)$/);
      }),
    );
  });

  it('keeps three significant digits', () => {
    expect([0, 0.01234, 4.5678, 123.4, 1_234_567, 0.0000123, Number.NaN].map(formatNumber)).toEqual([
      '0',
      '0.0123',
      '4.57',
      '123',
      '1,234,567',
      '1.2e-5',
      '–',
    ]);
    expect([9999, 14_625, 1_880_000, 2e9].map(formatCompact)).toEqual(['9,999', '14.6 k', '1.88 M', '2 G']);
  });

  it('shows slow rates by the minute and nothing for no rate', () => {
    expect(formatRate(4.2, 'steps')).toBe('4.2 steps/s');
    expect(formatRate(0.2, 'episodes')).toBe('12 episodes/min');
    expect(formatRate(0, 'steps')).toBe('–');
  });

  it('tells the past relative to now', () => {
    const now = Date.UTC(2026, 0, 10, 12);
    expect([3000, 45_000, 240_000, 10_800_000, 90_000_000].map((past) => formatAgo(now - past, now))).toEqual(
      ['just now', '45 s ago', '4 min ago', '3 h ago', 'yesterday'],
    );
  });

  it('writes shares with a decimal only below ten per cent', () => {
    expect([formatPercent(1, 40), formatPercent(1, 4), formatPercent(0, 4), formatPercent(1, 0)]).toEqual([
      '2.5 %',
      '25 %',
      '0 %',
      '–',
    ]);
  });

  it('writes a device one way, before and after the first model is loaded', () => {
    expect(['', 'cpu', 'cuda', 'metal', 'other'].map(formatDevice)).toEqual([
      'CPU',
      'CPU',
      'CUDA',
      'Metal',
      'other',
    ]);
  });

  it('names what is there twice once', () => {
    expect(formatNames(['small', 'large', 'small'])).toBe('small ×2, large');
    expect(formatNames([])).toBe('');
  });
});
