/**
 * The clipped surrogate of PPO (Schulman et al. 2017, Eq. 7) and GRPO (Shao et al. 2024, Eq. 3), per token:
 *
 *   L = −Σ w [ min(ρ A, clip(ρ, 1 − ε_low, 1 + ε_high) A) − β k3 ] + c Σ w V
 *   ρ = exp(log p − log p_old),  k3 = exp(log p_ref − log p) − (log p_ref − log p) − 1
 *   V = ½ max((v − R)², (clip(v, v_old ± ε_v) − R)²)
 *
 * The two differ in where A comes from (GAE with a value head; the group's normalised reward) and in w (1 / tokens of the
 * batch, or 1 / (sequences · tokens of the sequence)): both are made by the caller.
 */
import type { ObjectiveSpec, TrainRow } from '#shared/worker/trainer.ts';
import type { Objective } from './objective.ts';

type PolicySpec = Extract<ObjectiveSpec, { kind: 'policy' }>;

export function policy(rows: readonly TrainRow[], spec: PolicySpec): Objective {
  let targets = 0;
  let clipped = 0;
  let divergence = 0;
  let ratioSum = 0;
  let valueLoss = 0;
  return {
    values: spec.valueCoefficient > 0,
    row: (index, { logprobs, values }) => {
      const row = rows[index];
      if (row?.advantages === undefined || row.old === undefined) {
        throw new RangeError(`row ${index} has no advantages or no old log-probabilities`);
      }
      const weights = new Float32Array(logprobs.length);
      const valueSeeds = values === null ? null : new Float32Array(logprobs.length);
      let loss = 0;
      for (let target = 0; target < logprobs.length; target += 1) {
        const share = row.weights[target] ?? 0;
        const advantage = row.advantages[target] ?? 0;
        const logprob = logprobs[target] ?? 0;
        const ratio = Math.exp(logprob - (row.old[target] ?? logprob));
        const bounded = Math.min(1 + spec.clipHigh, Math.max(1 - spec.clipLow, ratio));
        const surrogate = Math.min(ratio * advantage, bounded * advantage);
        // Where the clipped side is the smaller one and differs, its slope is zero.
        const active = ratio * advantage <= bounded * advantage;
        let weight = active ? ratio * advantage : 0;
        loss -= share * surrogate;
        targets += 1;
        ratioSum += ratio;
        if (!active) clipped += 1;
        const reference = row.reference?.[target];
        if (reference !== undefined) {
          const gap = reference - logprob;
          const k3 = Math.exp(gap) - gap - 1;
          loss += share * spec.klCoefficient * k3;
          weight -= spec.klCoefficient * (1 - Math.exp(gap));
          divergence += k3;
        }
        weights[target] = share * weight;
        if (values !== null && valueSeeds !== null) {
          const { value, seed } = valuePart(
            values[target] ?? 0,
            row.oldValues?.[target],
            row.returns?.[target] ?? 0,
            spec.valueClip,
          );
          loss += spec.valueCoefficient * share * value;
          valueLoss += value;
          valueSeeds[target] = spec.valueCoefficient * share * seed;
        }
      }
      return { loss, weights, valueSeeds };
    },
    metrics: () => ({
      clipShare: clipped / Math.max(1, targets),
      ratio: ratioSum / Math.max(1, targets),
      kl: divergence / Math.max(1, targets),
      ...(spec.valueCoefficient > 0 ? { valueLoss: valueLoss / Math.max(1, targets) } : {}),
    }),
  };
}

function valuePart(
  value: number,
  old: number | undefined,
  target: number,
  clip: number,
): { value: number; seed: number } {
  const plain = value - target;
  const bounded = old === undefined ? value : Math.min(old + clip, Math.max(old - clip, value));
  const held = bounded - target;
  if (held * held <= plain * plain) return { value: 0.5 * plain * plain, seed: plain };
  return { value: 0.5 * held * held, seed: bounded === value ? held : 0 };
}
