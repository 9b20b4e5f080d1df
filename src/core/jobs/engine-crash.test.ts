import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineJob } from '#core/jobs/port.ts';
import type { EpisodeId, JobId } from '#shared/ids.ts';
import {
  eventTypes,
  makeEngine,
  puppet,
  replaceTimers,
  started,
  store,
  submit,
  timers,
  useJobEngines,
} from '#test/helpers/job-engine.ts';
import { settled } from '#test/helpers/manual-timers.ts';
import type { ManualTimers } from '#test/helpers/manual-timers.ts';
import { makeEpisode, makeStep } from '#test/helpers/store-records.ts';

useJobEngines();

describe('a crash', () => {
  /** An engine that is dropped without a word: its timers never fire again, its runs never go on. */
  function crash(): ManualTimers {
    return replaceTimers();
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

  it('keeps the active time up to the last progress', async () => {
    const doll = puppet();
    const job = submit(makeEngine([doll.definition]));
    await settled();
    timers.advance(3_000);
    await doll.do((context) => context.progress({ phase: 'Acting', done: 1, total: 2, unit: 'episodes' }));
    timers.advance(1_000);
    await settled();
    crash();
    started([puppet().definition], { soleHost: true });
    await settled();
    expect(store.jobs.get(job.jobId)?.activeMs).toBeGreaterThanOrEqual(3_000);
    expect(store.jobs.get(job.jobId)?.activeMs).toBeLessThanOrEqual(4_000);
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

  /** An episode of ten steps; each host lives for four of them. */
  async function killInEpisode(doll: ReturnType<typeof puppet>, jobId: JobId, steps: number): Promise<void> {
    await doll.do(() => {
      const episodeId = 'long' as EpisodeId;
      store.episodes.begin(makeEpisode(1, { episodeId, jobId }));
      store.episodes.appendSteps(Array.from({ length: steps }, (_, index) => makeStep(episodeId, index)));
    });
    crash();
    makeEngine([doll.definition], { soleHost: true });
    await settled();
  }

  it('does not call it a loop when steps of an episode were stored in between, and keeps every one of them', async () => {
    const doll = puppet();
    const job = submit(makeEngine([doll.definition]));
    await settled();
    for (let crashes = 1; crashes <= 6; crashes += 1) await killInEpisode(doll, job.jobId, 4);
    expect(store.jobs.get(job.jobId)).toMatchObject({ state: 'running', attempt: 7 });
    const { items } = store.episodes.list({ jobId: job.jobId }, 'oldest', { cursor: null, limit: 99 });
    expect(items.map(({ status, steps }) => [status, steps])).toEqual(Array(6).fill(['abandoned', 4]));
    expect(items.map(({ attempt }) => attempt).toSorted()).toEqual([1, 2, 3, 4, 5, 6]);
    expect(store.counts().realEnvironmentSteps).toBe(24);
    const events = store.jobs.events(job.jobId, { afterSeq: 0, limit: 99, includeChildren: false });
    expect(events.findLast(({ type }) => type === 'job-crashed')?.message).toContain(
      'The episode in flight is kept as abandoned and begun again.',
    );
  });

  it('is a loop all the same when ten hosts died in an episode that none of them finished', async () => {
    const doll = puppet();
    const job = submit(makeEngine([doll.definition]));
    await settled();
    for (let crashes = 1; crashes <= 9; crashes += 1) await killInEpisode(doll, job.jobId, 1);
    expect(store.jobs.get(job.jobId)?.state).toBe('running');
    await killInEpisode(doll, job.jobId, 1);
    expect(store.jobs.get(job.jobId)).toMatchObject({
      state: 'failed',
      error: { code: 'CRASH_LOOP', message: expect.stringContaining('finished anything more') as string },
    });
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
