/** Training data come from one split alone; the check before a run and the job itself ask the same question here. */
import { trainingSplit } from '#shared/schema/environment.ts';
import type { EarlyExperienceRun } from '#shared/schema/run.ts';

/** What is wrong with the run's split, or null. */
export function splitProblem({ environment: { split } }: EarlyExperienceRun): string | null {
  if (split === trainingSplit) return null;
  return `Training data come from the split ${trainingSplit}, not ${split}: a model must not be trained on tasks that it is measured on. Set environment.split to ${trainingSplit}.`;
}
