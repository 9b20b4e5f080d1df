import { afterEach, beforeEach, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { openTestApp } from '#test/helpers/app.ts';
import type { TestApp } from '#test/helpers/app.ts';
import { printStepsAsTheyHappen } from './episode-feed.ts';
import { ProgressView } from './progress.ts';
import { transcript } from './transcript.ts';

let host: TestApp;
beforeEach(async () => {
  host = await openTestApp();
  host.app.start();
});
afterEach(async () => {
  await host.dispose();
});

class Lines extends ProgressView {
  readonly lines: string[] = [];
  override say(line: string): void {
    this.lines.push(line);
  }
}

it('tells every step once and in order, and in the end has printed the whole transcript', async () => {
  const { client } = host;
  const { jobId } = await client.runs.start({
    yaml: stringify({
      kind: 'rollout',
      environment: { id: 'household-small', tasks: 2 },
      policy: { model: 'scripted:random' },
      limits: { maxSteps: 12 },
      parallel: 1,
    }),
  });
  const view = new Lines();
  const feed = printStepsAsTheyHappen(client.episodes);
  for await (const update of await client.jobs.watch({ jobId })) await feed(update, view);
  const { items } = await client.episodes.list({ filter: { jobId }, sort: 'oldest' });
  expect(items).toHaveLength(2);
  const whole = await Promise.all(items.map(({ episodeId }) => client.episodes.get({ episodeId })));
  expect(view.lines.join('\n').trim()).toBe(whole.map(transcript).join('\n\n'));
});

it('says when an episode was started again, and tells it from its beginning', async () => {
  const { client } = host;
  const { jobId } = await client.runs.start({
    yaml: stringify({
      kind: 'rollout',
      environment: { id: 'household-small', tasks: 1 },
      policy: { model: 'scripted:random' },
      limits: { maxSteps: 4 },
    }),
  });
  let update = null;
  for await (const next of await client.jobs.watch({ jobId })) update = next;
  if (update === null) throw new Error('the job was never seen');
  const { episodes } = host.app.services.store;
  const [row] = episodes.list({ jobId }, 'oldest', { cursor: null, limit: 1 }).items;
  const episode = row === undefined ? null : episodes.get(row.episodeId);
  if (episode === null) throw new Error('no episode');
  const shown = await client.episodes.get({ episodeId: episode.episodeId });
  const [first, second] = shown.steps;
  if (first === undefined || second === undefined) throw new Error('too few steps');
  let steps = [first, second];
  const view = new Lines();
  let attempt = 1;
  const feed = printStepsAsTheyHappen({
    // The first attempt has an id of its own then, and is not told again.
    list: () =>
      Promise.resolve({
        items: [
          ...(attempt === 1
            ? []
            : [
                { ...episode, episodeId: 'first' as typeof episode.episodeId, replacedBy: episode.episodeId },
              ]),
          { ...episode, attempt },
        ],
      }),
    get: () => Promise.resolve({ ...shown, episode: { ...episode, attempt, status: 'running' }, steps }),
  });
  await feed(update, view);
  steps = [first];
  attempt = 2;
  await feed(update, view);
  expect(view.lines.filter((line) => line.includes('started again'))).toHaveLength(1);
  expect(view.lines.filter((line) => line.includes('Task: '))).toHaveLength(2);
  expect(view.lines.filter((line) => line.startsWith(`> ${first.action}`)).length).toBeGreaterThanOrEqual(2);
});
