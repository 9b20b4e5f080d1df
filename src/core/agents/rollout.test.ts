import { afterEach, expect, test } from 'vitest';
import { AppError } from '#shared/errors.ts';
import type { Job } from '#shared/schema/job.ts';
import { rolloutRunSchema } from '#shared/schema/run.ts';
import { fullPromptTokens } from '#core/agents/index.ts';
import type { EnvironmentProvider } from '#core/environments/port.ts';
import type { Lab, LabOptions, Writer } from '#test/helpers/methods.ts';
import { fakeModel, openLab } from '#test/helpers/methods.ts';

let lab: Lab | null = null;
afterEach(async () => {
  await lab?.close();
  lab = null;
});

function open(options: LabOptions = {}): Lab {
  lab = openLab(options);
  return lab;
}

const spec = (extra: object = {}) =>
  rolloutRunSchema.parse({
    kind: 'rollout',
    environment: { id: 'household-small', tasks: 3 },
    policy: { model: 'fake' },
    limits: { maxSteps: 6, maxPromptTokens: 100_000 },
    ...extra,
  });

const offered = (content: string): string[] =>
  content
    .split('Admissible actions:\n')[1]
    ?.split('\n')
    .map((line) => line.slice(2)) ?? [];
/** Takes an admissible action that depends on what it is shown. */
const wanderer: Writer = (request) => {
  const actions = offered(request.messages.at(-1)?.content ?? '');
  const length = request.messages.reduce((sum, { content }) => sum + content.length, 0);
  return `<think>step</think><action>${actions[length % actions.length] ?? 'look'}</action>`;
};

const episodesOf = ({ services }: Lab) =>
  services.store.episodes.list({}, 'oldest', { cursor: null, limit: 100 }).items;

test('the expert solves every task and costs no model', async () => {
  const { run } = open();
  const job = await run('rollout', spec({ policy: { model: 'scripted:expert' }, limits: {} }));
  expect(job.error).toBeNull();
  expect(job.result).toMatchObject({
    episodes: 3,
    successes: 3,
    successRate: 1,
    invalidActions: 0,
    failed: 0,
  });
});

test('stores each prompt’s own ids as a delta, and all of them come back', async () => {
  const model = fakeModel(wanderer);
  const opened = open({ model });
  await opened.run('rollout', spec());
  for (const { episodeId } of episodesOf(opened)) {
    const steps = opened.services.store.episodes.steps(episodeId);
    expect(steps).toHaveLength(6);
    steps.forEach((step, index) => {
      const full = fullPromptTokens(steps, index);
      const asked = model.requests.filter(({ sessionKey }) => sessionKey === episodeId)[index];
      const text = (asked?.messages ?? [])
        .map(({ role, content }) => `<${role}>${content}</${role}>`)
        .join('');
      expect(String.fromCodePoint(...(full ?? []))).toBe(`${text}<assistant>`);
      if (index > 0) expect(step.tokens?.promptPrefixLength).toBeGreaterThan(0);
      expect(step.tokens?.promptTokens.length).toBeLessThan((full ?? []).length + (index === 0 ? 1 : 0));
    });
    expect(steps.at(-1)).toMatchObject({ truncated: true, terminated: false });
  }
});

test('finished episodes are not run again by the same run', async () => {
  const model = fakeModel(wanderer);
  const opened = open({ model });
  await opened.run('rollout', spec());
  const calls = model.requests.length;
  const again = await opened.run('rollout', spec());
  expect(model.requests.length).toBe(calls);
  const [first] = episodesOf(opened);
  expect(again.result).toMatchObject({ episodes: 3, reused: 3, reusedFrom: [first?.jobId] });
  const { byTaskType } = again.result as { byTaskType: Record<string, { scored: number }> };
  expect(Object.values(byTaskType).reduce((sum, { scored }) => sum + scored, 0)).toBe(3);
  expect(episodesOf(opened)).toHaveLength(3);
});

test('what the world refuses is a step, counted and kept', async () => {
  const opened = open({ model: fakeModel(() => '<action>fly to the moon</action>') });
  const job = await opened.run('rollout', spec({ limits: { maxSteps: 6, maxInvalidInARow: 4 } }));
  expect(job.result).toMatchObject({
    episodes: 3,
    steps: 12,
    invalidActions: 12,
    parseFailures: 0,
    successRate: 0,
  });
  expect(episodesOf(opened).map(({ endReason }) => endReason)).toEqual(Array(3).fill('invalid-limit'));
  const { items } = opened.services.store.episodes.list({ hasInvalid: true }, 'oldest', {
    cursor: null,
    limit: 1,
  });
  const step = items[0] && opened.services.store.episodes.step(items[0].episodeId, 0);
  expect(step).toMatchObject({
    action: 'fly to the moon',
    valid: false,
    reward: 0,
    observation: 'Nothing happens.',
  });
});

test('an answer without an action is a parse failure, and the model is told', async () => {
  const model = fakeModel(() => 'I would rather talk.');
  const job = await open({ model }).run('rollout', spec({ limits: { maxSteps: 2 } }));
  expect(job.result).toMatchObject({ parseFailures: 6, invalidActions: 6 });
  expect(model.requests.some(({ messages }) => messages.at(-1)?.content.startsWith('Your last answer'))).toBe(
    true,
  );
});

test('a prompt that would pass the limit ends the episode before the model answers', async () => {
  const model = fakeModel(wanderer);
  const opened = open({ model });
  await opened.run('rollout', spec({ limits: { maxSteps: 6, maxPromptTokens: 64 } }));
  expect(model.requests).toHaveLength(0);
  expect(episodesOf(opened).map(({ endReason, steps }) => [endReason, steps])).toEqual(
    Array(3).fill(['token-limit', 0]),
  );
});

test('a crash of the model restarts the episode; it is never a zero reward', async () => {
  let crashes = 0;
  const model = fakeModel((request, sample) => {
    if (request.messages.length > 3 && crashes < 2) {
      crashes += 1;
      throw new AppError({ code: 'MODEL_CRASHED', message: 'The model process ended.' });
    }
    return wanderer(request, sample);
  });
  const opened = open({ model });
  const job = await opened.run('rollout', spec({ environment: { id: 'household-small', tasks: 1 } }));
  expect(job.result).toMatchObject({ episodes: 1, scored: 1, failed: 0, steps: 6 });
  const { store } = opened.services;
  const [played] = store.episodes.list({ status: 'finished' }, 'oldest', { cursor: null, limit: 9 }).items;
  expect(played).toMatchObject({ status: 'finished', retries: 2, steps: 6, attempt: 3, replacedBy: null });
  // Both attempts that broke off are still there, with their steps and the reason; they are no results.
  const broken = store.episodes.list({ status: 'abandoned' }, 'oldest', { cursor: null, limit: 9 }).items;
  expect(broken).toMatchObject(
    [1, 2].map((attempt) => {
      return { attempt, replacedBy: played?.episodeId, success: false, error: { code: 'MODEL_CRASHED' } };
    }),
  );
  for (const { episodeId, steps } of broken) {
    expect(steps).toBeGreaterThan(0);
    expect(store.episodes.steps(episodeId)).toHaveLength(steps);
  }
  const executed = broken.reduce((sum, { steps }) => sum + steps, 6);
  expect(store.counts()).toMatchObject({ steps: executed, realEnvironmentSteps: executed });
}, 15_000);

/** The world opens `opens` times and is gone then; a rollout opens it once before its episodes, to measure a prompt. */
function goneAfter(opens: number): NonNullable<LabOptions['wrap']> {
  let left = opens;
  return (provider) => ({
    ...passThrough(provider),
    async open(options) {
      left -= 1;
      if (left >= 0) return provider.open(options);
      throw new AppError({ code: 'ENVIRONMENT_CRASHED', message: 'The world is gone.' });
    },
  });
}

/** The model breaks at its fourth answer, for ever. */
function breaksAtFourth(then: () => void = () => undefined): Writer {
  let answers = 0;
  return (request, sample) => {
    answers += 1;
    if (answers < 4) return wanderer(request, sample);
    then();
    throw new AppError({ code: 'MODEL_CRASHED', message: 'The model process ended.' });
  };
}

const one = (limits: object) => spec({ environment: { id: 'household-small', tasks: 1 }, limits });

/** The rows of the only episode say what its totals say. */
function expectWhole({ services: { store } }: Lab, steps: number) {
  const [row] = store.episodes.list({}, 'oldest', { cursor: null, limit: 1 }).items;
  if (row === undefined) throw new Error('no episode is stored');
  const episode = store.episodes.get(row.episodeId);
  const stored = store.episodes.steps(row.episodeId);
  expect(stored).toHaveLength(steps);
  expect(episode).toMatchObject({
    steps,
    totalReward: stored.reduce((sum, { reward }) => sum + reward, 0),
    invalidActions: stored.filter(({ valid }) => !valid).length,
  });
  expect(episode?.initialObservation).toContain('Your task is to');
  expect(episode?.completionTokens).toBeGreaterThan(0);
  return episode;
}

test('a restart that cannot open the world again leaves the attempt before it whole', async () => {
  const opened = open({ model: fakeModel(breaksAtFourth()), wrap: goneAfter(2) });
  await opened.run('rollout', one({ maxSteps: 6, maxPromptTokens: 100_000, retries: 1 }));
  const episode = expectWhole(opened, 3);
  expect(episode).toMatchObject({ status: 'failed', retries: 1, error: { code: 'ENVIRONMENT_CRASHED' } });
  expect(opened.services.store.counts().realEnvironmentSteps).toBe(3);
});

test('cancelled while it waits for its restart, an episode keeps the attempt before it', async () => {
  const cancel: { now?: () => void } = {};
  const opened = open({ model: fakeModel(breaksAtFourth(() => cancel.now?.())) });
  const { jobs } = opened.services;
  const { jobId } = jobs.submit({
    kind: 'rollout',
    title: 'cancelled',
    spec: JSON.parse(JSON.stringify(one({ maxSteps: 6, maxPromptTokens: 100_000 }))) as Job['spec'],
    seed: 1,
  });
  cancel.now = () => setTimeout(() => jobs.cancel(jobId), 50);
  await jobs.wait(jobId);
  expect(expectWhole(opened, 3)).toMatchObject({ status: 'abandoned', error: { code: 'CANCELLED' } });
});

test('what an earlier job left of an episode stands until the next one has really begun', async () => {
  const limits = { maxSteps: 6, maxPromptTokens: 100_000, retries: 0 };
  const opened = open({ model: fakeModel(breaksAtFourth()), wrap: goneAfter(3) });
  const first = await opened.run('rollout', one(limits));
  const again = await opened.run('rollout', one(limits));
  expect([first.error?.code, again.error?.code]).toEqual(['MODEL_CRASHED', 'ENVIRONMENT_CRASHED']);
  const episode = expectWhole(opened, 3);
  expect(episode).toMatchObject({
    jobId: again.jobId,
    status: 'failed',
    error: { code: 'ENVIRONMENT_CRASHED' },
  });
  expect(opened.services.store.counts().realEnvironmentSteps).toBe(3);
});

test('an episode that keeps failing is stored with its class and left out of the score', async () => {
  const broken = open({
    model: fakeModel(wanderer),
    wrap: (provider) => ({
      ...passThrough(provider),
      async open(options) {
        if (options.taskId === provider.listTasks({ split: 'train', limit: 1 }).tasks[0]?.taskId) {
          throw new AppError({ code: 'ENVIRONMENT_CRASHED', message: 'The world broke.' });
        }
        return provider.open(options);
      },
    }),
  });
  const limits = { maxSteps: 3, retries: 0, maxPromptTokens: 100_000 };
  const environment = { id: 'household-small', tasks: 3, shuffle: false };
  const job = await broken.run('rollout', spec({ limits, environment }));
  expect(job.state).toBe('succeeded');
  expect(job.result).toMatchObject({ episodes: 3, scored: 2, failed: 1 });
  const failed = broken.services.store.episodes.list({ status: 'failed' }, 'oldest', {
    cursor: null,
    limit: 9,
  }).items;
  expect(failed).toMatchObject([{ error: { code: 'ENVIRONMENT_CRASHED' }, endReason: null }]);
});

test('when every episode fails the job fails with that class', async () => {
  const model = fakeModel(() => {
    throw new AppError({ code: 'MODEL_CRASHED', message: 'The model process ended.' });
  });
  const job = await open({ model }).run(
    'rollout',
    spec({ limits: { retries: 0, maxPromptTokens: 100_000 } }),
  );
  expect(job).toMatchObject({ state: 'failed', error: { code: 'MODEL_CRASHED' } });
});

test('each finished episode is an event with its strip of steps', async () => {
  const opened = open({ model: fakeModel(wanderer) });
  const job = await opened.run('rollout', spec());
  const events = opened.services.store.jobs
    .events(job.jobId, { afterSeq: 0, limit: 1000, includeChildren: false })
    .filter(({ type }) => type === 'episode-finished');
  expect(events).toHaveLength(3);
  for (const { data } of events) {
    expect(data).toMatchObject({ steps: 6, strip: expect.stringMatching(/^[.+\-xp]{6}$/u) as string });
    expect(data['actions']).toHaveLength(6);
  }
});

function passThrough(provider: EnvironmentProvider): EnvironmentProvider {
  return {
    describe: () => provider.describe(),
    listTasks: (query) => provider.listTasks(query),
    getTask: (taskId) => provider.getTask(taskId),
    open: (options) => provider.open(options),
  };
}

test('who watches the job hears of each step while the episode still runs', async () => {
  let release: (() => void) | undefined;
  let asked = 0;
  // The third answer waits until the first two steps were seen from outside.
  const model = fakeModel(async (request, sample) => {
    asked += 1;
    if (asked === 3) await new Promise<void>((resolve) => (release = resolve));
    return wanderer(request, sample);
  });
  const { services } = open({ model });
  const seen: number[] = [];
  services.jobs.subscribe(({ job }) => {
    const [episode] = services.store.episodes.list({ jobId: job.jobId }, 'oldest', {
      cursor: null,
      limit: 1,
    }).items;
    if (episode?.status !== 'running') return;
    seen.push(services.store.episodes.steps(episode.episodeId).length);
    if (seen.at(-1) === 2) release?.();
  });
  const run = spec({ environment: { id: 'household-small', tasks: 1 }, parallel: 1 });
  const { jobId } = services.jobs.submit({
    kind: 'rollout',
    title: 'watched',
    spec: JSON.parse(JSON.stringify(run)) as Job['spec'],
    seed: 1,
  });
  expect((await services.jobs.wait(jobId)).state).toBe('succeeded');
  expect(seen).toContain(2);
});
