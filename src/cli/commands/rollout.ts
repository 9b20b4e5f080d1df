import { resolve } from 'node:path';
import type { Command } from 'commander';
import { Option } from 'commander';
import { stringify } from 'yaml';
import type { EnvironmentId } from '#shared/ids.ts';
import type { Split } from '#shared/schema/environment.ts';
import { splitSchema } from '#shared/schema/environment.ts';
import { samplingSchema } from '#shared/schema/model.ts';
import { roleSchema } from '#shared/schema/policy.ts';
import { limitsSchema, rolloutRunSchema, taskSelectionSchema } from '#shared/schema/run.ts';
import { assign } from '#core/app.ts';
import type { Work } from '../command.ts';
import { withSession } from '../command.ts';
import { number, say } from '../output.ts';
import { collect, environmentId, numberIn } from '../parse.ts';
import { promptDefault } from '../prompt-default.ts';
import { printFinishedEpisodes } from '../episode-feed.ts';
import { absolute, detachHelp, startAndFollow } from '../start-run.ts';
import { findModel } from './models.ts';

interface RolloutOptions {
  model: string;
  adapter?: string;
  environment: EnvironmentId;
  split: Split;
  tasks: number;
  rollouts: number;
  maxSteps?: number;
  temperature?: number;
  maxTokens: number;
  parallel: number;
  grammar: boolean;
  thought: boolean;
  transcripts: boolean;
  set: string[];
  detach: boolean;
}

async function rollout(work: Work, options: RolloutOptions): Promise<number> {
  const { client, json, seed } = work;
  const scripted = options.model.startsWith('scripted:');
  const model = scripted ? null : await findModel(client, options.model);
  const { prompt, thought, maxPromptTokens } = promptDefault(model, options);
  if (
    model !== null &&
    prompt === 'compact' &&
    !options.set.some((set) => set.startsWith('policy.prompt='))
  ) {
    say(
      `${model.name} reads ${number(model.facts?.contextLength ?? 0)} tokens, too few for the usual prompt: it gets the compact one${thought ? '' : ', without thoughts, as it was trained'}. Choose by --set policy.prompt=full.`,
    );
  }
  // What is named on the command line is missing, as a job or a model is; in a run file it would be a wrong field.
  await client.environments.get({ environmentId: options.environment });
  const sampling =
    options.temperature === undefined ? {} : { sampling: { temperature: options.temperature } };
  const yaml = stringify({
    kind: 'rollout',
    name: `Rollout on ${options.environment}`,
    seed: seed ?? 1,
    environment: { id: options.environment, split: options.split, tasks: options.tasks },
    policy: {
      model: model?.modelId ?? options.model,
      adapters: options.adapter === undefined ? [] : [{ path: resolve(options.adapter) }],
      maxTokens: options.maxTokens,
      actionGrammar: options.grammar,
      prompt,
      thought: options.thought && thought,
      ...sampling,
    },
    rolloutsPerTask: options.rollouts,
    limits: { maxSteps: options.maxSteps ?? null, maxPromptTokens },
    parallel: options.parallel,
  });
  const { set: sets, detach } = options;
  const text = {
    yaml: assign(yaml, sets.map(absolute)),
    origin: 'daydream rollout',
    sets,
    generated: true as const,
  };
  return startAndFollow(work, text, {
    detach,
    ...(options.transcripts && !json ? { onUpdate: printFinishedEpisodes(client) } : {}),
  });
}

export function addRollout(program: Command): void {
  program
    .command('rollout')
    .description('let a model act, and store every step of it')
    .requiredOption('--model <model>', 'id, name or path of a GGUF, or scripted:expert / scripted:random')
    .option('--adapter <file>', 'LoRA adapter in GGUF form, on top of the model')
    .option('--environment <id>', 'the world', environmentId, environmentId('household-small'))
    .addOption(new Option('--split <split>', 'of the tasks').choices(splitSchema.options).default('train'))
    .option('--tasks <n>', 'how many tasks', numberIn(taskSelectionSchema.shape.tasks), 8)
    .option('--rollouts <n>', 'episodes of each task', numberIn(rolloutRunSchema.shape.rolloutsPerTask), 1)
    .option('--max-steps <n>', 'step limit (default: the world’s)', numberIn(limitsSchema.shape.maxSteps))
    .option(
      '--temperature <t>',
      'of sampling; 0 takes the likeliest token (default: 0.4)',
      numberIn(samplingSchema.shape.temperature),
    )
    .option('--max-tokens <n>', 'longest answer', numberIn(roleSchema.shape.maxTokens), 256)
    .option('--parallel <n>', 'episodes at a time', numberIn(rolloutRunSchema.shape.parallel), 8)
    .option('--grammar', 'confine the answer to admissible actions', false)
    .option('--no-thought', 'ask for the action alone')
    .option('--transcripts', 'print each episode as it ends', false)
    .option('--set <key=value>', 'change any field of the run (dotted path); may be repeated', collect, [])
    .option('--detach', detachHelp, false)
    .addHelpText(
      'after',
      `
Examples:
  daydream rollout --model model.gguf --transcripts
  daydream rollout --model model.gguf --environment household --split unseen --tasks 134 --seed 3
  daydream rollout --model scripted:expert --tasks 20 --json
  daydream rollout --model model.gguf --set policy.prompt=compact --set limits.maxPromptTokens=2048
`,
    )
    .action((options: RolloutOptions, command: Command) =>
      withSession(command, (work) => rollout(work, options), { runsJobs: true }),
    );
}
