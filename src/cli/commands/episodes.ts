import type { Command } from 'commander';
import { Option } from 'commander';
import type { Client } from '#shared/contract/index.ts';
import { pageInput } from '#shared/contract/base.ts';
import type { EnvironmentId, JobId } from '#shared/ids.ts';
import type { Split } from '#shared/schema/environment.ts';
import { splitSchema } from '#shared/schema/environment.ts';
import type { Episode, EpisodePurpose } from '#shared/schema/episode.ts';
import { episodePurposeSchema, episodeStatusSchema } from '#shared/schema/episode.ts';
import { lookInto } from '../command.ts';
import { exitCodes } from '../exit-codes.ts';
import { printResult, say, table } from '../output.ts';
import { environmentId, numberIn } from '../parse.ts';
import { findEpisodeId, findJobId } from '../short-id.ts';
import { transcript } from '../transcript.ts';

interface ListOptions {
  environment?: EnvironmentId;
  split?: Split;
  job?: string;
  purpose?: EpisodePurpose;
  status?: Episode['status'];
  success?: true;
  failure?: true;
  text?: string;
  limit: number;
  cursor?: string;
}

/** A mistyped job has no episodes, which looks like a job that played none. @throws AppError NOT_FOUND */
async function existingJob(client: Client, typed: string): Promise<JobId> {
  const { job } = await client.jobs.get({ jobId: await findJobId(client, typed) });
  return job.jobId;
}

async function filterOf(
  client: Client,
  { environment, split, job, purpose, status, success, failure, text }: ListOptions,
) {
  return {
    ...(environment === undefined ? {} : { environmentId: environment }),
    ...(split === undefined ? {} : { split }),
    ...(job === undefined ? {} : { jobId: await existingJob(client, job) }),
    ...(purpose === undefined ? {} : { purpose }),
    ...(status === undefined ? {} : { status }),
    ...(success === true ? { success: true } : failure === true ? { success: false } : {}),
    ...(text === undefined ? {} : { text }),
  };
}

export function addEpisodes(program: Command): void {
  const episodes = program
    .command('episodes')
    .description('every episode that was acted, demonstrated or played')
    .addHelpText(
      'after',
      `
Examples:
  daydream episodes --environment household-small --success
  daydream episodes --status abandoned         what a kill, a pause or a crash has cut
  daydream episodes show 4b1f…                 as text
  daydream episodes show 4b1f… --json          with every step, prompt and branch count
`,
    );
  episodes
    .command('list', { isDefault: true })
    .description('newest first')
    .option('--environment <id>', 'only this world', environmentId)
    .addOption(new Option('--split <split>').choices(splitSchema.options))
    .addOption(new Option('--purpose <purpose>').choices(episodePurposeSchema.options))
    .addOption(
      new Option('--status <status>', 'abandoned: cut in the middle; kept, and counted as no result').choices(
        episodeStatusSchema.options,
      ),
    )
    .option('--job <id>', 'of one job: its id, or the first characters')
    .option('--success', 'only successful ones')
    .option('--failure', 'only unsuccessful ones; what was abandoned or broke is neither')
    .option('--text <words>', 'in the task')
    .option('--limit <n>', 'rows', numberIn(pageInput.shape.limit), 50)
    .option('--cursor <cursor>', 'continue after an earlier page')
    .action((options: ListOptions, command: Command) =>
      lookInto(command, async ({ client, json }) => {
        const page = await client.episodes.list({
          filter: await filterOf(client, options),
          limit: options.limit,
          cursor: options.cursor ?? null,
        });
        printResult(json, page, () =>
          table(
            page.items,
            [
              { title: 'id', value: (row) => row.episodeId },
              { title: 'purpose', value: (row) => row.purpose },
              {
                title: 'outcome',
                value: (row) =>
                  row.status === 'finished' ? (row.success ? 'success' : 'no success') : row.status,
              },
              { title: 'steps', value: (row) => row.steps },
              { title: 'invalid', value: (row) => row.invalidActions },
              {
                title: 'reward',
                value: (row) =>
                  row.status === 'abandoned' || row.status === 'failed' ? '' : row.totalReward,
              },
              { title: 'policy', value: (row) => row.policyLabel },
              { title: 'task', value: (row) => row.instruction.slice(0, 60) },
            ],
            'No episodes match. Make some: daydream rollout --model FILE.gguf',
          ),
        );
        if (page.nextCursor !== null && !json) say(`More: add --cursor ${page.nextCursor}`);
        return exitCodes.ok;
      }),
    );
  episodes
    .command('show')
    .description('one episode, step by step')
    .argument('<episode>', 'id, or its first characters')
    .action((typed: string, _options: unknown, command: Command) =>
      lookInto(command, async ({ client, json }) => {
        const shown = await client.episodes.get({ episodeId: await findEpisodeId(client, typed) });
        printResult(json, shown, () => transcript(shown));
        return exitCodes.ok;
      }),
    );
}
