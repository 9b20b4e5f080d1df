/** How often a stage reached its goal, with n: of its result when it is done, of what it measured until then. */
import { z } from 'zod';
import { wilsonInterval } from '#shared/wilson.ts';
import type { Job, MetricPoint } from '#shared/schema/job.ts';

export interface SuccessRow {
  name: string;
  successes: number;
  scored: number;
}

const countsSchema = z.object({ scored: z.int(), successes: z.int() });
const resultSchema = countsSchema.extend({ byTaskType: z.record(z.string(), countsSchema).default({}) });

function lastValue(points: readonly MetricPoint[], name: string): number | null {
  const own = points.filter((point) => point.name === name);
  return own.toSorted((left, right) => left.step - right.step).at(-1)?.value ?? null;
}

/** Task types by name, then all of them; empty for a stage that scores nothing. */
export function successRows(job: Job, points: readonly MetricPoint[]): SuccessRow[] {
  const result = resultSchema.safeParse(job.result);
  if (result.success) {
    const { byTaskType, ...all } = result.data;
    const types = Object.entries(byTaskType)
      .map(([name, counts]) => ({ name, ...counts }))
      .toSorted((left, right) => (left.name < right.name ? -1 : 1));
    return [...(types.length > 1 ? types : []), { name: 'all', ...all }];
  }
  const scored = lastValue(points, 'episodes-scored');
  const rate = lastValue(points, 'success-rate');
  return scored === null || rate === null
    ? []
    : [{ name: 'all', scored, successes: Math.round(rate * scored) }];
}

/** The numbers that the table of successes tells are not told again below it. */
export function withoutSuccess(result: Job['result']): Job['result'] {
  if (result === null || typeof result !== 'object' || Array.isArray(result)) return result;
  const { scored: _s, successes: _n, successRate: _r, byTaskType: _t, ...rest } = result;
  return rest;
}

function percent(share: number): string {
  return (100 * share).toFixed(1);
}

/** `3.6 %`; – where nothing was scored. */
export function rateWords({ successes, scored }: SuccessRow): string {
  return scored === 0 ? '–' : `${percent(successes / scored)} %`;
}

/** `1.0 to 12.1 %` */
export function intervalWords({ successes, scored }: SuccessRow): string {
  const interval = wilsonInterval(successes, scored);
  return interval === null ? '–' : `${percent(interval.low)} to ${percent(interval.high)} %`;
}
