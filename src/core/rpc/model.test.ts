/** The model pages and the prompt viewer over a real GGUF (random weights) in the real inference process. */
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { writeRandomGguf } from '#core/llm/index.ts';
import { openTestApp } from '#test/helpers/app.ts';
import type { TestApp } from '#test/helpers/app.ts';
import type { Model } from '#shared/schema/model.ts';

let test: TestApp;
let model: Model;
beforeAll(async () => {
  test = await openTestApp();
  test.app.start();
  await test.client.system.settings.set({ threads: 1 });
  const file = join(test.folder, 'random-weights-test.gguf');
  writeRandomGguf(file, { seed: 3, contextLength: 8192 });
  const [added] = await test.client.models.add({ path: file });
  if (added === undefined) throw new Error('not added');
  model = added;
}, 60_000);
afterAll(() => test.dispose());

describe('a model', () => {
  it('is described without loading, and its fit is estimated', async () => {
    expect(model).toMatchObject({ kind: 'gguf', problem: null, facts: { architecture: 'llama' } });
    const fit = await test.client.models.fit({ modelId: model.modelId, contextTokens: 1024, sequences: 2 });
    expect(fit).toMatchObject({ fits: true, contextTokens: 1024, sequences: 2 });
    expect(fit.totalBytes).toBeGreaterThan(0);
  });

  it('passes its test with measured rates', async () => {
    const result = await test.client.models.test({ modelId: model.modelId });
    expect(result).toMatchObject({ ok: true, error: null });
    expect(result.promptTokensPerSecond).toBeGreaterThan(0);
    expect(result.completionTokensPerSecond).toBeGreaterThan(0);
    expect(await test.client.models.calibration({ modelId: model.modelId })).toEqual(result.calibration);
  });

  it('is named by the doctor when its threads were measured on a busy machine, with the command that measures again', async () => {
    const { store } = test.app.services;
    const calibration = await test.client.models.calibration({ modelId: model.modelId });
    if (calibration === null) throw new Error('not calibrated');
    const look = async (busyCores: number | null) => {
      store.models.saveCalibration({ ...calibration, busyCores });
      return (await test.client.system.doctor()).find(({ check }) => check === 'Threads');
    };
    await test.client.system.settings.set({ threads: 0 });
    expect(await look(null)).toMatchObject({ status: 'ok' });
    expect(await look(0.1)).toMatchObject({ status: 'ok' });
    expect(await look(1.5)).toMatchObject({
      status: 'warning',
      detail: expect.stringContaining(`measured while the machine was busy: ${model.name}`) as string,
      fix: `When nothing else runs: daydream models test ${model.modelId} --recalibrate`,
    });
    await test.client.system.settings.set({ threads: 1 });
    expect(await look(1.5)).toMatchObject({ status: 'ok' });
  });

  it('answers by hand with the log-probability of each token, the same for the same seed', async () => {
    const ask = () =>
      test.client.models.tryOut({ modelId: model.modelId, prompt: 'go to desk 1', maxTokens: 8, seed: 4 });
    const answer = await ask();
    expect(answer.tokens.length).toBeGreaterThan(0);
    expect(answer.tokens.every(({ logprob }) => logprob <= 0 && Number.isFinite(logprob))).toBe(true);
    expect(answer.rendered).toContain('go to desk 1');
    expect((await ask()).text).toBe(answer.text);
  });

  it('is reported as not usable when its file is broken, and the test says why', async () => {
    await expect(test.client.models.test({ modelId: 'nothing' as never })).rejects.toMatchObject({
      data: { code: 'MODEL_NOT_FOUND' },
    });
  });
});

describe('the prompt of a stored step', () => {
  it('is what the model saw: messages, and every token with its text', async () => {
    const yaml = `kind: rollout\nenvironment: { id: household-small, tasks: 1 }\npolicy: { model: ${model.modelId}, actionGrammar: true, thought: false, maxTokens: 48 }\nlimits: { maxSteps: 3 }\nparallel: 1\n`;
    const job = await test.client.runs.start({ yaml });
    for await (const update of await test.client.jobs.watch({ jobId: job.jobId })) {
      if (update.job.state === 'failed') throw new Error(update.job.error?.message);
    }
    const [row] = (await test.client.episodes.list({ filter: { jobId: job.jobId } })).items;
    if (row === undefined) throw new Error('no episode');
    const step = await test.client.episodes.step({ episodeId: row.episodeId, stepIndex: 2 });
    const prompt = await test.client.episodes.prompt({ episodeId: row.episodeId, stepIndex: 2 });
    expect(prompt.missing).toBe('');
    expect(prompt.messages.map(({ role }) => role)).toEqual([
      'system',
      'user',
      'assistant',
      'user',
      'assistant',
      'user',
    ]);
    expect(prompt.messages.map(({ isNew }) => isNew)).toEqual([false, false, false, false, true, true]);
    const tokens = prompt.tokens ?? [];
    const text = (part: string) =>
      tokens
        .filter((token) => token.part === part)
        .map((token) => token.text)
        .join('');
    expect(text('completion')).toContain(step.action);
    expect(text('prompt')).toContain(prompt.messages.at(-1)?.content.slice(-40));
    const completion = tokens.filter(({ part }) => part === 'completion');
    expect(completion.map(({ id }) => id)).toEqual(step.tokens?.completionTokens);
    expect(completion.map(({ logprob }) => logprob)).toEqual(step.tokens?.logprobs);
  }, 60_000);
});
