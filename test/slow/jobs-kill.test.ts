import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { expect, it } from 'vitest';
import { openStore } from '#core/store/index.ts';
import type { EpisodeId } from '#shared/ids.ts';
import { silentLog, temporaryFolder } from '#test/helpers/store-records.ts';

const kills = 20;
const target = 4000;
const child = path.join(import.meta.dirname, 'jobs-host.child.ts');

it(`resumes a pipeline after each of ${kills} kills of its host; nothing is lost or doubled`, async () => {
  const temporary = temporaryFolder();
  let reported = 0;
  /** Kills after this many new steps; null lets it end. */
  async function host(killAfter: number | null): Promise<number | null> {
    const before = reported;
    const spawned = spawn(process.execPath, [child, temporary.folder, String(target)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const lines = createInterface({ input: spawned.stdout });
    lines.on('line', (line) => {
      const done = Number(line);
      // The next step after what was committed; a lost or repeated one would show here first.
      expect(done).toBeGreaterThan(reported);
      reported = done;
      if (killAfter !== null && reported - before >= killAfter) spawned.kill('SIGKILL');
    });
    const [[code]] = (await Promise.all([once(spawned, 'exit'), once(lines, 'close')])) as [
      [number | null],
      unknown,
    ];
    return code;
  }
  try {
    for (let kill = 1; kill <= kills; kill += 1) {
      expect(await host(1 + ((kill * 37) % 60))).toBeNull();
      const store = openStore({
        file: path.join(temporary.folder, 'daydream.sqlite'),
        clock: { now: () => Date.now() },
        log: silentLog,
      });
      const steps = store.episodes.steps('counted' as EpisodeId).length;
      // At most the commit whose report was cut off is more than what was reported.
      expect(steps - reported).toBeGreaterThanOrEqual(0);
      expect(steps - reported).toBeLessThanOrEqual(5);
      expect(store.counts()).toMatchObject({ jobs: 2, steps, realEnvironmentSteps: steps });
      reported = steps;
      store.close();
    }
    expect(await host(null)).toBe(0);

    const store = openStore({
      file: path.join(temporary.folder, 'daydream.sqlite'),
      clock: { now: () => Date.now() },
      log: silentLog,
    });
    const wanted = Array.from({ length: target }, (_, step) => step);
    const [root] = store.jobs.list({ kind: 'pipeline' }, { cursor: null, limit: 10 }).items;
    const [job] = store.jobs.list({ kind: 'count' }, { cursor: null, limit: 10 }).items;
    if (root === undefined || job === undefined) throw new Error('the jobs are gone');
    expect(root).toMatchObject({ state: 'succeeded', result: target, attempt: kills + 1 });
    expect(job).toMatchObject({ state: 'succeeded', result: target, attempt: kills + 1 });
    expect(store.episodes.steps('counted' as EpisodeId).map((step) => step.stepIndex)).toEqual(wanted);
    expect(store.counts().realEnvironmentSteps).toBe(target);
    const events = store.jobs.events(job.jobId, { afterSeq: 0, limit: 100_000, includeChildren: false });
    expect(events.filter((event) => event.type === 'counted').map((event) => event.data['step'])).toEqual(
      wanted,
    );
    expect(events.filter((event) => event.type === 'job-crashed')).toHaveLength(kills);
    expect(store.jobs.metrics(job.jobId, { maxPoints: 10_000 }).map((point) => point.step)).toEqual(wanted);
    store.close();
  } finally {
    temporary.remove();
  }
});
