/**
 * Every loss here is a function of the log-probabilities of target tokens, so all it has to give is its value and, for each
 * target, the weight of −log p: −∂loss/∂log p. One primitive then makes the gradient (decoder.ts, `head`).
 */
export interface RowResult {
  loss: number;
  /** −∂loss/∂log p of each target. */
  weights: Float32Array;
  /** ∂loss/∂value at each target, where there is a value head. */
  valueSeeds: Float32Array | null;
}

/** Fresh numbers of one row, by target. `values`: of the value head, at the token before the target. */
export interface Fresh {
  logprobs: Float32Array;
  values: Float32Array | null;
}

export interface Objective {
  /** Whether the value head takes part. */
  readonly values: boolean;
  row(index: number, fresh: Fresh): RowResult;
  /** Named sums and means over the rows so far. */
  metrics(): Record<string, number>;
}
