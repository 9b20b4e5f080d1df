import { AppError } from '#shared/errors.ts';
import type { EpisodeId } from '#shared/ids.ts';
import type { Episode, EpisodeFilter, Step } from '#shared/schema/episode.ts';
import { observationBefore } from '#core/agents/index.ts';
import { exportedTexts, markBranches } from '#core/early-experience/index.ts';
import { observationHash } from '#core/environments/index.ts';
import type { RpcServices } from '#core/rpc/base.ts';
import { os } from '#core/rpc/base.ts';
import { definedOnly } from '#core/rpc/defined.ts';
import { renderedPrompt } from '#core/rpc/prompt.ts';

function missing(what: string): AppError {
  return new AppError({ code: 'NOT_FOUND', message: `There is no ${what} in this store.` });
}

async function getEpisode(app: RpcServices, episodeId: EpisodeId): Promise<Episode> {
  const episode = await app.reader.episodes.get(episodeId);
  if (episode === null) throw missing(`episode ${episodeId}`);
  return episode;
}

async function getStep(app: RpcServices, episodeId: EpisodeId, stepIndex: number): Promise<Step> {
  const step = await app.reader.episodes.step(episodeId, stepIndex);
  if (step === null) throw missing(`step ${String(stepIndex)} of episode ${episodeId}`);
  return step;
}

/** A run of several stages acts in one of them: its id in a filter means the episodes of that one. */
async function ofActingStage({ reader, store }: RpcServices, filter: EpisodeFilter): Promise<EpisodeFilter> {
  const children = filter.jobId === undefined ? [] : (store.jobs.status(filter.jobId)?.children ?? []);
  for (const { jobId } of children) {
    const { items } = await reader.episodes.list({ jobId }, 'newest', { cursor: null, limit: 1 });
    if (items.length > 0) return { ...filter, jobId };
  }
  return filter;
}

/** The viewer's list needs no token arrays: a 50-step episode would weigh megabytes. */
function withoutTokens({ tokens, ...step }: Step, branches: number) {
  // A server may list log-probabilities without ids; one of each is there for a token.
  const completionTokens = Math.max(tokens?.completionTokens.length ?? 0, tokens?.logprobs.length ?? 0);
  return { ...step, branches, completionTokens };
}

export function episodesHandlers(app: RpcServices) {
  const episodes = os.episodes;
  const { reader, store } = app;
  return {
    list: episodes.list.handler(async ({ input: { filter, sort, ...page } }) =>
      reader.episodes.list(await ofActingStage(app, filter), sort, page),
    ),
    facets: episodes.facets.handler(() => reader.episodes.facets()),
    get: episodes.get.handler(async ({ input: { episodeId } }) => {
      const episode = await getEpisode(app, episodeId);
      const branches = store.branches.countByStep(episodeId);
      const steps = await reader.episodes.steps(episodeId);
      return {
        episode,
        steps: steps.map((step, position) => ({
          ...withoutTokens(step, branches.get(step.stepIndex) ?? 0),
          stateHash:
            steps[position - 1]?.observationHash ?? observationHash(observationBefore(episode, steps, 0)),
        })),
        datasets: store.datasets.ofEpisode(episodeId),
      };
    }),
    find: episodes.find.handler(({ input }) => store.episodes.idsStartingWith(input.prefix, input.limit)),
    step: episodes.step.handler(({ input }) => getStep(app, input.episodeId, input.stepIndex)),
    prompt: episodes.prompt.handler(async ({ input: { episodeId, stepIndex }, signal }) => {
      const episode = await getEpisode(app, episodeId);
      return renderedPrompt(app, episode, await getStep(app, episodeId, stepIndex), signal);
    }),
    neighbours: episodes.neighbours.handler(async ({ input: { episodeId, filter, sort } }) =>
      reader.episodes.neighbours(episodeId, await ofActingStage(app, filter), sort),
    ),
    branches: episodes.branches.handler(async ({ input }) => {
      const { episodeId } = await getEpisode(app, input.episodeId);
      return markBranches(await reader.branches.ofEpisode(episodeId), store.jobs.get);
    }),
    reflections: {
      list: episodes.reflections.list.handler(async ({ input: { cursor, limit, ...filter } }) => {
        const page = await reader.reflections.list(definedOnly(filter), { cursor, limit });
        const exported = exportedTexts(await reader.reflections.attempts(page.items));
        const items = page.items.map((one) => {
          const runRemoved = one.jobId !== null && store.jobs.status(one.jobId) === null;
          return { ...one, exported: !runRemoved && exported.has(one.reflectionId), runRemoved };
        });
        return { ...page, items };
      }),
      review: episodes.reflections.review.handler(({ input: { reflectionId, decision, reason } }) => {
        if (store.reflections.get(reflectionId) === null) throw missing(`reflection ${reflectionId}`);
        return store.reflections.review(reflectionId, { decision, reason, at: app.clock.now() });
      }),
    },
    branch: episodes.branch.handler(({ input }) => {
      const branch = store.branches.get(input.branchId);
      if (branch === null) throw missing(`branch ${input.branchId}`);
      return branch;
    }),
  };
}
