import type { Command } from 'commander';
import type { Job } from '#shared/schema/job.ts';
import type { Model } from '#shared/schema/model.ts';
import { AppError } from '#shared/errors.ts';
import { assign, starterName } from '#core/app.ts';
import type { Work } from '../command.ts';
import { withSession } from '../command.ts';
import { printStepsAsTheyHappen } from '../episode-feed.ts';
import { followJob, reportEnd } from '../follow.ts';
import { duration, printResult, say } from '../output.ts';
import { positiveInteger } from '../parse.ts';
import { datasetText } from '../dataset-text.ts';
import { datasetOf } from '../result-text.ts';
import { findModel } from './models.ts';
import { findPreset } from './presets.ts';

interface QuickstartOptions {
  model?: string;
  tasks: number;
  grammar: boolean;
}

/** How a model is prompted: the starter as it was trained, any other in full. */
function promptOf(model: Model, grammar: boolean): string[] {
  const isStarter = model.name === starterName;
  return [
    `policy.actionGrammar=${String(grammar)}`,
    `policy.thought=${String(!isStarter && !grammar)}`,
    ...(isStarter ? [] : ['policy.prompt=full', 'limits.maxPromptTokens=4096']),
  ];
}

/** First the model is seen acting: a few short episodes, one after the other, each step told when it happens. */
async function watchItAct(work: Work, model: Model, grammar: boolean): Promise<Job> {
  say('1. The model acts: three episodes, at most six steps each.');
  const preset = await findPreset(work.client, 'rollout-quick');
  const yaml = assign(preset.yaml, [
    `policy.model=${model.modelId}`,
    ...promptOf(model, grammar),
    `seed=${String(work.seed ?? 1)}`,
    'environment.tasks=3',
    'limits.maxSteps=6',
    'policy.maxTokens=64',
    'parallel=1',
  ]);
  const job = await work.client.runs.start({ yaml });
  const onUpdate = work.json ? undefined : printStepsAsTheyHappen(work.client.episodes);
  return followJob(work, job.jobId, {
    onInterrupt: 'pause',
    quiet: work.json,
    ...(onUpdate === undefined ? {} : { onUpdate }),
  });
}

async function collect(
  work: Work,
  model: Model,
  { tasks, grammar }: { tasks: number; grammar: boolean },
): Promise<Job> {
  say('\n2. Early Experience: demonstrations → branches → reflections → data sets.');
  const preset = await findPreset(work.client, 'quickstart');
  const yaml = assign(preset.yaml, [
    `policy.model=${model.modelId}`,
    ...promptOf(model, grammar),
    `seed=${String(work.seed ?? 1)}`,
    `environment.tasks=${String(tasks)}`,
  ]);
  const job = await work.client.runs.start({ yaml });
  return followJob(work, job.jobId, { onInterrupt: 'pause', quiet: work.json });
}

async function quickstart(work: Work, options: QuickstartOptions): Promise<number> {
  const startedAt = performance.now();
  const model = await findModel(work.client, options.model ?? starterName);
  if (options.model === undefined) {
    say(
      'No --model was given: this uses the bundled starter model, one million weights that know the commands and not the tasks.',
    );
    say('With your own: npm run quickstart -- --model FILE.gguf\n');
  }
  const { grammar } = options;
  const acted = await watchItAct(work, model, grammar);
  if (acted.state !== 'succeeded') return reportEnd(acted);
  const collected = await collect(work, model, { tasks: options.tasks, grammar });
  if (collected.state !== 'succeeded') return reportEnd(collected);
  const dataset = await datasetOf(work.client, collected);
  if (dataset === null) {
    throw new AppError({
      code: 'NOT_FOUND',
      message: `Job ${collected.jobId} ended without a data set. See: daydream jobs show ${collected.jobId}`,
    });
  }
  const elapsedMs = Math.round(performance.now() - startedAt);
  const open = `npm run daydream -- serve --data-dir ${work.session.dataFolder}`;
  printResult(work.json, { model, rollout: acted, job: collected, dataset, elapsedMs, open }, () =>
    [
      '',
      datasetText(dataset),
      `Time: ${duration(elapsedMs)}, measured, with ${model.name}.`,
      ...(model.name === starterName
        ? [
            'The starter is too small to reflect: its texts have the form and seldom the sense. Expert and world-model rows do not depend on the model.',
          ]
        : []),
      '',
      'Look at all of it in a browser:',
      `  ${open}`,
    ].join('\n'),
  );
  return 0;
}

export function addQuickstart(program: Command): void {
  program
    .command('quickstart')
    .description('the whole collection on a small world: demonstrations, branches, reflections, data sets')
    .option('--model <model>', `id, name or path of a GGUF (default: ${starterName}, bundled)`)
    .option('--tasks <n>', 'how many tasks', positiveInteger, 30)
    .option('--grammar', 'confine answers to admissible actions', false)
    .addHelpText(
      'after',
      `
It runs headless, shows the model acting, and ends with a table of what was collected and where the files are. Without --model and
--tasks it took 52 s on two cores of an AMD EPYC beside other work; each stage says what is left, as measured while it runs.

Examples:
  daydream quickstart
  daydream quickstart --model model.gguf --tasks 100 --seed 2
`,
    )
    .action((options: QuickstartOptions, command: Command) =>
      withSession(command, (work) => quickstart(work, options), { runsJobs: true }),
    );
}
