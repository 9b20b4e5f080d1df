import { jobIdSchema } from '#shared/ids.ts';
import type { JobId } from '#shared/ids.ts';
import { reflectionFlagSchema } from '#shared/schema/branch.ts';
import type { Reflection, ReflectionFlag } from '#shared/schema/branch.ts';

export interface ReviewQuery {
  readonly filter: {
    decision?: Reflection['review']['decision'];
    flag?: ReflectionFlag;
    kept?: boolean;
    jobId?: JobId;
  };
  readonly selected: string | null;
}

const decisions = ['pending', 'keep', 'drop'] as const;

/**
 * The queue as it stands in the URL. Without any filter it is what somebody has to decide on, as every other count of it: kept by the
 * filters and not decided. What the filters drop is decided unless somebody looks for it, by its flag or by `kept`.
 */
export function readReviewQuery(parameters: URLSearchParams): ReviewQuery {
  const filter: ReviewQuery['filter'] = {};
  const wanted = parameters.get('decision');
  const decision = decisions.find((name) => name === (wanted ?? 'pending'));
  if (decision !== undefined) filter.decision = decision;
  else if (wanted !== 'all') filter.decision = 'pending';
  const flag = reflectionFlagSchema.safeParse(parameters.get('flag'));
  if (flag.success) filter.flag = flag.data;
  const kept = parameters.get('kept');
  if (kept === 'true' || kept === 'false') filter.kept = kept === 'true';
  else if (kept !== 'all' && filter.decision === 'pending' && filter.flag === undefined) filter.kept = true;
  const jobId = jobIdSchema.safeParse(parameters.get('run'));
  if (jobId.success) filter.jobId = jobId.data;
  return { filter, selected: parameters.get('reflection') };
}

export function writeReviewQuery(
  change: { decision?: string; flag?: string | null; kept?: string | null; selected?: string | null },
  into: URLSearchParams,
): URLSearchParams {
  const result = new URLSearchParams(into);
  const names = { decision: 'decision', flag: 'flag', kept: 'kept', selected: 'reflection' } as const;
  for (const key of ['decision', 'flag', 'kept', 'selected'] as const) {
    const value = change[key];
    if (value === undefined) continue;
    if (value === null) result.delete(names[key]);
    else result.set(names[key], value);
  }
  return result;
}
