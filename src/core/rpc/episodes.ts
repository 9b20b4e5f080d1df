import { AppError } from '#shared/errors.ts';
import type { EpisodeId } from '#shared/ids.ts';
import type { Episode, Step } from '#shared/schema/episode.ts';
import type { RpcServices } from '#core/rpc/base.ts';
import { os } from '#core/rpc/base.ts';
import { definedOnly } from '#core/rpc/defined.ts';
import { renderedPrompt } from '#core/rpc/prompt.ts';

function missing(what: string): AppError {
  return new AppError({ code: 'NOT_FOUND', message: `There is no ${what} in this store.` });
}

function getEpisode(app: RpcServices, episodeId: EpisodeId): Episode {
  const episode = app.store.episodes.get(episodeId);
  if (episode === null) throw missing(`episode ${episodeId}`);
  return episode;
}

function getStep(app: RpcServices, episodeId: EpisodeId, stepIndex: number): Step {
  const step = app.store.episodes.step(episodeId, stepIndex);
  if (step === null) throw missing(`step ${String(stepIndex)} of episode ${episodeId}`);
  return step;
}

/** The viewer's list needs no token arrays: a 50-step episode would weigh megabytes. */
function withoutTokens({ tokens, ...step }: Step, branches: number) {
  return { ...step, branches, completionTokens: tokens?.completionTokens.length ?? 0 };
}

export function episodesHandlers(app: RpcServices) {
  const episodes = os.episodes;
  const { store } = app;
  return {
    list: episodes.list.handler(({ input: { filter, sort, ...page } }) =>
      store.episodes.list(filter, sort, page),
    ),
    facets: episodes.facets.handler(() => store.episodes.facets()),
    get: episodes.get.handler(({ input: { episodeId } }) => {
      const branches = store.branches.countByStep(episodeId);
      return {
        episode: getEpisode(app, episodeId),
        steps: store.episodes
          .steps(episodeId)
          .map((step) => withoutTokens(step, branches.get(step.stepIndex) ?? 0)),
        datasets: store.datasets.ofEpisode(episodeId),
      };
    }),
    step: episodes.step.handler(({ input }) => getStep(app, input.episodeId, input.stepIndex)),
    prompt: episodes.prompt.handler(({ input: { episodeId, stepIndex }, signal }) =>
      renderedPrompt(app, getEpisode(app, episodeId), getStep(app, episodeId, stepIndex), signal),
    ),
    neighbours: episodes.neighbours.handler(({ input: { episodeId, filter, sort } }) =>
      store.episodes.neighbours(episodeId, filter, sort),
    ),
    branches: episodes.branches.handler(({ input }) =>
      store.branches.ofEpisode(getEpisode(app, input.episodeId).episodeId),
    ),
    reflections: {
      list: episodes.reflections.list.handler(({ input: { cursor, limit, ...filter } }) =>
        store.reflections.list(definedOnly(filter), { cursor, limit }),
      ),
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
