/** The inference process is killed in the middle of branching and of reflecting: the job says so, and nothing is lost or done twice. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { earlyExperienceRunSchema } from '#shared/schema/run.ts';
import { writeRandomGguf } from '#core/llm/index.ts';
import type { Lab } from '#test/helpers/methods.ts';
import { openLab } from '#test/helpers/methods.ts';
import type { TestService } from '#test/helpers/model-service.ts';
import { testModelService } from '#test/helpers/model-service.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'daydream-restarts-'));
const model = path.join(folder, 'random-weights-chat.gguf');
let host: TestService;
let lab: Lab;

beforeAll(() => {
  writeRandomGguf(model, { seed: 1, contextLength: 8192 });
  host = testModelService();
  lab = openLab({ models: host.service });
});
afterAll(async () => {
  await lab.close();
  await host.service.dispose();
  rmSync(folder, { recursive: true, force: true });
});

test('branching and reflecting go on after a kill, and their logs tell what was begun again', async () => {
  const { jobs, store } = lab.services;
  const killed = { branching: false, reflection: false };
  const kill = (stage: keyof typeof killed): void => {
    killed[stage] = true;
    const child = host.children.at(-1);
    // Held first, so that a call is surely under way when it dies.
    process.kill(child?.pid ?? 0, 'SIGSTOP');
    setTimeout(() => child?.kill('SIGKILL'), 300);
  };
  const stop = jobs.subscribe(() => {
    const { branches, reflections } = store.counts();
    if (!killed.branching && branches > 20) kill('branching');
    if (!killed.reflection && reflections > 2) kill('reflection');
  });
  const job = await lab.run(
    'early-experience',
    earlyExperienceRunSchema.parse({
      kind: 'early-experience',
      environment: { id: 'household-small', tasks: 2 },
      limits: { maxPromptTokens: 6000 },
      parallel: 1,
      policy: { model, maxTokens: 48, actionGrammar: true, thought: false },
      reflection: { maxTokens: 24 },
    }),
  );
  stop();
  expect(job.error).toBeNull();
  expect(killed).toEqual({ branching: true, reflection: true });
  for (const stage of ['branching', 'reflection'] as const) {
    const jobId = store.jobs.childByStage(job.jobId, stage)?.jobId ?? job.jobId;
    const events = store.jobs.events(jobId, { afterSeq: 0, limit: 99, includeChildren: false });
    const told = events.filter(({ type }) => /^inference-|-restarted$|-failed$/.test(type));
    expect(told.map(({ type }) => type).toSorted()).toEqual(
      [`${stage}-restarted`, 'inference-died', 'inference-restarted'].toSorted(),
    );
    expect(told.find(({ type }) => type === `${stage}-restarted`)?.message).toMatch(
      stage === 'branching'
        ? /MODEL_CRASHED broke the branching off\. Its finished states are kept/
        : /, step \d+: MODEL_CRASHED broke the reflection off; it is written again\.$/,
    );
  }
  const { items } = store.episodes.list({ purpose: 'demonstration' }, 'oldest', { cursor: null, limit: 9 });
  for (const { episodeId, steps } of items) {
    const branches = store.branches.ofEpisode(episodeId);
    const once = (purpose: string, each: number): void => {
      const places = branches
        .filter((branch) => branch.purpose === purpose && branch.status === 'accepted')
        .map(({ stepIndex, alternativeIndex }) => `${String(stepIndex)}:${String(alternativeIndex)}`);
      expect(new Set(places).size).toBe(places.length);
      expect(places).toHaveLength(steps * each);
    };
    once('expert', 1);
    once('iwm', 8);
    once('sr', 3);
    const reflected = store.reflections.ofEpisode(episodeId).map(({ stepIndex }) => stepIndex);
    expect(reflected.toSorted((a, b) => a - b)).toEqual(Array.from({ length: steps }, (_, index) => index));
  }
}, 60_000);
