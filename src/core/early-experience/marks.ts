/**
 * What an export makes of what is stored now, for the pages that show it. It decides nothing itself: these are the export's own rules
 * (rows.ts, verdicts.ts). The writer may still leave a row out that is too long or repeats itself; the data set counts those.
 */
import type { ReflectionId } from '#shared/ids.ts';
import type { Branch, Reflection } from '#shared/schema/branch.ts';
import type { Job } from '#shared/schema/job.ts';
import { makesIwmRow } from '#core/early-experience/rows.ts';
import { branchingSpecSchema } from '#core/early-experience/spec.ts';
import { exportable } from '#core/early-experience/verdicts.ts';

/** @param jobOf the job that executed a branch; null where it was removed, and with it what the run wanted */
export function markBranches(
  branches: readonly Branch[],
  jobOf: (jobId: NonNullable<Branch['jobId']>) => Job | null,
): (Branch & { inIwm: boolean | null })[] {
  const runs = new Map(
    [...new Set(branches.map(({ jobId }) => jobId))].map((jobId) => {
      const spec = branchingSpecSchema.safeParse(jobId === null ? null : jobOf(jobId)?.spec);
      return [jobId, spec.success ? spec.data.run : null];
    }),
  );
  return branches.map((branch) => {
    const run = runs.get(branch.jobId) ?? null;
    return { ...branch, inIwm: run === null ? null : makesIwmRow(branch, run) };
  });
}

/** @param reflections all attempts at some states, of any episodes and runs */
export function exportedTexts(reflections: readonly Reflection[]): Set<ReflectionId> {
  const groups = Map.groupBy(reflections, ({ episodeId, jobId }) => `${episodeId} ${jobId ?? ''}`);
  return new Set(
    [...groups.values()].flatMap((group) => exportable(group).map(({ reflectionId }) => reflectionId)),
  );
}
