/** One model with one context, ready to answer. Weights are shared between loads of the same file. */
import type { Llama, LlamaEmbeddingContext, LlamaModel, Token } from 'node-llama-cpp';
import { AppError } from '#shared/errors.ts';
import { batchTokens } from '#shared/worker/batch-tokens.ts';
import type { GenerateParams, Loaded, LoadParams, WorkerGenerateResult } from '#shared/worker/inference.ts';
import { contextFull } from '#shared/worker/too-long.ts';
import { Decoder } from './decoder.ts';
import type { Turnstile } from './decoder.ts';
import { deviceOf, hasGpu } from './device.ts';
import { generate } from './generate.ts';
import { compileGrammar } from './grammar.ts';
import type { CompiledGrammar } from './grammar.ts';
import { openNative } from './native.ts';
import type { Native } from './native.ts';
import { renderPrompt } from './prompt.ts';
import type { Vocabulary } from './prompt.ts';
import { createRandom } from './random.ts';
import { TokenSampler } from './sampling.ts';
import { PromptCache } from './session.ts';
import { Slots } from './slots.ts';
import { createVocabulary, vocabularySize } from './vocabulary.ts';

const greedy = { temperature: 0, topK: 0, topP: 1, minP: 0 };

/** Of the KV cache. F16 is llama.cpp's own; F32 takes twice the memory and rounds nothing (oracles compare engines with it). */
export type KeyValueType = 'F16' | 'F32';

export class LoadedModel {
  readonly info: Loaded;
  readonly #llama: Llama;
  readonly #model: LlamaModel;
  readonly #native: Native;
  readonly #decoder: Decoder;
  readonly #slots: Slots;
  readonly #cache: PromptCache;
  readonly #vocabulary: Vocabulary;
  readonly #vocabularySize: number;
  /** What a text follows whose start must keep its leading space. */
  readonly #anchor: readonly number[];
  readonly #template: string | null;
  readonly #turnstile: Turnstile;
  readonly #disposeContext: () => Promise<void>;
  readonly #grammars = new Map<string, Promise<CompiledGrammar>>();
  readonly #chains = new Map<string, Promise<unknown>>();
  #embedding: Promise<LlamaEmbeddingContext> | null = null;
  #sampledTokens = 0;
  #scored = 0;

  private constructor(parts: {
    llama: Llama;
    model: LlamaModel;
    native: Native;
    info: Loaded;
    batchSize: number;
    turnstile: Turnstile;
    disposeContext: () => Promise<void>;
    warn: (text: string) => void;
  }) {
    this.info = parts.info;
    this.#llama = parts.llama;
    this.#model = parts.model;
    this.#native = parts.native;
    this.#turnstile = parts.turnstile;
    this.#disposeContext = parts.disposeContext;
    this.#decoder = new Decoder(parts.native.context, {
      batchSize: parts.batchSize,
      turnstile: parts.turnstile,
    });
    this.#slots = new Slots(parts.info.sequences);
    this.#cache = new PromptCache(parts.native.context, this.#decoder, this.#slots, parts.warn);
    this.#vocabulary = createVocabulary(parts.model);
    this.#vocabularySize = vocabularySize(parts.model);
    this.#template = chatTemplate(parts.model);
    this.#anchor = parts.model.tokenize('a');
  }

  static async open(
    llama: Llama,
    model: LlamaModel,
    params: LoadParams,
    turnstile: Turnstile,
    options: { keyValueType: KeyValueType; warn: (text: string) => void },
  ): Promise<LoadedModel> {
    const batchSize = batchTokens(vocabularySize(model), params.contextTokens, params.sequences);
    const context = await model.createContext({
      contextSize: params.contextTokens,
      sequences: params.sequences,
      batchSize,
      threads: params.threads,
      // Sliding-window models would drop what a later branch needs; the full cache keeps every prefix reusable.
      swaFullCache: true,
      // On the CPU, flash attention rounds values to half precision, and differently for one token than for a batch: the
      // sampler's log-probabilities would differ from the scorer's by up to 5e-3 even with float32 weights.
      flashAttention: hasGpu(llama) ? 'auto' : false,
      ...(options.keyValueType === 'F32'
        ? { experimentalKvCacheKeyType: 'F32' as const, experimentalKvCacheValueType: 'F32' as const }
        : {}),
      failedCreationRemedy: false,
      ...(params.adapters.length === 0
        ? {}
        : {
            lora: { adapters: params.adapters.map(({ path, scale }) => ({ filePath: path, scale })) },
          }),
    });
    const native = openNative(model, context);
    native.context.setThreads(params.threads);
    const weights = memory(native.model);
    return new LoadedModel({
      llama,
      model,
      native,
      batchSize,
      turnstile,
      warn: options.warn,
      disposeContext: () => context.dispose(),
      info: {
        contextTokens: params.contextTokens,
        sequences: params.sequences,
        threads: params.threads,
        device: deviceOf(llama),
        hasChatTemplate: chatTemplate(model) !== null,
        modelBytes: weights,
        contextBytes: memory(native.context),
      },
    });
  }

  get busySequences(): number {
    return this.#slots.busyCount;
  }

  get sampledTokens(): number {
    return this.#sampledTokens;
  }

  generate(request: GenerateParams, signal: AbortSignal): Promise<WorkerGenerateResult> {
    return this.#inOrder(request.sessionKey, async () => {
      signal.throwIfAborted();
      const template = request.format === 'completion' ? null : this.#template;
      if (request.format === 'chat' && template === null) throw noTemplate();
      const prompt = renderPrompt(request.messages, { template }, this.#vocabulary);
      const grammar = request.grammar === undefined ? null : await this.#grammar(request.grammar);
      return generate(
        {
          native: this.#native,
          slots: this.#slots,
          cache: this.#cache,
          contextTokens: this.info.contextTokens,
          vocabularySize: this.#vocabularySize,
          isEndOfTurn: (token) => this.#model.isEogToken(token as Token),
          textOf: (tokens, before) => this.#continuation(tokens, before),
          sampled: () => {
            this.#sampledTokens += 1;
          },
        },
        request,
        { ...prompt, completionFormat: template === null },
        grammar,
        signal,
      );
    });
  }

  /**
   * The last message is the answer: its own ids where it has them, else its text and the end of turn that stops a generation.
   * In the completion format, whose turns end by opening the next mark, the end of the sequence stands for it.
   */
  encode(
    messages: GenerateParams['messages'],
    format: GenerateParams['format'],
  ): { prompt: number[]; completion: number[] } {
    const template = format === 'completion' ? null : this.#template;
    if (format === 'chat' && template === null) throw noTemplate();
    const answer = messages.at(-1);
    if (answer?.role !== 'assistant') {
      throw new AppError({
        code: 'INVALID_INPUT',
        message: 'A training row must end with an assistant message.',
      });
    }
    const prompt = renderPrompt(messages.slice(0, -1), { template }, this.#vocabulary);
    if (answer.tokens !== undefined && answer.tokens.length > 0) {
      return { prompt: prompt.tokens, completion: [...answer.tokens] };
    }
    const { eot, eos } = this.#model.tokens;
    const end = template === null ? (eos ?? eot) : (eot ?? eos);
    const text = this.#vocabulary.tokenize(answer.content, { special: false, first: false });
    return { prompt: prompt.tokens, completion: end === null ? text : [...text, end] };
  }

  async score(
    prompt: readonly number[],
    completion: readonly number[],
    signal: AbortSignal,
  ): Promise<number[]> {
    const tokens = [...prompt, ...completion];
    this.#checkIds(tokens);
    if (tokens.length > this.info.contextTokens) throw contextFull(tokens.length, this.info.contextTokens);
    this.#scored += 1;
    const key = `score ${String(this.#scored)}`;
    const slot = await this.#slots.acquire(key, tokens, signal);
    const sampler = new TokenSampler(this.#native, {
      sampling: greedy,
      random: createRandom(0),
      vocabularySize: this.#vocabularySize,
    });
    const logprobs = new Array<number>(completion.length).fill(0);
    try {
      // The last token predicts nothing that is asked for, so it is not evaluated.
      await this.#cache.fill(slot, tokens.slice(0, -1), {
        keepAtMost: prompt.length - 1,
        rows: completion.map((_, index) => prompt.length - 1 + index),
        onRow: async (position, row) => {
          const index = position - (prompt.length - 1);
          logprobs[index] = await sampler.logprob(row, completion[index] ?? 0);
        },
        signal,
      });
      return logprobs;
    } finally {
      sampler.dispose();
      this.#slots.release(slot, false);
    }
  }

  async embed(texts: readonly string[], signal: AbortSignal): Promise<Float32Array[]> {
    const size = Math.min(this.#model.trainContextSize, 2048);
    this.#embedding ??= this.#model.createEmbeddingContext({
      contextSize: size,
      batchSize: size,
      threads: this.info.threads,
    });
    const context = await this.#embedding;
    const vectors: Float32Array[] = [];
    for (const text of texts) {
      signal.throwIfAborted();
      const tokens = this.#model.tokenize(text).slice(0, size - 4);
      const input = tokens.length === 0 ? this.#model.tokenize(' ') : tokens;
      const { vector } = await this.#turnstile(() => context.getEmbeddingFor(input));
      vectors.push(unit(vector));
    }
    return vectors;
  }

  tokenize(text: string): number[] {
    return this.#vocabulary.tokenize(text, { special: false, first: true });
  }

  detokenize(tokens: readonly number[]): string[] {
    this.#checkIds(tokens);
    return tokens.map((token) => this.#vocabulary.textOf([token]));
  }

  endSession(sessionKey: string): boolean {
    return this.#slots.endSession(sessionKey);
  }

  async dispose(): Promise<void> {
    this.#decoder.close(new AppError({ code: 'CANCELLED', message: 'The model was unloaded.' }));
    await this.#decoder.exclusive(() => undefined);
    this.#cache.close();
    if (this.#embedding !== null) await (await this.#embedding).dispose();
    await this.#disposeContext();
  }

  /** Requests of one session in order: each builds on the cache of the one before. */
  #inOrder<Result>(key: string, work: () => Promise<Result>): Promise<Result> {
    const before = this.#chains.get(key) ?? Promise.resolve();
    const result = before.then(work, work);
    const settled = result.then(
      () => undefined,
      () => undefined,
    );
    this.#chains.set(key, settled);
    void settled.then(() => {
      if (this.#chains.get(key) === settled) this.#chains.delete(key);
    });
    return result;
  }

  #grammar(spec: NonNullable<GenerateParams['grammar']>): Promise<CompiledGrammar> {
    const key = JSON.stringify(spec);
    const known = this.#grammars.get(key);
    if (known !== undefined) return known;
    const compiled = compileGrammar(this.#llama, spec);
    if (this.#grammars.size >= 256) this.#grammars.clear();
    this.#grammars.set(key, compiled);
    compiled.catch(() => this.#grammars.delete(key));
    return compiled;
  }

  /** Control tokens have no text. A leading space survives: detokenizers drop it only at the very beginning. */
  #continuation(tokens: readonly number[], before: readonly number[] = []): string {
    const anchor = before.length === 0 ? this.#anchor : before;
    return this.#model.detokenize([...tokens] as Token[], false, [...anchor] as Token[]);
  }

  #checkIds(tokens: readonly number[]): void {
    const bad = tokens.find((token) => token >= this.#vocabularySize);
    if (bad === undefined) return;
    throw new AppError({
      code: 'INVALID_INPUT',
      message: `Token ${bad} is not in this model's vocabulary of ${this.#vocabularySize}. Were the ids made by another model?`,
      data: { token: bad },
    });
  }
}

function chatTemplate(model: LlamaModel): string | null {
  const template = model.fileInfo.metadata.tokenizer?.chat_template;
  return typeof template === 'string' && template.trim() !== '' ? template : null;
}

function memory(owner: { getMemoryBreakdown(): { cpuRam: number; gpuVram: number } }): number {
  const { cpuRam, gpuVram } = owner.getMemoryBreakdown();
  return cpuRam + gpuVram;
}

function unit(vector: readonly number[]): Float32Array {
  const length = Math.hypot(...vector);
  return Float32Array.from(vector, (value) => (length === 0 ? 0 : value / length));
}

function noTemplate(): AppError {
  return new AppError({
    code: 'INVALID_INPUT',
    message:
      'This model has no chat template (a base model). Choose the completion format, or a model that has one.',
  });
}
