import { readFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { PlayState } from '#shared/contract/environments.ts';
import { environmentIdSchema, episodeIdSchema } from '#shared/ids.ts';
import type { EpisodeId } from '#shared/ids.ts';
import type { SftRow } from '#shared/schema/dataset.ts';
import type { Job } from '#shared/schema/job.ts';
import { earlyExperienceRunSchema } from '#shared/schema/run.ts';
import { openTestApp } from '#test/helpers/app.ts';
import type { TestApp } from '#test/helpers/app.ts';

const environmentId = environmentIdSchema.parse('household-small');

let host: TestApp;
beforeEach(async () => {
  host = await openTestApp();
  host.app.start();
});
afterEach(() => host.dispose());

/** Plays task `index` of a split by the hints, after `first`, and stores the game; `moves` ends it early. */
async function playAndRecord(
  split: 'train' | 'unseen',
  index: number,
  { first = [], moves = Infinity }: { first?: string[]; moves?: number } = {},
): Promise<{ episodeId: EpisodeId; state: PlayState }> {
  const { tasks, play } = host.client.environments;
  const { items } = await tasks({ environmentId, split, limit: 10 });
  const taskId = items[index]?.taskId;
  if (taskId === undefined) throw new Error('no task');
  let state = await play.open({ environmentId, taskId });
  const { playId } = state;
  for (const action of first) state = await play.act({ playId, action });
  while (state.hint !== null && state.moves.length < moves)
    state = await play.act({ playId, action: state.hint });
  const { episodeId } = await play.record({ playId });
  await play.close({ playId });
  return { episodeId, state };
}

async function collect(environment: object = {}): Promise<Job> {
  const { jobs } = host.app.services;
  const spec = earlyExperienceRunSchema.parse({
    kind: 'early-experience',
    environment: { id: environmentId, ...environment },
    demonstrations: { source: 'recorded' },
    policy: { model: 'none' },
    branching: { sr: { enabled: false } },
    reflection: { enabled: false },
  });
  const { jobId } = jobs.submit({ kind: 'early-experience', title: 'recorded', spec, seed: 1 });
  return jobs.wait(jobId);
}

interface Result {
  demonstrations: { demonstrations: number; steps: number; rejected: number };
  branching: { states: number; rejected: number };
  export: { folder: string };
}

function rowsOf({ result }: Job, part: string): SftRow[] {
  const { folder } = (result as unknown as Result).export;
  const lines = readFileSync(path.join(folder, `${part}.jsonl`), 'utf8')
    .trimEnd()
    .split('\n');
  return lines.map((line) => JSON.parse(line) as SftRow);
}

test('games that a person won in train are the demonstrations; unfinished and held-out ones are not', async () => {
  const slip = await playAndRecord('train', 0, { first: ['dance with the fridge'] });
  const plain = await playAndRecord('train', 1);
  const unfinished = await playAndRecord('train', 2, { moves: 2 });
  const heldOut = await playAndRecord('unseen', 0);
  const steps = slip.state.moves.length + plain.state.moves.length;

  const job = await collect();
  expect(job.error).toBeNull();
  const result = job.result as unknown as Result;
  expect(result.demonstrations).toEqual({ demonstrations: 2, steps, rejected: 0, refusals: [] });
  // The refused action is history of the state after it, and neither a target nor a state to branch from.
  expect(result.branching).toMatchObject({ states: steps - 1, rejected: 0 });
  const expert = rowsOf(job, 'expert_sft');
  expect(expert).toHaveLength(steps - 1);
  expect(new Set(expert.map(({ meta }) => meta.source))).toEqual(new Set(['human']));
  expect(new Set(expert.map(({ meta }) => meta.episode_id))).toEqual(
    new Set([slip.episodeId, plain.episodeId]),
  );
  const own = expert.filter(({ meta }) => meta.episode_id === slip.episodeId);
  expect(own.map(({ meta }) => meta.action)).toEqual(slip.state.moves.slice(1).map(({ action }) => action));
  expect(own[0]?.messages.map(({ content }) => content)).toContain('<action>dance with the fridge</action>');
  const used = new Set(rowsOf(job, 'iwm_sft').map(({ meta }) => meta.episode_id));
  expect(used.has(unfinished.episodeId) || used.has(heldOut.episodeId)).toBe(false);

  // The data set keeps its games: each says where it was used.
  const { datasets } = host.app.services.store;
  expect(datasets.ofEpisode(slip.episodeId)).toHaveLength(1);
  expect(datasets.ofEpisode(unfinished.episodeId)).toEqual([]);

  const limited = (await collect({ tasks: 1 })).result as unknown as Result;
  expect(limited.demonstrations).toMatchObject({ demonstrations: 1, steps: slip.state.moves.length });
});

test('a recorded game that the environment does not repeat is rejected with the reason', async () => {
  const { episodeId } = await playAndRecord('train', 0);
  const { store } = host.app.services;
  const episode = store.episodes.get(episodeId);
  if (episode === null) throw new Error('no episode');
  // As another version of the world would have answered.
  const otherId = episodeIdSchema.parse('f'.repeat(64));
  const steps = store.episodes.steps(episodeId).map((step, index) => ({
    ...step,
    episodeId: otherId,
    observationHash: index === 1 ? episode.dataChecksum : step.observationHash,
  }));
  store.episodes.insertWhole({ ...episode, episodeId: otherId, startedAt: episode.startedAt + 1 }, steps);
  const job = await collect();
  expect(job.error).toBeNull();
  expect((job.result as unknown as Result).demonstrations).toMatchObject({ demonstrations: 1, rejected: 1 });
  const told = store.jobs
    .events(job.jobId, { afterSeq: 0, limit: 1000, includeChildren: true })
    .filter(({ type }) => type === 'demonstration-rejected');
  expect(told.map(({ message }) => message)).toEqual([expect.stringContaining('it goes another way')]);
});

test('without a recorded game the run fails and says where to play one', async () => {
  await playAndRecord('train', 0, { moves: 1 });
  await playAndRecord('unseen', 0);
  const { state, error } = await collect();
  expect(state).toBe('failed');
  expect(error).toMatchObject({
    code: 'NOT_FOUND',
    message: expect.stringContaining('Play one of its train tasks on the Environments page') as string,
  });
});
