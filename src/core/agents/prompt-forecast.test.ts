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
  const tooLong = yaml("policy: { model: 'scripted:echo' }\nlimits: { maxPromptTokens: 4096 }");

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
    const window = "policy: { model: 'scripted:echo', history: { style: window, steps: 2 } }";
    expect(await warnings(yaml(window))).toEqual([]);
    const compact = "policy: { model: 'scripted:echo', prompt: compact }\nlimits: { maxPromptTokens: 4096 }";
    expect(await warnings(yaml(compact))).toEqual([]);
    const larger = yaml(`policy: { model: 'scripted:echo' }\nlimits: { maxPromptTokens: ${limit} }`);
    expect(await warnings(larger)).toEqual([]);
    expect(await warnings(yaml("policy: { model: 'scripted:echo' }\nlimits: { maxSteps: 5 }"))).toEqual([]);
    expect(await warnings(yaml("policy: { model: 'scripted:expert' }"))).toEqual([]);
    expect(await warnings(yaml("policy: { model: 'scripted:random' }"))).toEqual([]);
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

describe('a run whose conversation outgrows what its model reads', () => {
  const starter = (limits: string, kind = 'rollout') =>
    `kind: ${kind}\nenvironment: { id: household-small, tasks: 1 }\npolicy: { model: daydream-starter }\nlimits: { ${limits} }\n`;

  it('is warned of once, with the steps that the context holds, and ends so', async () => {
    const text = starter('maxSteps: 40');
    const found = await warnings(text);
    expect(found.map(({ message }) => message)).toEqual([
      expect.stringMatching(/the model reads 2048, which holds at most about \d+ steps\. .*`context-full`/),
    ]);
    expect(found[0]?.message).not.toMatch(/token-limit|maxPromptTokens=/);
    const { jobId } = await test.client.runs.start({ yaml: text });
    const job = await test.app.services.jobs.wait(jobId);
    expect(job.result).toMatchObject({ endReasons: { 'context-full': 1 } });
    const { items } = await test.client.jobs.events({ jobId, level: 'warn' });
    expect(items.map(({ message }) => message)).toContainEqual(expect.stringContaining('`context-full`'));
  }, 120_000);

  it('is told what the limits would allow where no step is known to be too long', async () => {
    const short = await warnings(starter('maxSteps: 3'));
    expect(short.map(({ message }) => message)).toEqual([
      'daydream-starter reads 2048 tokens, and limits.maxPromptTokens is 4096: an episode whose prompt outgrows them ends with `context-full`.',
    ]);
    const cut = await warnings(starter('maxSteps: 3, maxPromptTokens: 2000'));
    expect(cut.map(({ message }) => message)).toEqual([
      'daydream-starter reads 2048 tokens: a prompt at the limit of 2000 leaves 48 of the 256 for the answer, which is cut there.',
    ]);
    expect(await warnings(starter('maxSteps: 3, maxPromptTokens: 1792'))).toEqual([]);
    expect(await warnings(starter('maxPromptTokens: 4096', 'early-experience'))).toHaveLength(1);
  });
});

describe('an Early Experience run whose expert states outgrow the prompt limit', () => {
  const run = (limit: number, more = '') =>
    `kind: early-experience\nenvironment: { id: household-small, tasks: 2 }\npolicy: { model: 'scripted:random'${more} }\nlimits: { maxPromptTokens: ${String(limit)} }\n`;

  it('is warned of: some states, all of them, or none', async () => {
    const [some] = await warnings(run(1000));
    expect(some).toMatchObject({ severity: 'warning', line: 4 });
    const [, tooLong = '', states = ''] = /^(\d+) of (\d+) expert states/.exec(some?.message ?? '') ?? [];
    expect(Number(tooLong)).toBeGreaterThan(0);
    expect(Number(tooLong)).toBeLessThan(Number(states));
    expect(some?.message).toContain('left out whole');
    const [all] = await warnings(run(100));
    expect(all?.message).toContain('the run would fail');
    const [, limit = ''] = /limits\.maxPromptTokens=(\d+);/.exec(some?.message ?? '') ?? [];
    expect(await warnings(run(Number(limit)))).toEqual([]);
  });

  it('is not warned of where the compact prompt fits: longest measured 449 tokens, by the very builder', async () => {
    expect(await warnings(run(512, ', prompt: compact'))).toEqual([]);
    expect(await warnings(run(512))).toHaveLength(1);
    const window = ', history: { style: window, steps: 2 }';
    expect(await warnings(run(1000, window))).toEqual([]);
  });

  it('tells it in the events of its first stage', async () => {
    const { jobId } = await test.client.runs.start({ yaml: run(100) });
    const job = await test.app.services.jobs.wait(jobId);
    expect(job.error?.code).toBe('MODEL_PROMPT_LIMIT');
    const { children } = await test.client.jobs.get({ jobId });
    const first = children.find(({ kind }) => kind === 'demonstrations');
    if (first === undefined) throw new Error('no stage');
    const { items } = await test.client.jobs.events({ jobId: first.jobId, level: 'warn' });
    expect(items.map(({ type }) => type)).toContain('prompt-limit-expected');
  }, 60_000);
});

it('warns of no preset', async () => {
  for (const { yaml: text, presetId } of await test.client.runs.presets()) {
    const found = await warnings(text.replace("model: ''", "model: 'scripted:random'"));
    expect(found, presetId).toEqual([]);
  }
});
