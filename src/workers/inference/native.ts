/**
 * The part of node-llama-cpp's native classes that we drive ourselves (ADR 0020). Its public sequences cannot tell raw
 * probabilities under a grammar, create a sampler for every token, and cannot copy a KV prefix; the addon below them can.
 * These members are internal to the pinned version: `nativeContext` checks them once and says so if they are gone.
 */
import type { Llama, LlamaContext, LlamaModel } from 'node-llama-cpp';

export interface NativeSampler {
  dispose(): void;
  applyConfig(config: SamplerConfig): void;
}

/** Absent = off. Without `temperature` the sampler is greedy and ignores the filters. */
export interface SamplerConfig {
  temperature?: number;
  minP?: number;
  seed?: number;
  grammarEvaluationState?: NativeGrammarState;
}

export type NativeGrammarState = object & { readonly __grammarState?: never };
export type NativeGrammar = object & { isTextCompatible(text: string): boolean };

export interface NativeContext {
  initBatch(size: number): void;
  /** Returns the batch row of each wanted logit, in the order of `logitIndexes`. */
  addToBatch(sequence: number, start: number, tokens: Uint32Array, logitIndexes: Uint32Array): Uint32Array;
  decodeBatch(): Promise<void>;
  /** [token, [id, probability, id, probability, …] sorted, probability of `token`] over what the sampler left. */
  sampleToken(
    row: number,
    sampler: NativeSampler,
    probabilities: boolean,
    confidence: boolean,
  ): Promise<[number, number[] | undefined, number | undefined]>;
  removeTokenCellsFromSequence(sequence: number, start: number, end: number): boolean;
  disposeSequence(sequence: number): void;
  setThreads(threads: number): void;
  saveSequenceStateToFile(file: string, sequence: number, tokens: Uint32Array): Promise<number>;
  loadSequenceStateFromFile(file: string, sequence: number, maxTokens: number): Promise<Uint32Array>;
  getMemoryBreakdown(): { cpuRam: number; gpuVram: number };
}

interface NativeModel {
  getMemoryBreakdown(): { cpuRam: number; gpuVram: number };
}

interface Bindings {
  getIsArchSupported(architecture: string): boolean;
  AddonSampler: {
    new (model: NativeModel): NativeSampler;
    acceptGrammarEvaluationStateToken(state: NativeGrammarState, token: number): void;
    canBeNextTokenForGrammarEvaluationState(state: NativeGrammarState, token: number): boolean;
  };
  AddonGrammar: new (
    source: string,
    options: { addonExports: Bindings; rootRuleName: string },
  ) => NativeGrammar;
  AddonGrammarEvaluationState: {
    new (model: NativeModel, grammar: NativeGrammar): NativeGrammarState;
    new (existing: NativeGrammarState): NativeGrammarState;
  };
}

export interface Native {
  context: NativeContext;
  model: NativeModel;
  createSampler(): NativeSampler;
  createGrammar(source: string): NativeGrammar;
  grammarState(grammar: NativeGrammar): NativeGrammarState;
  cloneGrammarState(state: NativeGrammarState): NativeGrammarState;
  grammarAllows(state: NativeGrammarState, token: number): boolean;
  grammarAccept(state: NativeGrammarState, token: number): void;
}

export function openNative(model: LlamaModel, context: LlamaContext): Native {
  const nativeModel = internal<NativeModel>(model, '_model');
  const nativeContext = internal<NativeContext>(context, '_ctx');
  const bindings = internal<Bindings>(model.llama, '_bindings');
  for (const method of ['initBatch', 'addToBatch', 'decodeBatch', 'sampleToken', 'setThreads'] as const) {
    if (typeof nativeContext[method] !== 'function') throw changed(`AddonContext.${method}`);
  }
  return {
    context: nativeContext,
    model: nativeModel,
    createSampler: () => new bindings.AddonSampler(nativeModel),
    createGrammar: (source) =>
      new bindings.AddonGrammar(source, { addonExports: bindings, rootRuleName: 'root' }),
    grammarState: (grammar) => new bindings.AddonGrammarEvaluationState(nativeModel, grammar),
    cloneGrammarState: (state) => new bindings.AddonGrammarEvaluationState(state),
    grammarAllows: (state, token) =>
      bindings.AddonSampler.canBeNextTokenForGrammarEvaluationState(state, token),
    grammarAccept: (state, token) => {
      bindings.AddonSampler.acceptGrammarEvaluationStateToken(state, token);
    },
  };
}

export function knowsArchitecture(llama: Llama, architecture: string): boolean {
  return internal<Bindings>(llama, '_bindings').getIsArchSupported(architecture);
}

function internal<Type>(owner: object, key: string): Type {
  const value: unknown = Reflect.get(owner, key);
  if (typeof value !== 'object' || value === null) throw changed(key);
  return value as Type;
}

function changed(member: string): Error {
  return new Error(`node-llama-cpp no longer has ${member}: this build needs the pinned version 3.21.1.`);
}
