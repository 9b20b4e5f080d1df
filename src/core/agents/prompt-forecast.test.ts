import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RunProblem } from '#shared/schema/run.ts';
import { openTestApp } from '#test/helpers/app.ts';
import type { TestApp } from '#test/helpers/app.ts';

let test: TestApp;
beforeAll(async () => {
  test = await openTestApp();
  test.app.start();
});
afterAll(() => test.dispose());

const yaml = (more: string) => `kind: rollout\nenvironment: { id: household, tasks: 1 }\n${more}\n`;

async function warnings(text: string): Promise<RunProblem[]> {
  const { problems } = await test.client.runs.check({ yaml: text });
  return problems.filter(({ path }) => path === 'limits.maxPromptTokens');
}

describe('a run whose append-only conversation outgrows the prompt limit', () => {
  const tooLong = yaml("policy: { model: 'scripted:random' }\nlimits: { maxPromptTokens: 4096 }");

  it('is warned of, with the steps that fit and the settings that would do', async () => {
    const [found] = await warnings(tooLong);
    expect(found).toMatchObject({ severity: 'warning', line: 4 });
    const [, needed = '', fitting = ''] =
      /of 50 steps needs about (\d+) tokens .* at most about (\d+) steps/.exec(found?.message ?? '') ?? [];
    expect(Number(needed)).toBeGreaterThan(7_500);
    expect(Number(needed)).toBeLessThan(25_000);
    expect(Number(fitting)).toBeGreaterThan(3);
    expect(Number(fitting)).toBeLessThan(50);
    expect(found?.message).toContain('policy.history={style: window, steps: 2}');
  });

  it('fits with either setting that the warning names, and says nothing then', async () => {
    const [found] = await warnings(tooLong);
    const [, limit = ''] = /limits\.maxPromptTokens=(\d+)/.exec(found?.message ?? '') ?? [];
    const window = "policy: { model: 'scripted:random', history: { style: window, steps: 2 } }";
    expect(await warnings(yaml(window))).toEqual([]);
    const compact =
      "policy: { model: 'scripted:random', prompt: compact }\nlimits: { maxPromptTokens: 4096 }";
    expect(await warnings(yaml(compact))).toEqual([]);
    const larger = yaml(`policy: { model: 'scripted:random' }\nlimits: { maxPromptTokens: ${limit} }`);
    expect(await warnings(larger)).toEqual([]);
    expect(await warnings(yaml("policy: { model: 'scripted:random' }\nlimits: { maxSteps: 5 }"))).toEqual([]);
    expect(await warnings(yaml("policy: { model: 'scripted:expert' }"))).toEqual([]);
  });

  it('tells it in the events of its job', async () => {
    const { jobId } = await test.client.runs.start({ yaml: tooLong });
    await test.app.services.jobs.wait(jobId);
    const { items } = await test.client.jobs.events({ jobId, level: 'warn' });
    expect(items).toContainEqual(
      expect.objectContaining({
        type: 'prompt-limit-expected',
        message: expect.stringContaining('of 50 steps'),
      }),
    );
  }, 60_000);
});

it('warns of no preset', async () => {
  for (const { yaml: text, presetId } of await test.client.runs.presets()) {
    const found = await warnings(text.replace("model: ''", "model: 'scripted:random'"));
    expect(found, presetId).toEqual([]);
  }
});
