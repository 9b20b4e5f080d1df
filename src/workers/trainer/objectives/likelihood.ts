/**
 * Imitation learning (Early Experience, Eq. 1), implicit world modelling (Eq. 3) and self-reflection (Eq. 4) are one
 * loss on different rows: −Σ w log p(target | before). `weights` hold the normaliser (1 / targets of the batch).
 */
import type { TrainRow } from '#shared/worker/trainer.ts';
import type { Objective } from './objective.ts';

export function likelihood(rows: readonly TrainRow[]): Objective {
  return {
    values: false,
    row: (index, { logprobs }) => {
      const weights = rows[index]?.weights ?? new Float32Array(logprobs.length);
      let loss = 0;
      logprobs.forEach((logprob, target) => {
        loss -= (weights[target] ?? 0) * logprob;
      });
      return { loss, weights, valueSeeds: null };
    },
    metrics: () => ({}),
  };
}
