import type { ContractRouterClient } from '@orpc/contract';
import { datasetsContract } from '#shared/contract/datasets.ts';
import { environmentsContract } from '#shared/contract/environments.ts';
import { episodesContract } from '#shared/contract/episodes.ts';
import { jobsContract } from '#shared/contract/jobs.ts';
import { modelsContract } from '#shared/contract/models.ts';
import { runsContract } from '#shared/contract/runs.ts';
import { systemContract } from '#shared/contract/system.ts';
import { trainingContract } from '#shared/contract/training.ts';

export const contract = {
  system: systemContract,
  jobs: jobsContract,
  runs: runsContract,
  environments: environmentsContract,
  models: modelsContract,
  episodes: episodesContract,
  datasets: datasetsContract,
  training: trainingContract,
};

export type Contract = typeof contract;
export type Client = ContractRouterClient<Contract>;
