/** n answers to one prompt: the prompt is evaluated once, every answer starts from its cache. */
import type { GenerateParams, WorkerGenerateResult } from '#shared/worker/inference.ts';
import { AppError } from '#shared/errors.ts';
import { contextFull, promptOverLimit } from '#shared/worker/too-long.ts';
import type { CompiledGrammar } from './grammar.ts';
import { GrowingText } from './growing-text.ts';
import type { Native, NativeGrammarState } from './native.ts';
import { completionStop } from './prompt.ts';
import type { RenderedPrompt } from './prompt.ts';
import { createRandom } from './random.ts';
import { TokenSampler } from './sampling.ts';
import type { PromptCache } from './session.ts';
import type { Slot, Slots } from './slots.ts';

export interface GenerationParts {
  native: Native;
  slots: Slots;
  cache: PromptCache;
  contextTokens: number;
  vocabularySize: number;
  isEndOfTurn(token: number): boolean;
  /** Text of these ids without control tokens, as they stand after `before`; none: after the prompt. */
  textOf(tokens: readonly number[], before?: readonly number[]): string;
  sampled(): void;
}

type StopReason = WorkerGenerateResult['generations'][number]['stopReason'];

interface Sample {
  sampler: TokenSampler;
  grammar: NativeGrammarState | null;
  tokens: number[];
  text: GrowingText;
  logprobs: number[];
  stopReason: StopReason | null;
}

export async function generate(
  parts: GenerationParts,
  request: GenerateParams,
  prompt: RenderedPrompt & { completionFormat: boolean },
  compiled: CompiledGrammar | null,
  signal: AbortSignal,
): Promise<WorkerGenerateResult> {
  const promptLength = prompt.tokens.length;
  const { maxPromptTokens } = request;
  if (maxPromptTokens !== undefined && promptLength > maxPromptTokens) {
    throw promptOverLimit(promptLength, maxPromptTokens);
  }
  if (promptLength >= parts.contextTokens) throw contextFull(promptLength, parts.contextTokens);
  const stops = [...(request.stop ?? []), ...(prompt.completionFormat ? [completionStop] : [])];
  const slot = await parts.slots.acquire(request.sessionKey, prompt.tokens, signal);
  const samples: Sample[] = [];
  let extra: Slot[] = [];
  const started = performance.now();
  try {
    for (let index = 0; index < request.n; index += 1) {
      samples.push(startSample(parts, request, request.seed + index, compiled));
    }
    const step = async (sample: Sample, row: number): Promise<void> => {
      const sampled = await sample.sampler.sample(row, sample.grammar);
      parts.sampled();
      advance(sample, sampled);
    };
    const advance = (sample: Sample, sampled: { token: number; logprob: number } | null): void => {
      if (sampled === null) {
        sample.stopReason = 'grammar';
        return;
      }
      sample.tokens.push(sampled.token);
      sample.text.push(sampled.token);
      sample.logprobs.push(sampled.logprob);
      if (sample.grammar !== null && !parts.isEndOfTurn(sampled.token)) {
        parts.native.grammarAccept(sample.grammar, sampled.token);
      }
      sample.stopReason = stopReason(parts, request, sample, stops, compiled, promptLength);
    };
    const evaluated = await parts.cache.fill(slot, prompt.tokens, {
      keepAtMost: promptLength - 1,
      rows: [promptLength - 1],
      onRow: async (_position, row) => {
        for (const sample of samples) await step(sample, row);
      },
      signal,
    });
    const promptDone = performance.now();
    const open = samples.filter((sample) => sample.stopReason === null);
    extra = parts.slots.acquireSpare(request.sessionKey, open.length - 1);
    await runSamples(parts, { slot, extra, open, promptLength, step, signal });
    return {
      generations: samples.map(({ tokens, logprobs, stopReason: reason }) => ({
        text: parts.textOf(tokens),
        tokens,
        logprobs,
        stopReason: reason ?? 'length',
      })),
      prompt: prompt.text,
      promptTokens: prompt.tokens,
      evaluatedPromptTokens: evaluated,
      promptMs: promptDone - started,
      completionMs: performance.now() - promptDone,
    };
  } finally {
    for (const sample of samples) sample.sampler.dispose();
    for (const spare of extra) parts.slots.release(spare, false);
    parts.slots.release(slot, true);
  }
}

/** The open samples share the slots; a slot takes the next one after dropping the last one's tail. */
async function runSamples(
  parts: GenerationParts,
  run: {
    slot: Slot;
    extra: readonly Slot[];
    open: Sample[];
    promptLength: number;
    step(sample: Sample, row: number): Promise<void>;
    signal: AbortSignal;
  },
): Promise<void> {
  const queue = [...run.open];
  let failed = false;
  const work = async (slot: Slot): Promise<void> => {
    for (let sample = queue.shift(); sample !== undefined; sample = queue.shift()) {
      await parts.cache.truncate(slot, run.promptLength);
      while (sample.stopReason === null && !failed) {
        const current: Sample = sample;
        await parts.cache.append(slot, sample.tokens.slice(-1), {
          rows: [0],
          onRow: (_index, row) => run.step(current, row),
          signal: run.signal,
        });
      }
    }
  };
  const ready: Slot[] = [run.slot];
  for (const spare of run.extra) if (await parts.cache.copy(run.slot, spare)) ready.push(spare);
  // One that fails stops the others, and all have let go of their slots before the caller frees these.
  const ended = await Promise.allSettled(
    ready.map((slot) =>
      work(slot).catch((error: unknown) => {
        failed = true;
        queue.length = 0;
        throw error;
      }),
    ),
  );
  for (const end of ended) if (end.status === 'rejected') throw end.reason;
}

function startSample(
  parts: GenerationParts,
  request: GenerateParams,
  seed: number,
  compiled: CompiledGrammar | null,
): Sample {
  return {
    sampler: new TokenSampler(parts.native, {
      sampling: request.sampling,
      random: createRandom(seed),
      vocabularySize: parts.vocabularySize,
    }),
    grammar: compiled === null ? null : startGrammar(parts.native, compiled.source),
    tokens: [],
    text: new GrowingText(parts.textOf),
    logprobs: [],
    stopReason: null,
  };
}

function startGrammar(native: Native, source: string): NativeGrammarState {
  try {
    return native.grammarState(native.createGrammar(source));
  } catch (error) {
    throw new AppError({
      code: 'INVALID_INPUT',
      message: `The grammar does not parse. Nothing was generated. It was:\n${source.slice(0, 500)}`,
      cause: error,
    });
  }
}

function stopReason(
  parts: GenerationParts,
  request: GenerateParams,
  sample: Sample,
  stops: readonly string[],
  compiled: CompiledGrammar | null,
  promptLength: number,
): StopReason | null {
  const last = sample.tokens.at(-1);
  if (last !== undefined && parts.isEndOfTurn(last)) return compiled === null ? 'end' : 'grammar';
  const { text } = sample.text;
  if (compiled?.complete(text) === true) return 'grammar';
  if (stops.some((stop) => text.includes(stop))) return 'stop';
  if (sample.tokens.length >= request.maxTokens) return 'length';
  // The next token would be evaluated at this position.
  return promptLength + sample.tokens.length > parts.contextTokens - 1 ? 'length' : null;
}
