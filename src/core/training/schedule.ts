import type { Schedule } from '#shared/schema/training.ts';

/** Learning rate of update 1 … `updates`. Warm-up is linear; then cosine or linear down to the final share. */
export function learningRate(update: number, updates: number, peak: number, schedule: Schedule): number {
  const warmup = Math.floor(updates * schedule.warmupShare);
  if (update <= warmup) return (peak * update) / warmup;
  if (schedule.kind === 'constant') return peak;
  const done = updates - warmup <= 1 ? 0 : (update - warmup - 1) / (updates - warmup - 1);
  const shape = schedule.kind === 'linear' ? 1 - done : (1 + Math.cos(Math.PI * done)) / 2;
  return peak * (schedule.finalShare + (1 - schedule.finalShare) * shape);
}
