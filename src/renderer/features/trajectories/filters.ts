import type { z } from 'zod';
import { episodeSortSchema } from '#shared/contract/episodes.ts';
import { episodeFilterSchema } from '#shared/schema/episode.ts';
import type { EpisodeFilter } from '#shared/schema/episode.ts';

/**
 * The trajectory list's filters as a query string. The URL is the only place that holds them; a hand-edited URL with a
 * value that does not parse loses that one filter, never the others.
 */
export type EpisodeSort = z.infer<typeof episodeSortSchema>;
export interface EpisodeQuery {
  readonly filter: EpisodeFilter;
  readonly sort: EpisodeSort;
}

/** Short names in the URL for the fields of the schema. */
export const filterParameters = {
  environmentId: 'environment',
  split: 'split',
  taskType: 'type',
  purpose: 'purpose',
  status: 'status',
  success: 'success',
  jobId: 'run',
  policyKey: 'policy',
  taskId: 'task',
  errorCode: 'error',
  hasInvalid: 'invalid',
  minimumSteps: 'min-steps',
  maximumSteps: 'max-steps',
  text: 'text',
} as const satisfies Record<keyof EpisodeFilter, string>;

const keys = Object.keys(filterParameters) as (keyof EpisodeFilter)[];

export function readQuery(parameters: URLSearchParams): EpisodeQuery {
  const entries: [string, unknown][] = [];
  for (const key of keys) {
    const raw = parameters.get(filterParameters[key]);
    if (raw === null || raw === '') continue;
    const parsed = episodeFilterSchema.shape[key].safeParse(fromText(key, raw));
    if (parsed.success) entries.push([key, parsed.data]);
  }
  const sort = episodeSortSchema.safeParse(parameters.get('sort'));
  return {
    filter: episodeFilterSchema.parse(Object.fromEntries(entries)),
    sort: sort.success ? sort.data : 'newest',
  };
}

/** Writes into a copy; parameters that are not filters (step, tab, …) stay. */
export function writeQuery(
  query: EpisodeQuery,
  into: URLSearchParams = new URLSearchParams(),
): URLSearchParams {
  const result = new URLSearchParams(into);
  for (const key of keys) {
    const value = query.filter[key];
    if (value === undefined || value === '') result.delete(filterParameters[key]);
    else result.set(filterParameters[key], String(value));
  }
  if (query.sort === 'newest') result.delete('sort');
  else result.set('sort', query.sort);
  return result;
}

export function withFilter<Key extends keyof EpisodeFilter>(
  query: EpisodeQuery,
  key: Key,
  value: EpisodeFilter[Key] | undefined,
): EpisodeQuery {
  const rest = Object.fromEntries(Object.entries(query.filter).filter(([name]) => name !== key));
  return { ...query, filter: value === undefined ? rest : { ...rest, [key]: value } };
}

export function countFilters(filter: EpisodeFilter): number {
  return keys.filter((key) => filter[key] !== undefined).length;
}

/** The list as it was filtered, for the way back: `?environment=…` or nothing. */
export function listParameters(parameters: URLSearchParams): string {
  const text = writeQuery(readQuery(parameters)).toString();
  return text === '' ? '' : `?${text}`;
}

function fromText(key: keyof EpisodeFilter, raw: string): unknown {
  if (key === 'success' || key === 'hasInvalid') return raw === 'true' ? true : raw === 'false' ? false : raw;
  if (key === 'minimumSteps' || key === 'maximumSteps') return Number(raw);
  return raw;
}
