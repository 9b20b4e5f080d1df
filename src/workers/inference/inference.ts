/** All loaded models of this process, and the methods of the protocol. */
import { getLlama, LlamaLogLevel } from 'node-llama-cpp';
import type { Llama, LlamaModel } from 'node-llama-cpp';
import { AppError } from '#shared/errors.ts';
import { sentence } from '#shared/sentence.ts';
import { inferenceMethods } from '#shared/worker/inference.ts';
import type {
  InferenceMethod,
  InferenceResult,
  LoadParams,
  Loaded,
  WorkerStatus,
} from '#shared/worker/inference.ts';
import { calibrateThreads } from './calibrate.ts';
import type { Turnstile } from './decoder.ts';
import { deviceOf } from './device.ts';
import { LoadedModel } from './loaded-model.ts';
import type { KeyValueType } from './loaded-model.ts';
import { knowsArchitecture } from './native.ts';

export interface InferenceHost {
  log(level: 'debug' | 'info' | 'warn' | 'error', text: string): void;
  /** `off`: never ask for a GPU (tests, and machines with broken drivers). */
  gpu: 'auto' | 'off';
  keyValueType: KeyValueType;
  /** Most threads that any context may use. */
  maxThreads: number;
}

type Handlers = {
  [Method in InferenceMethod]: (
    params: unknown,
    signal: AbortSignal,
  ) => Promise<InferenceResult<Method>> | InferenceResult<Method>;
};

interface SharedWeights {
  model: Promise<LlamaModel>;
  users: number;
}

export class Inference {
  readonly #host: InferenceHost;
  readonly #models = new Map<
    string,
    { file: string; ready: Promise<LoadedModel>; current: LoadedModel | null }
  >();
  readonly #weights = new Map<string, SharedWeights>();
  readonly #turnstile: Turnstile = createTurnstile();
  readonly #rates = new Map<string, { tokens: number; at: number; rate: number | null }>();
  #llama: Promise<Llama> | null = null;
  /** Why llama.cpp did not take the last file: only its log tells. */
  #complaint: string | null = null;
  #device = '';

  constructor(host: InferenceHost) {
    this.#host = host;
  }

  readonly handlers: Handlers = {
    load: (params) => this.#load(inferenceMethods.load.params.parse(params)),
    unload: (params) => this.#unload(inferenceMethods.unload.params.parse(params).loadId),
    generate: async (params, signal) => {
      const request = inferenceMethods.generate.params.parse(params);
      return (await this.#model(request.loadId)).generate(request, signal);
    },
    score: async (params, signal) => {
      const { loadId, prompt, completion } = inferenceMethods.score.params.parse(params);
      return (await this.#model(loadId)).score(prompt, completion, signal);
    },
    embed: async (params, signal) => {
      const { loadId, texts } = inferenceMethods.embed.params.parse(params);
      return (await this.#model(loadId)).embed(texts, signal);
    },
    encode: async (params) => {
      const { loadId, format, rows } = inferenceMethods.encode.params.parse(params);
      const model = await this.#model(loadId);
      return rows.map((messages) => model.encode(messages, format));
    },
    tokenize: async (params) => {
      const { loadId, text } = inferenceMethods.tokenize.params.parse(params);
      return (await this.#model(loadId)).tokenize(text);
    },
    detokenize: async (params) => {
      const { loadId, tokens } = inferenceMethods.detokenize.params.parse(params);
      return (await this.#model(loadId)).detokenize(tokens);
    },
    endSession: async (params) => {
      const { loadId, sessionKey } = inferenceMethods.endSession.params.parse(params);
      return (await this.#model(loadId)).endSession(sessionKey);
    },
    calibrate: async (params, signal) => {
      const { file, architecture, threadCounts } = inferenceMethods.calibrate.params.parse(params);
      const llama = await this.#getLlama();
      if (!knowsArchitecture(llama, architecture)) throw unsupported(architecture, file);
      const model = await this.#acquireWeights(file);
      try {
        return await calibrateThreads(llama, model, threadCounts, this.#turnstile, signal);
      } finally {
        await this.#releaseWeights(file);
      }
    },
  };

  status(now: number): WorkerStatus {
    const loaded: WorkerStatus['loaded'] = [];
    for (const [loadId, { current }] of this.#models) {
      if (current === null) continue;
      loaded.push({
        loadId,
        busySequences: current.busySequences,
        tokensPerSecond: this.#rate(loadId, current, now),
      });
    }
    return { device: this.#device, loaded };
  }

  async #load(params: LoadParams): Promise<Loaded> {
    const known = this.#models.get(params.loadId);
    if (known !== undefined) return (await known.ready).info;
    const entry = { file: params.file, ready: this.#open(params), current: null as LoadedModel | null };
    this.#models.set(params.loadId, entry);
    try {
      entry.current = await entry.ready;
      return entry.current.info;
    } catch (error) {
      this.#models.delete(params.loadId);
      throw loadFailure(error, params.file);
    }
  }

  async #open(params: LoadParams): Promise<LoadedModel> {
    const llama = await this.#getLlama();
    if (!knowsArchitecture(llama, params.architecture)) throw unsupported(params.architecture, params.file);
    const model = await this.#acquireWeights(params.file);
    try {
      return await LoadedModel.open(llama, model, params, this.#turnstile, {
        keyValueType: this.#host.keyValueType,
        warn: (text) => {
          this.#host.log('warn', text);
        },
      });
    } catch (error) {
      await this.#releaseWeights(params.file);
      throw error;
    }
  }

  async #unload(loadId: string): Promise<boolean> {
    const entry = this.#models.get(loadId);
    if (entry === undefined) return false;
    this.#models.delete(loadId);
    this.#rates.delete(loadId);
    await (await entry.ready).dispose();
    await this.#releaseWeights(entry.file);
    return true;
  }

  async #model(loadId: string): Promise<LoadedModel> {
    const entry = this.#models.get(loadId);
    if (entry !== undefined) return entry.ready;
    throw new AppError({
      code: 'NOT_FOUND',
      message: 'The model is not loaded in the inference process.',
      data: { loadId },
    });
  }

  async #acquireWeights(file: string): Promise<LlamaModel> {
    const known = this.#weights.get(file);
    if (known !== undefined) {
      known.users += 1;
      return known.model;
    }
    this.#complaint = null;
    const shared: SharedWeights = {
      model: this.#getLlama().then((llama) => llama.loadModel({ modelPath: file })),
      users: 1,
    };
    this.#weights.set(file, shared);
    try {
      return await shared.model;
    } catch (error) {
      this.#weights.delete(file);
      throw weightsFailure(error, file, await this.#lastComplaint());
    }
  }

  /** The log arrives a moment after the failure. */
  async #lastComplaint(): Promise<string | null> {
    for (let tries = 0; tries < 20 && this.#complaint === null; tries += 1)
      await new Promise((resolve) => setTimeout(resolve, 10));
    return this.#complaint;
  }

  async #releaseWeights(file: string): Promise<void> {
    const shared = this.#weights.get(file);
    if (shared === undefined) return;
    shared.users -= 1;
    if (shared.users > 0) return;
    this.#weights.delete(file);
    await (await shared.model).dispose();
  }

  #getLlama(): Promise<Llama> {
    this.#llama ??= getLlama({
      gpu: this.#host.gpu === 'off' ? false : 'auto',
      // Never the library's default: more ggml threads than cores cost a factor of 10 to 90.
      maxThreads: this.#host.maxThreads,
      build: 'never',
      skipDownload: true,
      logLevel: LlamaLogLevel.warn,
      logger: (level, text) => {
        this.#complaint ??= /error loading model: (.+)/u.exec(text)?.[1] ?? null;
        this.#host.log(level === LlamaLogLevel.error ? 'error' : 'warn', text);
      },
    }).then((llama) => {
      this.#device = deviceOf(llama);
      return llama;
    });
    return this.#llama;
  }

  /** Over the time since the last status that saw new tokens. */
  #rate(loadId: string, model: LoadedModel, now: number): number | null {
    const last = this.#rates.get(loadId) ?? { tokens: 0, at: now, rate: null };
    const fresh = model.sampledTokens - last.tokens;
    const seconds = (now - last.at) / 1000;
    const rate = fresh > 0 && seconds > 0 ? fresh / seconds : last.rate;
    this.#rates.set(loadId, { tokens: model.sampledTokens, at: now, rate });
    return rate;
  }
}

function createTurnstile(): Turnstile {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const result = last.then(work, work);
    last = result.catch(() => undefined);
    return result;
  };
}

function unsupported(architecture: string, file: string): AppError {
  return new AppError({
    code: 'MODEL_UNSUPPORTED',
    message: `${file} has the architecture "${architecture}", which the bundled llama.cpp does not know. Choose another model, or a newer Daydream.`,
    data: { architecture, file },
  });
}

/** @param complaint llama.cpp's own words, as `missing tensor 'blk.1.attn_q.weight'` */
function weightsFailure(error: unknown, file: string, complaint: string | null): AppError {
  const failure = loadFailure(error, file);
  if (failure.code !== 'MODEL_FILE_INVALID' || complaint === null) return failure;
  const tensor = /missing tensor '([^']+)'|tensor '([^']+)' not found/u.exec(complaint);
  const reason = tensor === null ? complaint : `it lacks the tensor ${tensor[1] ?? tensor[2] ?? ''}`;
  const next = tensor === null ? 'Is the file complete?' : 'Fetch the file again, or convert it anew.';
  return new AppError({
    code: 'MODEL_FILE_INVALID',
    message: `llama.cpp could not load ${file}: ${sentence(reason)} Nothing else was changed. ${next}`,
    data: { file },
    cause: error,
  });
}

function loadFailure(error: unknown, file: string): AppError {
  if (error instanceof AppError) return error;
  const reason = error instanceof Error ? error.message : String(error);
  if (error instanceof Error && error.name === 'InsufficientMemoryError') {
    return new AppError({
      code: 'MODEL_OUT_OF_MEMORY',
      message: `Not enough memory for ${file}: ${sentence(reason)} Use a smaller context, fewer sequences, or a smaller quantisation.`,
      cause: error,
    });
  }
  return new AppError({
    code: 'MODEL_FILE_INVALID',
    message: `llama.cpp could not load ${file}: ${sentence(reason)} Nothing else was changed. Is the file complete, and does the adapter belong to this model?`,
    data: { file },
    cause: error,
  });
}
