import { isEnded } from '#shared/schema/job.ts';
import type { Job } from '#shared/schema/job.ts';
import { formatInteger, formatPercent } from './format.ts';
import type { ShownState } from './status-badge.tsx';

/** Running time over all attempts, going on while it runs. */
export function elapsedMs(job: Job, now: number): number {
  return job.activeMs + (job.activeAt === null ? 0 : Math.max(0, now - job.activeAt));
}

/** From the rate so far; null while that says nothing yet (under 2 % or 3 s). */
export function remainingMs(job: Job, now: number): number | null {
  const { progress } = job;
  // Stages differ too much in length to say from some how long the others take.
  if (progress?.unit === 'stages') return null;
  if (job.state !== 'running' || progress === null || progress.total === null || progress.total <= 0)
    return null;
  const share = progress.done / progress.total;
  const elapsed = elapsedMs(job, now);
  if (share < 0.02 || share >= 1 || elapsed < 3000) return null;
  return (elapsed * (1 - share)) / share;
}

/**
 * How far a job is, for a line of a list. A pipeline counts its stages, which differ too much in length for a share to mean anything:
 * percentages are always of one stage.
 */
export function progressWords({ state, progress }: Pick<Job, 'state' | 'progress'>): string {
  if (progress === null) return state === 'queued' ? 'waiting for its turn' : '';
  const { done, total, unit, phase } = progress;
  if (total === null) return `${formatInteger(done)} ${unit}`;
  const ended = isEnded(state);
  if (unit === 'stages') {
    if (ended) return `${formatInteger(done)} of ${formatInteger(total)} stages`;
    return `${phase}, stage ${formatInteger(Math.min(done + 1, total))} of ${formatInteger(total)}`;
  }
  return `${ended ? formatInteger(done) : formatPercent(done, total)} of ${formatInteger(total)} ${unit}`;
}

export const stalledAfterMs = 30_000;

/** A running job that has said nothing for 30 s is shown as stalled. */
export function shownState(job: Job, now: number, childrenLastEventAt: number | null = null): ShownState {
  if (job.state !== 'running') return job.state;
  const last = Math.max(job.lastEventAt ?? job.startedAt ?? now, childrenLastEventAt ?? 0);
  return now - last > stalledAfterMs ? 'stalled' : 'running';
}

export { isEnded as isFinished } from '#shared/schema/job.ts';
