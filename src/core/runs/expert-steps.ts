/** How long the expert's paths are: measured by really solving a few of the very tasks of a run. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { TaskSelection } from '#shared/schema/run.ts';
import { countTasks, createMemory, selectTasks } from '#core/agents/index.ts';
import type { EnvironmentProvider } from '#core/environments/port.ts';

const sampledTasks = 8;
const remembered = createMemory<number>();

/** Mean number of expert actions in the first tasks that the run will take; `maxSteps` where the expert cannot tell. */
export async function expertSteps(
  provider: EnvironmentProvider,
  selection: TaskSelection,
  { seed, maxSteps, signal }: { seed: number; maxSteps: number; signal?: AbortSignal | undefined },
): Promise<number> {
  if (provider.describe().expert !== 'solver' || countTasks(provider, selection) === 0) return maxSteps;
  const { split, tasks, taskTypes, shuffle } = selection;
  const sampled = Math.min(tasks, sampledTasks);
  const key = JSON.stringify([split, sampled, taskTypes, shuffle, seed, maxSteps]);
  return remembered(provider, key, () =>
    measure(provider, { ...selection, tasks: sampled }, { seed, maxSteps, signal }),
  );
}

async function measure(
  provider: EnvironmentProvider,
  selection: TaskSelection,
  { seed, maxSteps, signal }: { seed: number; maxSteps: number; signal?: AbortSignal | undefined },
): Promise<number> {
  const tasks = selectTasks(provider, selection, seed);
  let steps = 0;
  for (const { taskId } of tasks) {
    // A solver thinks in one go: between two tasks the host answers others.
    await nextTurn();
    signal?.throwIfAborted();
    const session = await provider.open({ taskId, seed, signal });
    try {
      await session.reset({ signal });
      for (let taken = 0; taken < maxSteps; taken += 1) {
        const action = await session.solve();
        if (action === null) break;
        steps += 1;
        const outcome = await session.step(action, { signal });
        if (outcome.terminated || outcome.truncated) break;
      }
    } finally {
      await session.close();
    }
  }
  return steps / tasks.length;
}
