/**
 * What exported rows call their branches and reflections: a function of the demonstration and the place in A_i alone. The store's ids
 * hold the job's id (docs/adr/0025), so two equal runs would never have equal files; which job made a file is in its manifest.
 */
import type { Branch, Reflection } from '#shared/schema/branch.ts';

/** `EPISODE/STEP/PURPOSE/J`; unique among the branches of one job. */
export function branchKey({
  episodeId,
  stepIndex,
  purpose,
  alternativeIndex,
}: Pick<Branch, 'episodeId' | 'stepIndex' | 'purpose' | 'alternativeIndex'>): string {
  return [episodeId, stepIndex, purpose, alternativeIndex].join('/');
}

/** @param branches those that the text compares, in its order */
export function reflectionKey(
  { episodeId, stepIndex, attempt }: Pick<Reflection, 'episodeId' | 'stepIndex' | 'attempt'>,
  branches: readonly Pick<Branch, 'alternativeIndex'>[],
): string {
  const compared = branches.map(({ alternativeIndex }) => alternativeIndex).join('+');
  return [episodeId, stepIndex, 'reflection', compared, attempt].join('/');
}
