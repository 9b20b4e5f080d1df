/** The gradient norm at which a training counts as diverging, from the norms that it had. */
import type { TrainRun } from '#shared/schema/training.ts';
import type { StopNorm } from '#shared/worker/trainer.ts';

/**
 * Fewer say nothing about what is usual here. Nor do the first losses: a start that leaves them five times behind may settle and learn
 * (docs/log.md).
 */
const leastNorms = 16;

/**
 * So many times the running median; where the median is below the clip norm, so many times that. A gradient up to the clip norm is
 * applied as it is and a longer one is cut to it, so a training that has converged (norms of some hundredths) and meets one
 * surprising batch does not diverge, however many times the median that is.
 *
 * @param norms of the last updates; @returns null where only a number that is not finite stops
 */
export function stopNorm(
  norms: readonly number[],
  { divergenceFactor, clipNorm }: Pick<TrainRun, 'divergenceFactor' | 'clipNorm'>,
): StopNorm | null {
  if (norms.length < leastNorms) return null;
  const median = norms.toSorted((a, b) => a - b)[Math.floor(norms.length / 2)] ?? 0;
  const usual = Math.max(median, clipNorm);
  if (usual <= 0) return null;
  const what =
    median >= clipNorm
      ? `the median of the last ${String(norms.length)} updates, ${String(Number(median.toPrecision(4)))}`
      : `clipNorm, ${String(clipNorm)}`;
  return {
    norm: usual * divergenceFactor,
    rule: `divergenceFactor=${String(divergenceFactor)} times ${what}; --set divergenceFactor=… changes it`,
  };
}
