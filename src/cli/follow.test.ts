import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { openTestApp } from '#test/helpers/app.ts';
import type { TestApp } from '#test/helpers/app.ts';
import type { Work } from './command.ts';
import { followJob } from './follow.ts';
import { startAndFollow } from './start-run.ts';

let host: TestApp;
beforeEach(async () => {
  host = await openTestApp();
  host.app.start();
});
afterEach(async () => {
  await host.dispose();
});

/** Something in flight that takes its time, whatever is asked of it. */
function startSlowJob() {
  const { jobs } = host.app.services;
  jobs.register({
    kind: 'slow',
    spec: z.json(),
    slots: [],
    run: ({ signal }) =>
      new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error))),
  });
  return jobs.submit({ kind: 'slow', title: 'Slow', spec: {}, seed: 1 });
}

/** As `withSession` makes it for a command that is itself the host. */
function workOf(signal: AbortSignal): Work {
  const session = {
    client: host.client,
    dataFolder: host.folder,
    attached: false,
    lost: new AbortController().signal,
    url: null,
    lastingLink: () => Promise.resolve(null),
    close: () => Promise.resolve(),
  };
  return { session, client: host.client, json: true, seed: undefined, dataDir: undefined, signal };
}

it('takes the SIGINTs of one Ctrl-C for one, and a second Ctrl-C for “end at once”', async () => {
  const { jobId } = startSlowJob();
  const stop = new AbortController();
  const followed = followJob(workOf(stop.signal), jobId, { onInterrupt: 'pause', quiet: true });
  let ended = false;
  void followed.then(() => (ended = true));
  await sleep(200);
  // The terminal’s, then the launcher’s that passes it on.
  stop.abort();
  await sleep(50);
  process.emit('SIGINT', 'SIGINT');
  await sleep(200);
  expect(ended).toBe(false);
  await sleep(200);
  process.emit('SIGINT', 'SIGINT');
  expect((await followed).state).toBe('pausing');
  expect(process.listenerCount('SIGINT')).toBe(0);
});

it('ends with the whole job, though the stream tells only how it stands', async () => {
  const { jobs } = host.app.services;
  jobs.register({ kind: 'quick', spec: z.json(), slots: [], run: () => Promise.resolve({ rows: 7 }) });
  const { jobId } = jobs.submit({ kind: 'quick', title: 'Quick', spec: { asked: 1 }, seed: 1 });
  const job = await followJob(workOf(new AbortController().signal), jobId, {
    onInterrupt: 'pause',
    quiet: true,
  });
  expect(job).toMatchObject({ state: 'succeeded', spec: { asked: 1 }, result: { rows: 7 } });
});

it('pauses a job that it comes to after Ctrl-C', async () => {
  const { jobId } = startSlowJob();
  const followed = followJob(workOf(AbortSignal.abort()), jobId, { onInterrupt: 'pause', quiet: true });
  await vi.waitFor(() => expect(host.app.services.store.jobs.get(jobId)?.state).toBe('pausing'));
  await sleep(350);
  process.emit('SIGINT', 'SIGINT');
  expect((await followed).state).toBe('pausing');
});

it('starts nothing after a Ctrl-C during the check', async () => {
  const yaml =
    "kind: rollout\nenvironment: { id: household-small, tasks: 1 }\npolicy: { model: 'scripted:random' }\n";
  const started = startAndFollow(workOf(AbortSignal.abort()), { yaml, origin: 'mine.yaml', sets: [] });
  await expect(started).rejects.toMatchObject({
    code: 'CANCELLED',
    message: expect.stringContaining('nothing was stored') as string,
  });
  expect((await host.client.jobs.list({})).total).toBe(0);
});
