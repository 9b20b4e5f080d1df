/** Models known to the store, and the one place that loads them. */
import { createHash } from 'node:crypto';
import { cpus, hostname } from 'node:os';
import { AppError, assertNever } from '#shared/errors.ts';
import type { ModelId, Sha256 } from '#shared/ids.ts';
import type { FitEstimate, GgufFacts, Model, ThreadCalibration } from '#shared/schema/model.ts';
import type { InferenceStatus } from '#shared/schema/system.ts';
import type { Clock, Logger, ProcessSpawner } from '#core/ports.ts';
import { busyCores } from '#core/llm/busy-cores.ts';
import { physicalCores } from '#core/process/index.ts';
import type { ModelStore } from '#core/store/port.ts';
import { checkAdapterFits } from './adapter.ts';
import { inUse, usable, withPresence } from './usable.ts';
import { createCatalogue, httpModel, scriptedModel } from './catalogue.ts';
import type { Catalogue } from './catalogue.ts';
import { findModel } from './find-model.ts';
import { hasAmx } from './amx.ts';
import { estimateFit, refuseIfTooLarge } from './fit.ts';
import { createHeaderReader } from './gguf/known-headers.ts';
import { HttpModel } from './http-model.ts';
import { InferenceClient } from './inference-client.ts';
import { LocalModel } from './local-model.ts';
import type { ChatModel, ChatModelInfo, LoadOptions, ModelService } from './port.ts';
import { promptFormat } from './prompt-format.ts';
import { builtInScripts, ScriptedModel } from './scripted-model.ts';
import type { Script } from './scripted-model.ts';
import { selfTest } from './self-test.ts';
import { SharedWork, unlessAborted } from './shared-work.ts';

export interface ModelServiceOptions {
  models: ModelStore;
  spawner: ProcessSpawner;
  clock: Clock;
  log: Logger;
  /** Cores that others keep busy; measured where a test does not say it. */
  busyCores?: (signal: AbortSignal) => Promise<number>;
  /** The user's setting; 0: calibrated. */
  threads: () => number;
  /** Called for each connection that leaves this process because a model lives on a server. */
  onOutgoing(): void;
  /** More `scripted:NAME` models, for tests. */
  scripts?: Readonly<Record<string, Script>>;
  /** Keys of servers, kept apart from the store. Without it they last as long as the process. */
  secrets?: SecretStore;
  gpu?: 'auto' | 'off';
  /** Where the application's own model lies, if it has one: listed from the start, and meant by its name. */
  bundled?: string;
  /** How long an unused model stays loaded. */
  idleMs?: number;
}

export interface SecretStore {
  get(key: string): string | undefined;
  set(key: string, value: string): void;
  remove(key: string): void;
}

interface Opened {
  model: ChatModel;
  unload(): Promise<void>;
}

interface SharedLoad {
  model: Model;
  /** Callers that hold it or wait for it. */
  users: number;
  opening: Promise<Opened>;
  /** null while it opens. */
  opened: Opened | null;
  idleTimer: NodeJS.Timeout | null;
}

export function createModelService(options: ModelServiceOptions): ModelService {
  return new Service(options);
}

class Service implements ModelService {
  readonly #options: ModelServiceOptions;
  readonly #catalogue: Catalogue;
  readonly #client: InferenceClient;
  readonly #secrets: SecretStore;
  readonly #loads = new Map<string, SharedLoad>();
  readonly #calibrations = new Map<ModelId, SharedWork<ThreadCalibration>>();
  readonly #header = createHeaderReader();
  readonly #listeners = new Set<(status: InferenceStatus) => void>();

  constructor(options: ModelServiceOptions) {
    this.#options = options;
    this.#catalogue = createCatalogue(options);
    this.#secrets = options.secrets ?? memorySecrets();
    this.#client = new InferenceClient({
      spawner: options.spawner,
      clock: options.clock,
      log: options.log,
      maxThreads: physicalCores(),
      gpu: options.gpu ?? 'auto',
      onChange: () => {
        this.#tell();
      },
    });
  }

  list(): Promise<Model[]> {
    return Promise.resolve(this.#options.models.list().map(withPresence));
  }

  async resolve(reference: string): Promise<Model> {
    if (reference.startsWith('scripted:')) return this.#scripted(reference.slice('scripted:'.length));
    const stored = findModel(this.#options.models.list(), reference, this.#options.bundled ?? null);
    if (stored?.kind === 'http') return stored;
    if (stored !== null) return usable(withPresence(stored));
    if (!/[\\/]|\.gguf$/i.test(reference)) {
      throw new AppError({
        code: 'MODEL_NOT_FOUND',
        message: `No model "${reference}" is known. Give the path of a GGUF file, or an id or a name that only one model of the list has.`,
        data: { reference },
      });
    }
    const [model] = await this.#catalogue.add(reference);
    if (model === undefined)
      throw new AppError({ code: 'MODEL_NOT_FOUND', message: `No model at ${reference}.` });
    return usable(model);
  }

  add(path: string): Promise<Model[]> {
    return this.#catalogue.add(path);
  }

  addHttp(server: { baseUrl: string; model: string; apiKey?: string | undefined }): Promise<Model> {
    const { protocol } = new URL(server.baseUrl);
    if (protocol !== 'http:' && protocol !== 'https:') {
      throw new AppError({
        code: 'INVALID_INPUT',
        message: `${server.baseUrl} is no http or https address.`,
      });
    }
    const model = httpModel(server.baseUrl, server.model, this.#options.clock.now());
    if (server.apiKey !== undefined && server.apiKey !== '') this.#secrets.set(model.modelId, server.apiKey);
    this.#options.models.upsert(model);
    return Promise.resolve(model);
  }

  async remove(modelId: ModelId): Promise<boolean> {
    await this.unload(modelId);
    this.#secrets.remove(modelId);
    return this.#options.models.remove(modelId);
  }

  async fit(modelId: ModelId, request: { contextTokens: number; sequences: number }): Promise<FitEstimate> {
    const model = this.#stored(modelId);
    if (model.kind !== 'gguf') {
      throw new AppError({
        code: 'INVALID_INPUT',
        message: `${model.name} takes no memory of this machine.`,
      });
    }
    return this.#fit(model, request);
  }

  async checkAdapter(modelId: ModelId, path: string): Promise<void> {
    const model = this.#stored(modelId);
    if (model.kind !== 'gguf') {
      throw new AppError({
        code: 'INVALID_INPUT',
        message: `${model.name} takes no adapter of this machine: only a GGUF does.`,
      });
    }
    this.#checkAdapter(model, path);
  }

  #checkAdapter(model: Model, path: string): void {
    checkAdapterFits(path, { file: model.location, header: this.#header(model.location) });
  }

  calibration(modelId: ModelId): Promise<ThreadCalibration | null> {
    return Promise.resolve(this.#options.models.calibration(modelId, machineName()));
  }

  calibrate(
    modelId: ModelId,
    options: { force: boolean; signal?: AbortSignal | undefined },
  ): Promise<ThreadCalibration> {
    const stored = this.#options.models.calibration(modelId, machineName());
    if (stored !== null && !options.force) return Promise.resolve(stored);
    let running = this.#calibrations.get(modelId);
    if (running === undefined) {
      const model = this.#stored(modelId);
      running = new SharedWork(
        (signal) => this.#measureThreads(model, signal),
        () => this.#calibrations.delete(modelId),
      );
      this.#calibrations.set(modelId, running);
    }
    return running.wait(options.signal);
  }

  async load(model: Model, options: LoadOptions): Promise<{ model: ChatModel; release(): Promise<void> }> {
    options.signal?.throwIfAborted();
    const key = loadKey(model, options);
    // The thread count is each caller's own wait; what is opened with it then belongs to all.
    const threads = this.#loads.has(key) ? 0 : await this.#threads(model, options);
    const shared = this.#loads.get(key) ?? this.#open(key, model, options, threads);
    shared.users += 1;
    if (shared.idleTimer !== null) clearTimeout(shared.idleTimer);
    shared.idleTimer = null;
    this.#tell();
    let released = false;
    const release = (): Promise<void> => {
      if (!released) {
        released = true;
        shared.users -= 1;
        this.#unloadWhenIdle(key, shared);
        this.#tell();
      }
      return Promise.resolve();
    };
    try {
      const opened = await unlessAborted(shared.opening, options.signal);
      return { model: opened.model, release };
    } catch (error) {
      await release();
      throw error;
    }
  }

  async unload(modelId: ModelId): Promise<boolean> {
    const mine = [...this.#loads].filter(([, shared]) => shared.model.modelId === modelId);
    const used = mine.find(([, { users }]) => users > 0)?.[1];
    if (used !== undefined) throw inUse(used.model.name, used.users);
    for (const [key, shared] of mine) {
      await shared.opening.catch(() => undefined);
      await this.#drop(key, shared);
    }
    return mine.length > 0;
  }

  status(): InferenceStatus {
    const live = new Map(this.#client.status.loaded.map((entry) => [entry.loadId, entry]));
    const loaded: InferenceStatus['loaded'] = [];
    for (const [loadId, { model, opened, users }] of this.#loads) {
      if (model.kind !== 'gguf' || opened === null) continue;
      const { info } = opened.model;
      loaded.push({
        modelId: model.modelId,
        name: model.name,
        contextTokens: info.contextTokens,
        sequences: info.sequences,
        threads: info.threads ?? 0,
        adapters: info.adapterSha256,
        busySequences: live.get(loadId)?.busySequences ?? 0,
        users,
        tokensPerSecond: live.get(loadId)?.tokensPerSecond ?? null,
      });
    }
    return {
      state: this.#client.state,
      device: this.#client.status.device,
      restarts: this.#client.restarts,
      loaded,
    };
  }

  selfTest(options: { signal?: AbortSignal | undefined } = {}): Promise<{ device: string; tookMs: number }> {
    return selfTest(this.#client, this.#options.clock, options);
  }

  onStatus(listener: (status: InferenceStatus) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async dispose(): Promise<void> {
    this.#listeners.clear();
    for (const shared of this.#loads.values()) if (shared.idleTimer !== null) clearTimeout(shared.idleTimer);
    await this.#client.dispose();
  }

  /** Nobody's abort stops it: a load that all have left ends as an idle one. */
  #open(key: string, model: Model, options: LoadOptions, threads: number): SharedLoad {
    const opening = this.#openKind(key, model, options, threads);
    const shared: SharedLoad = { model, users: 0, opening, opened: null, idleTimer: null };
    this.#loads.set(key, shared);
    opening.then(
      (opened) => {
        shared.opened = opened;
        this.#unloadWhenIdle(key, shared);
        this.#tell();
      },
      () => {
        this.#loads.delete(key);
      },
    );
    return shared;
  }

  async #openKind(key: string, model: Model, options: LoadOptions, threads: number): Promise<Opened> {
    const size = { contextTokens: options.contextTokens, sequences: options.sequences };
    const nothing = (): Promise<void> => Promise.resolve();
    switch (model.kind) {
      case 'scripted':
        return { model: this.#openScripted(model, size), unload: nothing };
      case 'http': {
        const apiKey = this.#secrets.get(model.modelId);
        const { onOutgoing } = this.#options;
        return { model: new HttpModel({ model, apiKey, ...size, onOutgoing }), unload: nothing };
      }
      case 'gguf':
        return this.#openLocal(key, model, options, threads);
      default:
        return assertNever(model.kind);
    }
  }

  /** Whether the file can be loaded like this, before anything of it is read. */
  #checkLocal(model: Model, options: LoadOptions): { facts: GgufFacts; contextTokens: number } {
    const { facts } = usable(withPresence(model));
    if (facts === null)
      throw new AppError({ code: 'MODEL_FILE_INVALID', message: `${model.name} cannot be read.` });
    if (options.format === 'chat' && !facts.hasChatTemplate) throw withoutTemplate(model.name);
    for (const { path } of options.adapters) this.#checkAdapter(model, path);
    const contextTokens = withinModel(facts, options.contextTokens);
    refuseIfTooLarge(this.#fit(model, { contextTokens, sequences: options.sequences }), model.name);
    return { facts, contextTokens };
  }

  async #openLocal(key: string, model: Model, options: LoadOptions, threads: number): Promise<Opened> {
    const { facts, contextTokens } = this.#checkLocal(model, options);
    const adapterSha256: Sha256[] = [];
    for (const { path } of options.adapters) adapterSha256.push(await this.#catalogue.hashFile(path));
    const format = promptFormat({ kind: model.kind, facts }, options.format);
    const info: ChatModelInfo = {
      model,
      facts,
      contextTokens,
      sequences: options.sequences,
      threads,
      format,
      chatTemplateHash: format === 'chat' ? facts.chatTemplateHash : null,
      adapterSha256,
    };
    const local = new LocalModel(
      this.#client,
      {
        loadId: key,
        file: model.location,
        architecture: facts.architecture,
        adapters: [...options.adapters],
        contextTokens,
        sequences: options.sequences,
        threads,
      },
      info,
    );
    await local.load();
    return { model: local, unload: () => local.unload() };
  }

  /** 0 where the model does not run on this machine. */
  async #threads(model: Model, options: LoadOptions): Promise<number> {
    if (model.kind !== 'gguf') return 0;
    this.#checkLocal(model, options);
    const wanted = options.threads > 0 ? options.threads : this.#options.threads();
    // More threads than cores never help: ggml spins at barriers.
    if (wanted > 0) return Math.min(wanted, physicalCores());
    return (await this.calibrate(model.modelId, { force: false, signal: options.signal })).threads;
  }

  async #measureThreads(model: Model, signal: AbortSignal): Promise<ThreadCalibration> {
    const threadCounts = Array.from({ length: physicalCores() }, (_, index) => index + 1);
    const measureBusy = this.#options.busyCores ?? busyCores;
    // Our own work in between would be taken for somebody else's.
    const before = await measureBusy(signal);
    const trials = await this.#client.call(
      'calibrate',
      {
        file: model.location,
        architecture: usable(withPresence(model)).facts?.architecture ?? 'unknown',
        threadCounts,
      },
      signal,
    );
    const after = await measureBusy(signal);
    const calibration: ThreadCalibration = {
      modelId: model.modelId,
      machine: machineName(),
      threads: chooseThreads(trials),
      trials,
      busyCores: Math.max(before, after),
      at: this.#options.clock.now(),
    };
    this.#options.models.saveCalibration(calibration);
    this.#options.log.info({ model: model.name, ...calibration }, 'threads-calibrated');
    return calibration;
  }

  #fit(model: Model, request: { contextTokens: number; sequences: number }): FitEstimate {
    const header = this.#header(model.location);
    return estimateFit(header, {
      sequences: request.sequences,
      contextTokens: withinModel(model.facts, request.contextTokens),
      vocabularySize: model.facts?.vocabularySize ?? 0,
      availableBytes: process.availableMemory(),
      amx: hasAmx(),
    });
  }

  #unloadWhenIdle(key: string, shared: SharedLoad): void {
    if (shared.users > 0 || shared.opened === null) return;
    shared.idleTimer = setTimeout(() => {
      void this.#drop(key, shared);
    }, this.#options.idleMs ?? 30_000).unref();
  }

  async #drop(key: string, shared: SharedLoad): Promise<void> {
    if (this.#loads.get(key) !== shared || shared.users > 0 || shared.opened === null) return;
    if (shared.idleTimer !== null) clearTimeout(shared.idleTimer);
    this.#loads.delete(key);
    await shared.opened.unload().catch((error: unknown) => {
      this.#options.log.warn({ error: String(error) }, 'model-unload-failed');
    });
    this.#tell();
  }

  #stored(modelId: ModelId): Model {
    const model = this.#options.models.get(modelId);
    if (model !== null) return model;
    throw new AppError({
      code: 'MODEL_NOT_FOUND',
      message: `No model with the id ${modelId} is known.`,
      data: { modelId },
    });
  }

  #scripted(name: string): Model {
    const model = scriptedModel(name, this.#options.clock.now());
    this.#script(model);
    return model;
  }

  #openScripted(model: Model, size: { contextTokens: number; sequences: number }): ScriptedModel {
    const script = this.#script(model);
    const reads = Object.values(builtInScripts).includes(script) ? 'anything' : 'within limits';
    return new ScriptedModel(model, script, { ...size, reads });
  }

  #script(model: Model): Script {
    const scripts = { ...builtInScripts, ...this.#options.scripts };
    const name = model.location.slice('scripted:'.length);
    const script = scripts[name];
    if (script !== undefined) return script;
    throw new AppError({
      code: 'MODEL_NOT_FOUND',
      message: `There is no scripted model "${name}". Known: ${Object.keys(scripts).join(', ')}.`,
    });
  }

  #tell(): void {
    if (this.#listeners.size === 0) return;
    const status = this.status();
    for (const listener of this.#listeners) listener(status);
  }
}

/** A model is never loaded with more than it was made for; a file that does not say takes what is asked. */
function withinModel(facts: GgufFacts | null, contextTokens: number): number {
  return Math.min(contextTokens, facts?.contextLength || contextTokens);
}

function loadKey(model: Model, options: LoadOptions): string {
  const { adapters, contextTokens, sequences, threads, format } = options;
  const text = JSON.stringify([model.modelId, adapters, contextTokens, sequences, threads, format]);
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
}

/** The fewest threads within 5 % of the best: the rest of the machine has work to do too. */
export function chooseThreads(trials: readonly { threads: number; tokensPerSecond: number }[]): number {
  const best = Math.max(...trials.map((trial) => trial.tokensPerSecond));
  const enough = trials.filter((trial) => trial.tokensPerSecond >= best * 0.95);
  return Math.min(...enough.map((trial) => trial.threads));
}

function machineName(): string {
  return `${hostname()}, ${cpus()[0]?.model.trim() ?? 'unknown processor'}, ${physicalCores()} cores`;
}

function withoutTemplate(name: string): AppError {
  return new AppError({
    code: 'INVALID_INPUT',
    message: `${name} has no chat template (a base model). Choose the completion format, or a model that has one.`,
  });
}

function memorySecrets(): SecretStore {
  const values = new Map<string, string>();
  return {
    get: (key) => values.get(key),
    set: (key, value) => void values.set(key, value),
    remove: (key) => void values.delete(key),
  };
}
