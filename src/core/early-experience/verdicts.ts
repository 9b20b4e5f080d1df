/** What becomes of each text that was asked for: the job's counts, the exported rows and the manifest's counts all read this. */
import type { Reflection, ReflectionFlag } from '#shared/schema/branch.ts';
import { reflectionFlagSchema } from '#shared/schema/branch.ts';

/** A finding that the run's filters drop, or a person's decision. */
export type DropReason = ReflectionFlag | 'review';

export type Verdict = (
  { exported: Reflection; droppedBy: null } | { exported: null; droppedBy: DropReason }
) & {
  /** All that the detectors found in the attempt that decided, whatever the filters do about it. */
  flags: ReflectionFlag[];
};

/**
 * One verdict a text, in the order of the first attempts. The attempts at one text share state and branches. Of them the one that
 * a person kept is exported, else the one that the filters kept; a text without words is no target, whoever kept it. A text that is
 * not exported counts once: under the first reason of its last attempt, or under `review` where only a person's decision keeps it out.
 * One text may carry several flags, so these do not add up; the reasons do.
 */
export function verdicts(reflections: readonly Reflection[]): Verdict[] {
  const attempts = Map.groupBy(reflections, ({ stepIndex, branchIds }) =>
    [stepIndex, ...branchIds].join(','),
  );
  return [...attempts.values()].map(verdictOf);
}

export function exportable(reflections: readonly Reflection[]): Reflection[] {
  return verdicts(reflections).flatMap(({ exported }) => exported ?? []);
}

function verdictOf(attempts: readonly Reflection[]): Verdict {
  const usable = attempts.filter(
    ({ text, review, keptByFilters }) =>
      text.trim() !== '' && review.decision !== 'drop' && (review.decision === 'keep' || keptByFilters),
  );
  const exported = usable.find(({ review }) => review.decision === 'keep') ?? usable[0];
  if (exported !== undefined) return { exported, droppedBy: null, flags: flagsOf(exported) };
  const last = attempts.at(-1);
  const flags = last === undefined ? [] : flagsOf(last);
  if (last === undefined || last.text.trim() === '') {
    return { exported: null, droppedBy: 'empty', flags: [...new Set([...flags, 'empty' as const])] };
  }
  return { exported: null, droppedBy: (last.keptByFilters ? undefined : drops(last)[0]) ?? 'review', flags };
}

function drops({ droppedBy }: Reflection): ReflectionFlag[] {
  return droppedBy.flatMap((flag) => reflectionFlagSchema.safeParse(flag).data ?? []);
}

function flagsOf(reflection: Reflection): ReflectionFlag[] {
  return [...new Set([...reflection.flags.map(({ flag }) => flag), ...drops(reflection)])];
}
