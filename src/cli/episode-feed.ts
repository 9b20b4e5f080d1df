/** Prints each episode of a job as text when it ends. Episodes run side by side, so they are told one after the other. */
import type { JobUpdate } from '#shared/contract/jobs.ts';
import type { Client } from '#shared/contract/index.ts';
import { episodeIdSchema } from '#shared/ids.ts';
import type { ProgressView } from './progress.ts';
import { transcript } from './transcript.ts';

export function printFinishedEpisodes(client: Client) {
  return async ({ events }: JobUpdate, view: ProgressView): Promise<void> => {
    for (const { type, data } of events) {
      const episodeId = episodeIdSchema.safeParse(data['episodeId']);
      if (type !== 'episode-finished' || !episodeId.success) continue;
      view.say(`\n${transcript(await client.episodes.get({ episodeId: episodeId.data }))}`);
    }
  };
}
