import type { StepView } from '../../ui/viewer/step-view.ts';

/** Steps whose state, thought, action or outcome holds the text (case-insensitive), in order. */
export function stepsWith(steps: readonly StepView[], search: string): number[] {
  const text = search.trim().toLowerCase();
  if (text === '') return [];
  return steps
    .filter((step) =>
      [step.state, step.thought ?? '', step.action, step.outcome].some((part) =>
        part.toLowerCase().includes(text),
      ),
    )
    .map((step) => step.index);
}

/** The next hit after `from`, round the end. */
export function nextHit(hits: readonly number[], from: number, direction: 1 | -1): number | null {
  if (hits.length === 0) return null;
  if (direction === 1) return hits.find((hit) => hit > from) ?? hits[0] ?? null;
  return hits.findLast((hit) => hit < from) ?? hits.at(-1) ?? null;
}
