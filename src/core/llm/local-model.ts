/** A GGUF in the inference process. After a crash the next call loads it again; the handle stays good. */
import { AppError } from '#shared/errors.ts';
import type { LoadParams } from '#shared/worker/inference.ts';
import type { InferenceMethod, InferenceParams, InferenceResult } from '#shared/worker/inference.ts';
import type { InferenceClient } from './inference-client.ts';
import { unlessAborted } from './shared-work.ts';
import type {
  ChatModel,
  ChatModelInfo,
  EncodedRow,
  GenerateRequest,
  GenerateResult,
  ModelMessage,
  ScoreRequest,
} from './port.ts';

interface CallOptions {
  signal?: AbortSignal | undefined;
}

export class LocalModel implements ChatModel {
  readonly info: ChatModelInfo;
  readonly #client: InferenceClient;
  readonly #params: LoadParams;
  #closed = false;
  #loaded: { generation: number; done: Promise<unknown> } | null = null;

  constructor(client: InferenceClient, params: LoadParams, info: ChatModelInfo) {
    this.#client = client;
    this.#params = params;
    this.info = info;
  }

  async load(): Promise<void> {
    if (this.#closed) {
      throw new AppError({
        code: 'CONFLICT',
        message: `${this.info.model.name} was unloaded, and this use of it has ended. Load it again.`,
      });
    }
    const generation = await this.#client.generation();
    if (this.#loaded?.generation !== generation) {
      const done = this.#client.call('load', this.#params);
      const loaded = { generation, done };
      this.#loaded = loaded;
      done.catch(() => {
        if (this.#loaded === loaded) this.#loaded = null;
      });
    }
    await this.#loaded.done;
  }

  /** For good: a call that comes later must not bring back what nobody would unload. */
  async unload(): Promise<void> {
    this.#closed = true;
    if (this.#loaded === null) return;
    this.#loaded = null;
    await this.#client.call('unload', { loadId: this.#params.loadId });
  }

  async generate(request: GenerateRequest, options?: CallOptions): Promise<GenerateResult> {
    const { messages, stop, grammar, ...rest } = request;
    const result = await this.#call(
      'generate',
      {
        ...rest,
        messages: messages.map(withOwnTokens),
        stop: stop === undefined ? undefined : [...stop],
        grammar: grammar?.kind === 'choice' ? { ...grammar, options: [...grammar.options] } : grammar,
        format: request.format === 'auto' ? this.info.format : request.format,
      },
      options?.signal,
    );
    return {
      ...result,
      promptLength: result.promptTokens.length,
      completionLength: result.generations.reduce((sum, { tokens }) => sum + tokens.length, 0),
    };
  }

  score(request: ScoreRequest, options?: CallOptions): Promise<number[]> {
    const { prompt, completion } = request;
    return this.#call('score', { prompt: [...prompt], completion: [...completion] }, options?.signal);
  }

  embed(texts: readonly string[], options?: CallOptions): Promise<Float32Array[]> {
    return this.#call('embed', { texts: [...texts] }, options?.signal);
  }

  encode(rows: readonly (readonly ModelMessage[])[], options?: CallOptions): Promise<EncodedRow[]> {
    return this.#call(
      'encode',
      { format: this.info.format, rows: rows.map((row) => row.map(withOwnTokens)) },
      options?.signal,
    );
  }

  tokenize(text: string, options?: CallOptions): Promise<number[]> {
    return this.#call('tokenize', { text }, options?.signal);
  }

  detokenize(tokens: readonly number[], options?: CallOptions): Promise<string[]> {
    return this.#call('detokenize', { tokens: [...tokens] }, options?.signal);
  }

  async endSession(sessionKey: string): Promise<void> {
    // Nothing to drop where the process died meanwhile.
    if (this.#loaded === null || this.#client.state !== 'ready') return;
    await this.#call('endSession', { sessionKey });
  }

  async #call<Method extends InferenceMethod>(
    method: Method,
    params: Omit<InferenceParams<Method>, 'loadId'>,
    signal?: AbortSignal,
  ): Promise<InferenceResult<Method>> {
    await unlessAborted(this.load(), signal);
    try {
      const complete = { ...params, loadId: this.#params.loadId } as InferenceParams<Method>;
      return await this.#client.call(method, complete, signal);
    } catch (error) {
      // It died and came back between the load and this call: the same to the caller as dying during it.
      if (!(error instanceof AppError) || error.code !== 'NOT_FOUND') throw error;
      this.#loaded = null;
      throw new AppError({
        code: 'MODEL_CRASHED',
        message:
          'The inference process was started again and lost this conversation. The episode is retried.',
        cause: error,
      });
    }
  }
}

function withOwnTokens({ tokens, ...message }: ModelMessage) {
  return tokens === undefined ? message : { ...message, tokens: [...tokens] };
}
