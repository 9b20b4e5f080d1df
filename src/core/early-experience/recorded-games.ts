/** The games that are demonstrations of `source: recorded`; the check before a run and the job itself ask for the same ones. */
import type { EnvironmentId } from '#shared/ids.ts';
import type { Split } from '#shared/schema/environment.ts';
import type { EpisodeFilter } from '#shared/schema/episode.ts';

/** Successful games of a split that a person played. */
export function recordedGames(environmentId: EnvironmentId, split: Split): EpisodeFilter {
  return { environmentId, split, purpose: 'human', status: 'finished', success: true };
}
