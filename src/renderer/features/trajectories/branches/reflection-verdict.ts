import type { Reflection } from '#shared/schema/branch.ts';

export interface Verdict {
  readonly kept: boolean;
  /** Who decided: a person overrides the filters. */
  readonly by: 'person' | 'filters';
  readonly text: string;
}

/** Whether the text goes into the data set, and who says so. */
export function verdictOf(reflection: Pick<Reflection, 'keptByFilters' | 'droppedBy' | 'review'>): Verdict {
  if (reflection.review.decision === 'keep') return { kept: true, by: 'person', text: 'Kept by you' };
  if (reflection.review.decision === 'drop') return { kept: false, by: 'person', text: 'Dropped by you' };
  if (reflection.keptByFilters) return { kept: true, by: 'filters', text: 'Kept by the filters' };
  const filters = reflection.droppedBy.length === 0 ? 'the filters' : reflection.droppedBy.join(', ');
  return { kept: false, by: 'filters', text: `Dropped by ${filters}` };
}
