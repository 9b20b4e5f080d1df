import { afterAll, beforeAll, expect, it } from 'vitest';
import { openTestApp } from '#test/helpers/app.ts';
import type { TestApp } from '#test/helpers/app.ts';

let test: TestApp;
beforeAll(async () => {
  test = await openTestApp();
});
afterAll(() => test.dispose());

it('refuses to make training data of a split that models are measured on', async () => {
  const yaml =
    "kind: early-experience\nenvironment: { id: household-small, split: unseen, tasks: 1 }\npolicy: { model: 'scripted:random' }\n";
  const { problems } = await test.client.runs.check({ yaml });
  const wrong = problems.filter(({ path }) => path === 'environment.split');
  expect(wrong).toEqual([
    expect.objectContaining({ severity: 'error', line: 2, message: expect.stringContaining('train') }),
  ]);
  await expect(test.client.runs.start({ yaml })).rejects.toMatchObject({ data: { code: 'CONFIG_INVALID' } });
  const measured = await test.client.runs.check({ yaml: yaml.replace('early-experience', 'rollout') });
  expect(measured.problems.filter(({ path }) => path === 'environment.split')).toEqual([]);
});
