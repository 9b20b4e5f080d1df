/** How a model acts in household-small when it is only asked to: success, and which of its actions the world understands. */
import { loadPolicy } from '../../src/core/agents/load-policy.ts';
import { runEpisode, runPool, selectTasks } from '../../src/core/agents/index.ts';
import type { EpisodePlan } from '../../src/core/agents/episode-loop.ts';
import { createHouseholdProvider } from '../../src/core/environments/household/provider.ts';
import { policySchema } from '../../src/shared/schema/policy.ts';
import { limitsSchema, taskSelectionSchema } from '../../src/shared/schema/run.ts';
import { benchThreads, openLlmBench, silent } from '../../bench/lib/llm.ts';
import { shareWords } from './share.ts';

export interface Evaluation {
  model: string;
  split: 'train' | 'development' | 'seen' | 'unseen';
  tasks: number;
  maxSteps: number;
  seed: number;
  signal: AbortSignal;
}

export async function printEvaluation({
  model,
  split,
  tasks,
  maxSteps,
  seed,
  signal,
}: Evaluation): Promise<void> {
  const lab = await openLlmBench({ seed, model });
  const provider = createHouseholdProvider('household-small');
  const limits = limitsSchema.parse({ maxSteps, maxPromptTokens: 1900 });
  const settings = policySchema.parse({ model, prompt: 'compact', thought: false, maxTokens: 32 });
  const selection = taskSelectionSchema.parse({ id: 'household-small', split, tasks });
  const parallel = 8;
  const loaded = await loadPolicy(lab.service, settings, { limits, parallel, threads: benchThreads, signal });
  const sum = { episodes: 0, successes: 0, steps: 0, invalid: 0, unreadable: 0 };
  const ends = new Map<string, number>();
  try {
    const plans = selectTasks(provider, selection, seed).map((task): EpisodePlan => ({
      task,
      purpose: 'rollout',
      jobId: null,
      seed,
      rolloutIndex: 0,
    }));
    await runPool(plans, { parallel, signal }, async (plan, poolSignal) => {
      const world = {
        provider,
        policy: loaded.policy,
        limits,
        store: lab.store,
        clock: { now: () => Date.now() },
        log: silent,
      };
      const { episode } = await runEpisode(plan, world, { signal: poolSignal });
      // A broken machine says nothing about the model.
      if (episode.status !== 'finished') throw new Error(episode.error?.message ?? 'The episode failed.');
      sum.episodes += 1;
      sum.successes += episode.success ? 1 : 0;
      sum.steps += episode.steps;
      sum.invalid += episode.invalidActions;
      sum.unreadable += episode.parseFailures;
      const end = episode.endReason ?? 'none';
      ends.set(end, (ends.get(end) ?? 0) + 1);
    });
  } finally {
    await loaded.release();
    await lab.close();
  }
  console.log(
    `household-small, ${split}, at most ${String(maxSteps)} steps, temperature ${String(settings.sampling.temperature)}`,
  );
  console.log(`  success           ${shareWords(sum.successes, sum.episodes)}`);
  console.log(`  admissible        ${shareWords(sum.steps - sum.invalid, sum.steps)} of the steps`);
  console.log(`  unreadable        ${shareWords(sum.unreadable, sum.steps)} of the steps`);
  console.log(`  episodes end by   ${[...ends].map(([end, count]) => `${end} ${String(count)}`).join(', ')}`);
}
