/** What the host and the reader thread say to each other. Both sides are of one build, so the shapes are types, not schemas. */
import type { Store } from '#core/store/port.ts';
import type { ErrorRecord } from '#shared/errors.ts';

export interface ReaderData {
  file: string;
}

export type ReaderRequest =
  | { id: number; kind: 'query'; name: string; parameters: readonly unknown[] }
  | { id: number; kind: 'open'; iteration: number; name: string; parameters: readonly unknown[] }
  | { id: number; kind: 'next'; iteration: number }
  | { id: number; kind: 'end'; iteration: number };

export type ReaderAnswer =
  { id: number; ok: true; result: unknown } | { id: number; ok: false; error: ErrorRecord };

export const queryNames = [
  'episodes.list',
  'episodes.neighbours',
  'episodes.facets',
  'episodes.get',
  'episodes.steps',
  'episodes.step',
  'branches.ofEpisode',
  'branches.summary',
  'reflections.list',
  'reflections.ofEpisode',
  'jobs.list',
  'jobs.events',
  'jobs.eventsPage',
  'jobs.metrics',
  'counts',
] as const;
export type QueryName = (typeof queryNames)[number];

/** Rows that one `next` brings: enough to hide the way between threads, few enough to keep memory small. */
export const iterationChunk = 200;

type AnyQuery = (...parameters: never[]) => unknown;

/** `episodes.list` → the function of that name on a store. */
export function queryOf(store: Store, name: QueryName): AnyQuery {
  const queries: Record<QueryName, AnyQuery> = {
    'episodes.list': store.episodes.list,
    'episodes.neighbours': store.episodes.neighbours,
    'episodes.facets': store.episodes.facets,
    'episodes.get': store.episodes.get,
    'episodes.steps': store.episodes.steps,
    'episodes.step': store.episodes.step,
    'branches.ofEpisode': store.branches.ofEpisode,
    'branches.summary': store.branches.summary,
    'reflections.list': store.reflections.list,
    'reflections.ofEpisode': store.reflections.ofEpisode,
    'jobs.list': store.jobs.list,
    'jobs.events': store.jobs.events,
    'jobs.eventsPage': store.jobs.eventsPage,
    'jobs.metrics': store.jobs.metrics,
    counts: store.counts,
  };
  return queries[name];
}
