/** What a finished job found, as tables: how well it went, how it ended, what was reused, where to look at it. */
import { z } from 'zod';
import type { Client } from '#shared/contract/index.ts';
import type { Dataset } from '#shared/schema/dataset.ts';
import { endReasonSchema } from '#shared/schema/episode.ts';
import type { EndReason } from '#shared/schema/episode.ts';
import type { Job } from '#shared/schema/job.ts';
import { runSchema } from '#shared/schema/run.ts';
import { intervalWords, rateWords, successRows } from '#shared/success.ts';
import { allDatasets } from './all-datasets.ts';
import { datasetText } from './dataset-text.ts';
import { number, table } from './output.ts';

/** Of kind `rollout`; figures are over the scored episodes unless their name says otherwise. */
const rolloutResultSchema = z.object({
  episodes: z.int(),
  reused: z.int(),
  reusedFrom: z.array(z.string()).default([]),
  scored: z.int(),
  successes: z.int(),
  failed: z.int(),
  endReasons: z.partialRecord(endReasonSchema, z.int()).default({}),
  byTaskType: z.record(z.string(), z.object({ scored: z.int(), successes: z.int() })).default({}),
  steps: z.int(),
  invalidActions: z.int(),
  parseFailures: z.int(),
  /** null: the model's server did not tell. */
  completionTokens: z.int().nullable(),
});
type RolloutResult = z.infer<typeof rolloutResultSchema>;

const endWords: Record<EndReason, string> = {
  terminated: 'the world ended it: solved or lost',
  'step-limit': 'limits.maxSteps was reached',
  'token-limit': 'the prompt would have grown beyond limits.maxPromptTokens',
  'context-full': 'the prompt no longer fitted the model’s context',
  'invalid-limit': 'limits.maxInvalidInARow was reached',
  'policy-ended': 'the list of actions ended before the goal',
};

function successTable(result: RolloutResult, split: string): string {
  const types = Object.keys(result.byTaskType).length > 1;
  return table(
    successRows(result, types ? `all of ${split}` : split),
    [
      { title: types ? 'task type' : 'split', value: ({ name }) => name },
      { title: 'success', value: (row) => `${number(row.successes)}/${number(row.scored)}` },
      { title: 'rate', value: rateWords },
      { title: '95 % interval (Wilson)', value: intervalWords },
    ],
    '',
  );
}

function endTable({ endReasons, failed }: RolloutResult): string {
  const rows = Object.entries(endReasons).map(([reason, episodes]) => ({
    reason,
    episodes,
    meaning: endWords[reason as EndReason],
  }));
  const failures = {
    reason: 'failed',
    episodes: failed,
    meaning: 'the machinery broke; stored with its error, not scored',
  };
  return table(
    [...rows.sort((a, b) => b.episodes - a.episodes), ...(failed > 0 ? [failures] : [])],
    [
      { title: 'end', value: ({ reason }) => reason },
      { title: 'episodes', value: ({ episodes }) => episodes },
      { title: '', value: ({ meaning }) => meaning },
    ],
    'No episode ended.',
  );
}

/** Finished work is found by its identity (core/agents/identity.ts) and never played twice. */
function reusedLines({ reused, reusedFrom, episodes }: RolloutResult): string[] {
  if (reused === 0) return [];
  const from = reusedFrom.length === 0 ? '' : ` (job ${reusedFrom.join(', ')})`;
  return [
    '',
    `${number(reused)} of ${number(episodes)} episodes were reused: finished before${from} with the same tasks, seed, policy and limits.`,
    'New ones: another --seed, or more episodes of each task (rollout --rollouts N, run --set rolloutsPerTask=N).',
  ];
}

function writtenText({ completionTokens }: RolloutResult): string {
  return completionTokens === null
    ? 'tokens written: not told by the server'
    : `${number(completionTokens)} tokens written`;
}

function rolloutText(result: RolloutResult, job: Job): string {
  const spec = runSchema.safeParse(job.spec);
  const mean = result.scored === 0 ? '' : ` (${number(result.steps / result.scored)} an episode)`;
  return [
    successTable(result, spec.data?.environment.split ?? 'all'),
    '',
    endTable(result),
    '',
    `${number(result.steps)} steps${mean}, ${number(result.invalidActions)} invalid actions, ${number(result.parseFailures)} unreadable answers, ${writtenText(result)}`,
    ...reusedLines(result),
  ].join('\n');
}

/** The data set that a job or one of its stages wrote. */
export async function datasetOf(client: Client, job: Job): Promise<Dataset | null> {
  const { job: parent, children } = await client.jobs.get({ jobId: job.jobId });
  const ids = new Set([parent.jobId, ...children.map(({ jobId }) => jobId)]);
  for await (const dataset of allDatasets(client)) {
    if (dataset.jobId !== null && ids.has(dataset.jobId)) return dataset;
  }
  return null;
}

/** @returns null for a job without a result */
export async function resultText(client: Client, job: Job): Promise<string | null> {
  if (job.result === null) return null;
  const rollout = job.kind === 'rollout' ? rolloutResultSchema.safeParse(job.result).data : undefined;
  if (rollout !== undefined) return rolloutText(rollout, job);
  const dataset = job.kind === 'early-experience' ? await datasetOf(client, job) : null;
  if (dataset !== null) return datasetText(dataset);
  return JSON.stringify(job.result, null, 2);
}

/** Commands that show what the job stored; `link` is of a GUI that goes on being served. */
export function whereToLook(job: Job, options: { link: string | null; dataDir: string | undefined }): string {
  const folder = options.dataDir === undefined ? '' : ` --data-dir ${options.dataDir}`;
  const rollout = rolloutResultSchema.safeParse(job.result).data;
  // A reused episode stays with the job that played it.
  const own = rollout !== undefined && rollout.reused === rollout.episodes ? [] : [job.jobId];
  const jobs = [...own, ...(rollout?.reusedFrom ?? [])];
  return [
    'Look at it:',
    ...(job.kind === 'rollout'
      ? jobs.map((jobId) => `  daydream episodes --job ${jobId}${folder}`)
      : [`  daydream jobs show ${job.jobId}${folder}`, `  daydream datasets${folder}`]),
    options.link === null
      ? `  daydream serve${folder}   (in a browser, at /runs/${job.jobId})`
      : `  ${options.link}`,
  ].join('\n');
}
