/** How long the expert's paths are: measured by really solving a few of the very tasks of a run. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { TaskSelection } from '#shared/schema/run.ts';
import { countTasks, createMemory, selectTasks } from '#core/agents/index.ts';
import type { EnvironmentProvider } from '#core/environments/port.ts';

const sampledTasks = 40;
const remembered = createMemory<number>();

/**
 * Expert actions a task, at most: the mean of the run’s tasks where all of them were solved, else the mean of the first ones and two
 * standard errors; `maxSteps` where the expert cannot tell.
 */
export async function expertSteps(
  provider: EnvironmentProvider,
  selection: TaskSelection,
  { seed, maxSteps, signal }: { seed: number; maxSteps: number; signal?: AbortSignal | undefined },
): Promise<number> {
  if (provider.describe().expert !== 'solver' || countTasks(provider, selection) === 0) return maxSteps;
  const { split, tasks, taskTypes, shuffle } = selection;
  const wanted = Math.min(tasks, countTasks(provider, selection));
  const sampled = Math.min(wanted, sampledTasks);
  const key = JSON.stringify([split, sampled, wanted, taskTypes, shuffle, seed, maxSteps]);
  return remembered(provider, key, async () => {
    const lengths = await measure(provider, { ...selection, tasks: sampled }, { seed, maxSteps, signal });
    return mostOf(lengths, wanted);
  });
}

async function measure(
  provider: EnvironmentProvider,
  selection: TaskSelection,
  { seed, maxSteps, signal }: { seed: number; maxSteps: number; signal?: AbortSignal | undefined },
): Promise<number[]> {
  const lengths: number[] = [];
  for (const { taskId } of selectTasks(provider, selection, seed)) {
    // A solver thinks in one go: between two tasks the host answers others.
    await nextTurn();
    signal?.throwIfAborted();
    const session = await provider.open({ taskId, seed, signal });
    let steps = 0;
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
    lengths.push(steps);
  }
  return lengths;
}

/** @param of how many tasks there are in all */
function mostOf(lengths: readonly number[], of: number): number {
  const n = lengths.length;
  const mean = lengths.reduce((sum, length) => sum + length, 0) / n;
  const variance = lengths.reduce((sum, length) => sum + (length - mean) ** 2, 0) / Math.max(1, n - 1);
  return mean + 2 * Math.sqrt((variance / n) * Math.max(0, 1 - n / of));
}
