/**
 * DPO (Rafailov et al. 2023, Eq. 7) on pairs: rows 2i are preferred to rows 2i + 1.
 *
 *   L = −(1 / pairs) Σ log σ(β [ (log π(y⁺) − log π_ref(y⁺)) − (log π(y⁻) − log π_ref(y⁻)) ])
 *
 * Both rows of a pair must be known before either has a gradient, so their log-probabilities are scored first.
 */
import type { ObjectiveSpec, TrainRow } from '#shared/worker/trainer.ts';
import type { Objective } from './objective.ts';

/** @param scored log-probabilities of each row's targets under the policy as it is now */
export function preference(
  rows: readonly TrainRow[],
  spec: Extract<ObjectiveSpec, { kind: 'preference' }>,
  scored: readonly Float32Array[],
): Objective {
  if (rows.length % 2 !== 0) throw new RangeError('preferences come in pairs');
  const pairs = rows.length / 2;
  const gain = rows.map((row, index) => {
    if (row.reference === undefined) throw new RangeError(`row ${index} has no reference log-probabilities`);
    return sum(scored[index] ?? new Float32Array()) - sum(row.reference);
  });
  const margins = Array.from(
    { length: pairs },
    (_, pair) => spec.beta * ((gain[2 * pair] ?? 0) - (gain[2 * pair + 1] ?? 0)),
  );
  return {
    values: false,
    row: (index, { logprobs }) => {
      const margin = margins[Math.floor(index / 2)] ?? 0;
      const preferred = index % 2 === 0;
      // ∂(−log σ(m))/∂m = −σ(−m); the loss of a pair is told with its preferred row.
      const slope = (spec.beta * sigmoid(-margin)) / pairs;
      return {
        loss: preferred ? softplus(-margin) / pairs : 0,
        weights: new Float32Array(logprobs.length).fill(preferred ? slope : -slope),
        valueSeeds: null,
      };
    },
    metrics: () => ({
      accuracy: margins.filter((margin) => margin > 0).length / pairs,
      margin: margins.reduce((total, margin) => total + margin, 0) / pairs,
    }),
  };
}

function sum(values: Float32Array): number {
  return values.reduce((total, value) => total + value, 0);
}

function sigmoid(x: number): number {
  return x >= 0 ? 1 / (1 + Math.exp(-x)) : Math.exp(x) / (1 + Math.exp(x));
}

function softplus(x: number): number {
  return Math.max(x, 0) + Math.log1p(Math.exp(-Math.abs(x)));
}
