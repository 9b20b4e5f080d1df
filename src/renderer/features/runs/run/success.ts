/** How often a stage reached its goal, with n: of its result when it is done, of what it measured until then. */
import type { Job, MetricPoint } from '#shared/schema/job.ts';
import { successRows } from '#shared/success.ts';
import type { SuccessRow } from '#shared/success.ts';

function lastValue(points: readonly MetricPoint[], name: string): number | null {
  const own = points.filter((point) => point.name === name);
  return own.toSorted((left, right) => left.step - right.step).at(-1)?.value ?? null;
}

/** Of its result, or of what it measured until then; empty for a stage that scores nothing. */
export function successOf(job: Job, points: readonly MetricPoint[]): SuccessRow[] {
  const rows = successRows(job.result, 'all');
  if (rows.length > 0) return rows;
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
