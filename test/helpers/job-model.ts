/**
 * A model of the job engine as one list of jobs, and the commands that a property test runs against model and engine alike. The
 * engine runs on real SQLite; a crash drops it without dispose and opens a new one on the same file.
 */
import fc from 'fast-check';
import { expect } from 'vitest';
import { z } from 'zod';
import { createJobEngine } from '#core/jobs/index.ts';
import { defineJob } from '#core/jobs/port.ts';
import type { JobContext, JobEngine } from '#core/jobs/port.ts';
import { openStore } from '#core/store/index.ts';
import type { Store } from '#core/store/port.ts';
import type { EpisodeId, JobId } from '#shared/ids.ts';
import { JobModel, stages } from '#test/helpers/job-states.ts';
import type { ModelJob } from '#test/helpers/job-states.ts';
import { manualTimers, settled } from '#test/helpers/manual-timers.ts';
import {
  fixedClock,
  makeEpisode,
  makeStep,
  silentLog,
  temporaryFolder,
} from '#test/helpers/store-records.ts';

/** The real thing: engine, store, and the leaf job that does one order at a time. */
export class JobWorld {
  readonly #temporary = temporaryFolder();
  readonly #clock = fixedClock();
  readonly ids: JobId[] = [];
  readonly #orders = new Map<
    JobId,
    PromiseWithResolvers<(context: JobContext<unknown, number>) => unknown>
  >();
  #timers = manualTimers(this.#clock);
  /** The run that began a job's episode in flight. */
  readonly flights = new Map<JobId, JobContext<unknown, number>>();
  store: Store;
  engine: JobEngine;

  constructor() {
    this.store = this.#openStore();
    this.engine = this.#startEngine(false);
  }

  #openStore(): Store {
    return openStore({
      file: `${this.#temporary.folder}/daydream.sqlite`,
      clock: this.#clock,
      log: silentLog,
    });
  }

  #startEngine(soleHost: boolean): JobEngine {
    const { store } = this;
    const orders = this.#orders;
    const engine = createJobEngine({
      store,
      clock: this.#clock,
      log: silentLog,
      slots: { compute: 1, light: 1 },
      owner: 'model',
      soleHost,
      timers: this.#timers,
      newId: () => `id-${(nextId += 1)}`,
    });
    engine.register(
      defineJob<unknown, number>({
        kind: 'leaf',
        spec: z.unknown(),
        slots: ['compute'],
        async run(context) {
          expect(context.resumeFrom ?? 0).toBe(
            store.episodes.steps(context.jobId as string as EpisodeId).length,
          );
          for (;;) {
            const order = Promise.withResolvers<(context: JobContext<unknown, number>) => unknown>();
            orders.set(context.jobId, order);
            context.signal.addEventListener('abort', () => {
              order.reject(context.signal.reason as Error);
            });
            const result = (await order.promise)(context);
            if (result !== undefined) return result as string;
          }
        },
      }),
    );
    engine.register(
      defineJob({
        kind: 'pipeline',
        spec: z.unknown(),
        slots: [],
        async run(context) {
          for (let stage = 0; stage < stages; stage += 1) {
            await context.runChild({ stage: `stage-${stage}`, kind: 'leaf', title: 'leaf', spec: {} });
          }
          return null;
        },
      }),
    );
    engine.subscribe(({ job }) => {
      if (!this.ids.includes(job.jobId)) this.ids.push(job.jobId);
    });
    engine.start();
    return engine;
  }

  submit(kind: ModelJob['kind']): void {
    this.engine.submit({ kind, title: kind, spec: {}, seed: 1 });
  }

  order(index: number, work: (context: JobContext<unknown, number>) => unknown): void {
    this.#orders.get(this.id(index))?.resolve(work);
  }

  id(index: number): JobId {
    return this.ids[index] as JobId;
  }

  async crash(waitForLease: boolean): Promise<void> {
    this.#orders.clear();
    this.#timers = manualTimers(this.#clock);
    // The dropped engine keeps a closed connection, as a dead process has none.
    this.store.close();
    this.store = this.#openStore();
    this.engine = this.#startEngine(!waitForLease);
    if (waitForLease) {
      await settled();
      this.#timers.advance(31_000);
    }
  }

  async restart(): Promise<void> {
    await this.engine.dispose();
    this.store.close();
    this.store = this.#openStore();
    this.engine = this.#startEngine(true);
  }

  advance(ms: number): void {
    this.#timers.advance(ms);
  }

  async close(): Promise<void> {
    await this.engine.dispose();
    this.store.close();
    this.#temporary.remove();
  }
}

let nextId = 0;

type JobCommand = fc.AsyncCommand<JobModel, JobWorld>;

function command(
  name: string,
  check: (model: JobModel) => boolean,
  run: (model: JobModel, world: JobWorld) => void | Promise<void>,
): JobCommand {
  return {
    toString: () => name,
    check,
    async run(model, world) {
      await run(model, world);
      model.settle();
      await settled();
      await settled();
      compare(model, world);
    },
  };
}

function compare(model: JobModel, world: JobWorld): void {
  expect(world.ids.map((id) => world.store.jobs.get(id)).map((job) => [job?.state, job?.attempt])).toEqual(
    model.jobs.map((job) => [job.state, job.attempt]),
  );
  let lastSeq = 0;
  world.ids.forEach((id, index) => {
    const { commits, acted } = model.at(index);
    const wanted = Array.from({ length: commits }, (_, step) => step);
    const episodeId = id as string as EpisodeId;
    // No committed step lost, none stored twice: rows, metrics and events agree with what commitStep returned from.
    expect(world.store.episodes.steps(episodeId).map((step) => step.stepIndex)).toEqual(wanted);
    expect(world.store.jobs.metrics(id, { maxPoints: 1000 }).map((point) => point.step)).toEqual(wanted);
    // Nor is any step of an episode in flight, in whichever attempt it was taken.
    const attempts = world.store.episodes.list({ jobId: id, purpose: 'evaluation' }, 'oldest', all).items;
    const taken = attempts.map(({ episodeId: attempt }) => world.store.episodes.steps(attempt));
    expect(taken.flat()).toHaveLength(acted);
    for (const steps of taken) expect(steps.map((step) => step.stepIndex)).toEqual(steps.map((_, at) => at));
    expect(attempts.filter(({ replacedBy }) => replacedBy === null).length).toBe(acted === 0 ? 0 : 1);
    const events = world.store.jobs.events(id, { afterSeq: 0, limit: 10_000, includeChildren: false });
    expect(events.filter((event) => event.type === 'stepped').map((event) => event.data['step'])).toEqual(
      wanted,
    );
    lastSeq = Math.max(lastSeq, ...events.map((event) => event.seq));
  });
  expect(lastSeq).toBeGreaterThanOrEqual(world.ids.length);
}

function oneStep(store: Store) {
  return (context: JobContext<unknown, number>): undefined => {
    const episodeId = context.jobId as string as EpisodeId;
    const step = store.episodes.steps(episodeId).length;
    context.emit({ type: 'stepped', message: '', data: { step } });
    context.metric('step', step, step);
    context.commitStep(step + 1, () => {
      if (step === 0) store.episodes.begin(makeEpisode(0, { episodeId, jobId: context.jobId }));
      store.episodes.appendSteps([makeStep(episodeId, step)]);
    });
    // Told but never committed: must not survive a crash, and is told once otherwise.
    context.progress({ done: step, total: null, unit: 'steps', phase: 'stepping' });
    context.pausePoint();
  };
}

const all = { cursor: null, limit: 500 };

/** A step of an episode in flight: stored at once, in no commit. Each run of the job begins the episode again. */
function act(world: JobWorld) {
  return (context: JobContext<unknown, number>): undefined => {
    const { store } = world;
    const episodeId = `flight-${context.jobId}` as EpisodeId;
    if (world.flights.get(context.jobId) !== context) {
      store.episodes.begin(makeEpisode(0, { episodeId, jobId: context.jobId, purpose: 'evaluation' }));
      world.flights.set(context.jobId, context);
    }
    store.episodes.appendSteps([makeStep(episodeId, store.episodes.steps(episodeId).length)]);
  };
}

const target = fc.nat(1000);
function pick(model: JobModel, choice: number): number {
  return choice % model.jobs.length;
}
const anyJob = (model: JobModel) => model.jobs.length > 0;
const anyHeld = (model: JobModel) => model.heldLeaf() !== null;

export const jobCommands = fc.commands(
  [
    fc.constantFrom('leaf' as const, 'pipeline' as const).map((kind) =>
      command(
        `submit ${kind}`,
        (model) => model.jobs.length < 12,
        (model, world) => {
          model.add(kind);
          world.submit(kind);
        },
      ),
    ),
    fc.constant(
      command('step', anyHeld, (model, world) => {
        world.order(model.heldLeaf() ?? -1, oneStep(world.store));
        model.step();
      }),
    ),
    fc.constant(
      command('act', anyHeld, (model, world) => {
        world.order(model.heldLeaf() ?? -1, act(world));
        model.act();
      }),
    ),
    fc.constant(
      command('succeed', anyHeld, (model, world) => {
        world.order(model.heldLeaf() ?? -1, () => 'done');
        model.end('succeeded');
      }),
    ),
    fc.constant(
      command('fail', anyHeld, (model, world) => {
        world.order(model.heldLeaf() ?? -1, () => {
          throw new Error('fails');
        });
        model.end('failed');
      }),
    ),
    target.map((choice) =>
      command(`pause ${choice}`, anyJob, (model, world) => {
        world.engine.pause(world.id(pick(model, choice)));
        model.pause(pick(model, choice));
      }),
    ),
    target.map((choice) =>
      command(`resume ${choice}`, anyJob, (model, world) => {
        const index = pick(model, choice);
        if (!model.canResume(index)) {
          expect(() => world.engine.resume(world.id(index))).toThrow(
            expect.objectContaining({ code: 'CONFLICT' }),
          );
          return;
        }
        world.engine.resume(world.id(index));
        model.resume(index);
      }),
    ),
    target.map((choice) =>
      command(`cancel ${choice}`, anyJob, (model, world) => {
        world.engine.cancel(world.id(pick(model, choice)));
        model.cancel(pick(model, choice));
      }),
    ),
    fc.boolean().map((waitForLease) =>
      command(`crash${waitForLease ? ' and wait for the lease' : ''}`, anyJob, async (model, world) => {
        model.crash(waitForLease);
        await world.crash(waitForLease);
      }),
    ),
    fc.constant(
      command('restart', anyJob, async (model, world) => {
        model.restart();
        await world.restart();
      }),
    ),
    fc.integer({ min: 1, max: 40_000 }).map((ms) =>
      command(`wait ${ms} ms`, anyJob, (_, world) => {
        world.advance(ms);
      }),
    ),
  ],
  { maxCommands: 60, size: 'max' },
);

/** One run of the property. */
export async function runJobCommands(commands: Iterable<JobCommand>): Promise<void> {
  const world = new JobWorld();
  try {
    await fc.asyncModelRun(() => ({ model: new JobModel(), real: world }), commands);
  } finally {
    await world.close();
  }
}
