/** Ids as a person types them: whole, or as many first characters as make them unique. */
import { statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
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
interface DatasetFinder {
  datasets: { find(input: { prefix: string; limit: number }): Promise<DatasetId[]> };
}

/** Of what an ambiguous prefix may mean, so many are shown. */
const shown = 10;

/** @throws AppError INVALID_INPUT for nothing, which would be the beginning of every id */
export function something(typed: string, noun: string): string {
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

/** Absolute, because the host may have been started elsewhere; a file stands for the folder it lies in. null: not a path. */
function folderOf(typed: string): string | null {
  const path = resolve(typed);
  const found = statSync(path, { throwIfNoEntry: false });
  if (found !== undefined) return found.isDirectory() ? path : dirname(path);
  if (!/[/\\]/u.test(typed)) return null;
  throw new AppError({ code: 'FILE_NOT_FOUND', message: `There is no folder ${path}. Nothing was changed.` });
}

/**
 * A data set by its folder, wherever it came from, or by id.
 *
 * @throws AppError INVALID_INPUT for a prefix of several, FILE_NOT_FOUND for a path where nothing is
 */
export async function findDataset(
  client: DatasetFinder,
  typed: string,
): Promise<{ folder: string } | { datasetId: DatasetId }> {
  something(typed, 'data sets');
  const folder = folderOf(typed);
  if (folder !== null) return { folder };
  const found = await client.datasets.find({ prefix: typed, limit: shown + 1 });
  return { datasetId: theOne(typed, found, 'data sets', (id) => datasetIdSchema.parse(id)) };
}
