import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { createJobEngine } from '#core/jobs/index.ts';
import { defineJob } from '#core/jobs/port.ts';
import type { JobContext, JobDefinition, JobEngine } from '#core/jobs/port.ts';
import { openStore } from '#core/store/index.ts';
import type { Store } from '#core/store/port.ts';
import { AppError } from '#shared/errors.ts';
import type { EpisodeId } from '#shared/ids.ts';
import type { Job } from '#shared/schema/job.ts';
import { manualTimers, settled } from '#test/helpers/manual-timers.ts';
import type { ManualTimers } from '#test/helpers/manual-timers.ts';
import {
  fixedClock,
  makeEpisode,
  makeStep,
  silentLog,
  temporaryFolder,
} from '#test/helpers/store-records.ts';

let temporary: ReturnType<typeof temporaryFolder>;
let clock: ReturnType<typeof fixedClock>;
let timers: ManualTimers;
let store: Store;
const engines: JobEngine[] = [];
let endedRoots: Job[] = [];

beforeEach(() => {
  temporary = temporaryFolder();
  clock = fixedClock();
  timers = manualTimers(clock);
  endedRoots = [];
  store = openStore({ file: `${temporary.folder}/daydream.sqlite`, clock, log: silentLog });
});
afterEach(async () => {
  await Promise.all(engines.splice(0).map((engine) => engine.dispose()));
  store.close();
  temporary.remove();
});

function makeEngine(
  definitions: JobDefinition<never, never>[],
  options: { soleHost?: boolean; timers?: ManualTimers } = {},
): JobEngine {
  const engine = createJobEngine({
    store,
    clock,
    log: silentLog,
    slots: { compute: 1, light: 2 },
    owner: 'test',
    onEnded: (job) => endedRoots.push(job),
    timers: options.timers ?? timers,
    soleHost: options.soleHost ?? false,
  });
  for (const definition of definitions) engine.register(definition);
  engine.start();
  return engine;
}

function started(
  definitions: JobDefinition<never, never>[],
  options: { soleHost?: boolean; timers?: ManualTimers } = {},
): JobEngine {
  const engine = makeEngine(definitions, options);
  engines.push(engine);
  return engine;
}

/** A job that does what the test tells it to, one order at a time. */
function puppet(kind = 'puppet', slots: readonly ('compute' | 'light')[] = ['compute']) {
  const contexts: JobContext<unknown, number>[] = [];
  const orders: PromiseWithResolvers<() => unknown>[] = [];
  const definition = defineJob<unknown, number>({
    kind,
    spec: z.unknown(),
    slots,
    async run(context) {
      const own = contexts.push(context) - 1;
      for (;;) {
        const order = Promise.withResolvers<() => unknown>();
        orders[own] = order;
        const abort = () => {
          order.reject(context.signal.reason as Error);
        };
        context.signal.addEventListener('abort', abort, { once: true });
        const result = (await order.promise)();
        if (result !== undefined) return result as Job['result'];
      }
    },
  });
  return {
    definition: definition as unknown as JobDefinition<never, never>,
    contexts,
    async do(work: (context: JobContext<unknown, number>) => unknown, run = contexts.length - 1) {
      const context = contexts[run];
      if (context === undefined) throw new Error(`no run ${run}`);
      orders[run]?.resolve(() => work(context));
      await settled();
    },
  };
}

function submit(engine: JobEngine, kind = 'puppet', spec: Job['spec'] = {}): Job {
  return engine.submit({ kind, title: `A ${kind}`, spec, seed: 7 });
}

function eventTypes(job: Job): string[] {
  return store.jobs
    .events(job.jobId, { afterSeq: 0, limit: 1000, includeChildren: false })
    .map((event) => event.type);
}

describe('a job', () => {
  it('runs to its result and tells its story', async () => {
    const doll = puppet();
    const engine = started([doll.definition]);
    const job = submit(engine);
    await settled();
    expect(store.jobs.get(job.jobId)?.state).toBe('running');
    expect(doll.contexts[0]).toMatchObject({ seed: 7, attempt: 1, resumeFrom: null });
    clock.advance(1234);
    await doll.do(() => ({ answer: 42 }));
    const ended = await engine.wait(job.jobId);
    expect(ended).toMatchObject({ state: 'succeeded', result: { answer: 42 }, error: null, activeMs: 1234 });
    expect(eventTypes(job)).toEqual(['job-queued', 'job-started', 'job-succeeded']);
    expect(endedRoots.map((root) => root.jobId)).toEqual([job.jobId]);
  });

  it('keeps the error of a failed run', async () => {
    const doll = puppet();
    const engine = started([doll.definition]);
    const job = submit(engine);
    await settled();
    await doll.do(() => {
      throw new AppError({ code: 'MODEL_HTTP', message: 'The server is away.', data: { status: 503 } });
    });
    expect(await engine.wait(job.jobId)).toMatchObject({
      state: 'failed',
      error: { code: 'MODEL_HTTP', message: 'The server is away.', data: { status: 503 } },
    });
  });

  it('is refused when its kind is unknown or its spec is wrong', () => {
    const engine = started([
      defineJob({
        kind: 'strict',
        spec: z.object({ n: z.int() }),
        slots: [],
        run: () => Promise.resolve(null),
      }) as never,
    ]);
    expect(() => submit(engine, 'other')).toThrow(expect.objectContaining({ code: 'INVALID_INPUT' }));
    expect(() => submit(engine, 'strict', { n: 'x' })).toThrow(
      expect.objectContaining({ code: 'INVALID_INPUT', data: { kind: 'strict', path: 'n' } }),
    );
    expect(store.counts().jobs).toBe(0);
  });

  it('waits for its slot, oldest first', async () => {
    const heavy = puppet('heavy');
    const light = puppet('light', ['light']);
    const engine = started([heavy.definition, light.definition]);
    const first = submit(engine, 'heavy');
    const second = submit(engine, 'heavy');
    const other = submit(engine, 'light');
    await settled();
    const states = () => [first, second, other].map((job) => store.jobs.get(job.jobId)?.state);
    expect(states()).toEqual(['running', 'queued', 'running']);
    await heavy.do(() => undefined);
    expect(states()).toEqual(['running', 'queued', 'running']);
    await heavy.do(() => 'done');
    expect(states()).toEqual(['succeeded', 'running', 'running']);
  });
});

describe('commitStep', () => {
  it('stores rows, metrics, events and checkpoint together', async () => {
    const doll = puppet();
    const engine = started([doll.definition]);
    const heard: (string | null)[] = [];
    engine.subscribe(({ event }) => heard.push(event?.type ?? null));
    const job = submit(engine);
    await settled();
    await doll.do((context) => {
      context.emit({ type: 'episode-finished', message: 'one', data: { reward: 1 } });
      context.metric('reward', 1, 0.5);
      context.metric('reward', 1, 0.75);
      context.metric('loss', 1, NaN);
      context.progress({ done: 1, total: 2, unit: 'episodes', phase: 'acting' });
      expect(eventTypes(job)).toEqual(['job-queued', 'job-started']);
      context.commitStep(1, () => {
        store.episodes.insertWhole(makeEpisode(1, { status: 'finished' }), [makeStep('episode-1', 0)]);
      });
    });
    expect(eventTypes(job)).toEqual(['job-queued', 'job-started', 'episode-finished', 'metric-not-finite']);
    expect(heard).toEqual(['job-queued', 'job-started', 'episode-finished', 'metric-not-finite']);
    expect(store.jobs.metrics(job.jobId, { maxPoints: 10 })).toMatchObject([
      { name: 'reward', step: 1, value: 0.75 },
    ]);
    expect(store.jobs.get(job.jobId)?.progress?.done).toBe(1);
    expect(store.counts().steps).toBe(1);
  });

  it('stores nothing when the rows cannot be written, and keeps what was told for the next try', async () => {
    const doll = puppet();
    const engine = started([doll.definition]);
    const job = submit(engine);
    await settled();
    await doll.do((context) => {
      context.emit({ type: 'told', message: 'once' });
      expect(() => {
        context.commitStep(5, () => {
          store.episodes.begin(makeEpisode(1));
          throw new Error('no');
        });
      }).toThrow('no');
      expect(store.counts().episodes).toBe(0);
      expect(eventTypes(job)).not.toContain('told');
      context.commitStep(6);
    });
    expect(eventTypes(job).filter((type) => type === 'told')).toHaveLength(1);
  });

  it('shows progress without a commit, at most four times a second', async () => {
    const doll = puppet();
    const engine = started([doll.definition]);
    const job = submit(engine);
    await settled();
    const seen: number[] = [];
    engine.subscribe((change) => seen.push(change.job.progress?.done ?? -1));
    await doll.do((context) => {
      for (let done = 1; done <= 50; done += 1) context.progress({ done, total: 50, unit: 'x', phase: '' });
    });
    expect(seen).toEqual([]);
    timers.advance(250);
    expect(seen).toEqual([50]);
    expect(store.jobs.get(job.jobId)?.progress?.done).toBe(50);
  });
});

describe('pause', () => {
  it('ends the run at its next pause point and resumes from the checkpoint, both idempotent', async () => {
    const doll = puppet();
    const engine = started([doll.definition]);
    const job = submit(engine);
    await settled();
    expect(engine.pause(job.jobId).state).toBe('pausing');
    expect(engine.pause(job.jobId).state).toBe('pausing');
    expect(doll.contexts[0]?.pauseRequested).toBe(true);
    expect(doll.contexts[0]?.pauseSignal.aborted).toBe(true);
    expect(doll.contexts[0]?.signal.aborted).toBe(false);
    await doll.do((context) => {
      context.commitStep(3);
      context.pausePoint();
    });
    expect((await engine.wait(job.jobId, { orPaused: true })).state).toBe('paused');
    expect(engine.pause(job.jobId).state).toBe('paused');
    expect(engine.resume(job.jobId).state).toBe('running');
    expect(engine.resume(job.jobId).state).toBe('running');
    await settled();
    expect(doll.contexts[1]).toMatchObject({ resumeFrom: 3, attempt: 1, pauseRequested: false });
    expect(eventTypes(job)).toEqual([
      'job-queued',
      'job-started',
      'job-pausing',
      'job-paused',
      'job-resumed',
      'job-continued',
    ]);
  });

  it('holds back a queued job', async () => {
    const doll = puppet();
    const engine = started([doll.definition]);
    const first = submit(engine);
    const second = submit(engine);
    expect(engine.pause(second.jobId).state).toBe('paused');
    await settled();
    await doll.do(() => 'done');
    expect(store.jobs.get(first.jobId)?.state).toBe('succeeded');
    expect(store.jobs.get(second.jobId)?.state).toBe('paused');
  });

  it('queues the job at once when it was resumed before it had paused', async () => {
    const doll = puppet();
    const engine = started([doll.definition]);
    const job = submit(engine);
    await settled();
    engine.pause(job.jobId);
    expect(engine.resume(job.jobId).state).toBe('pausing');
    await doll.do((context) => {
      context.pausePoint();
    });
    expect(store.jobs.get(job.jobId)?.state).toBe('running');
    expect(doll.contexts).toHaveLength(2);
  });

  it('counts a job that ended before it could pause as succeeded', async () => {
    const doll = puppet();
    const engine = started([doll.definition]);
    const job = submit(engine);
    await settled();
    engine.pause(job.jobId);
    await doll.do(() => 'done');
    expect((await engine.wait(job.jobId)).state).toBe('succeeded');
    expect(engine.pause(job.jobId).state).toBe('succeeded');
  });
});

describe('cancel', () => {
  it('aborts a running job and abandons its running episodes, idempotent', async () => {
    const doll = puppet();
    const engine = started([doll.definition]);
    const job = submit(engine);
    await settled();
    store.episodes.begin(makeEpisode(1, { jobId: job.jobId }));
    expect(engine.cancel(job.jobId).state).toBe('cancelling');
    expect(engine.cancel(job.jobId).state).toBe('cancelling');
    await settled();
    expect(store.jobs.get(job.jobId)?.state).toBe('cancelled');
    expect(engine.cancel(job.jobId).state).toBe('cancelled');
    expect(store.episodes.get('episode-1' as EpisodeId)?.status).toBe('abandoned');
    expect(() => engine.resume(job.jobId)).toThrow(expect.objectContaining({ code: 'CONFLICT' }));
    expect(endedRoots).toHaveLength(1);
  });

  it('cuts off a run that does not stop within five seconds; nothing it does later is stored', async () => {
    const stuck = Promise.withResolvers<void>();
    let context: JobContext<unknown> | null = null;
    const engine = started([
      defineJob({
        kind: 'stuck',
        spec: z.unknown(),
        slots: ['compute'],
        async run(own) {
          context = own;
          await stuck.promise;
          own.commitStep(1);
          return 'too late';
        },
      }) as never,
    ]);
    const job = submit(engine, 'stuck');
    const next = submit(engine, 'stuck');
    await settled();
    engine.cancel(job.jobId);
    timers.advance(4999);
    expect(store.jobs.get(job.jobId)?.state).toBe('cancelling');
    timers.advance(1);
    expect(store.jobs.get(job.jobId)?.state).toBe('cancelled');
    expect(store.jobs.get(next.jobId)?.state).toBe('running');
    expect(eventTypes(job)).toContain('job-killed');
    engine.cancel(next.jobId);
    stuck.resolve();
    await settled();
    expect(store.jobs.get(job.jobId)?.result).toBeNull();
    expect(context).not.toBeNull();
  });
});

describe('a crash', () => {
  /** An engine that is dropped without a word: its timers never fire again, its runs never go on. */
  function crash(): ManualTimers {
    timers = manualTimers(clock);
    return timers;
  }

  it('goes on after the lease, not before', async () => {
    const doll = puppet();
    const dead = makeEngine([doll.definition]);
    const job = submit(dead);
    await settled();
    await doll.do((context) => {
      context.emit({ type: 'step-done', message: '' });
      context.commitStep(1);
      context.emit({ type: 'never-committed', message: '' });
    });
    store.episodes.begin(makeEpisode(1, { jobId: job.jobId }));
    crash();
    const again = puppet();
    started([again.definition]);
    expect(store.jobs.get(job.jobId)).toMatchObject({ state: 'running', attempt: 1 });
    timers.advance(31_000);
    await settled();
    expect(store.jobs.get(job.jobId)).toMatchObject({ state: 'running', attempt: 2 });
    expect(again.contexts[0]).toMatchObject({ resumeFrom: 1, attempt: 2 });
    expect(eventTypes(job)).toEqual([
      'job-queued',
      'job-started',
      'step-done',
      'job-crashed',
      'job-continued',
    ]);
    expect(store.episodes.get('episode-1' as EpisodeId)?.status).toBe('abandoned');
    // The dead engine's run comes back to life: it no longer holds the job.
    await doll.do((context) => {
      expect(() => {
        context.commitStep(99);
      }).toThrow(expect.objectContaining({ code: 'CONFLICT' }));
    });
  });

  it('goes on at once for the sole host of a data folder', async () => {
    const doll = puppet();
    submit(makeEngine([doll.definition]));
    await settled();
    crash();
    const again = puppet();
    started([again.definition], { soleHost: true });
    await settled();
    expect(again.contexts[0]?.attempt).toBe(2);
  });

  it('fails the job as CRASH_LOOP after three crashes at the same step, and a resume gives it another chance', async () => {
    const doll = puppet();
    const job = submit(makeEngine([doll.definition]));
    await settled();
    await doll.do((context) => {
      context.commitStep(1);
    });
    for (let crashes = 1; crashes <= 3; crashes += 1) {
      crash();
      expect(store.jobs.get(job.jobId)?.state).toBe('running');
      makeEngine([doll.definition], { soleHost: true });
      await settled();
    }
    expect(store.jobs.get(job.jobId)).toMatchObject({
      state: 'failed',
      attempt: 4,
      error: { code: 'CRASH_LOOP' },
    });
    const engine = started([doll.definition], { soleHost: true });
    engine.resume(job.jobId);
    await settled();
    expect(doll.contexts.at(-1)?.resumeFrom).toBe(1);
    await doll.do(() => 'done');
    expect((await engine.wait(job.jobId)).state).toBe('succeeded');
  });

  it('does not call it a loop when a step was committed in between', async () => {
    const doll = puppet();
    const job = submit(makeEngine([doll.definition]));
    for (let crashes = 1; crashes <= 6; crashes += 1) {
      await settled();
      if (crashes % 2 === 0) {
        await doll.do((context) => {
          context.commitStep(crashes);
        });
      }
      crash();
      makeEngine([doll.definition], { soleHost: true });
    }
    expect(store.jobs.get(job.jobId)).toMatchObject({ state: 'running', attempt: 7 });
  });

  it('pauses what was pausing and cancels what was cancelling', async () => {
    const doll = puppet('light', ['light']);
    const dead = makeEngine([doll.definition]);
    const pausing = submit(dead, 'light');
    const cancelling = submit(dead, 'light');
    await settled();
    dead.pause(pausing.jobId);
    store.queue.change(cancelling.jobId, { state: 'cancelling' });
    crash();
    started([doll.definition], { soleHost: true });
    expect(store.jobs.get(pausing.jobId)?.state).toBe('paused');
    expect(store.jobs.get(cancelling.jobId)?.state).toBe('cancelled');
  });
});

describe('dispose', () => {
  it('queues running jobs again without counting a crash', async () => {
    const doll = puppet();
    const engine = makeEngine([doll.definition]);
    const job = submit(engine);
    await settled();
    await doll.do((context) => {
      context.commitStep(4);
    });
    const waiting = engine.wait(job.jobId);
    await Promise.all([engine.dispose(), expect(waiting).rejects.toMatchObject({ code: 'CANCELLED' })]);
    await engine.dispose();
    expect(store.jobs.get(job.jobId)).toMatchObject({ state: 'queued', attempt: 1 });
    await expect(engine.wait(job.jobId)).rejects.toMatchObject({ code: 'CANCELLED' });
    const again = puppet();
    started([again.definition]);
    await settled();
    expect(again.contexts[0]).toMatchObject({ resumeFrom: 4, attempt: 1 });
  });

  it('does not wait for ever for a run that does not stop', async () => {
    const engine = makeEngine([
      defineJob({
        kind: 'stuck',
        spec: z.unknown(),
        slots: [],
        run: () => new Promise<null>(() => undefined),
      }) as never,
    ]);
    const job = submit(engine, 'stuck');
    await settled();
    const disposed = engine.dispose();
    await settled();
    timers.advance(5000);
    await disposed;
    expect(store.jobs.get(job.jobId)).toMatchObject({ state: 'queued', attempt: 1 });
  });
});

describe('a pipeline', () => {
  function pipeline(slots: readonly 'compute'[] = []) {
    const runs: number[] = [];
    const definition = defineJob({
      kind: 'pipeline',
      spec: z.unknown(),
      slots,
      async run(context) {
        runs.push(context.attempt);
        const one = await context.runChild<string>({
          stage: 'one',
          kind: 'puppet',
          title: 'One',
          spec: { a: 1 },
        });
        const two = await context.runChild<string>({
          stage: 'two',
          kind: 'puppet',
          title: 'Two',
          spec: {},
          seed: 99,
        });
        return [one.result, two.result];
      },
    });
    return { definition: definition as unknown as JobDefinition<never, never>, runs };
  }
  const children = (job: Job) => store.jobs.children(job.jobId).map((child) => [child.stage, child.state]);

  it.each([[[]], [['compute']]] as const)('runs its stages one after the other (slots %j)', async (slots) => {
    const doll = puppet();
    const engine = started([pipeline(slots as never).definition, doll.definition]);
    const job = submit(engine, 'pipeline');
    await settled();
    expect(children(job)).toEqual([['one', 'running']]);
    expect(doll.contexts[0]).toMatchObject({ spec: { a: 1 }, seed: 7 });
    await doll.do(() => 'first');
    await settled();
    expect(doll.contexts[1]?.seed).toBe(99);
    await doll.do(() => 'second');
    expect((await engine.wait(job.jobId)).result).toEqual(['first', 'second']);
    expect(endedRoots.map((root) => root.kind)).toEqual(['pipeline']);
  });

  it('pauses with its stage and finds it again', async () => {
    const doll = puppet();
    const { definition, runs } = pipeline();
    const engine = started([definition, doll.definition]);
    const job = submit(engine, 'pipeline');
    await settled();
    await doll.do(() => 'first');
    await settled();
    engine.pause(job.jobId);
    await doll.do((context) => {
      context.commitStep(1);
      context.pausePoint();
    });
    expect((await engine.wait(job.jobId, { orPaused: true })).state).toBe('paused');
    expect(children(job)).toEqual([
      ['one', 'succeeded'],
      ['two', 'paused'],
    ]);
    engine.resume(job.jobId);
    await settled();
    expect(runs).toEqual([1, 1]);
    expect(doll.contexts).toHaveLength(3);
    expect(doll.contexts[2]?.resumeFrom).toBe(1);
    await doll.do(() => 'second');
    expect((await engine.wait(job.jobId)).result).toEqual(['first', 'second']);
  });

  it('pauses too when its stage had been paused alone', async () => {
    const doll = puppet();
    const engine = started([pipeline().definition, doll.definition]);
    const job = submit(engine, 'pipeline');
    await settled();
    const child = store.jobs.childByStage(job.jobId, 'one');
    engine.pause(child?.jobId as Job['jobId']);
    await doll.do((context) => {
      context.pausePoint();
    });
    expect(store.jobs.get(job.jobId)?.state).toBe('running');
    engine.pause(job.jobId);
    await settled();
    expect(store.jobs.get(job.jobId)?.state).toBe('paused');
  });

  it('is cancelled with its stage', async () => {
    const doll = puppet();
    const engine = started([pipeline().definition, doll.definition]);
    const job = submit(engine, 'pipeline');
    await settled();
    engine.cancel(job.jobId);
    await engine.wait(job.jobId);
    expect(children(job)).toEqual([['one', 'cancelled']]);
  });

  it('fails with its stage, names it, and goes on from it when it is resumed', async () => {
    const doll = puppet();
    const engine = started([pipeline().definition, doll.definition]);
    const job = submit(engine, 'pipeline');
    await settled();
    await doll.do((context) => {
      context.commitStep(8);
      throw new AppError({ code: 'DISK_FULL', message: 'The disk is full.' });
    });
    expect(await engine.wait(job.jobId)).toMatchObject({
      state: 'failed',
      error: { code: 'DISK_FULL', message: 'Stage "one" failed: The disk is full.', data: { stage: 'one' } },
    });
    engine.resume(job.jobId);
    await settled();
    expect(doll.contexts[1]?.resumeFrom).toBe(8);
    await doll.do(() => 'first');
    await settled();
    await doll.do(() => 'second');
    expect(await engine.wait(job.jobId)).toMatchObject({ state: 'succeeded', error: null });
  });

  it('does not take the blame for a crash of its stage', async () => {
    const doll = puppet();
    const { definition } = pipeline();
    const job = submit(makeEngine([definition, doll.definition]), 'pipeline');
    await settled();
    for (let crashes = 1; crashes <= 3; crashes += 1) {
      timers = manualTimers(clock);
      makeEngine([definition, doll.definition], { soleHost: true });
      await settled();
    }
    await settled();
    const child = store.jobs.childByStage(job.jobId, 'one');
    expect(child).toMatchObject({ state: 'failed', error: { code: 'CRASH_LOOP' } });
    expect(store.jobs.get(job.jobId)).toMatchObject({
      state: 'failed',
      error: { code: 'CRASH_LOOP', data: { stage: 'one' } },
    });
  });

  it('goes back to the queue with its stage when the host closes', async () => {
    const doll = puppet();
    const engine = makeEngine([pipeline().definition, doll.definition]);
    const job = submit(engine, 'pipeline');
    await settled();
    await engine.dispose();
    expect(store.jobs.get(job.jobId)?.state).toBe('queued');
    expect(children(job)).toEqual([['one', 'queued']]);
  });
});
