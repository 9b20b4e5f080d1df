/** The proof of part 3, lesson 1: an environment that does not stand where the demonstration stood yields no data. */
import { afterEach, expect, test } from 'vitest';
import type { Branch } from '#shared/schema/branch.ts';
import { earlyExperienceRunSchema } from '#shared/schema/run.ts';
import type { EnvironmentProvider, EnvironmentSession } from '#core/environments/port.ts';
import type { Lab } from '#test/helpers/methods.ts';
import { openLab } from '#test/helpers/methods.ts';

let lab: Lab | null = null;
afterEach(async () => {
  await lab?.close();
  lab = null;
});

/** Uniform samplers only: no model is needed. */
const run = (execution: 'snapshot' | 'replay') =>
  earlyExperienceRunSchema.parse({
    kind: 'early-experience',
    environment: { id: 'household-small', tasks: 4 },
    policy: { model: 'none' },
    branching: { execution, sr: { sampler: 'uniform' } },
    reflection: { enabled: false },
    limits: { retries: 0 },
  });

type SessionChange = (
  session: EnvironmentSession,
  provider: EnvironmentProvider,
) => Promise<EnvironmentSession>;

/** Leaves the demonstrations alone and changes the world from the moment that branching begins. */
function desynchronised(change: SessionChange) {
  let changed = false;
  const opened = openLab({
    wrap: (provider) => ({
      describe: () => provider.describe(),
      listTasks: (query) => provider.listTasks(query),
      getTask: (taskId) => provider.getTask(taskId),
      open: async (options) => {
        const session = await provider.open(options);
        return changed ? change(session, provider) : session;
      },
    }),
  });
  lab = opened;
  const { services } = opened;
  services.jobs.subscribe(({ job, event }) => {
    if (job.kind === 'branching' && event?.type === 'job-started') changed = true;
  });
  return opened;
}

async function branchesOf(opened: Lab, execution: 'snapshot' | 'replay'): Promise<Branch[]> {
  const job = await opened.run('early-experience', run(execution));
  expect(job.error).toBeNull();
  const { items } = opened.services.store.episodes.list({}, 'oldest', { cursor: null, limit: 100 });
  return items.flatMap(({ episodeId }) => opened.services.store.branches.ofEpisode(episodeId));
}

function rowsExported(opened: Lab): number[] {
  const [dataset] = opened.services.store.datasets.list({ cursor: null, limit: 1 }).items;
  return (dataset?.manifest.files ?? []).map(({ rows }) => rows);
}

/** Every session is of the next task in the list: the bug that once made 98 % of the alternatives wrong. */
const wrongGame: SessionChange = async (session, provider) => {
  const { tasks } = provider.listTasks({ split: 'train', limit: 50 });
  const index = tasks.findIndex(({ taskId }) => taskId === session.task.taskId);
  const other = tasks[(index + 1) % tasks.length] ?? session.task;
  await session.close();
  return provider.open({ taskId: other.taskId, seed: 1 });
};

test.each(['snapshot', 'replay'] as const)(
  'in another game every branch is rejected and none is exported (%s)',
  async (execution) => {
    const opened = desynchronised(wrongGame);
    const branches = await branchesOf(opened, execution);
    expect(branches.length).toBeGreaterThan(20);
    expect(branches.filter(({ status }) => status === 'accepted')).toEqual([]);
    for (const { observation, valid, rejectReason, proof } of branches) {
      expect([observation, valid]).toEqual(['', false]);
      expect(rejectReason).toMatch(/nothing was executed/u);
      expect(proof.observedHash).not.toBe(proof.expectedHash);
    }
    const [expert, iwm] = rowsExported(opened);
    expect(expert).toBeGreaterThan(0);
    expect(iwm).toBe(0);
  },
);

test('a restore that forgets one move rejects only what stood elsewhere', async () => {
  let restored = 0;
  const opened = desynchronised(async (session) => {
    const first = await session.reset();
    void first;
    const start = await session.snapshot();
    return new Proxy(session, {
      get(target, name) {
        if (name === 'restore') {
          return (snapshot: Parameters<EnvironmentSession['restore']>[0]) => {
            restored += 1;
            return target.restore(restored % 3 === 0 && snapshot.stepIndex > 0 ? start : snapshot);
          };
        }
        const value: unknown = Reflect.get(target, name, target);
        return typeof value === 'function' ? (value as (...args: unknown[]) => unknown).bind(target) : value;
      },
    });
  });
  const branches = await branchesOf(opened, 'snapshot');
  const rejected = branches.filter(({ status }) => status === 'rejected');
  expect(rejected.length).toBeGreaterThan(10);
  expect(rejected.length).toBeLessThan(branches.length);
  for (const { status, proof, rejectReason } of branches) {
    if (status === 'accepted') expect(proof.observedHash).toBe(proof.expectedHash);
    else expect(rejectReason).not.toBeNull();
  }
});

test('a state that only looks the same is found by the expert’s own outcome', async () => {
  // The world shows what it should before each action, and answers every action with nonsense.
  const opened = desynchronised((session) =>
    Promise.resolve(
      new Proxy(session, {
        get(target, name) {
          if (name === 'step') {
            return async (action: string) => {
              const outcome = await target.step(action);
              return { ...outcome, observation: { ...outcome.observation, text: 'Static.' } };
            };
          }
          const value: unknown = Reflect.get(target, name, target);
          return typeof value === 'function'
            ? (value as (...args: unknown[]) => unknown).bind(target)
            : value;
        },
      }),
    ),
  );
  const branches = await branchesOf(opened, 'replay');
  expect(branches.every(({ status }) => status === 'rejected')).toBe(true);
  expect(rowsExported(opened)[1]).toBe(0);
});

test('an invalid action is an outcome: kept, marked, exported', async () => {
  const opened = openLab({
    wrap: (provider) => ({
      describe: () => provider.describe(),
      listTasks: (query) => provider.listTasks(query),
      getTask: (taskId) => provider.getTask(taskId),
      open: async (options) => {
        const session = await provider.open(options);
        const add = <Shown extends { admissible: string[] | null }>(shown: Shown): Shown => ({
          ...shown,
          admissible: [...(shown.admissible ?? []), 'dance on desk 9'],
        });
        return new Proxy(session, {
          get(target, name) {
            if (name === 'reset') return async () => add(await target.reset());
            if (name === 'restore') {
              return async (snapshot: Parameters<EnvironmentSession['restore']>[0]) =>
                add(await target.restore(snapshot));
            }
            if (name === 'step') {
              return async (action: string) => {
                const outcome = await target.step(action);
                return { ...outcome, observation: add(outcome.observation) };
              };
            }
            if (name === 'replayTo') {
              return async (actions: string[]) => {
                const proof = await target.replayTo(actions);
                return { ...proof, observation: add(proof.observation) };
              };
            }
            const value: unknown = Reflect.get(target, name, target);
            return typeof value === 'function'
              ? (value as (...args: unknown[]) => unknown).bind(target)
              : value;
          },
        });
      },
    }),
  });
  lab = opened;
  const branches = await branchesOf(opened, 'snapshot');
  const danced = branches.filter(({ action }) => action === 'dance on desk 9');
  expect(danced.length).toBeGreaterThan(0);
  for (const branch of danced) {
    expect(branch).toMatchObject({
      status: 'accepted',
      valid: false,
      reward: 0,
      observation: 'Nothing happens.',
    });
  }
});

test('the meter counts every step that was really executed', async () => {
  const opened = openLab();
  lab = opened;
  const job = await opened.run('early-experience', run('snapshot'));
  const result = job.result as unknown as {
    demonstrations: { steps: number };
    branching: { realSteps: number; executed: number; states: number };
  };
  const { demonstrations, branching } = result;
  // Each demonstration is played and proved; the walk takes every step but the last once more.
  const walked = branching.states - 4;
  expect(branching.realSteps).toBe(branching.executed + walked);
  expect(opened.services.store.counts().realEnvironmentSteps).toBe(
    2 * demonstrations.steps + branching.realSteps,
  );
});
