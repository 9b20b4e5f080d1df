import type { ObjectiveSpec, TrainRow } from '#shared/worker/trainer.ts';
import { likelihood } from './likelihood.ts';
import type { Objective } from './objective.ts';
import { policy } from './policy.ts';
import { preference } from './preference.ts';

/** @param score log-probabilities of each row's targets under the policy as it is now */
export async function objectiveOf(
  spec: ObjectiveSpec,
  rows: readonly TrainRow[],
  score: () => Promise<readonly Float32Array[]>,
): Promise<Objective> {
  switch (spec.kind) {
    case 'likelihood':
      return likelihood(rows);
    case 'policy':
      return policy(rows, spec);
    case 'preference':
      return preference(rows, spec, await score());
  }
}
