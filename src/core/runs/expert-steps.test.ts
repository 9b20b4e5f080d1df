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
/** Steps of the expert in the run's first tasks, counted here. */
async function stepsOf(provider: EnvironmentProvider, seed: number, tasks: number): Promise<number> {
  let steps = 0;
  for (const { taskId } of selectTasks(provider, { ...selection, tasks }, seed)) {
    const session = await provider.open({ taskId, seed });
    await session.reset();
    for (let isOver = false; !isOver; steps += 1) {
      const outcome = await session.step((await session.solve()) ?? 'none');
      isOver = outcome.terminated || outcome.truncated;
    }
    await session.close();
  }
  return steps;
}

const selection = taskSelectionSchema.parse({ id: 'household-small', tasks: 20, shuffle: true });

it('solves all of a few of the very tasks that the run with this seed takes, once: their mean is exact', async () => {
  const { provider, opened } = watched();
  const mean = await expertSteps(provider, selection, { seed: 7, maxSteps: 50 });
  expect(opened).toEqual(selectTasks(provider, selection, 7).map(({ taskId }) => taskId));
  expect(mean * 20).toBeCloseTo(await stepsOf(provider, 7, 20), 9);
  const before = opened.length;
  expect(await expertSteps(provider, selection, { seed: 7, maxSteps: 50 })).toBe(mean);
  expect(opened).toHaveLength(before);
});

it('solves the first 40 of many, and does not promise less than the others take', async () => {
  const { provider, opened } = watched();
  const many = { ...selection, tasks: 400 };
  const most = await expertSteps(provider, many, { seed: 8, maxSteps: 50 });
  expect(opened).toEqual(
    selectTasks(provider, many, 8)
      .slice(0, 40)
      .map(({ taskId }) => taskId),
  );
  const really = (await stepsOf(provider, 8, 400)) / 400;
  expect(most).toBeGreaterThan(really);
  expect(most).toBeLessThan(really * 1.4);
});

it('counts each path up to the limit of steps, and remembers nothing of a measurement that was stopped', async () => {
  const { provider, opened } = watched();
  const stopped = expertSteps(provider, selection, { seed: 1, maxSteps: 2, signal: AbortSignal.abort() });
  await expect(stopped).rejects.toMatchObject({ name: 'AbortError' });
  expect(opened).toEqual([]);
  expect(await expertSteps(provider, selection, { seed: 1, maxSteps: 2 })).toBe(2);
  expect(await expertSteps(provider, { ...selection, tasks: 1 }, { seed: 1, maxSteps: 2 })).toBe(2);
  expect(opened).toHaveLength(21);
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
