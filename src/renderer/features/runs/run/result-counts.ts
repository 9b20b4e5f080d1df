/** What a stage has counted, as names and numbers: from its result when it is done, from what it measured until then. */
import { z } from 'zod';
import type { Job, MetricPoint } from '#shared/schema/job.ts';
import { isFinished } from '../../../ui/progress.ts';
import { sentence } from '../../../ui/format.ts';
import { metricLook, uncharted } from './metric-looks.ts';
import { resultLabel } from './result-labels.ts';

type Json = Job['result'];

/** Numbers of a result, each under the words for what it counts. */
export function numbersOf(result: Json, prefix: readonly string[] = []): [string, number][] {
  if (result === null || typeof result !== 'object' || Array.isArray(result)) return [];
  return Object.entries(result).flatMap(([key, value]): [string, number][] => {
    const path = [...prefix, key];
    if (typeof value === 'number') {
      const label = resultLabel(path);
      return label === null ? [] : [[label, value]];
    }
    return prefix.length < 2 ? numbersOf(value, path) : [];
  });
}

const exportedSchema = z.object({ files: z.array(z.object({ part: z.string(), rows: z.int() })) });

/** Rows written by an export, by part: `expert_sft` → 30. Empty for any other stage. */
export function rowsOf(result: Json): [string, number][] {
  const exported = exportedSchema.safeParse(result);
  return exported.success ? exported.data.files.map(({ part, rows }) => [part, rows]) : [];
}

const demonstratedSchema = z.object({ episodeIds: z.array(z.string()) });

/** Episodes that a stage ended with; those which an earlier run had acted already are not acted, and not stored, again. */
export function episodesOf(result: Json): number {
  const demonstrated = demonstratedSchema.safeParse(result);
  return demonstrated.success ? demonstrated.data.episodeIds.length : 0;
}

/**
 * The last value of each metric: the very numbers at the ends of the curves. Those of shares and means are no counts. How far the
 * stage is comes from the same points, whose steps count its units: its progress is told faster, and a list is of one moment.
 */
export function countsSoFar(job: Job, points: readonly MetricPoint[]): [string, number][] {
  const last = new Map<string, MetricPoint>();
  for (const point of points) {
    const known = last.get(point.name);
    if (known === undefined || point.step >= known.step) last.set(point.name, point);
  }
  const { progress } = job;
  // Proofs measure nothing: the points of their stage count the episodes before.
  const counted = progress?.unit === 'demonstrations' ? [] : [...last.values()];
  const done = counted.length === 0 ? progress?.done : Math.max(...counted.map((point) => point.step));
  return [
    ...(progress === null || done === undefined
      ? []
      : [[sentence(progress.unit), done] satisfies [string, number]]),
    ...[...last.values()]
      .filter(({ name }) => !uncharted.has(name) && !/-share$|-rate$|^mean-/.test(name))
      .map(({ name, value }): [string, number] => [metricLook(name, job.kind).title, value]),
  ];
}

/** What to say above the counts of a stage without a result. */
export function soFarTitle({ state, progress }: Job): string {
  if (state === 'queued' && progress === null) return 'Not started yet';
  if (isFinished(state)) return 'Until it stopped';
  return state === 'paused' ? 'Until the pause' : 'So far';
}
