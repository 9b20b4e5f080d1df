/** How often a goal was reached, of those that were scored: the same rows and words in the window and on the command line. */
import { z } from 'zod';
import { wilsonInterval } from '#shared/wilson.ts';

export interface SuccessRow {
  name: string;
  successes: number;
  scored: number;
}

const countsSchema = z.object({ scored: z.int(), successes: z.int() });
const resultSchema = countsSchema.extend({ byTaskType: z.record(z.string(), countsSchema).default({}) });

/**
 * Task types by name where there are several, then all of them.
 *
 * @param result of a job; empty for one that scores nothing
 */
export function successRows(result: unknown, all: string): SuccessRow[] {
  const parsed = resultSchema.safeParse(result);
  if (!parsed.success) return [];
  const { byTaskType, scored, successes } = parsed.data;
  const types = Object.entries(byTaskType)
    .map(([name, counts]) => ({ name, ...counts }))
    .toSorted((left, right) => (left.name < right.name ? -1 : 1));
  return [...(types.length > 1 ? types : []), { name: all, scored, successes }];
}

function percent(share: number): string {
  return (100 * share).toFixed(1);
}

/** `3.6 %`; – where nothing was scored. */
export function rateWords({ successes, scored }: SuccessRow): string {
  return scored === 0 ? '–' : `${percent(successes / scored)} %`;
}

/** Wilson's interval, `1.0 to 12.1 %`; – where nothing was scored. */
export function intervalWords({ successes, scored }: SuccessRow): string {
  const interval = wilsonInterval(successes, scored);
  return interval === null ? '–' : `${percent(interval.low)} to ${percent(interval.high)} %`;
}
