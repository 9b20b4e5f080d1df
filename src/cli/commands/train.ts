import { resolve } from 'node:path';
import type { Command } from 'commander';
import { Option } from 'commander';
import { z } from 'zod';
import { AppError } from '#shared/errors.ts';
import { recipeSchema, trainRunSchema, trainingModeSettingsSchema } from '#shared/schema/training.ts';
import type { Recipe } from '#shared/schema/training.ts';
import type { Job } from '#shared/schema/job.ts';
import { changed, shellWord } from '#core/app.ts';
import type { Work } from '../command.ts';
import { withSession } from '../command.ts';
import { followJob, reportEnd } from '../follow.ts';
import { number, printResult, say } from '../output.ts';
import { collect, numberIn } from '../parse.ts';
import { findDataset } from '../short-id.ts';
import { findModel } from './models.ts';

interface TrainOptions {
  dataset: string;
  base: string;
  recipe: Recipe;
  epochs: number;
  iwmEpochs: number;
  updates?: number;
  batch: number;
  learningRate: number;
  full: boolean;
  rank: number;
  adapter?: string;
  blockTokens: number;
  groupBy: 'row' | 'state' | 'episode';
  device: 'cpu' | 'cuda' | 'vulkan' | 'metal';
  name: string;
  set: string[];
}

const resultSchema = z.object({
  file: z.string(),
  kind: z.enum(['adapter', 'model']),
  updates: z.int(),
  trainedTokens: z.int(),
  stages: z.array(z.object({ name: z.string(), rows: z.int(), updates: z.int() })),
});

async function train(work: Work, options: TrainOptions, command: Command): Promise<number> {
  const shaped =
    command.getOptionValueSource('rank') === 'cli' ||
    options.set.some((pair) => /^weights\.(rank|alpha|targets)=/.test(pair));
  if (options.adapter !== undefined && shaped) {
    throw new AppError({
      code: 'INVALID_INPUT',
      message:
        'Nothing was started: an adapter that is continued keeps its rank, alpha and targets. Leave those out, or start without --adapter.',
    });
  }
  const { client, json, seed } = work;
  const base = (await findModel(client, options.base)).modelId;
  const dataset = await findDataset(client, options.dataset);
  const flags = {
    kind: 'train' as const,
    name: options.name,
    seed: seed ?? 1,
    dataset,
    base,
    adapter: options.adapter === undefined ? null : { path: resolve(options.adapter) },
    recipe: options.recipe,
    epochs: options.epochs,
    iwmEpochs: options.iwmEpochs,
    updates: options.updates ?? null,
    batchRows: options.batch,
    learningRate: options.learningRate,
    weights: { kind: options.full ? ('full' as const) : ('lora' as const), rank: options.rank },
    maxBlockTokens: options.blockTokens,
    groupBy: options.groupBy,
    device: options.device,
  };
  const run = changed(trainRunSchema, flags, options.set);
  const job = await client.training.start(run);
  say(
    `Job ${job.jobId} started. Ctrl-C stops it at a checkpoint; daydream jobs resume ${job.jobId} goes on.`,
  );
  const ended = await followJob(work, job.jobId, { onInterrupt: 'pause', quiet: json });
  printResult(json, ended, () => summary(ended, options));
  return reportEnd(ended);
}

function summary(job: Job, options: TrainOptions): string {
  const result = resultSchema.safeParse(job.result);
  if (!result.success) return '';
  const { file, kind, updates, trainedTokens, stages } = result.data;
  const use =
    kind === 'adapter'
      ? `--model ${shellWord(options.base)} --adapter ${shellWord(file)}`
      : `--model ${shellWord(file)}`;
  return [
    ...stages.map((stage) => `${stage.name}: ${number(stage.rows)} rows, ${number(stage.updates)} updates`),
    `${number(updates)} updates on ${number(trainedTokens)} row tokens`,
    `${kind}: ${file}`,
    '',
    `Use it:  daydream rollout ${use}`,
  ].join('\n');
}

const field = trainRunSchema.shape;

export function addTrain(program: Command): void {
  program
    .command('train')
    .description('train an adapter, or the whole model, on a data set of Early Experience')
    .requiredOption(
      '--dataset <dataset>',
      'id of a stored data set, or its first characters, or a folder with its jsonl files',
    )
    .requiredOption('--base <model>', 'id, name or path of the GGUF to start from')
    .addOption(
      new Option('--recipe <recipe>', 'what is learnt, and in which order')
        .choices(recipeSchema.options)
        .default('il'),
    )
    .option('--epochs <n>', 'passes over the rows (not of next states)', numberIn(field.epochs), 1)
    .option('--iwm-epochs <n>', 'passes over the rows of next states', numberIn(field.iwmEpochs), 1)
    .option('--updates <n>', 'of each stage, instead of epochs', numberIn(field.updates))
    .option('--batch <rows>', 'rows of one update', numberIn(field.batchRows), 16)
    .option('--learning-rate <rate>', 'at its peak', numberIn(field.learningRate), 2e-4)
    .option('--full', 'train all weights instead of an adapter', false)
    .option('--rank <n>', 'of the adapter', numberIn(trainingModeSettingsSchema.shape.rank), 16)
    .option('--adapter <file>', 'continue from this adapter, with its rank and alpha')
    .addOption(
      new Option('--group-by <what>', 'what stands side by side in a pass')
        .choices(['row', 'state', 'episode'])
        .default('state'),
    )
    .option(
      '--block-tokens <n>',
      'longest row, and most tokens computed at once',
      numberIn(field.maxBlockTokens),
      2048,
    )
    .addOption(
      new Option('--device <device>', 'where').choices(['cpu', 'cuda', 'vulkan', 'metal']).default('cpu'),
    )
    .option('--name <name>', 'shown in lists', '')
    .option(
      '--set <key=value>',
      'change any field of the training (dotted path); may be repeated',
      collect,
      [],
    )
    .addHelpText(
      'after',
      `
Examples:
  daydream train --dataset 0193f2… --base model.gguf
  daydream train --dataset ./household-ee --base model.gguf --recipe iwm-il --epochs 2
  daydream train --dataset ./household-ee --base model.gguf --full --learning-rate 1e-4
  daydream train --dataset ./household-ee --base model.gguf --full --set optimizer=muon --set schedule.kind=linear
`,
    )
    .action((options: TrainOptions, command: Command) =>
      withSession(command, (work) => train(work, options, command), { runsJobs: true }),
    );
}
