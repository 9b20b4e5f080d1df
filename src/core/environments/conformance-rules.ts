/** One function for each rule of the conformance suite; conformance.ts runs them over a sample of tasks. */
import { setFlagsFromString } from 'node:v8';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { runInNewContext } from 'node:vm';
import { AppError } from '#shared/errors.ts';
import type { ErrorCode } from '#shared/errors.ts';
import type { Sha256 } from '#shared/ids.ts';
import type { ConformanceResult, Observation, StepOutcome, Task } from '#shared/schema/environment.ts';
import { randomOf } from './household/random.ts';
import type { Random } from '#core/random.ts';
import { observationHash } from './observation-hash.ts';
import type { EnvironmentProvider, EnvironmentSession } from './port.ts';

export interface RuleFinding {
  /** What broke, or null. */
  readonly fault: string | null;
  /** How many units were looked at. */
  readonly units: number;
  /** A score whose mean is reported. */
  readonly measure?: number;
}

export interface RuleCheck {
  readonly rule: string;
  readonly unit: string;
  run(provider: EnvironmentProvider, task: Task): Promise<RuleFinding>;
  /** The mean in words. */
  describe?(mean: number): string;
  /** What is wrong with the mean, or null. */
  judge?(mean: number | null): string | null;
}

/** Nothing in any family is called this. */
const nonsense = 'xyzzy the unmade thing 999';
const percent = (mean: number): string => `${(mean * 100).toFixed(1)} %`;

async function withSession<T>(
  provider: EnvironmentProvider,
  task: Task,
  use: (session: EnvironmentSession) => Promise<T>,
): Promise<T> {
  const session = await provider.open({ taskId: task.taskId, seed: 1 });
  try {
    return await use(session);
  } finally {
    await session.close();
  }
}

function anyAction(observation: Observation, random: Random): string {
  const { admissible } = observation;
  return admissible === null || admissible.length === 0 ? nonsense : random.pick(admissible);
}

interface Walk {
  readonly actions: string[];
  readonly hashes: Sha256[];
  readonly outcomes: StepOutcome[];
}

/** Half random, half expert, from a reset to the end or to `limit`. */
async function walk(session: EnvironmentSession, random: Random, limit: number): Promise<Walk> {
  let observation = await session.reset();
  const result: Walk = { actions: [], hashes: [], outcomes: [] };
  while (result.actions.length < limit) {
    const planned = random.chance(0.5) ? await session.solve() : null;
    const action = planned ?? anyAction(observation, random);
    const outcome = await session.step(action);
    observation = outcome.observation;
    result.actions.push(action);
    result.hashes.push(observationHash(observation));
    result.outcomes.push(outcome);
    if (outcome.terminated || outcome.truncated) break;
  }
  return result;
}

function faultOf(outcome: StepOutcome, index: number, maxSteps: number): string | null {
  const step = `step ${String(index + 1)}`;
  if (outcome.terminated && outcome.truncated) return `${step} is terminated and truncated at once`;
  if (outcome.success && !outcome.terminated) return `${step} succeeds without being terminated`;
  if (outcome.truncated && index + 1 < maxSteps) return `${step} is truncated before the limit`;
  if (!outcome.terminated && !outcome.truncated && index + 1 >= maxSteps) return `${step} is past the limit`;
  return null;
}

async function codeOf(act: () => Promise<unknown>): Promise<ErrorCode | 'nothing' | 'foreign'> {
  try {
    await act();
    return 'nothing';
  } catch (error) {
    return error instanceof AppError ? error.code : 'foreign';
  }
}

export const sameSeedSameObservations: RuleCheck = {
  rule: 'the same task and seed give the same observations',
  unit: 'steps',
  run: (provider, task) =>
    withSession(provider, task, async (first) => {
      const { maxSteps } = provider.describe();
      const start = observationHash(await first.reset());
      const taken = await walk(first, randomOf(`same/${task.taskId}`), maxSteps);
      return withSession(provider, task, async (second) => {
        if (observationHash(await second.reset()) !== start)
          return { fault: 'the first observation differs', units: 1 };
        for (const [index, action] of taken.actions.entries()) {
          const outcome = await second.step(action);
          if (observationHash(outcome.observation) !== taken.hashes[index]) {
            return { fault: `step ${String(index + 1)} (${action}) differs`, units: index + 1 };
          }
          const rules = faultOf(outcome, index, maxSteps);
          if (rules !== null) return { fault: rules, units: index + 1 };
        }
        return { fault: null, units: taken.actions.length };
      });
    }),
};

export const expertSucceeds: RuleCheck = {
  rule: 'the expert succeeds within the step limit, also after wandering off',
  unit: 'tasks',
  run: (provider, task) =>
    withSession(provider, task, async (session) => {
      const { expert, maxSteps } = provider.describe();
      if (expert !== 'solver') return { fault: null, units: 0 };
      for (const wandering of [0, 10]) {
        const random = randomOf(`wander/${task.taskId}`);
        let observation = await session.reset();
        let outcome: StepOutcome | null = null;
        for (let step = 0; step < maxSteps; step += 1) {
          const planned = step < wandering ? anyAction(observation, random) : await session.solve();
          if (planned === null) return { fault: `the expert gave up at step ${String(step + 1)}`, units: 1 };
          outcome = await session.step(planned);
          observation = outcome.observation;
          if (step >= wandering && !outcome.valid)
            return { fault: `the expert's "${planned}" is invalid`, units: 1 };
          if (outcome.terminated || outcome.truncated) break;
        }
        if (outcome?.success !== true) {
          return {
            fault: `no success in ${String(maxSteps)} steps after ${String(wandering)} random ones`,
            units: 1,
            measure: 0,
          };
        }
      }
      return { fault: null, units: 1, measure: 1 };
    }),
  describe: (mean) => `the expert succeeds in ${percent(mean)}`,
};

async function episodeOf(
  session: EnvironmentSession,
  maxSteps: number,
  choose: (observation: Observation) => string,
): Promise<{ success: boolean; fault: string | null; steps: number; reward: number }> {
  let observation = await session.reset();
  let reward = 0;
  for (let index = 0; ; index += 1) {
    const outcome = await session.step(choose(observation));
    observation = outcome.observation;
    reward += outcome.reward;
    const fault = faultOf(outcome, index, maxSteps);
    if (fault !== null) return { success: false, fault, steps: index + 1, reward };
    if (outcome.terminated || outcome.truncated)
      return { success: outcome.success, fault: null, steps: index + 1, reward };
  }
}

export const doNothingScores: RuleCheck = {
  rule: 'doing nothing never succeeds and is cut at the step limit',
  unit: 'tasks',
  run: (provider, task) =>
    withSession(provider, task, async (session) => {
      const { maxSteps } = provider.describe();
      const { success, fault, steps, reward } = await episodeOf(session, maxSteps, () => '');
      if (fault !== null) return { fault, units: 1 };
      if (success || reward !== 0) return { fault: `it scored ${String(reward)}`, units: 1, measure: 1 };
      if (steps !== maxSteps) return { fault: `it ended after ${String(steps)} steps`, units: 1, measure: 0 };
      const after = await codeOf(() => session.step(''));
      return {
        fault: after === 'CONFLICT' ? null : `a step after the end gave ${after} instead of CONFLICT`,
        units: 1,
        measure: 0,
      };
    }),
  describe: (mean) => `doing nothing succeeds in ${percent(mean)}`,
};

export const randomScores: RuleCheck = {
  rule: 'random actions rarely succeed, and every listed action is valid',
  unit: 'tasks',
  run: (provider, task) =>
    withSession(provider, task, async (session) => {
      const { maxSteps } = provider.describe();
      const random = randomOf(`random/${task.taskId}`);
      let observation = await session.reset();
      for (let index = 0; ; index += 1) {
        const isListed = observation.admissible !== null && observation.admissible.length > 0;
        const action = anyAction(observation, random);
        const outcome = await session.step(action);
        if (isListed && !outcome.valid) return { fault: `the listed "${action}" is invalid`, units: 1 };
        const fault = faultOf(outcome, index, maxSteps);
        if (fault !== null) return { fault, units: 1 };
        if (outcome.terminated || outcome.truncated)
          return { fault: null, units: 1, measure: outcome.success ? 1 : 0 };
        observation = outcome.observation;
      }
    }),
  describe: (mean) => `uniformly random admissible actions succeed in ${percent(mean)}`,
  judge: (mean) =>
    mean !== null && mean > 0.5 ? 'a random agent succeeds too often for the task to teach anything' : null,
};

export const invalidActionCostsAStep: RuleCheck = {
  rule: 'an invalid action is answered, scores 0 and costs a step; it never throws',
  unit: 'actions',
  run: (provider, task) =>
    withSession(provider, task, async (session) => {
      const before = await session.reset();
      let units = 0;
      for (const action of [nonsense, '', '\u0000', '🙂'.repeat(50), 'go to', `${'a'.repeat(10_000)}`]) {
        const { stepIndex } = await session.snapshot();
        const outcome = await session.step(action);
        const after = await session.snapshot();
        units += 1;
        const shown = JSON.stringify(action.slice(0, 20));
        if (outcome.valid) return { fault: `${shown} counts as valid`, units };
        if (outcome.reward !== 0) return { fault: `${shown} is rewarded`, units };
        if (outcome.observation.text === '') return { fault: `${shown} is answered by silence`, units };
        if (after.stepIndex !== stepIndex + 1) return { fault: `${shown} did not cost one step`, units };
        if (JSON.stringify(outcome.observation.admissible) !== JSON.stringify(before.admissible)) {
          return { fault: `${shown} changed the world`, units };
        }
      }
      return { fault: null, units };
    }),
};

export const branchEqualsReplay: RuleCheck = {
  rule: 'a branch from a prefix equals a fresh episode replayed to that prefix',
  unit: 'branches',
  run: (provider, task) =>
    withSession(provider, task, async (session) => {
      const random = randomOf(`branch/${task.taskId}`);
      const prefix = await walk(session, random, 1 + random.integer(0, 6));
      const last = prefix.outcomes.at(-1);
      const hash = prefix.hashes.at(-1);
      if (last === undefined || hash === undefined || last.terminated || last.truncated)
        return { fault: null, units: 0 };
      const root = await session.snapshot();
      if (root.observationHash !== hash)
        return { fault: 'the snapshot has another hash than its observation', units: 1 };
      let units = 0;
      for (let branch = 0; branch < 3; branch += 1) {
        const action = anyAction(last.observation, random);
        const taken = await session.step(action);
        const restored = await session.restore(root);
        units += 1;
        if (observationHash(restored) !== hash) return { fault: 'restoring shows another state', units };
        const replayed = await withSession(provider, task, async (fresh) => {
          const proof = await fresh.replayTo(prefix.actions, { expected: prefix.hashes });
          const next = await fresh.step(action);
          return { proof, next };
        });
        if (replayed.proof.observationHash !== hash)
          return { fault: 'the replay ends in another state', units };
        if (replayed.proof.steps !== prefix.actions.length)
          return { fault: 'the replay counts other steps', units };
        if (JSON.stringify(replayed.next) !== JSON.stringify(taken)) {
          return { fault: `"${action}" has another outcome after restore than after replay`, units };
        }
      }
      return { fault: null, units };
    }),
};

export const branchesAreIsolated: RuleCheck = {
  rule: 'two branches never touch each other',
  unit: 'branches',
  run: (provider, task) =>
    withSession(provider, task, (one) =>
      withSession(provider, task, async (other) => {
        const random = randomOf(`isolated/${task.taskId}`);
        await one.reset();
        const start = observationHash(await other.reset());
        const root = await other.snapshot();
        const first = await walk(one, random, 8);
        if (observationHash(await other.restore(root)) !== start)
          return { fault: 'a session changed another one', units: 1 };
        const along = async (): Promise<Sha256[]> => {
          await other.restore(root);
          const hashes: Sha256[] = [];
          for (const action of first.actions)
            hashes.push(observationHash((await other.step(action)).observation));
          return hashes;
        };
        const second = await along();
        const third = await along();
        if (second.join() !== first.hashes.join())
          return { fault: 'the same actions led elsewhere in a second session', units: 2 };
        if (third.join() !== second.join())
          return { fault: 'a branch changed the next one from the same snapshot', units: 3 };
        const foreign = await codeOf(() => one.restore(root));
        return { fault: foreign === 'CONFLICT' ? null : `a foreign snapshot gave ${foreign}`, units: 3 };
      }),
    ),
};

export const desyncIsDetected: RuleCheck = {
  rule: 'a replay that differs from its record is refused',
  unit: 'replays',
  run: (provider, task) =>
    withSession(provider, task, async (session) => {
      const taken = await walk(session, randomOf(`desync/${task.taskId}`), 5);
      const wrong = taken.hashes.map((hash, index) =>
        index === taken.hashes.length - 1
          ? observationHash({ text: 'another world', admissible: null })
          : hash,
      );
      const code = await codeOf(() => session.replayTo(taken.actions, { expected: wrong }));
      return { fault: code === 'BRANCH_DESYNC' ? null : `a wrong hash gave ${code}`, units: 1 };
    }),
};

export const closesTwice: RuleCheck = {
  rule: 'closing twice is fine, and a closed session says so',
  unit: 'sessions',
  async run(provider, task) {
    const session = await provider.open({ taskId: task.taskId, seed: 1 });
    await session.reset();
    await session.close();
    await session.close();
    const code = await codeOf(() => session.step('look'));
    return { fault: code === 'CONFLICT' ? null : `a step after close gave ${code}`, units: 1 };
  },
};

/** Heap after a full collection, bytes. */
function collectedHeap(): number {
  setFlagsFromString('--expose-gc');
  const collect: unknown = runInNewContext('gc');
  if (typeof collect === 'function') collect();
  return process.memoryUsage().heapUsed;
}

/** After a warm-up with as many tasks as providers may keep. */
export async function memoryStaysFlat(
  provider: EnvironmentProvider,
  sample: readonly Task[],
  options: { episodes: number; budgetMs: number; now: () => number; signal?: AbortSignal },
): Promise<ConformanceResult['rules'][number]> {
  const allowed = 8 * 1024 * 1024;
  const started = options.now();
  const play = async (count: number, budgetMs: number): Promise<number> => {
    const from = options.now();
    for (let index = 0; index < count; index += 1) {
      const task = sample[index % sample.length];
      options.signal?.throwIfAborted();
      if (task === undefined || options.now() - from > budgetMs) return index;
      // A host that answers others must not be held for the whole loop.
      if (index % 8 === 7) await nextTurn();
      await withSession(provider, task, async (session) => {
        await walk(session, randomOf(`memory/${String(index)}`), 10);
      });
    }
    return count;
  };
  await play(Math.min(100, options.episodes), options.budgetMs / 2);
  const before = collectedHeap();
  const episodes = await play(options.episodes, options.budgetMs - (options.now() - started));
  const grown = collectedHeap() - before;
  return {
    rule: 'many episodes do not grow memory',
    passed: grown < allowed,
    checked: episodes,
    unit: 'episodes',
    detail: `the heap grew by ${(grown / 1024 / 1024).toFixed(2)} MiB (allowed: ${String(allowed / 1024 / 1024)})`,
  };
}
