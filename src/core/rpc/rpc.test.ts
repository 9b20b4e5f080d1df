import { ORPCError } from '@orpc/server';
import { getEventMeta } from '@orpc/client';
import { z } from 'zod';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openTestApp } from '#test/helpers/app.ts';
import type { TestApp } from '#test/helpers/app.ts';
import { observationHash } from '#core/environments/index.ts';
import { environmentIdSchema, jobIdSchema } from '#shared/ids.ts';
import type { PlayState } from '#shared/contract/environments.ts';
import type { JobUpdate } from '#shared/contract/jobs.ts';
import type { Split } from '#shared/schema/environment.ts';

const small = environmentIdSchema.parse('household-small');

let test: TestApp;
beforeAll(async () => {
  test = await openTestApp();
  test.app.start();
});
afterAll(() => test.dispose());

async function codeOf(call: Promise<unknown>): Promise<unknown> {
  const thrown = await call.then(
    () => null,
    (error: unknown) => error,
  );
  if (!(thrown instanceof ORPCError)) return thrown;
  return thrown.code === 'APP' ? (thrown.data as { code: string }).code : thrown.code;
}

function rolloutYaml(tasks: number, seed = 1, model = 'random'): string {
  return `kind: rollout\nname: test\nseed: ${String(seed)}\nenvironment: { id: household-small, tasks: ${String(tasks)} }\npolicy: { model: 'scripted:${model}' }\nlimits: { maxSteps: 5 }\n`;
}

async function watchToEnd(jobId: ReturnType<typeof jobIdSchema.parse>): Promise<JobUpdate[]> {
  const updates: JobUpdate[] = [];
  for await (const update of await test.client.jobs.watch({ jobId })) updates.push(update);
  return updates;
}

describe('environments', () => {
  it('pages through tasks without losing or repeating one', async () => {
    const seen: string[] = [];
    let cursor: string | null = null;
    do {
      const page: Awaited<ReturnType<typeof test.client.environments.tasks>> =
        await test.client.environments.tasks({
          environmentId: small,
          split: 'seen',
          limit: 37,
          cursor,
        });
      seen.push(...page.items.map(({ taskId }) => taskId));
      cursor = page.nextCursor;
      if (cursor === null) expect(seen.length).toBe(page.total);
    } while (cursor !== null);
    expect(new Set(seen).size).toBe(seen.length);
  });

  it('refuses a cursor that it did not give out', async () => {
    expect(await codeOf(test.client.environments.tasks({ environmentId: small, cursor: '-1' }))).toBe(
      'INVALID_INPUT',
    );
  });

  it('names what exists when an environment is unknown', async () => {
    const call = test.client.environments.get({ environmentId: environmentIdSchema.parse('no-such') });
    await expect(call).rejects.toMatchObject({
      code: 'APP',
      data: { code: 'ENVIRONMENT_UNKNOWN' },
      message: expect.stringContaining('household'),
    });
  });

  it('removes an environment whose folder is away', async () => {
    const environmentId = environmentIdSchema.parse('gone');
    const entry = { environmentId, kind: 'alfworld' as const, folder: `${test.folder}/gone`, addedAt: 1 };
    test.app.services.store.catalogue.addFolder(entry, []);
    expect(await codeOf(test.client.environments.get({ environmentId }))).toBe('FILE_NOT_FOUND');
    expect(await test.client.environments.remove({ environmentId })).toEqual({ removed: true });
    expect(await codeOf(test.client.environments.remove({ environmentId }))).toBe('ENVIRONMENT_UNKNOWN');
  });

  it('does not remove a bundled world', async () => {
    expect(await codeOf(test.client.environments.remove({ environmentId: small }))).toBe('CONFLICT');
  });
});

describe('a game played by hand', () => {
  async function open(split: Split = 'train') {
    const { items } = await test.client.environments.tasks({ environmentId: small, split, limit: 1 });
    const [task] = items;
    if (task === undefined) throw new Error('no task');
    return test.client.environments.play.open({ environmentId: small, taskId: task.taskId });
  }

  it('undoes a move exactly', async () => {
    const start = await open();
    const [first, second] = start.initial.admissible ?? [];
    const one = await test.client.environments.play.act({ playId: start.playId, action: first ?? '' });
    await test.client.environments.play.act({ playId: start.playId, action: second ?? '' });
    const undone = await test.client.environments.play.undo({ playId: start.playId });
    expect(undone).toEqual(one);
    expect(await test.client.environments.play.undo({ playId: start.playId })).toEqual(start);
    expect(await codeOf(test.client.environments.play.undo({ playId: start.playId }))).toBe('CONFLICT');
  });

  async function followHints(start: PlayState): Promise<PlayState> {
    let state = start;
    while (!state.finished && state.hint !== null) {
      state = await test.client.environments.play.act({ playId: state.playId, action: state.hint });
    }
    return state;
  }

  it.each(['development', 'seen', 'unseen'] as const)(
    'of a task of %s is an episode to look at, never a demonstration',
    async (split) => {
      const { playId, moves } = await followHints(await open(split));
      expect(moves.at(-1)?.success).toBe(true);
      const recorded = await test.client.environments.play.record({ playId });
      expect(recorded.demonstration).toBe(false);
      const { episode } = await test.client.episodes.get({ episodeId: recorded.episodeId });
      expect(episode).toMatchObject({ purpose: 'human', success: true, split });
    },
  );

  it('is recorded once as a human episode, by following the hints to success', async () => {
    const state = await followHints(await open());
    expect(state.moves.at(-1)).toMatchObject({ success: true, terminated: true });
    const recorded = await test.client.environments.play.record({ playId: state.playId });
    const again = await test.client.environments.play.record({ playId: state.playId });
    expect(again).toEqual(recorded);
    expect(recorded.demonstration).toBe(true);
    const { episode, steps } = await test.client.episodes.get({ episodeId: recorded.episodeId });
    expect(episode).toMatchObject({
      purpose: 'human',
      status: 'finished',
      success: true,
      steps: state.moves.length,
    });
    expect(steps.map(({ action }) => action)).toEqual(state.moves.map(({ action }) => action));
    expect(await codeOf(test.client.environments.play.act({ playId: state.playId, action: 'look' }))).toBe(
      'CONFLICT',
    );
    expect(await test.client.environments.play.close({ playId: state.playId })).toEqual({ closed: true });
    expect(await codeOf(test.client.environments.play.get({ playId: state.playId }))).toBe('NOT_FOUND');
  });

  it('takes quick clicks one after the other', async () => {
    const { playId, initial } = await open();
    const actions = (initial.admissible ?? []).slice(0, 4);
    const states = await Promise.all(
      actions.map((action) => test.client.environments.play.act({ playId, action })),
    );
    expect(states.map(({ moves }) => moves.length)).toEqual(actions.map((_, index) => index + 1));
  });
});

describe('runs and jobs', () => {
  it('checks, estimates, starts and follows a run to its end', async () => {
    const yaml = rolloutYaml(4, 1, 'expert');
    const check = await test.client.runs.check({ yaml });
    expect(check.problems).toEqual([]);
    expect(check.estimate).toMatchObject({ environmentSteps: 20, modelCalls: 20 });
    expect(check.command).toContain('daydream run ');
    const job = await test.client.runs.start({ yaml });
    const updates = await watchToEnd(job.jobId);
    expect(updates.at(-1)?.job).toMatchObject({ state: 'succeeded', title: 'test' });
    const { items } = await test.client.episodes.list({ filter: { jobId: job.jobId } });
    expect(items).toHaveLength(4);
    const [row] = items;
    if (row === undefined) throw new Error('no episode');
    const shown = await test.client.episodes.get({ episodeId: row.episodeId });
    expect(shown.steps.length).toBe(row.steps);
    // The hash of a state is the hash of what the policy saw there, not of what came back.
    const states = [
      { text: shown.episode.initialObservation, admissible: shown.episode.initialAdmissible },
      ...shown.steps.map(({ observation, admissible }) => ({ text: observation, admissible })),
    ];
    expect(shown.steps.map(({ stateHash }) => stateHash)).toEqual(
      shown.steps.map((_, index) => observationHash(states[index] ?? { text: '', admissible: null })),
    );
    expect(shown.steps.map((step) => step.observationHash)).toEqual(
      shown.steps.map((_, index) => observationHash(states[index + 1] ?? { text: '', admissible: null })),
    );
    const prompt = await test.client.episodes.prompt({ episodeId: row.episodeId, stepIndex: 0 });
    expect(prompt.tokens).toBeNull();
    expect(prompt.missing).toContain('No model');
    expect(prompt.messages.map(({ content }) => content).join('\n')).toContain(shown.episode.instruction);
  });

  it('resumes a stream after the last event that a client has seen', async () => {
    const job = await test.client.runs.start({ yaml: rolloutYaml(3, 2) });
    const updates = await watchToEnd(job.jobId);
    const seqs = updates.flatMap(({ events }) => events.map(({ seq }) => seq));
    expect(seqs).toEqual([...new Set(seqs)].toSorted((a, b) => a - b));
    const middle = seqs[Math.floor(seqs.length / 2)] ?? 0;
    const later: number[] = [];
    const stream = await test.client.jobs.watch({ jobId: job.jobId }, { lastEventId: String(middle) });
    for await (const update of stream) {
      later.push(...update.events.map(({ seq }) => seq));
      expect(getEventMeta(update)?.id).toBeDefined();
    }
    expect(later).toEqual(seqs.filter((seq) => seq > middle));
  });

  it('streams how a large run stands in small messages; its spec and result are read apart', async () => {
    const { jobs } = test.app.services;
    // As the episodes of a run over the whole training split are named in the results of its stages.
    const episodeIds = Array.from(
      { length: 3553 },
      (_, index) => `episode-${String(index).padStart(20, '0')}`,
    );
    jobs.register({
      kind: 'large',
      spec: z.json(),
      slots: [],
      async run(context) {
        for (let done = 0; done < 5; done += 1) {
          context.progress({ done, total: 5, unit: 'episodes', phase: 'Working' });
          context.commitStep({ done });
          await new Promise((resolve) => setTimeout(resolve, 120));
        }
        return { episodeIds };
      },
    });
    const { jobId } = jobs.submit({ kind: 'large', title: 'Large', spec: { episodeIds }, seed: 1 });
    const updates = await watchToEnd(jobId);
    expect(updates.length).toBeGreaterThan(3);
    expect(updates.at(-1)?.job).toMatchObject({ state: 'succeeded', progress: { done: 4 } });
    for (const { events, ...status } of updates) {
      expect(JSON.stringify(status).length).toBeLessThan(1000);
      for (const event of events) expect(JSON.stringify(event).length).toBeLessThan(1000);
    }
    const { job } = await test.client.jobs.get({ jobId });
    expect(job).toMatchObject({ spec: { episodeIds }, result: { episodeIds } });
  });

  it('ends a stream when the reader goes away', async () => {
    const stop = new AbortController();
    const stream = await test.client.system.watch(undefined, { signal: stop.signal });
    const first = await stream.next();
    expect(first.done).toBe(false);
    const waiting = stream.next();
    stop.abort();
    await expect(
      waiting.then(
        ({ done }) => done,
        () => true,
      ),
    ).resolves.toBe(true);
  });

  it('says line and reason of what is wrong, and starts nothing', async () => {
    const yaml = "kind: rollout\nenvironment: { id: household-smal }\npolicy:\n  model: 'scripted:expert'\n";
    const { problems } = await test.client.runs.check({ yaml });
    expect(problems).toEqual([
      expect.objectContaining({
        path: 'environment.id',
        line: 2,
        message: expect.stringContaining('household-small'),
      }),
    ]);
    const before = await test.client.jobs.list({});
    await expect(test.client.runs.start({ yaml })).rejects.toMatchObject({
      data: { code: 'CONFIG_INVALID' },
    });
    expect((await test.client.jobs.list({})).total).toBe(before.total);
  });

  it('does not start a run whose model does not exist', async () => {
    const yaml = rolloutYaml(1).replace('scripted:random', '/no/such/model.gguf');
    const { problems } = await test.client.runs.check({ yaml });
    expect(problems).toEqual([expect.objectContaining({ path: 'policy.model', severity: 'error' })]);
  });

  it('keeps presets of the user beside the built-in ones', async () => {
    const saved = await test.client.runs.savePreset({ title: 'Mine!', yaml: rolloutYaml(2) });
    const presets = await test.client.runs.presets();
    expect(presets.find(({ presetId }) => presetId === saved.presetId)).toMatchObject({
      title: 'Mine!',
      builtIn: false,
    });
    expect(await codeOf(test.client.runs.removePreset({ presetId: 'quickstart' }))).toBe('CONFLICT');
    expect(await test.client.runs.removePreset({ presetId: saved.presetId })).toEqual({ removed: true });
  });

  it('says of a paused job that it has to be cancelled before it is removed', async () => {
    const { jobId } = await test.client.runs.start({ yaml: rolloutYaml(40) });
    await test.client.jobs.pause({ jobId });
    expect((await test.app.services.jobs.wait(jobId, { orPaused: true })).state).toBe('paused');
    await expect(test.client.jobs.remove({ jobId })).rejects.toMatchObject({
      data: { code: 'CONFLICT', message: expect.stringContaining('is paused. Cancel it first') as string },
    });
    await test.client.jobs.cancel({ jobId });
    expect(await test.client.jobs.remove({ jobId })).toEqual({ removed: true });
  });

  it('answers NOT_FOUND for what is not there', async () => {
    const jobId = jobIdSchema.parse('nothing');
    for (const call of [
      test.client.jobs.get({ jobId }),
      test.client.jobs.pause({ jobId }),
      test.client.jobs.cancel({ jobId }),
      test.client.jobs.events({ jobId }),
      test.client.jobs.metrics({ jobId }),
      test.client.jobs.watch({ jobId }),
      test.client.jobs.remove({ jobId }),
    ]) {
      expect(await codeOf(call)).toBe('NOT_FOUND');
    }
  });
});

describe('system', () => {
  it('counts only connections that leave the machine', async () => {
    const { createServer } = await import('node:http');
    const server = createServer((_request, response) => response.end('x'));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    await (await fetch(`http://127.0.0.1:${String(port)}/`)).text();
    expect((await test.client.system.status()).outgoingConnections).toBe(0);
    server.closeAllConnections();
    server.close();
  });

  it('merges settings and keeps what was not sent', async () => {
    await test.client.system.settings.set({ theme: 'dark' });
    expect(await test.client.system.settings.set({ threads: 2 })).toMatchObject({
      theme: 'dark',
      threads: 2,
    });
    await expect(test.client.system.settings.set({ threads: -1 })).rejects.toMatchObject({
      data: { code: 'INVALID_INPUT' },
      message: 'threads: `-1` is not permitted here; it takes at least 0. Nothing was changed.',
    });
    await test.client.system.settings.set({ theme: 'system', threads: 0 });
  });

  it('lists the licence of every package that is shipped', async () => {
    const licences = await test.client.system.licences();
    expect(licences.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['Daydream', 'zod', 'better-sqlite3', 'react']),
    );
    expect(licences.every(({ licence }) => licence.length > 0)).toBe(true);
  });

  it('finds this machine fit, or says what to do', async () => {
    const checks = await test.client.system.doctor();
    expect(checks.map(({ check }) => check)).toEqual(
      expect.arrayContaining(['Node', 'Store', 'Inference library', 'Disk']),
    );
    for (const { status, fix } of checks) expect(fix === '').toBe(status === 'ok');
    expect(checks.find(({ check }) => check === 'Store')).toMatchObject({ status: 'ok' });
  });

  it('writes a backup that opens as a store', async () => {
    const { file, bytes } = await test.client.system.backup({ file: `${test.folder}/copy.db` });
    expect(bytes).toBeGreaterThan(1000);
    expect(file).toBe(`${test.folder}/copy.db`);
  });
});

it('lists for a run of several stages the episodes of the one that acts', async () => {
  const yaml =
    "kind: early-experience\nenvironment: { id: household-small, tasks: 2 }\npolicy: { model: 'scripted:random' }\nbranching: { sr: { enabled: false } }\nreflection: { enabled: false }\n";
  const { jobId } = await test.client.runs.start({ yaml });
  await test.app.services.jobs.wait(jobId);
  const page = { limit: 10, cursor: null, sort: 'newest' } as const;
  const own = await test.client.episodes.list({ ...page, filter: { jobId } });
  expect(own.total).toBe(2);
  const [first] = own.items;
  expect(first?.jobId).not.toBe(jobId);
  const stage = await test.client.episodes.list({ ...page, filter: { jobId: first?.jobId ?? jobId } });
  expect(stage.items).toEqual(own.items);
});

it('tells of a data set that its run was removed, and keeps it', async () => {
  const { jobId } = await test.client.runs.start({
    yaml: "kind: early-experience\nname: test\nenvironment: { id: household-small, tasks: 1 }\npolicy: { model: 'scripted:random' }\nreflection: { enabled: false }\n",
  });
  expect((await test.app.services.jobs.wait(jobId)).error).toBeNull();
  const { items } = await test.client.datasets.list({});
  const datasetId = items.find((dataset) => dataset.jobId === jobId)?.datasetId;
  if (datasetId === undefined) throw new Error('no data set');
  expect(await test.client.datasets.get({ datasetId })).toMatchObject({ runRemoved: false });
  await test.client.jobs.remove({ jobId });
  expect(await test.client.datasets.get({ datasetId })).toMatchObject({ jobId, runRemoved: true });
});
