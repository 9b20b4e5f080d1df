/**
 * The model contract. Stateless on purpose: a request carries the whole conversation, the worker finds the longest prefix that
 * is already in a sequence's KV cache and evaluates only the rest. So a crash loses a cache, never a conversation.
 *
 * Tokens in = tokens out: an assistant message that the model wrote carries the very ids that were sampled (`tokens`); they are
 * spliced between the template's own text, never re-tokenised. Ids are the model's vocabulary, log-probabilities natural logs
 * under the model's own soft-max (temperature 1, no filters, no grammar).
 */
import type {
  AdapterRef,
  FitEstimate,
  GgufFacts,
  Model,
  PromptFormat,
  Sampling,
  ThreadCalibration,
} from '#shared/schema/model.ts';
import type { ModelId, Sha256 } from '#shared/ids.ts';
import type { InferenceStatus } from '#shared/schema/system.ts';

export interface ModelMessage {
  role: 'system' | 'user' | 'assistant';
  content: string;
  /** Exactly what was sampled for `content`, end-of-turn token included if it was sampled. */
  tokens?: readonly number[];
}

export interface GenerateRequest {
  messages: readonly ModelMessage[];
  /** Affinity for KV reuse, e.g. the episode id. Requests of one key are served in order. */
  sessionKey: string;
  /** Samples from this one state; the prompt is evaluated once for all of them. Sample i uses seed + i. */
  n: number;
  sampling: Sampling;
  seed: number;
  maxTokens: number;
  /**
   * A longer prompt fails with MODEL_PROMPT_LIMIT. Whoever has the ids counts before anything is evaluated; a server counts
   * for itself, so its answer is paid for and then refused.
   */
  maxPromptTokens?: number;
  /** Stop texts; the text that matched is kept in `text` (so that tokens and text agree). */
  stop?: readonly string[];
  grammar?: GrammarSpec;
  format: PromptFormat;
  /** What the state admits: read by scripts only, which choose though a compact prompt lists nothing. No model is told. */
  admissible?: readonly string[];
}

/** `choice`: one of these texts, exactly. `json`: a JSON schema. `gbnf`: llama.cpp's notation. */
export type GrammarSpec =
  | { kind: 'choice'; options: readonly string[]; prefix?: string; suffix?: string }
  | { kind: 'json'; schema: unknown }
  | { kind: 'gbnf'; source: string };

export interface Generation {
  text: string;
  tokens: number[];
  /** One for each token; empty where the server does not tell. */
  logprobs: number[];
  stopReason: 'end' | 'stop' | 'length' | 'grammar';
}

export interface GenerateResult {
  generations: Generation[];
  /** The rendered prompt text (for its hash and for reading) and its ids; ids are empty where the server does not tell. */
  prompt: string;
  promptTokens: number[];
  /** Tokens of the prompt. A server that tells no ids may tell their number; 0 where it tells neither. */
  promptLength: number;
  /** Prompt tokens that were not in a cache, as far as the server tells. */
  evaluatedPromptTokens: number;
  /** Tokens of all generations together; 0 where the server does not tell. */
  completionLength: number;
  promptMs: number;
  completionMs: number;
}

export interface ScoreRequest {
  /** Log-probability of each id of `completion` after `prompt`. */
  prompt: readonly number[];
  completion: readonly number[];
}

/** Ids of a training row: what `generate` would have been given, and what it would have sampled, end of turn included. */
export interface EncodedRow {
  prompt: number[];
  completion: number[];
}

export interface ChatModelInfo {
  model: Model;
  facts: GgufFacts | null;
  contextTokens: number;
  sequences: number;
  threads: number | null;
  format: 'chat' | 'completion';
  chatTemplateHash: Sha256 | null;
  adapterSha256: Sha256[];
}

/** A loaded model in a role. Every call fails with MODEL_CRASHED when the worker dies: the *episode* retries. */
export interface ChatModel {
  readonly info: ChatModelInfo;
  generate(request: GenerateRequest, options?: { signal?: AbortSignal | undefined }): Promise<GenerateResult>;
  score(request: ScoreRequest, options?: { signal?: AbortSignal | undefined }): Promise<number[]>;
  /** Unit-length vectors, one for each text. */
  embed(texts: readonly string[], options?: { signal?: AbortSignal | undefined }): Promise<Float32Array[]>;
  /** Conversations that end with the assistant's answer. @throws MODEL_UNSUPPORTED where token ids are not told */
  encode(
    rows: readonly (readonly ModelMessage[])[],
    options?: { signal?: AbortSignal | undefined },
  ): Promise<EncodedRow[]>;
  tokenize(text: string, options?: { signal?: AbortSignal | undefined }): Promise<number[]>;
  /** One text a token, for the token view. */
  detokenize(tokens: readonly number[], options?: { signal?: AbortSignal | undefined }): Promise<string[]>;
  /** Lets the worker drop a conversation's cache early. */
  endSession(sessionKey: string): Promise<void>;
}

export interface LoadOptions {
  adapters: readonly AdapterRef[];
  contextTokens: number;
  /** Conversations decoded together. */
  sequences: number;
  /** 0: the calibrated number. */
  threads: number;
  format: PromptFormat;
  signal?: AbortSignal | undefined;
}

/** Models known to the store, and the one place that loads them. */
export interface ModelService {
  list(): Promise<Model[]>;
  /** A model id, a path, a name that one model has, or `scripted:…`; registers a path on first use. @throws MODEL_NOT_FOUND, MODEL_FILE_INVALID, … */
  resolve(reference: string): Promise<Model>;
  add(path: string): Promise<Model[]>;
  addHttp(options: { baseUrl: string; model: string; apiKey?: string | undefined }): Promise<Model>;
  /** @throws CONFLICT while somebody holds it */
  remove(modelId: ModelId): Promise<boolean>;
  fit(modelId: ModelId, options: { contextTokens: number; sequences: number }): Promise<FitEstimate>;
  /** Before anything is loaded. @throws FILE_NOT_FOUND, MODEL_FILE_INVALID, MODEL_UNSUPPORTED, INVALID_INPUT for what is no GGUF */
  checkAdapter(modelId: ModelId, path: string): Promise<void>;
  calibration(modelId: ModelId): Promise<ThreadCalibration | null>;
  calibrate(
    modelId: ModelId,
    options: { force: boolean; signal?: AbortSignal | undefined },
  ): Promise<ThreadCalibration>;
  /** Shared: the same model with the same options is loaded once and counted; `release` when done. */
  load(model: Model, options: LoadOptions): Promise<{ model: ChatModel; release(): Promise<void> }>;
  /** false: it was not loaded. @throws CONFLICT while somebody holds it */
  unload(modelId: ModelId): Promise<boolean>;
  status(): InferenceStatus;
  /** Loads a tiny random-weight model, reads a word with it and unloads it: proves that the native library works here. */
  selfTest(options?: { signal?: AbortSignal | undefined }): Promise<{ device: string; tookMs: number }>;
  /** Called on each change of `status`. Returns the unsubscribe function. */
  onStatus(listener: (status: InferenceStatus) => void): () => void;
  dispose(): Promise<void>;
}
