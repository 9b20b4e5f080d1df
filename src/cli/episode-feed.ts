/** Prints the episodes of a job as text: whole when they end, or step by step while they run. */
import type { JobUpdate } from '#shared/contract/jobs.ts';
import type { Client } from '#shared/contract/index.ts';
import { episodeIdSchema } from '#shared/ids.ts';
import type { EpisodeId, JobId } from '#shared/ids.ts';
import type { ProgressView } from './progress.ts';
import { transcript, transcriptEnd, transcriptHead, transcriptStep } from './transcript.ts';

/** For episodes side by side: each is told in one piece. */
export function printFinishedEpisodes(client: Client) {
  return async ({ events }: JobUpdate, view: ProgressView): Promise<void> => {
    for (const { type, data } of events) {
      const episodeId = episodeIdSchema.safeParse(data['episodeId']);
      if (type !== 'episode-finished' || !episodeId.success) continue;
      view.say(`\n${transcript(await client.episodes.get({ episodeId: episodeId.data }))}`);
    }
  };
}

type Shown = Awaited<ReturnType<Client['episodes']['get']>>;

/** Of the client, what the feed asks. */
interface EpisodeReads {
  list(input: {
    filter: { jobId: JobId };
    sort: 'oldest';
    limit: number;
  }): Promise<{ items: Pick<Shown['episode'], 'episodeId' | 'attempt' | 'replacedBy'>[] }>;
  get(input: { episodeId: EpisodeId }): Promise<Shown>;
}

/** How much of an episode was printed. */
interface Told {
  attempt: number;
  steps: number;
  ended: boolean;
}

/** For few episodes, best one at a time: each step is printed when it is stored, a fraction of a second after it happened. */
export function printStepsAsTheyHappen(episodes: EpisodeReads) {
  const told = new Map<EpisodeId, Told>();
  return async ({ job }: JobUpdate, view: ProgressView): Promise<void> => {
    const { items } = await episodes.list({ filter: { jobId: job.jobId }, sort: 'oldest', limit: 100 });
    for (const { episodeId, attempt, replacedBy } of items) {
      const before = told.get(episodeId);
      // What was begun again was told while it ran.
      if (replacedBy !== null || (before?.ended === true && before.attempt === attempt)) continue;
      const shown = await episodes.get({ episodeId });
      told.set(episodeId, printNews(shown, before, view));
    }
  };
}

function printNews({ episode, steps }: Shown, before: Told | undefined, view: ProgressView): Told {
  // After a failure or a kill an episode begins anew under the same id; what there was before has another one now.
  const again = before !== undefined && before.attempt !== episode.attempt;
  if (before === undefined || again) {
    view.say(`\n${again ? '(The episode is started again.)\n' : ''}${transcriptHead({ episode })}`);
  }
  const from = before === undefined || again ? 0 : before.steps;
  for (const step of steps.slice(from)) view.say(transcriptStep(step));
  const ended = episode.status !== 'running';
  if (ended) view.say(transcriptEnd(episode));
  return { attempt: episode.attempt, steps: steps.length, ended };
}
