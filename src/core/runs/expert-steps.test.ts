import { expect, it } from 'vitest';
import { taskSelectionSchema } from '#shared/schema/run.ts';
import { selectTasks } from '#core/agents/index.ts';
import { createEnvironmentRegistry } from '#core/environments/index.ts';
import type { EnvironmentProvider } from '#core/environments/port.ts';
import { environmentIdSchema } from '#shared/ids.ts';
import { expertSteps } from '#core/runs/expert-steps.ts';

function watched(): { provider: EnvironmentProvider; opened: string[] } {
  const catalogue = {
    folders: () => [],
    games: () => [],
    addFolder: () => undefined,
    removeFolder: () => false,
  };
  const registry = createEnvironmentRegistry({ catalogue, clock: { now: () => 0 } });
  const real = registry.get(environmentIdSchema.parse('household-small'));
  const opened: string[] = [];
  return {
    opened,
    provider: {
      ...real,
      open: (options) => {
        opened.push(options.taskId);
        return real.open(options);
      },
    },
  };
}
const selection = taskSelectionSchema.parse({ id: 'household-small', tasks: 20, shuffle: true });

it('solves the first of the very tasks that the run with this seed takes, once', async () => {
  const { provider, opened } = watched();
  const mean = await expertSteps(provider, selection, { seed: 7, maxSteps: 50 });
  const tasks = selectTasks(provider, selection, 7).slice(0, 8);
  expect(opened).toEqual(tasks.map(({ taskId }) => taskId));
  expect(mean).toBeGreaterThan(1);
  expect(await expertSteps(provider, selection, { seed: 7, maxSteps: 50 })).toBe(mean);
  expect(opened).toHaveLength(8);
  await expertSteps(provider, selection, { seed: 8, maxSteps: 50 });
  expect(opened.slice(8)).toEqual(
    selectTasks(provider, selection, 8)
      .slice(0, 8)
      .map(({ taskId }) => taskId),
  );
});

it('counts each path up to the limit of steps, and remembers nothing of a measurement that was stopped', async () => {
  const { provider, opened } = watched();
  const stopped = expertSteps(provider, selection, { seed: 1, maxSteps: 2, signal: AbortSignal.abort() });
  await expect(stopped).rejects.toMatchObject({ name: 'AbortError' });
  expect(opened).toEqual([]);
  expect(await expertSteps(provider, selection, { seed: 1, maxSteps: 2 })).toBe(2);
  expect(await expertSteps(provider, { ...selection, tasks: 1 }, { seed: 1, maxSteps: 2 })).toBe(2);
  expect(opened).toHaveLength(9);
});

it('takes the limit where the expert cannot tell', async () => {
  const { provider, opened } = watched();
  const mute = { ...provider, describe: () => ({ ...provider.describe(), expert: 'none' as const }) };
  expect(await expertSteps(mute, selection, { seed: 1, maxSteps: 33 })).toBe(33);
  expect(
    await expertSteps(provider, { ...selection, taskTypes: ['none-such'] }, { seed: 1, maxSteps: 33 }),
  ).toBe(33);
  expect(opened).toEqual([]);
});
