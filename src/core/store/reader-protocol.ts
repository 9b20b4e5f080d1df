/** What the host and the reader thread say to each other. Both sides are of one build, so the shapes are types, not schemas. */
import type { Store } from '#core/store/port.ts';
import type { ErrorRecord } from '#shared/errors.ts';

export interface ReaderData {
  file: string;
}

export interface ReaderRequest {
  id: number;
  name: QueryName;
  parameters: readonly unknown[];
}

export type ReaderAnswer =
  { id: number; ok: true; result: unknown } | { id: number; ok: false; error: ErrorRecord };

type AnyQuery = (...parameters: never[]) => unknown;

function queriesOf(store: Store) {
  return {
    'episodes.list': store.episodes.list,
    'episodes.neighbours': store.episodes.neighbours,
    'episodes.facets': store.episodes.facets,
    'episodes.get': store.episodes.get,
    'episodes.steps': store.episodes.steps,
    'episodes.step': store.episodes.step,
    'branches.ofEpisode': store.branches.ofEpisode,
    'branches.summary': store.branches.summary,
    'reflections.attempts': store.reflections.attempts,
    'reflections.list': store.reflections.list,
    'jobs.list': store.jobs.list,
    'jobs.events': store.jobs.events,
    'jobs.eventsPage': store.jobs.eventsPage,
    'jobs.metrics': store.jobs.metrics,
    counts: store.counts,
  } satisfies Record<string, AnyQuery>;
}
export type QueryName = keyof ReturnType<typeof queriesOf>;

/** `episodes.list` → the function of that name on a store. */
export function queryOf(store: Store, name: QueryName): AnyQuery {
  return queriesOf(store)[name];
}
