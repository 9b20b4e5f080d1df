/** `daydream`: the whole application from a terminal. */
import { readFileSync } from 'node:fs';
import { Command, CommanderError } from 'commander';
import { z } from 'zod';
import { clientError } from './client.ts';
import { addBackup } from './commands/backup.ts';
import { addDatasets, addExport } from './commands/datasets.ts';
import { addDoctor } from './commands/doctor.ts';
import { addEnvironments } from './commands/environments.ts';
import { addEpisodes } from './commands/episodes.ts';
import { addJobs } from './commands/jobs.ts';
import { addModels } from './commands/models.ts';
import { addPresets } from './commands/presets.ts';
import { addQuickstart } from './commands/quickstart.ts';
import { addRollout } from './commands/rollout.ts';
import { addRun } from './commands/run.ts';
import { addServe } from './commands/serve.ts';
import { addTrain } from './commands/train.ts';
import { endWithLauncher } from './end-with-launcher.ts';
import { exitCodeHelp, exitCodeOf, exitCodes } from './exit-codes.ts';
import { seed } from './parse.ts';

const { version } = z
  .object({ version: z.string() })
  .parse(JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')));

const program = new Command('daydream')
  .description('Local language-model agents that learn from their own experience.')
  .version(version)
  .option('--json', 'print results as JSON on stdout; progress stays on stderr', false)
  .option(
    '--data-dir <folder>',
    'where everything is kept (default: the system’s application data; or DAYDREAM_DATA)',
  )
  .option('--seed <n>', 'seed of what is started: same seed, same tasks and draws', seed)
  .showSuggestionAfterError()
  .showHelpAfterError('(add --help for examples)')
  .addHelpText(
    'after',
    `
First steps:
  daydream doctor                               is this machine ready?
  daydream quickstart                           the whole collection on a small world
  daydream rollout --model model.gguf --transcripts
  daydream run early-experience-small --set policy.model=model.gguf
  daydream serve                                everything in a browser tab

A command attaches to the host that already runs on the data folder (the desktop window, serve, another command);
otherwise it is the host itself for as long as it runs.

Environment variables:
  DAYDREAM_DATA      the data folder, where --data-dir is not given
  DAYDREAM_API_KEY   key of the server that \`models add --http\` adds
  DAYDREAM_DEBUG     any value: an INTERNAL error is printed with its stack

${exitCodeHelp}
`,
  )
  .exitOverride();

for (const add of [
  addDoctor,
  addQuickstart,
  addRollout,
  addRun,
  addTrain,
  addPresets,
  addJobs,
  addEpisodes,
  addDatasets,
  addExport,
  addModels,
  addEnvironments,
  addServe,
  addBackup,
]) {
  add(program);
}

function inheritOverride(command: Command): void {
  for (const child of command.commands) {
    child.exitOverride();
    inheritOverride(child);
  }
}
inheritOverride(program);

endWithLauncher();

/** A reader that closes early (`| head`) is no failure. */
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  process.exit(error.code === 'EPIPE' ? exitCodes.ok : exitCodes.failed);
});
/** With the terminal gone there is nobody to tell, and still work to put down. */
process.stderr.on('error', () => undefined);

try {
  await program.parseAsync();
} catch (thrown) {
  if (thrown instanceof CommanderError) {
    process.exitCode = thrown.exitCode === 0 ? exitCodes.ok : exitCodes.usage;
  } else {
    const error = clientError(thrown);
    const json = program.opts<{ json: boolean }>().json;
    if (json) process.stdout.write(`${JSON.stringify({ error: error.toRecord() }, null, 2)}\n`);
    process.stderr.write(`${error.code}: ${error.message}\n`);
    process.exitCode = exitCodeOf(error.code);
    if (error.code === 'INTERNAL' && process.env['DAYDREAM_DEBUG'] !== undefined) console.error(error.cause);
  }
}
// Native handles must not keep a finished command alive; what was written to a pipe must still arrive.
process.stdout.write('', () => process.exit());
