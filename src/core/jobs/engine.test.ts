import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineJob } from '#core/jobs/port.ts';
import type { JobContext } from '#core/jobs/port.ts';
import { AppError } from '#shared/errors.ts';
import type { EpisodeId } from '#shared/ids.ts';
import {
  clock,
  endedRoots,
  eventTypes,
  puppet,
  started,
  store,
  submit,
  timers,
  useJobEngines,
} from '#test/helpers/job-engine.ts';
import { settled } from '#test/helpers/manual-timers.ts';
import { makeEpisode, makeStep } from '#test/helpers/store-records.ts';

useJobEngines();

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

  it('shows what was measured with the progress, long before a checkpoint, and a repeated step writes over its own', async () => {
    const doll = puppet();
    const engine = started([doll.definition]);
    const job = submit(engine);
    await settled();
    const curve = () =>
      store.jobs.metrics(job.jobId, { maxPoints: 10 }).map(({ step, value }) => [step, value]);
    const update = (step: number, loss: number) =>
      doll.do((context) => {
        context.metric('loss', step, loss);
        context.progress({ done: step, total: 100, unit: 'updates', phase: '' });
      });
    await update(1, 2);
    expect(curve()).toEqual([]);
    timers.advance(250);
    expect(curve()).toEqual([[1, 2]]);
    await update(1, 1.5);
    await update(2, 1);
    timers.advance(250);
    expect(curve()).toEqual([
      [1, 1.5],
      [2, 1],
    ]);
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

  it('takes the pause back when the job is resumed before it had paused: it goes on, and can be paused again', async () => {
    const doll = puppet();
    const engine = started([doll.definition]);
    const job = submit(engine);
    await settled();
    engine.pause(job.jobId);
    expect(engine.resume(job.jobId).state).toBe('running');
    expect(engine.resume(job.jobId).state).toBe('running');
    expect(engine.pause(job.jobId).state).toBe('pausing');
    expect(engine.resume(job.jobId).state).toBe('running');
    await doll.do((context) => {
      context.pausePoint();
    });
    expect(store.jobs.get(job.jobId)?.state).toBe('running');
    expect(doll.contexts).toHaveLength(2);
    expect(doll.contexts[1]).toMatchObject({ pauseRequested: false, attempt: 1 });
  });

  it('says what it waits for', async () => {
    const doll = puppet();
    const engine = started([doll.definition]);
    const job = submit(engine);
    await settled();
    await doll.do((context) =>
      context.progress({ done: 1, total: 9, unit: 'episodes', inFlight: 4, phase: 'Acting' }),
    );
    timers.advance(300);
    engine.pause(job.jobId);
    const events = store.jobs.events(job.jobId, { afterSeq: 0, limit: 9, includeChildren: false });
    expect(events.at(-1)?.message).toContain('waits for the 4 episodes in flight');
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
