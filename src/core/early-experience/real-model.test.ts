/** The whole path on a real GGUF with random weights: real tokens, real KV cache, real grammars. Only its wits are missing. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Branch } from '#shared/schema/branch.ts';
import { earlyExperienceRunSchema, rolloutRunSchema } from '#shared/schema/run.ts';
import { fullPromptTokens } from '#core/agents/index.ts';
import { writeRandomGguf } from '#core/llm/index.ts';
import type { Lab } from '#test/helpers/methods.ts';
import { openLab } from '#test/helpers/methods.ts';
import type { TestService } from '#test/helpers/model-service.ts';
import { testModelService } from '#test/helpers/model-service.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'daydream-real-'));
const chat = path.join(folder, 'random-weights-chat.gguf');
const base = path.join(folder, 'random-weights-base.gguf');
let host: TestService;
let lab: Lab;

beforeAll(() => {
  writeRandomGguf(chat, { seed: 1, contextLength: 8192 });
  writeRandomGguf(base, { seed: 2, contextLength: 8192, chatTemplate: false });
  host = testModelService();
  lab = openLab({ models: host.service });
});
afterAll(async () => {
  await lab.close();
  await host.service.dispose();
  rmSync(folder, { recursive: true, force: true });
});

const environment = { id: 'household-small', tasks: 2 };
const limits = { maxSteps: 5, maxPromptTokens: 6000 };
const policy = (model: string, extra: object = {}) => ({
  model,
  maxTokens: 64,
  actionGrammar: true,
  ...extra,
});

test('each step evaluates only what is new, and its stored ids make the next prompt', async () => {
  const run = { kind: 'rollout', environment, limits, parallel: 2, policy: policy(chat, { thought: false }) };
  const job = await lab.run('rollout', rolloutRunSchema.parse(run));
  expect(job.error).toBeNull();
  expect(job.result).toMatchObject({ episodes: 2, invalidActions: 0, parseFailures: 0 });
  const { items } = lab.services.store.episodes.list({ purpose: 'rollout' }, 'oldest', {
    cursor: null,
    limit: 9,
  });
  for (const { episodeId } of items) {
    const steps = lab.services.store.episodes.steps(episodeId);
    steps.forEach((step, index) => {
      const { tokens } = step;
      if (tokens === null) throw new Error('no ids');
      expect(tokens.logprobs).toHaveLength(tokens.completionTokens.length);
      if (index === 0) return;
      expect(tokens.evaluatedPromptTokens).toBeLessThanOrEqual(1.1 * tokens.promptTokens.length + 1);
      const before = [
        ...(fullPromptTokens(steps, index - 1) ?? []),
        ...(steps[index - 1]?.tokens?.completionTokens ?? []),
      ];
      expect(fullPromptTokens(steps, index)?.slice(0, before.length)).toEqual(before);
    });
  }
});

test('a base model acts in the completion format, proposes alternatives, and its noise is not trained on', async () => {
  const job = await lab.run(
    'early-experience',
    earlyExperienceRunSchema.parse({
      kind: 'early-experience',
      environment,
      limits: { maxPromptTokens: 6000 },
      parallel: 2,
      policy: policy(base),
      reflection: { maxTokens: 40 },
    }),
  );
  expect(job.error).toBeNull();
  const { items } = lab.services.store.episodes.list({ purpose: 'demonstration' }, 'oldest', {
    cursor: null,
    limit: 9,
  });
  const branches: Branch[] = items.flatMap(({ episodeId }) =>
    lab.services.store.branches.ofEpisode(episodeId),
  );
  const proposed = branches.filter(({ source }) => source === 'policy');
  expect(proposed.length).toBeGreaterThan(5);
  for (const { proposal, admissible, status } of proposed) {
    expect([admissible, status]).toEqual([true, 'accepted']);
    expect(proposal?.completionTokens.length).toBeGreaterThan(0);
    expect(proposal?.raw).toContain('</action>');
  }
  const reflections = items.flatMap(({ episodeId }) => lab.services.store.reflections.ofEpisode(episodeId));
  expect(reflections.length).toBeGreaterThan(5);
  expect(reflections.filter(({ keptByFilters }) => keptByFilters)).toEqual([]);
  const [dataset] = lab.services.store.datasets.list({ cursor: null, limit: 1 }).items;
  expect(dataset?.manifest.models[0]).toMatchObject({ role: 'policy' });
  expect(dataset?.manifest.filters.find(({ filter }) => filter === 'garbled')?.dropped).toBeGreaterThan(0);
});

test('a job’s log says that the inference process died, that it is back, and what was begun again', async () => {
  const { jobs, store } = lab.services;
  let killed = false;
  const stop = jobs.subscribe(() => {
    const [running] = store.episodes.list({ status: 'running' }, 'oldest', { cursor: null, limit: 1 }).items;
    // In the middle of an episode: at its last step there would be nothing left to break off.
    const steps = running === undefined ? 0 : store.episodes.steps(running.episodeId).length;
    if (killed || steps < 2 || steps > 4) return;
    killed = true;
    const child = host.children.at(-1);
    // Held first, so that a call is surely under way when it dies.
    process.kill(child?.pid ?? 0, 'SIGSTOP');
    setTimeout(() => child?.kill('SIGKILL'), 300);
  });
  const run = {
    kind: 'rollout',
    environment,
    limits: { ...limits, maxSteps: 20 },
    parallel: 1,
    policy: policy(chat, { thought: false }),
    seed: 5,
  };
  const job = await lab.run('rollout', rolloutRunSchema.parse(run));
  stop();
  expect(job).toMatchObject({ state: 'succeeded', result: { episodes: 2, failed: 0 } });
  const events = store.jobs.events(job.jobId, { afterSeq: 0, limit: 99, includeChildren: false });
  const told = events.filter(({ type }) => /^inference-|-restarted$/.test(type)).map(({ type }) => type);
  expect(told[0]).toBe('inference-died');
  expect(told.toSorted()).toEqual(['episode-restarted', 'inference-died', 'inference-restarted']);
  const [abandoned] = store.episodes.list({ jobId: job.jobId, status: 'abandoned' }, 'oldest', {
    cursor: null,
    limit: 9,
  }).items;
  expect(events.find(({ type }) => type === 'episode-restarted')?.message).toContain(
    `Its ${String(abandoned?.steps)} steps are kept as abandoned.`,
  );
}, 30_000);
