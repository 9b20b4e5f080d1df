/** Tells somebody who looks elsewhere that long work has ended. */
import type { HostPorts } from '#core/ports.ts';
import type { ElectronApi } from './electron-api.ts';

export type EndedJob = Parameters<NonNullable<HostPorts['onJobEnded']>>[0];

/** Shorter work ends while one is still looking. */
export const longJobMs = 60_000;

function humanDuration(ms: number): string {
  const minutes = Math.floor(ms / 60_000);
  if (minutes < 60) return `${minutes} min ${Math.floor((ms % 60_000) / 1000)} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

const words: Readonly<Record<string, string>> = {
  succeeded: 'finished',
  failed: 'failed',
  cancelled: 'was cancelled',
};

export interface JobNotifierOptions {
  isWatched(): boolean;
  /** The user's setting, read when a job ends. */
  isWanted(): Promise<boolean>;
  onClick(): void;
}

/** What must not wait until somebody looks into the log: shown whatever the setting and wherever the person looks. */
export function notifyTrouble(
  { Notification }: Pick<ElectronApi, 'Notification'>,
  text: string,
  { onClick }: { onClick(): void },
): void {
  if (!Notification.isSupported()) return;
  const notification = new Notification({ title: 'Daydream needs attention', body: text });
  notification.on('click', onClick);
  notification.show();
}

/** @returns whether a notification was shown */
export async function notifyJobEnded(
  { Notification }: Pick<ElectronApi, 'Notification'>,
  job: EndedJob,
  { isWatched, isWanted, onClick }: JobNotifierOptions,
): Promise<boolean> {
  const word = words[job.state];
  if (word === undefined || job.activeMs <= longJobMs || isWatched() || !Notification.isSupported())
    return false;
  if (!(await isWanted())) return false;
  const notification = new Notification({
    title: `${job.title} ${word}`,
    body: `After ${humanDuration(job.activeMs)} of work. Click to see it.`,
  });
  notification.on('click', onClick);
  notification.show();
  return true;
}
