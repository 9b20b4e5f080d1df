import { expect, it } from 'vitest';
import { busyBetween } from './busy-cores.ts';

const core = (worked: number, idle: number) => ({
  times: { user: worked / 2, nice: worked / 2, sys: 0, irq: 0, idle },
});

it('counts the cores that worked, each by its share of the time', () => {
  const before = [core(1000, 1000), core(0, 5000), core(10, 10)];
  const after = [core(1400, 1000), core(0, 5400), core(110, 310)];
  expect(busyBetween(before, after)).toBe(1.25);
});

it('is nothing where the system tells nothing', () => {
  expect(busyBetween([], [])).toBe(0);
  expect(busyBetween([core(5, 5)], [core(5, 5)])).toBe(0);
  expect(busyBetween([core(5, 5)], [])).toBe(0);
});
