/**
 * Parallel episodes through the whole path (household, agents, SQLite, worker process) against node-llama-cpp alone, which
 * replays the very same prompts and completion lengths on 32 sequences of its own context, without environment, storage or
 * log-probabilities.
 */
import { getLlama } from 'node-llama-cpp';
import type { LlamaContext, Token } from 'node-llama-cpp';
import { createEnvironmentRegistry } from '#core/environments/index.ts';
import { runEpisode, runPool, selectTasks } from '#core/agents/index.ts';
import type { EpisodePlan } from '#core/agents/episode-loop.ts';
import { loadPolicy } from '#core/agents/load-policy.ts';
import type { ChatModel } from '#core/llm/port.ts';
import { policySchema } from '#shared/schema/policy.ts';
import { limitsSchema, taskSelectionSchema } from '#shared/schema/run.ts';
import { environmentIdSchema } from '#shared/ids.ts';
import type { Step } from '#shared/schema/episode.ts';
import { medianOfPairs, ratioFigure } from './lib/figure.ts';
import type { Bench } from './lib/figure.ts';
import { benchThreads, openLlmBench, silent } from './lib/llm.ts';

const episodes = 32;

/** One call of one episode: what was new in its prompt, and how long the answer was. */
interface Call {
  fresh: number[];
  completion: number;
}

const bench: Bench = {
  name: 'rollouts',
  summary:
    '32 parallel household episodes: tokens per second against node-llama-cpp alone; evaluated prompt tokens',
  async run(options) {
    const lab = await openLlmBench(options);
    const clock = { now: () => Date.now() };
    const maxSteps = options.quick ? 2 : 5;
    const limits = limitsSchema.parse({ maxSteps, maxPromptTokens: 3000 });
    const settings = policySchema.parse({
      model: lab.modelFile,
      thought: false,
      sampling: { temperature: 1 },
      maxTokens: 16,
    });
    const registry = createEnvironmentRegistry({ catalogue: lab.store.catalogue, clock });
    const environmentId = environmentIdSchema.parse('household-small');
    const provider = registry.get(environmentId);
    const selection = taskSelectionSchema.parse({
      id: environmentId,
      split: 'train',
      tasks: episodes,
    });
    const tasks = selectTasks(provider, selection, options.seed);
    const loaded = await loadPolicy(lab.service, settings, {
      limits,
      parallel: episodes,
      threads: benchThreads,
      signal: options.signal,
    });
    const peer = await openPeer(lab.modelFile, loaded.model?.info.contextTokens ?? 4096);
    let round = 0;
    let traces: Call[][] = [];
    let evaluated = 0;
    let fresh = 0;
    try {
      const ours = async (): Promise<number> => {
        round += 1;
        const seed = options.seed + round * 1000;
        const plans = Array.from({ length: episodes }, (_, index): EpisodePlan => {
          const task = tasks[index % tasks.length];
          if (task === undefined) throw new Error('household-small has no training task');
          return { task, purpose: 'rollout', jobId: null, seed: seed + index, rolloutIndex: index };
        });
        const done: Call[][] = [];
        let tokens = 0;
        const started = performance.now();
        await runPool(plans, { parallel: episodes, signal: options.signal }, async (plan, signal) => {
          const world = { provider, policy: loaded.policy, limits, store: lab.store, clock, log: silent };
          const { steps } = await runEpisode(plan, world, { signal });
          done.push(callsOf(steps));
        });
        const seconds = (performance.now() - started) / 1000;
        for (const call of done.flat()) tokens += call.completion;
        traces = done;
        options.say(
          `round ${round}: ${done.flat().length} calls, ${tokens} tokens in ${seconds.toFixed(1)} s`,
        );
        return tokens / seconds;
      };
      const baseline = async (): Promise<number> => {
        const started = performance.now();
        const tokens = await peer.replay(traces);
        options.say(`node-llama-cpp alone: ${((performance.now() - started) / 1000).toFixed(1)} s`);
        return (tokens * 1000) / (performance.now() - started);
      };
      await ours();
      await baseline();
      const pairs = await medianOfPairs(ours, baseline, 5);
      const { model } = loaded;
      if (model === null) throw new Error('a scripted expert has no token rate');
      const decode = await medianOfPairs(
        () => decodeRate(model, options.seed, options.signal),
        async () => {
          const started = performance.now();
          const tokens = await peer.replay(shortTraces());
          return (tokens * 1000) / (performance.now() - started);
        },
        5,
      );
      for (const plan of lab.store.episodes.list({}, 'newest', { cursor: null, limit: episodes }).items) {
        for (const { tokens } of lab.store.episodes.steps(plan.episodeId)) {
          evaluated += tokens?.evaluatedPromptTokens ?? 0;
          fresh += tokens?.promptTokens.length ?? 0;
        }
      }
      options.say(
        `${traces.flat().length} calls a round, ${fresh} new prompt tokens, ${evaluated} evaluated`,
      );
      return [
        ratioFigure('completion tokens per second at 32 episodes', 'tokens/s', pairs, {
          op: '>=',
          limit: 0.8,
        }),
        ratioFigure('decoding alone: 32 short prompts, 48 tokens each', 'tokens/s', decode, {
          op: '>=',
          limit: 0.8,
        }),
        ratioFigure(
          'evaluated prompt tokens against the tokens that are new at each step',
          'tokens',
          { value: evaluated, baseline: fresh, ratio: evaluated / fresh, ratios: [evaluated / fresh] },
          { op: '<=', limit: 1.1 },
        ),
      ];
    } finally {
      await peer.close();
      await loaded.release();
      await lab.close();
    }
  },
};

const longAnswer = 48;

/** Without agents and storage: what the worker itself decodes, log-probabilities and all. */
async function decodeRate(model: ChatModel, seed: number, signal: AbortSignal): Promise<number> {
  const started = performance.now();
  const results = await Promise.all(
    Array.from({ length: episodes }, (_, index) =>
      model.generate(
        {
          messages: [{ role: 'user', content: `look ${index}` }],
          sessionKey: `decode ${index}`,
          n: 1,
          sampling: { temperature: 1, topK: 0, topP: 1, minP: 0 },
          seed: seed + index,
          maxTokens: longAnswer,
          format: 'auto',
        },
        { signal },
      ),
    ),
  );
  const tokens = results.reduce((sum, { generations }) => sum + (generations[0]?.tokens.length ?? 0), 0);
  return (tokens * 1000) / (performance.now() - started);
}

function shortTraces(): Call[][] {
  return Array.from({ length: episodes }, (_, index) => [
    {
      fresh: [1, ...Array.from({ length: 20 }, (_unused, offset) => 300 + index + offset)],
      completion: longAnswer,
    },
  ]);
}

function callsOf(steps: readonly Step[]): Call[] {
  return steps.flatMap(({ tokens }) =>
    tokens === null ? [] : [{ fresh: tokens.promptTokens, completion: tokens.completionTokens.length }],
  );
}

/** node-llama-cpp as its documentation uses it: one context, one sequence for each episode, `evaluate` in parallel. */
async function openPeer(
  modelPath: string,
  contextSize: number,
): Promise<{ replay(traces: readonly Call[][]): Promise<number>; close(): Promise<void> }> {
  const llama = await getLlama({ gpu: false, maxThreads: benchThreads, build: 'never', skipDownload: true });
  const model = await llama.loadModel({ modelPath });
  const context: LlamaContext = await model.createContext({
    contextSize,
    sequences: episodes,
    threads: benchThreads,
    swaFullCache: true,
    // Its default ("auto") is slower here when many sequences share a batch; the comparison is with its best.
    flashAttention: false,
  });
  const sequences = Array.from({ length: episodes }, () => context.getSequence());
  return {
    replay: async (traces) => {
      const counts = await Promise.all(
        traces.map(async (calls, index) => {
          const sequence = sequences[index];
          if (sequence === undefined) throw new Error('one sequence for each episode');
          await sequence.clearHistory();
          let last: Token[] = [];
          let generated = 0;
          for (const { fresh, completion } of calls) {
            if (completion === 0) continue;
            const input = [...last, ...(fresh as Token[])];
            const answer: Token[] = [];
            // Its own sampler, without end-of-turn, so that it writes exactly as many tokens as we did.
            for await (const token of sequence.evaluate(input, { temperature: 1, yieldEogToken: true })) {
              answer.push(token);
              if (answer.length >= completion) break;
            }
            generated += answer.length;
            last = answer.slice(-1);
          }
          return generated;
        }),
      );
      return counts.reduce((sum, count) => sum + count, 0);
    },
    close: async () => {
      await context.dispose();
      await model.dispose();
      await llama.dispose();
    },
  };
}

export default bench;
