/** A run that a kill or a pause cut short goes on; the same run is never started beside it, to do the work a second time. */
import { isDeepStrictEqual } from 'node:util';
import type { Job } from '#shared/schema/job.ts';
import { isEnded } from '#shared/schema/job.ts';
import type { Work } from './command.ts';
import { duration, say } from './output.ts';

/** Newest jobs looked through; what is older than these and still unfinished is in `jobs list`. */
const LOOKED_AT = 100;

/** @returns the newest unfinished job of exactly this run: same model, seed, tasks and settings; null when there is none */
export async function unfinishedTwin({ client, signal }: Work, yaml: string): Promise<Job | null> {
  const [{ run }, { items }] = await Promise.all([
    client.runs.check({ yaml }, { signal }),
    client.jobs.list({ filter: { parentId: null }, limit: LOOKED_AT }),
  ]);
  const spec: unknown = run === null ? null : JSON.parse(JSON.stringify(run));
  return items.find((job) => !isEnded(job.state) && isDeepStrictEqual(job.spec, spec)) ?? null;
}

/** Takes a pause back; one that waits or was cut off is brought back by the host itself. */
export async function goOn({ client }: Work, { jobId, state, title, activeMs }: Job): Promise<Job> {
  say(
    `An unfinished run of the same quickstart is here, after ${duration(activeMs)} of work: ${title} (${jobId}). It goes on; nothing finished is done again.`,
  );
  return state === 'paused' || state === 'pausing'
    ? client.jobs.resume({ jobId })
    : (await client.jobs.get({ jobId })).job;
}
