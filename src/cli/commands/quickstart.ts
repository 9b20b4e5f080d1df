import type { Command } from 'commander';
import type { Job } from '#shared/schema/job.ts';
import type { Model } from '#shared/schema/model.ts';
import { AppError } from '#shared/errors.ts';
import { taskSelectionSchema } from '#shared/schema/run.ts';
import { assign, starterName } from '#core/app.ts';
import type { Work } from '../command.ts';
import { withSession } from '../command.ts';
import { goOn, unfinishedTwin } from '../continue-run.ts';
import { printStepsAsTheyHappen } from '../episode-feed.ts';
import { followJob, reportEnd } from '../follow.ts';
import { duration, printResult, say } from '../output.ts';
import { numberIn } from '../parse.ts';
import { promptDefault } from '../prompt-default.ts';
import { datasetText } from '../dataset-text.ts';
import { datasetOf } from '../result-text.ts';
import { findModel } from './models.ts';
import { findPreset } from './presets.ts';

interface QuickstartOptions {
  model?: string;
  tasks: number;
  grammar: boolean;
}

/** The presets are written for a short context and the compact prompt. */
function promptOf(model: Model, grammar: boolean): string[] {
  const { prompt, thought, maxPromptTokens } = promptDefault(model, { maxTokens: 256 });
  return [
    `policy.actionGrammar=${String(grammar)}`,
    `policy.thought=${String(thought && !grammar)}`,
    ...(prompt === 'compact'
      ? []
      : ['policy.prompt=full', `limits.maxPromptTokens=${String(maxPromptTokens)}`]),
  ];
}

/** First the model is seen acting: a few short episodes, one after the other, each step told when it happens. */
async function actingRun({ client, seed }: Work, model: Model, grammar: boolean): Promise<string> {
  const preset = await findPreset(client, 'rollout-quick');
  return assign(preset.yaml, [
    `policy.model=${model.modelId}`,
    ...promptOf(model, grammar),
    `seed=${String(seed ?? 1)}`,
    'environment.tasks=3',
    'limits.maxSteps=6',
    'policy.maxTokens=64',
    'parallel=1',
  ]);
}

async function collectingRun(
  { client, seed }: Work,
  model: Model,
  { tasks, grammar }: { tasks: number; grammar: boolean },
): Promise<string> {
  const preset = await findPreset(client, 'quickstart');
  return assign(preset.yaml, [
    `policy.model=${model.modelId}`,
    ...promptOf(model, grammar),
    `seed=${String(seed ?? 1)}`,
    `environment.tasks=${String(tasks)}`,
  ]);
}

async function quickstart(work: Work, options: QuickstartOptions): Promise<number> {
  const { client, json } = work;
  const model = await findModel(client, options.model ?? starterName);
  if (options.model === undefined) {
    say(
      'No --model was given: this uses the bundled starter model, one million weights that know the commands and not the tasks.',
    );
    say('With your own: npm run quickstart -- --model FILE.gguf\n');
  }
  const acting = await actingRun(work, model, options.grammar);
  const collecting = await collectingRun(work, model, options);
  const begun = await unfinishedTwin(work, collecting);
  let acted: Job | null = null;
  if (begun === null) {
    say('1. The model acts: three episodes, at most six steps each.');
    const twin = await unfinishedTwin(work, acting);
    const job = twin === null ? await client.runs.start({ yaml: acting }) : await goOn(work, twin);
    const onUpdate = json ? undefined : printStepsAsTheyHappen(client.episodes);
    acted = await followJob(work, job.jobId, {
      onInterrupt: 'pause',
      quiet: json,
      ...(onUpdate === undefined ? {} : { onUpdate }),
    });
    if (acted.state !== 'succeeded') return reportEnd(acted);
    say('');
  }
  say('2. Early Experience: demonstrations → branches → reflections → data sets.');
  const job = begun === null ? await client.runs.start({ yaml: collecting }) : await goOn(work, begun);
  const collected = await followJob(work, job.jobId, { onInterrupt: 'pause', quiet: json });
  if (collected.state !== 'succeeded') return reportEnd(collected);
  const dataset = await datasetOf(client, collected);
  if (dataset === null) {
    throw new AppError({
      code: 'NOT_FOUND',
      message: `Job ${collected.jobId} ended without a data set. See: daydream jobs show ${collected.jobId}`,
    });
  }
  // Work, over all attempts, without what was waited for: an earlier run, a pause, a machine that was off.
  const workedMs = (acted?.activeMs ?? 0) + collected.activeMs;
  const open = `npm run daydream -- serve --data-dir ${work.session.dataFolder}`;
  printResult(json, { model, rollout: acted, job: collected, dataset, workedMs, open }, () =>
    [
      '',
      datasetText(dataset),
      `Time at work: ${duration(workedMs)}, measured, with ${model.name}.`,
      ...(model.name === starterName
        ? [
            'The starter is too small to reflect: the filters drop most of its texts, and the rest seldom make sense. Expert and world-model rows do not depend on the model.',
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
    .option('--tasks <n>', 'how many tasks', numberIn(taskSelectionSchema.shape.tasks), 30)
    .option('--grammar', 'confine answers to admissible actions', false)
    .addHelpText(
      'after',
      `
It runs headless, shows the model acting, and ends with a table of what was collected and where the files are. Each stage says what is
left, as measured while it runs. Killed or stopped, the same command goes on where it was.

Examples:
  daydream quickstart
  daydream quickstart --model model.gguf --tasks 100 --seed 2
`,
    )
    .action((options: QuickstartOptions, command: Command) =>
      withSession(command, (work) => quickstart(work, options), { runsJobs: true }),
    );
}
