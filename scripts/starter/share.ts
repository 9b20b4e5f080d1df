import { wilsonInterval } from '../../src/shared/wilson.ts';

export function percent(value: number): string {
  return `${(100 * value).toFixed(1)} %`;
}

/** `50.0 % (48 of 96, 95 % interval 40.2 % – 59.8 %)`: Wilson's, of independent trials. */
export function shareWords(count: number, n: number, more = ''): string {
  const { low, high } = wilsonInterval(count, n) ?? { low: 0, high: 1 };
  return `${percent(count / n)} (${String(count)} of ${String(n)}, 95 % interval ${percent(low)} – ${percent(high)}${more})`;
}
