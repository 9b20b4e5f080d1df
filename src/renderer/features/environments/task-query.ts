import { splitSchema } from '#shared/schema/environment.ts';
import type { Split } from '#shared/schema/environment.ts';

export interface TaskFilter {
  split?: Split;
  type?: string;
  text?: string;
}

/** The task browser's filters as they stand in the URL. */
export function readTaskFilter(parameters: URLSearchParams): TaskFilter {
  const filter: TaskFilter = {};
  const split = splitSchema.safeParse(parameters.get('split'));
  if (split.success) filter.split = split.data;
  const type = parameters.get('type');
  if (type !== null && type !== '') filter.type = type;
  const text = parameters.get('text');
  if (text !== null && text !== '') filter.text = text;
  return filter;
}

export function writeTaskFilter(filter: TaskFilter, into: URLSearchParams): URLSearchParams {
  const result = new URLSearchParams(into);
  for (const key of ['split', 'type', 'text'] as const) {
    const value = filter[key];
    if (value === undefined || value === '') result.delete(key);
    else result.set(key, value);
  }
  return result;
}

export function playPath(environmentId: string, taskId: string, parameters: URLSearchParams): string {
  const next = writeTaskFilter(readTaskFilter(parameters), new URLSearchParams());
  next.set('task', taskId);
  return `/environments/${encodeURIComponent(environmentId)}/play?${next.toString()}`;
}
