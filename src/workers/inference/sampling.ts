/**
 * One token from one row of logits, with its log-probability under the model's own soft-max (temperature 1, no filters, no
 * grammar). The addon gives no logits, only samplers; so the normaliser comes from one sampler and the candidates from another:
 *
 *   1. `reference` samples at temperature 1 and tells the probability p₀ of the token t₀ it took.
 *   2. `candidates` lists every token that matters at the wanted temperature, with relative probabilities.
 *   3. raw p(t) = p₀ · relative(t) / relative(t₀).
 *
 * At temperature 1 without filters step 1 is the whole answer. Vocabularies over 8,192 leave out, in step 1, tokens below
 * 1e-8 of the likeliest one (sorting 262,144 entries would cost more than the model): measured error below 1e-6.
 */
import { AppError } from '#shared/errors.ts';
import type { Sampling } from '#shared/schema/model.ts';
import type { Native, NativeContext, NativeGrammarState, NativeSampler } from './native.ts';
import type { Random } from './random.ts';

export interface SampledToken {
  token: number;
  logprob: number;
}

interface Candidate {
  token: number;
  /** Under the raw soft-max. */
  probability: number;
}

const exactVocabulary = 8192;
const referenceThreshold = 1e-8;
/** Keeps finite logits only: what a grammar forbids is at minus infinity. */
const finiteThreshold = 1e-37;

export class TokenSampler {
  readonly #native: Native;
  readonly #context: NativeContext;
  readonly #reference: NativeSampler;
  readonly #candidates: NativeSampler;
  readonly #sampling: Sampling;
  readonly #random: Random;
  readonly #exact: boolean;

  constructor(native: Native, options: { sampling: Sampling; random: Random; vocabularySize: number }) {
    this.#native = native;
    this.#context = native.context;
    this.#sampling = options.sampling;
    this.#random = options.random;
    this.#exact = options.vocabularySize <= exactVocabulary;
    this.#reference = native.createSampler();
    this.#reference.applyConfig(this.#referenceConfig(options.random.seed32()));
    this.#candidates = native.createSampler();
    const greedy = this.#exact && options.sampling.temperature === 0;
    this.#candidates.applyConfig(
      greedy ? {} : { temperature: 1, seed: 1, minP: candidateThreshold(options.sampling.temperature) },
    );
  }

  dispose(): void {
    this.#reference.dispose();
    this.#candidates.dispose();
  }

  async sample(row: number, grammar: NativeGrammarState | null): Promise<SampledToken | null> {
    const free = await this.#sampleFree(row);
    if (grammar === null) return free;
    // Rejection, then the grammar's own distribution: together exactly p(t) / p(allowed).
    if (this.#native.grammarAllows(grammar, free.token)) return free;
    return this.#sampleAllowed(row, grammar);
  }

  /** log p(token) under the raw soft-max. */
  async logprob(row: number, token: number): Promise<number> {
    const likely = await this.#list(row, this.#exact ? 0 : referenceThreshold);
    const found = likely.find((candidate) => candidate.token === token);
    if (found !== undefined) return logOf(found.probability);
    const all = await this.#list(row, 0);
    return logOf(all.find((candidate) => candidate.token === token)?.probability ?? 0);
  }

  async #sampleFree(row: number): Promise<SampledToken> {
    const { temperature, topK, topP, minP } = this.#sampling;
    if (temperature === 0 && this.#exact) return this.#greedy(row);
    const [token, , probability] = await this.#context.sampleToken(row, this.#reference, false, true);
    if (probability === undefined) throw new Error('llama.cpp gave no probability for the sampled token');
    if (temperature === 1 && topK === 0 && topP === 1 && minP === 0) {
      return { token, logprob: logOf(probability) };
    }
    const candidates = await this.#calibrated(row, { token, probability });
    return this.#pick(candidates);
  }

  /** The greedy sampler leaves all logits as they are, so its confidence is the raw probability. */
  async #greedy(row: number): Promise<SampledToken> {
    const [token, , probability] = await this.#context.sampleToken(row, this.#candidates, false, true);
    if (probability === undefined) throw new Error('llama.cpp gave no probability for the likeliest token');
    return { token, logprob: logOf(probability) };
  }

  /** The candidate list in raw probabilities, tied to the reference token. */
  async #calibrated(row: number, reference: Candidate): Promise<Candidate[]> {
    const [, pairs] = await this.#context.sampleToken(row, this.#candidates, true, false);
    let list = toCandidates(pairs);
    let anchor = list.find((candidate) => candidate.token === reference.token);
    if (anchor === undefined) {
      list = await this.#list(row, this.#exact ? 0 : referenceThreshold);
      anchor = list.find((candidate) => candidate.token === reference.token);
    }
    const scale = anchor === undefined ? 1 : reference.probability / anchor.probability;
    return list.map(({ token, probability }) => ({ token, probability: probability * scale }));
  }

  async #sampleAllowed(row: number, grammar: NativeGrammarState): Promise<SampledToken | null> {
    const sampler = this.#native.createSampler();
    try {
      // The sampler accepts the token it takes, so it gets a copy of the grammar's state.
      sampler.applyConfig({
        temperature: 1,
        seed: 1,
        minP: finiteThreshold,
        grammarEvaluationState: this.#native.cloneGrammarState(grammar),
      });
      const [token, pairs] = await this.#context.sampleToken(row, sampler, true, false);
      const allowed = toCandidates(pairs).filter((candidate) => candidate.probability > 0);
      if (token === -1 || allowed.length === 0) return null;
      const scale = await this.#allowedMass(row, allowed);
      const picked = this.#pick(allowed);
      return { token: picked.token, logprob: logOf(Math.exp(picked.logprob) * scale) };
    } finally {
      sampler.dispose();
    }
  }

  /** p(allowed): raw probability of an allowed token over its share among the allowed ones. */
  async #allowedMass(row: number, allowed: readonly Candidate[]): Promise<number> {
    const share = new Map(allowed.map(({ token, probability }) => [token, probability]));
    for (const threshold of this.#exact ? [0] : [referenceThreshold, 0]) {
      for (const { token, probability } of await this.#list(row, threshold)) {
        const part = share.get(token);
        if (part !== undefined && probability > 0) return probability / part;
      }
    }
    return 1;
  }

  /** Raw probabilities, likeliest first; `threshold` relative to the likeliest, 0 = the whole vocabulary. */
  async #list(row: number, threshold: number): Promise<Candidate[]> {
    const sampler = this.#native.createSampler();
    try {
      sampler.applyConfig({ temperature: 1, seed: 1, ...(threshold === 0 ? {} : { minP: threshold }) });
      const [, pairs] = await this.#context.sampleToken(row, sampler, true, false);
      return toCandidates(pairs);
    } finally {
      sampler.dispose();
    }
  }

  /** Filters as in llama.cpp: top-k, top-p, min-p on raw probabilities, then the temperature. */
  #pick(sorted: readonly Candidate[]): SampledToken {
    const first = sorted[0];
    if (first === undefined) throw new Error('no candidate token left');
    const kept = this.#filter(sorted, first.probability);
    const { temperature } = this.#sampling;
    const chosen = temperature === 0 ? first : draw(kept, first.probability, temperature, this.#random);
    return { token: chosen.token, logprob: logOf(chosen.probability) };
  }

  #filter(sorted: readonly Candidate[], highest: number): readonly Candidate[] {
    const { topK, topP, minP } = this.#sampling;
    let kept = topK > 0 ? sorted.slice(0, topK) : sorted;
    if (topP < 1) {
      const total = kept.reduce((sum, { probability }) => sum + probability, 0);
      let mass = 0;
      const end = kept.findIndex(({ probability }) => (mass += probability / total) >= topP);
      if (end >= 0) kept = kept.slice(0, end + 1);
    }
    return minP > 0 ? kept.filter(({ probability }) => probability >= minP * highest) : kept;
  }

  #referenceConfig(seed: number): { temperature: number; seed: number; minP?: number } {
    return { temperature: 1, seed, ...(this.#exact ? {} : { minP: referenceThreshold }) };
  }
}

/**
 * A token below this share of the likeliest one has a weight below 1e-8 at the wanted temperature. Never above 1e-3, so that
 * the reference token is nearly always in the list.
 */
function candidateThreshold(temperature: number): number {
  return Math.max(finiteThreshold, Math.min(1e-3, referenceThreshold ** temperature));
}

function draw(
  candidates: readonly Candidate[],
  highest: number,
  temperature: number,
  random: Random,
): Candidate {
  const weights = candidates.map(({ probability }) =>
    probability > 0 ? Math.exp(Math.log(probability / highest) / temperature) : 0,
  );
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  let left = random.next() * total;
  for (const [index, candidate] of candidates.entries()) {
    left -= weights[index] ?? 0;
    if (left < 0) return candidate;
  }
  const first = candidates[0];
  if (first === undefined) throw new Error('no candidate token left');
  return first;
}

/** Between two soft-maxes in single precision. A larger excess would be a fault, and is left to be seen. */
const roundingSlack = 1e-4;

/** @throws MODEL_FILE_INVALID for weights that give no number. Where a token is certain, rounding may give it a little more than all; a log-probability is never above 0. */
function logOf(probability: number): number {
  if (Number.isNaN(probability)) {
    throw new AppError({
      code: 'MODEL_FILE_INVALID',
      message:
        'The model gives no finite numbers: weights in its file (or in an adapter) are damaged. What was stored before is kept. ' +
        'Compare the checksum of the file with its source, and get it again.',
    });
  }
  return probability > 1 && probability < 1 + roundingSlack ? 0 : Math.log(probability);
}

/** [id, probability, …] → list; llama.cpp sorts it. */
function toCandidates(pairs: readonly number[] | undefined): Candidate[] {
  const list: Candidate[] = [];
  if (pairs === undefined) return list;
  for (let index = 0; index + 1 < pairs.length; index += 2) {
    list.push({ token: pairs[index] ?? 0, probability: pairs[index + 1] ?? 0 });
  }
  return list;
}
