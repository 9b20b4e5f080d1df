/** Child of jobs-kill.test.ts: a host with lock, store and engine whose one job counts. Ends by itself when the job has ended. */
import path from 'node:path';
import { z } from 'zod';
import { createJobEngine } from '#core/jobs/index.ts';
import { defineJob } from '#core/jobs/port.ts';
import { acquireHostLock, openStore } from '#core/store/index.ts';
import type { EpisodeId } from '#shared/ids.ts';
import { makeEpisode, makeStep, silentLog } from '#test/helpers/store-records.ts';

const [folder = '', target = '0'] = process.argv.slice(2);
const clock = { now: () => Date.now() };
const lock = acquireHostLock(folder);
const store = openStore({ file: path.join(folder, 'daydream.sqlite'), clock, log: silentLog });
const engine = createJobEngine({
  store,
  clock,
  log: silentLog,
  slots: { compute: 1, light: 1 },
  owner: 'child',
  soleHost: true,
});
const counted = 'counted' as EpisodeId;

engine.register(
  defineJob<{ target: number }, number>({
    kind: 'count',
    spec: z.object({ target: z.int() }),
    slots: ['compute'],
    async run(context) {
      let done = context.resumeFrom ?? 0;
      while (done < context.spec.target) {
        await new Promise((resolve) => setTimeout(resolve, 1));
        const step = done;
        context.emit({ type: 'counted', message: '', data: { step } });
        context.metric('count', step, step);
        context.commitStep(step + 1, () => {
          if (store.episodes.get(counted) === null) {
            store.episodes.begin(makeEpisode(0, { episodeId: counted }));
            // This job meters each step itself; a running episode would be metered once more when its host dies.
            store.episodes.abandonRunning({ at: clock.now() });
          }
          store.episodes.appendSteps([makeStep(counted, step)]);
          store.addRealSteps('train', 1);
        });
        done = step + 1;
        process.stdout.write(`${done}\n`);
      }
      return done;
    },
  }),
);
engine.register(
  defineJob({
    kind: 'pipeline',
    spec: z.unknown(),
    slots: [],
    async run(context) {
      const child = await context.runChild<number>({
        stage: 'count',
        kind: 'count',
        title: 'Count',
        spec: { target: Number(target) },
      });
      return child.result;
    },
  }),
);
engine.start();
const known = store.jobs.list({ kind: 'pipeline' }, { cursor: null, limit: 1 }).items[0];
const job = known ?? engine.submit({ kind: 'pipeline', title: 'Pipeline', spec: {}, seed: 1 });
await engine.wait(job.jobId);
await engine.dispose();
store.close();
lock.release();
