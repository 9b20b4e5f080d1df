/** Everything that the methods' jobs need, real but for the model: SQLite in a temporary folder, the engine, household. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { modelIdSchema, sha256Schema } from '#shared/ids.ts';
import type { Job } from '#shared/schema/job.ts';
import type { Model } from '#shared/schema/model.ts';
import { promptOverLimit } from '#shared/worker/too-long.ts';
import { createEnvironmentRegistry } from '#core/environments/index.ts';
import type {
  EnvironmentProvider,
  EnvironmentRegistry,
  EnvironmentSession,
} from '#core/environments/port.ts';
import { createJobEngine } from '#core/jobs/index.ts';
import type { ChatModel, GenerateRequest, Generation, ModelService } from '#core/llm/port.ts';
import { createRolloutJob } from '#core/agents/index.ts';
import { createEarlyExperienceJobs } from '#core/early-experience/index.ts';
import type { Clock, Logger } from '#core/ports.ts';
import type { CoreServices } from '#core/services.ts';
import { createNodeSpawner } from '#core/process/index.ts';
import { TrainerClient } from '#core/training/index.ts';
import { openStore } from '#core/store/index.ts';

const silent: Logger = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};
const clock: Clock = { now: () => Date.now() };

/** Writes one completion; `sample` numbers the n of a request. */
export type Writer = (request: GenerateRequest, sample: number) => string | Promise<string>;

/** A reflection that no filter drops, on the action that the generator's prompt asks about. */
export function soundReflection({ messages }: Pick<GenerateRequest, 'messages'>): string {
  const prompt = messages.at(-1)?.content ?? '';
  const action = /(?:What you are about to do|Expert action):\n(.+)/u.exec(prompt)?.[1] ?? 'this';
  return `The goal still needs me to ${action}, so that should come first; the rest would help less.`;
}

/** Tokens are UTF-16 units, so that every text has ids that can be checked. */
const idsOf = (text: string): number[] => [...text].map((character) => character.codePointAt(0) ?? 0);

export interface FakeModel extends ChatModel {
  /** Those that it answered. */
  readonly requests: GenerateRequest[];
}

export function fakeModel(write: Writer, format: 'chat' | 'completion' = 'chat'): FakeModel {
  const model: Model = {
    modelId: modelIdSchema.parse('fake'),
    kind: 'gguf',
    name: 'fake',
    location: '/fake.gguf',
    remoteName: null,
    sizeBytes: 1,
    sha256: sha256Schema.parse('f'.repeat(64)),
    facts: null,
    problem: null,
    addedAt: 0,
  };
  const requests: GenerateRequest[] = [];
  return {
    requests,
    info: {
      model,
      facts: null,
      contextTokens: 100_000,
      sequences: 8,
      threads: 1,
      format,
      chatTemplateHash: null,
      adapterSha256: [],
    },
    encode: () => Promise.reject(new Error('the fake encodes nothing')),
    async generate(request, options) {
      options?.signal?.throwIfAborted();
      const promptTokens: number[] = [];
      let prompt = '';
      for (const { role, content, tokens } of request.messages) {
        prompt += `<${role}>${content}</${role}>`;
        promptTokens.push(...idsOf(`<${role}>`), ...(tokens ?? idsOf(content)), ...idsOf(`</${role}>`));
      }
      prompt += '<assistant>';
      promptTokens.push(...idsOf('<assistant>'));
      const { maxPromptTokens } = request;
      if (maxPromptTokens !== undefined && promptTokens.length > maxPromptTokens) {
        throw promptOverLimit(promptTokens.length, maxPromptTokens);
      }
      requests.push(request);
      const generations: Generation[] = [];
      for (let sample = 0; sample < request.n; sample += 1) {
        const text = await write(request, sample);
        const tokens = idsOf(text);
        generations.push({ text, tokens, logprobs: tokens.map(() => -0.5), stopReason: 'stop' });
      }
      return {
        generations,
        prompt,
        promptTokens,
        promptLength: promptTokens.length,
        evaluatedPromptTokens: promptTokens.length,
        completionLength: generations.reduce((sum, { tokens }) => sum + tokens.length, 0),
        promptMs: 1,
        completionMs: 1,
      };
    },
    score: () => Promise.reject(new Error('not used')),
    embed: () => Promise.reject(new Error('not used')),
    tokenize: (text) => Promise.resolve(idsOf(text)),
    detokenize: (tokens) => Promise.resolve(tokens.map((id) => String.fromCodePoint(id))),
    endSession: () => Promise.resolve(),
  };
}

function modelServiceOf(model: ChatModel | null): ModelService {
  const refuse = () => Promise.reject(new Error('not used'));
  return {
    list: () => Promise.resolve(model === null ? [] : [model.info.model]),
    resolve: () => (model === null ? refuse() : Promise.resolve(model.info.model)),
    add: refuse,
    addHttp: refuse,
    remove: refuse,
    fit: refuse,
    checkAdapter: () => Promise.resolve(),
    calibration: () => Promise.resolve(null),
    calibrate: refuse,
    load: () => (model === null ? refuse() : Promise.resolve({ model, release: () => Promise.resolve() })),
    unload: () => Promise.resolve(false),
    status: () => ({ state: 'stopped', device: 'none', restarts: 0, loaded: [] }),
    onStatus: () => () => undefined,
    selfTest: refuse,
    dispose: () => Promise.resolve(),
  };
}

export interface Lab {
  services: CoreServices;
  folder: string;
  /** Submits a run and waits for its end. */
  run(kind: string, spec: unknown, seed?: number): Promise<Job>;
  close(): Promise<void>;
}

export interface LabOptions {
  model?: ChatModel;
  models?: ModelService;
  /** Puts another provider in place of a bundled one. */
  wrap?: (provider: EnvironmentProvider) => EnvironmentProvider;
  folder?: string;
  log?: Logger;
}

/** A `wrap` whose sessions have these methods in place of their own. */
export function withSessions(
  replace: (session: EnvironmentSession) => Partial<EnvironmentSession>,
): (provider: EnvironmentProvider) => EnvironmentProvider {
  return (provider) => ({
    describe: () => provider.describe(),
    listTasks: (query) => provider.listTasks(query),
    getTask: (taskId) => provider.getTask(taskId),
    async open(options) {
      const session = await provider.open(options);
      return {
        task: session.task,
        reset: (given) => session.reset(given),
        step: (action, given) => session.step(action, given),
        snapshot: () => session.snapshot(),
        restore: (snapshot) => session.restore(snapshot),
        replayTo: (actions, given) => session.replayTo(actions, given),
        render: () => session.render(),
        solve: () => session.solve(),
        close: () => session.close(),
        ...replace(session),
      };
    },
  });
}

export function openLab(options: LabOptions = {}): Lab {
  const folder = options.folder ?? mkdtempSync(path.join(tmpdir(), 'daydream-methods-'));
  const store = openStore({ file: path.join(folder, 'store.sqlite'), clock, log: silent });
  const jobs = createJobEngine({
    store,
    clock,
    log: silent,
    slots: { compute: 1, light: 2 },
    owner: 'test',
    soleHost: true,
  });
  const bundled = createEnvironmentRegistry({ catalogue: store.catalogue, clock });
  const { wrap } = options;
  const environments: EnvironmentRegistry =
    wrap === undefined
      ? bundled
      : { ...bundled, get: (id) => wrap(bundled.get(id)), list: () => bundled.list().map(wrap) };
  const services: CoreServices = {
    store,
    jobs,
    environments,
    models: options.models ?? modelServiceOf(options.model ?? null),
    newTrainer: () => new TrainerClient({ spawner: createNodeSpawner(), clock, log: silent }),
    clock,
    log: options.log ?? silent,
    dataFolder: folder,
    version: '0.0.0-test',
  };
  jobs.register(createRolloutJob(services));
  for (const job of createEarlyExperienceJobs(services)) jobs.register(job);
  jobs.start();
  return {
    services,
    folder,
    async run(kind, spec, seed = 1) {
      const job = jobs.submit({
        kind,
        title: kind,
        spec: JSON.parse(JSON.stringify(spec)) as Job['spec'],
        seed,
      });
      return jobs.wait(job.jobId);
    },
    async close() {
      await jobs.dispose();
      store.close();
      if (options.folder === undefined) rmSync(folder, { recursive: true, force: true });
    },
  };
}
