/** Ids as a person types them: whole, or as many first characters as make them unique. */
import type { Client } from '#shared/contract/index.ts';
import { AppError } from '#shared/errors.ts';
import { datasetIdSchema, episodeIdSchema, jobIdSchema } from '#shared/ids.ts';
import type { DatasetId, EpisodeId, JobId } from '#shared/ids.ts';

/** Of the client, what these ask. */
interface JobFinder {
  jobs: { find(input: { prefix: string; limit: number }): Promise<JobId[]> };
}
interface EpisodeFinder {
  episodes: { find(input: { prefix: string; limit: number }): Promise<EpisodeId[]> };
}

/** Of what an ambiguous prefix may mean, so many are shown. */
const shown = 10;

/** @throws AppError INVALID_INPUT for nothing, which would be the beginning of every id */
function something(typed: string, noun: string): string {
  if (typed.trim() !== '') return typed;
  throw new AppError({
    code: 'INVALID_INPUT',
    message: `The id is empty. Give the id of one of the ${noun}, or its first characters; nothing was changed.`,
  });
}

/** @returns what was typed where nothing begins so: the host says then what does not exist */
function theOne<Id extends string>(
  typed: string,
  found: readonly Id[],
  noun: string,
  parse: (id: string) => Id,
): Id {
  const exact = found.find((id) => id === typed);
  const [first, second] = found;
  if (exact !== undefined || second === undefined) return exact ?? first ?? parse(typed);
  const more = found.length > shown ? ', …' : '';
  throw new AppError({
    code: 'INVALID_INPUT',
    message: `${typed} begins the ids of several ${noun}: ${found.slice(0, shown).join(', ')}${more}. Give more characters; nothing was changed.`,
  });
}

/** @throws AppError INVALID_INPUT for a prefix of several */
export async function findJobId(client: JobFinder, typed: string): Promise<JobId> {
  const found = await client.jobs.find({ prefix: something(typed, 'jobs'), limit: shown + 1 });
  return theOne(typed, found, 'jobs', (id) => jobIdSchema.parse(id));
}

/** @throws AppError INVALID_INPUT for a prefix of several */
export async function findEpisodeId(client: EpisodeFinder, typed: string): Promise<EpisodeId> {
  const found = await client.episodes.find({ prefix: something(typed, 'episodes'), limit: shown + 1 });
  return theOne(typed, found, 'episodes', (id) => episodeIdSchema.parse(id));
}

/** @throws AppError INVALID_INPUT for a prefix of several */
export async function findDatasetId(client: Client, typed: string): Promise<DatasetId> {
  something(typed, 'data sets');
  const { items } = await client.datasets.list({ limit: 500 });
  const found = items.map(({ datasetId }) => datasetId).filter((id) => id.startsWith(typed));
  return theOne(typed, found, 'data sets', (id) => datasetIdSchema.parse(id));
}
