/**
 * An OpenAI-compatible server behind the ChatModel port: `/v1/chat/completions` (n, seed, logprobs, stop) and `/v1/embeddings`.
 * What such a server does not tell stays empty: token ids nearly always, log-probabilities often. Works with this machine's
 * own servers and with any address the user entered; every request is counted as outgoing.
 */
import { z } from 'zod';
import { AppError } from '#shared/errors.ts';
import type { Model } from '#shared/schema/model.ts';
import { promptOverLimit } from '#shared/worker/too-long.ts';
import type {
  ChatModel,
  ChatModelInfo,
  GenerateRequest,
  EncodedRow,
  GenerateResult,
  Generation,
} from './port.ts';

export interface HttpModelOptions {
  model: Model;
  apiKey: string | undefined;
  contextTokens: number;
  sequences: number;
  onOutgoing(): void;
  timeoutMs?: number;
  /** Tries in all for 429, 5xx and broken connections. */
  tries?: number;
  firstPauseMs?: number;
}

const choiceSchema = z.object({
  message: z.object({ content: z.string().nullish() }),
  finish_reason: z.string().nullish(),
  logprobs: z
    .object({ content: z.array(z.object({ token: z.string(), logprob: z.number() })).nullish() })
    .nullish(),
  /** Some servers (vLLM) tell the ids when asked. */
  token_ids: z.array(z.int()).nullish(),
});
const completionSchema = z.object({
  choices: z.array(choiceSchema).min(1),
  usage: z
    .object({
      prompt_tokens: z.int().nullish(),
      completion_tokens: z.int().nullish(),
      prompt_tokens_details: z.object({ cached_tokens: z.int().nullish() }).nullish(),
    })
    .nullish(),
  prompt_token_ids: z.array(z.int()).nullish(),
});
const embeddingSchema = z.object({
  data: z.array(z.object({ index: z.int(), embedding: z.array(z.number()) })),
});
const failureSchema = z.object({ error: z.union([z.string(), z.object({ message: z.string() })]) });

interface CallOptions {
  signal?: AbortSignal | undefined;
}

export class HttpModel implements ChatModel {
  readonly info: ChatModelInfo;
  readonly #options: Required<HttpModelOptions>;

  constructor(options: HttpModelOptions) {
    this.#options = { timeoutMs: 300_000, tries: 4, firstPauseMs: 500, ...options };
    this.info = {
      model: options.model,
      facts: null,
      contextTokens: options.contextTokens,
      sequences: options.sequences,
      threads: null,
      format: 'chat',
      chatTemplateHash: null,
      adapterSha256: [],
    };
  }

  async generate(request: GenerateRequest, options: CallOptions = {}): Promise<GenerateResult> {
    const started = performance.now();
    const generations: Generation[] = [];
    let evaluated = 0;
    let promptTokens: number[] = [];
    let promptLength = 0;
    let written: number | null = 0;
    // Servers without `n` answer once; ask again with the next seed until there are enough.
    while (generations.length < request.n) {
      const body = completionBody(request, this.info.model.remoteName ?? '', generations.length);
      const answer = await this.#ask('chat/completions', body, completionSchema, options);
      const read = answer.usage?.prompt_tokens ?? 0;
      const { maxPromptTokens } = request;
      if (maxPromptTokens !== undefined && read > maxPromptTokens) {
        throw promptOverLimit(read, maxPromptTokens);
      }
      const told = tokensWritten(answer);
      written = told === null || written === null ? null : written + told;
      for (const choice of answer.choices.slice(0, request.n - generations.length)) {
        generations.push(toGeneration(choice, request));
      }
      evaluated += Math.max(0, read - (answer.usage?.prompt_tokens_details?.cached_tokens ?? 0));
      promptTokens = answer.prompt_token_ids ?? [];
      promptLength = promptTokens.length > 0 ? promptTokens.length : read;
    }
    return {
      generations,
      prompt: request.messages.map(({ role, content }) => `${role}: ${content}\n`).join(''),
      promptTokens,
      promptLength,
      evaluatedPromptTokens: evaluated,
      completionLength: written ?? 0,
      promptMs: 0,
      completionMs: performance.now() - started,
    };
  }

  score(): Promise<number[]> {
    return Promise.reject(this.#cannot('score given tokens'));
  }

  async embed(texts: readonly string[], options: CallOptions = {}): Promise<Float32Array[]> {
    if (texts.length === 0) return [];
    const body = { model: this.info.model.remoteName, input: [...texts] };
    const { data } = await this.#ask('embeddings', body, embeddingSchema, options);
    return texts.map((_, index) => {
      const found = data.find((entry) => entry.index === index);
      if (found === undefined) {
        throw this.#failure(`it returned ${data.length} vectors for ${texts.length} texts`, null);
      }
      const length = Math.hypot(...found.embedding);
      return Float32Array.from(found.embedding, (value) => (length === 0 ? 0 : value / length));
    });
  }

  encode(): Promise<EncodedRow[]> {
    return Promise.reject(this.#cannot('tokenise'));
  }

  tokenize(): Promise<number[]> {
    return Promise.reject(this.#cannot('tokenise'));
  }

  detokenize(tokens: readonly number[]): Promise<string[]> {
    return tokens.length === 0 ? Promise.resolve([]) : Promise.reject(this.#cannot('detokenise'));
  }

  endSession(): Promise<void> {
    return Promise.resolve();
  }

  async #ask<Answer>(
    path: string,
    body: unknown,
    schema: z.ZodType<Answer>,
    options: CallOptions,
  ): Promise<Answer> {
    const parsed = schema.safeParse(await this.#post(path, body, options));
    if (parsed.success) return parsed.data;
    throw this.#failure(
      `its answer is not that of an OpenAI-compatible server: ${z.prettifyError(parsed.error)}`,
      200,
    );
  }

  async #post(path: string, body: unknown, { signal }: CallOptions): Promise<unknown> {
    const { tries, firstPauseMs } = this.#options;
    for (let attempt = 1; ; attempt += 1) {
      signal?.throwIfAborted();
      const outcome = await this.#once(path, body, signal);
      if (outcome.kind === 'ok') return outcome.value;
      if (!outcome.retry || attempt >= tries) throw outcome.error;
      await pause(outcome.pauseMs ?? firstPauseMs * 2 ** (attempt - 1), signal);
    }
  }

  async #once(path: string, body: unknown, signal: AbortSignal | undefined): Promise<Outcome> {
    const { timeoutMs, apiKey, onOutgoing } = this.#options;
    const limit = AbortSignal.timeout(timeoutMs);
    onOutgoing();
    let response: Response;
    let text: string;
    try {
      response = await fetch(endpoint(this.info.model.location, path), {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          ...(apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }),
        },
        body: JSON.stringify(body),
        signal: signal === undefined ? limit : AbortSignal.any([signal, limit]),
      });
      text = await response.text();
    } catch (error) {
      signal?.throwIfAborted();
      const reason = limit.aborted
        ? `it did not answer within ${timeoutMs / 1000} s`
        : `it cannot be reached (${connectionReason(error)}). Is the server running?`;
      return { kind: 'failed', retry: !limit.aborted, error: this.#failure(reason, null, error) };
    }
    if (!response.ok) {
      const retry = response.status === 429 || response.status >= 500;
      const pauseMs = retryAfterMs(response.headers.get('retry-after'));
      const error = tooLongForServer(response.status, text)
        ? this.#contextFull(text)
        : this.#failure(
            `it answered ${response.status}: ${failureText(text)}${statusHint(response.status)}`,
            response.status,
          );
      return { kind: 'failed', retry, error, ...(pauseMs === null ? {} : { pauseMs }) };
    }
    try {
      return { kind: 'ok', value: JSON.parse(text) };
    } catch (error) {
      const reason = `its answer is no JSON (${JSON.stringify(text.slice(0, 80))}). Is this the base URL of an OpenAI-compatible server?`;
      return { kind: 'failed', retry: false, error: this.#failure(reason, response.status, error) };
    }
  }

  #failure(reason: string, status: number | null, cause?: unknown): AppError {
    return new AppError({
      code: 'MODEL_HTTP',
      message: `${this.info.model.name}: ${reason}`,
      data: { url: this.info.model.location, status },
      cause,
    });
  }

  #contextFull(text: string): AppError {
    return new AppError({
      code: 'MODEL_CONTEXT_FULL',
      message: `${this.info.model.name}: the server's context is shorter than the conversation (${failureText(text)}). Nothing was generated. Start the server with a larger context, shorten the history, or allow fewer steps.`,
      data: { url: this.info.model.location },
    });
  }

  #cannot(what: string): AppError {
    return new AppError({
      code: 'MODEL_UNSUPPORTED',
      message: `${this.info.model.name} is a server that cannot ${what}. Use a GGUF file for this.`,
    });
  }
}

type Outcome =
  { kind: 'ok'; value: unknown } | { kind: 'failed'; retry: boolean; error: AppError; pauseMs?: number };

function completionBody(request: GenerateRequest, model: string, done: number): Record<string, unknown> {
  const { sampling } = request;
  return {
    model,
    messages: request.messages.map(({ role, content }) => ({ role, content })),
    max_tokens: request.maxTokens,
    temperature: sampling.temperature,
    top_p: sampling.topP,
    ...(sampling.topK > 0 ? { top_k: sampling.topK } : {}),
    ...(sampling.minP > 0 ? { min_p: sampling.minP } : {}),
    n: request.n - done,
    seed: request.seed + done,
    logprobs: true,
    ...(request.stop === undefined ? {} : { stop: request.stop }),
    ...grammarFields(request),
  };
}

/** JSON schemas have a standard field; llama.cpp's own server also reads `grammar`. */
function grammarFields(request: GenerateRequest): Record<string, unknown> {
  const { grammar } = request;
  switch (grammar?.kind) {
    case undefined:
      return {};
    case 'json':
      return {
        response_format: { type: 'json_schema', json_schema: { name: 'answer', schema: grammar.schema } },
      };
    case 'gbnf':
      return { grammar: grammar.source };
    case 'choice':
      return {
        guided_choice: grammar.options.map(
          (option) => `${grammar.prefix ?? ''}${option}${grammar.suffix ?? ''}`,
        ),
      };
  }
}

/** Of all choices: as the server counts them, or as it lists their ids or log-probabilities. null: it tells neither. */
function tokensWritten({ usage, choices }: z.infer<typeof completionSchema>): number | null {
  if (typeof usage?.completion_tokens === 'number') return usage.completion_tokens;
  const listed = choices.map(({ token_ids, logprobs }) => (token_ids ?? logprobs?.content)?.length ?? 0);
  return listed.includes(0) ? null : listed.reduce((sum, count) => sum + count, 0);
}

/** Servers cut the stop text off; the port keeps it, so that a closing tag is there. */
function toGeneration(choice: z.infer<typeof choiceSchema>, request: GenerateRequest): Generation {
  const content = choice.message.content ?? '';
  const stop = request.stop?.length === 1 ? request.stop[0] : undefined;
  const cut =
    choice.finish_reason === 'stop' && stop !== undefined && !content.includes(stop) && opens(content, stop);
  const text = cut ? content + stop : content;
  const length = choice.finish_reason === 'length';
  return {
    text,
    tokens: choice.token_ids ?? [],
    logprobs: choice.logprobs?.content?.map(({ logprob }) => logprob) ?? [],
    stopReason: length ? 'length' : cut ? 'stop' : 'end',
  };
}

/** A closing tag was cut off only if the answer opened it. */
function opens(content: string, stop: string): boolean {
  const tag = /^<\/([\w-]+)>$/.exec(stop)?.[1];
  return tag !== undefined && content.includes(`<${tag}>`);
}

/** The user may give the address with or without `/v1`. */
function endpoint(baseUrl: string, path: string): string {
  const base = baseUrl.replace(/\/+$/, '');
  return `${/\/v\d+$/.test(base) ? base : `${base}/v1`}/${path}`;
}

function failureText(text: string): string {
  try {
    const parsed = failureSchema.safeParse(JSON.parse(text));
    if (parsed.success) {
      const { error } = parsed.data;
      return (typeof error === 'string' ? error : error.message).slice(0, 300);
    }
  } catch {
    // Not JSON: shown as it is.
  }
  return text.trim().slice(0, 300) || 'no explanation';
}

/** OpenAI's code, llama.cpp's type, and vLLM's words. */
function tooLongForServer(status: number, text: string): boolean {
  const words = /context_length_exceeded|exceed_context_size|maximum context length/;
  return status >= 400 && status < 500 && words.test(text);
}

function statusHint(status: number): string {
  if (status === 401 || status === 403) return '. Check the key.';
  if (status === 404) return '. Check the address and the model name.';
  if (status === 429) return '. The server asks for fewer requests; lower the number of parallel episodes.';
  return '';
}

function retryAfterMs(header: string | null): number | null {
  const seconds = Number(header);
  return header !== null && Number.isFinite(seconds) && seconds >= 0 ? Math.min(seconds, 60) * 1000 : null;
}

function connectionReason(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  if (cause instanceof Error) return 'code' in cause ? String(cause.code) : cause.message;
  return error instanceof Error ? error.message : String(error);
}

function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = (): void => {
      clearTimeout(timer);
      reject(signal?.reason as Error);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', abort);
      resolve();
    }, ms);
    signal?.addEventListener('abort', abort, { once: true });
  });
}
