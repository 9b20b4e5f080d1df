/** Every procedure of the contract, one file an area; a missing one does not compile. */
import { os } from '#core/rpc/base.ts';
import type { RpcServices } from '#core/rpc/base.ts';
import { datasetsHandlers } from '#core/rpc/datasets.ts';
import { environmentsHandlers } from '#core/rpc/environments.ts';
import { episodesHandlers } from '#core/rpc/episodes.ts';
import { jobsHandlers } from '#core/rpc/jobs.ts';
import { modelsHandlers } from '#core/rpc/models.ts';
import { runsHandlers } from '#core/rpc/runs.ts';
import { systemHandlers } from '#core/rpc/system.ts';
import { trainingHandlers } from '#core/rpc/training.ts';

export function createRouter(app: RpcServices) {
  return os.router({
    system: systemHandlers(app),
    jobs: jobsHandlers(app),
    runs: runsHandlers(app),
    environments: environmentsHandlers(app),
    models: modelsHandlers(app),
    episodes: episodesHandlers(app),
    datasets: datasetsHandlers(app),
    training: trainingHandlers(app),
  });
}

export type AppRouter = ReturnType<typeof createRouter>;
