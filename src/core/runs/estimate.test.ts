import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { writeRandomGguf } from '#core/llm/index.ts';
import { openTestApp } from '#test/helpers/app.ts';
import type { TestApp } from '#test/helpers/app.ts';
import type { InferenceStatus } from '#shared/schema/system.ts';

let test: TestApp;
beforeAll(async () => {
  test = await openTestApp();
  test.app.start();
});
afterAll(() => test.dispose());

function rollout(tasks: number): string {
  return `kind: rollout\nenvironment: { id: household-small, tasks: ${String(tasks)} }\npolicy: { model: 'scripted:random' }\nlimits: { maxSteps: 5 }\n`;
}

it('takes the time from what a finished run of this kind and model took, in proportion to the work', async () => {
  const before = await test.client.runs.check({ yaml: rollout(4) });
  expect(before.estimate?.durationMs).toBeNull();

  const { jobId } = await test.client.runs.start({ yaml: rollout(4) });
  const { activeMs, state } = await test.app.services.jobs.wait(jobId);
  expect(state).toBe('succeeded');

  const same = await test.client.runs.check({ yaml: rollout(4) });
  expect(same.estimate?.durationMs).toBe(activeMs);
  const tenfold = await test.client.runs.check({ yaml: rollout(40) });
  expect(Math.abs((tenfold.estimate?.durationMs ?? 0) - 10 * activeMs)).toBeLessThanOrEqual(5);

  const other = await test.client.runs.check({ yaml: rollout(4).replace('random', 'expert') });
  expect(other.estimate?.durationMs).toBeNull();
});

it.each([
  'kind: rollout\nrolloutsPerTask: 1\nparallel: 3\n',
  'kind: rollout\nrolloutsPerTask: 4\nparallel: 3\n',
  'kind: early-experience\nparallel: 3\nreflection: { maxTokens: 700 }\nbranching: { iwm: { sampler: policy, k: 5 } }\n',
])(
  'promises the memory that the job then loads: %s',
  async (head) => {
    const file = path.join(test.folder, 'random-weights-estimated.gguf');
    writeRandomGguf(file, { seed: 7 });
    await test.client.models.add({ path: file });
    const yaml = `${head}environment: { id: household-small, tasks: 2 }\npolicy: { model: '${file}', maxTokens: 16 }\nlimits: { maxPromptTokens: 2000 }\n`;
    const { estimate, problems } = await test.client.runs.check({ yaml });
    expect(problems.filter(({ severity }) => severity === 'error')).toEqual([]);
    const { models, jobs } = test.app.services;
    const loading = new Promise<InferenceStatus['loaded'][number]>((resolve) => {
      const stop = models.onStatus(({ loaded: [first] }) => {
        if (first === undefined) return;
        stop();
        resolve(first);
      });
    });
    const { jobId } = await test.client.runs.start({ yaml });
    const { modelId, contextTokens, sequences } = await loading;
    await test.client.jobs.cancel({ jobId });
    await jobs.wait(jobId);
    // A stage of the pipeline lets go a moment after the whole was cancelled.
    await expect.poll(() => models.unload(modelId).catch(() => false)).toBe(true);
    const { totalBytes } = await models.fit(modelId, { contextTokens, sequences });
    expect(estimate?.memoryBytes).toBe(totalBytes);
  },
  60_000,
);

it('counts the run’s own longest reflection, whoever writes it', async () => {
  const yaml = (reflection: string) =>
    `kind: early-experience\nenvironment: { id: household-small, tasks: 2 }\npolicy: { model: 'scripted:random' }\nreflection: { ${reflection} }\n`;
  const tokens = async (reflection: string) => {
    const { estimate, problems } = await test.client.runs.check({ yaml: yaml(reflection) });
    expect(problems.filter(({ severity }) => severity === 'error')).toEqual([]);
    return estimate?.completionTokens;
  };
  const self = await tokens('maxTokens: 700');
  expect(self).toBeGreaterThan(0);
  expect(await tokens("maxTokens: 700, generator: { model: 'scripted:echo' }")).toBe(self);
});

it.each(['maxTokens: 9', 'sampling: { temperature: 0.1 }'])(
  'refuses what would do nothing in the generator of reflections: %s',
  async (field) => {
    const yaml = `kind: early-experience\nenvironment: { id: household-small, tasks: 2 }\npolicy: { model: 'scripted:random' }\nreflection: { generator: { model: 'scripted:echo', ${field} } }\n`;
    const { problems } = await test.client.runs.check({ yaml });
    expect(problems.map(({ message }) => message)).toEqual([expect.stringContaining('Unknown key')]);
  },
);

it('estimates the same for one model, whether a run names it by id, by name or by path', async () => {
  const file = path.join(test.folder, 'random-weights-named.gguf');
  writeRandomGguf(file, { seed: 4, contextLength: 4096 });
  const [model] = await test.client.models.add({ path: file });
  if (model === undefined) throw new Error('not added');
  const { modelId, name } = model;
  const yaml = (model: string) =>
    `kind: rollout\nenvironment: { id: household-small, tasks: 1 }\npolicy: { model: ${JSON.stringify(model)}, maxTokens: 4 }\nlimits: { maxSteps: 1, maxPromptTokens: 2000 }\n`;
  const { jobId } = await test.client.runs.start({ yaml: yaml(modelId) });
  await test.app.services.jobs.wait(jobId);
  const estimates = [];
  for (const reference of [modelId, name, file]) {
    const { estimate, problems } = await test.client.runs.check({ yaml: yaml(reference) });
    expect(problems.filter(({ severity }) => severity === 'error')).toEqual([]);
    estimates.push(estimate);
  }
  expect(estimates[0]?.durationMs).toBeGreaterThan(0);
  expect(estimates[0]?.memoryBytes).toBeGreaterThan(0);
  expect(estimates[1]).toEqual(estimates[0]);
  expect(estimates[2]).toEqual(estimates[0]);
});
