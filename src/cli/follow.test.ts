import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openTestApp } from '#test/helpers/app.ts';
import type { TestApp } from '#test/helpers/app.ts';
import { followJob } from './follow.ts';

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

it('takes the SIGINTs of one Ctrl-C for one, and a second Ctrl-C for “end at once”', async () => {
  const { jobId } = startSlowJob();
  const stop = new AbortController();
  const session = {
    client: host.client,
    dataFolder: host.folder,
    attached: false,
    lost: new AbortController().signal,
    url: null,
    lastingLink: () => Promise.resolve(null),
    close: () => Promise.resolve(),
  };
  const work = { session, client: host.client, json: true, seed: undefined, dataDir: undefined };
  const followed = followJob({ ...work, signal: stop.signal }, jobId, { onInterrupt: 'pause', quiet: true });
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
