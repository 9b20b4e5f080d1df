import { resolve } from 'node:path';
import type { Command } from 'commander';
import { Option } from 'commander';
import { tasksPerSplitSchema } from '#shared/contract/environments.ts';
import type { EnvironmentId } from '#shared/ids.ts';
import { splitSchema } from '#shared/schema/environment.ts';
import type { Split } from '#shared/schema/environment.ts';
import { withSession } from '../command.ts';
import { exitCodes } from '../exit-codes.ts';
import { bytes, number, printResult, say, table } from '../output.ts';
import { collect, environmentId, numberIn, positiveInteger } from '../parse.ts';

async function list(command: Command): Promise<void> {
  await withSession(command, async ({ client, json }) => {
    const environments = await client.environments.list();
    for (const { environmentId, folder } of await client.environments.missing())
      say(`${environmentId} is away: its games are read from ${folder}, where none can be read now.`);
    printResult(json, environments, () =>
      table(
        environments,
        [
          { title: 'id', value: ({ id }) => id },
          { title: 'benchmark', value: ({ standsBeside }) => standsBeside },
          {
            title: 'tasks',
            value: ({ splits }) => splits.map(({ split, tasks }) => `${split} ${String(tasks)}`).join(', '),
          },
          { title: 'expert', value: ({ expert }) => expert },
          { title: 'snapshot', value: ({ snapshot }) => snapshot },
          { title: 'steps', value: ({ maxSteps }) => maxSteps },
          { title: 'version', value: ({ version }) => version },
        ],
        'No environments.',
      ),
    );
    return exitCodes.ok;
  });
}

/** `train 133, …`, and what it means where nothing is held out. */
function splitsLine(splits: readonly { split: Split; tasks: number }[]): string {
  const words = splits.map(({ split, tasks }) => `${split} ${String(tasks)}`).join(', ');
  const heldOut = splits.some(({ split, tasks }) => split !== 'train' && tasks > 0);
  return heldOut
    ? words
    : `${words}. All are training tasks: no folder is named valid_train, valid_seen or valid_unseen.`;
}

function addExportTasks(environments: Command): void {
  environments
    .command('export')
    .description(
      'write tasks as the original ALFWorld’s files: game.tw-pddl, traj_data.json, initial_state.pddl',
    )
    .argument('<id>', 'environment', environmentId)
    .requiredOption('--out <folder>', 'where to; must be empty or not exist yet')
    .addOption(
      new Option('--split <split>', 'only this one (default: all of them)').choices(splitSchema.options),
    )
    .option('--type <type>', 'only tasks of this type; may be repeated', collect, [])
    .option('--tasks <n>', 'the first so many of each split (default: all of them)', positiveInteger)
    .addHelpText(
      'after',
      `
Examples:
  daydream environments export household --split unseen --out games        134 games in games/valid_unseen
  daydream environments export household-small --split train --tasks 100 --out json_2.1.1
`,
    )
    .action(
      (
        id: EnvironmentId,
        { out, split, type, tasks }: { out: string; split?: Split; type: string[]; tasks?: number },
        command: Command,
      ) =>
        withSession(command, async ({ client, json, signal }) => {
          const written = await client.environments.writeTasks(
            {
              environmentId: id,
              folder: resolve(out),
              split: split ?? null,
              taskTypes: type,
              tasksPerSplit: tasks ?? null,
            },
            { signal },
          );
          printResult(json, written, () =>
            [
              `${number(written.tasks)} tasks of ${id} in ${number(written.files)} files (${bytes(written.bytes)}): ${written.splits.map((one) => `${one.split} ${number(one.tasks)}`).join(', ')}`,
              `Folder: ${written.folder}`,
              'The original plays them: name its train, valid_train, valid_seen or valid_unseen as data path in ALFWorld’s configuration.',
            ].join('\n'),
          );
          return exitCodes.ok;
        }),
    );
}

export function addEnvironments(program: Command): void {
  const environments = program
    .command('environments')
    .description('the worlds that agents act in')
    .addHelpText(
      'after',
      `
Examples:
  daydream environments
  daydream environments check household --tasks 50
  daydream environments add alfworld --folder ~/alfworld/json_2.1.1
  daydream environments export household --split unseen --out games
`,
    );
  environments
    .command('list', { isDefault: true })
    .description('what is installed')
    .action((_options: unknown, command: Command) => list(command));
  environments
    .command('check')
    .description('run the conformance suite: determinism, solver, snapshots, splits, invalid actions')
    .argument('<id>', 'environment', environmentId)
    .option('--tasks <n>', 'tasks of each split', numberIn(tasksPerSplitSchema), 20)
    .action((id: EnvironmentId, { tasks }: { tasks: number }, command: Command) =>
      withSession(command, async ({ client, json, signal }) => {
        const result = await client.environments.check(
          { environmentId: id, tasksPerSplit: tasks },
          { signal },
        );
        printResult(json, result, () =>
          result.rules
            .map(
              ({ rule, passed, checked, unit, detail }) =>
                `${passed ? 'ok  ' : 'FAIL'}  ${rule} (${String(checked)} ${unit})${detail === '' ? '' : `: ${detail}`}`,
            )
            .join('\n'),
        );
        return result.rules.every(({ passed }) => passed) ? exitCodes.ok : exitCodes.environment;
      }),
    );
  environments
    .command('add')
    .description('add a folder of official games; they are read and played natively, without Python')
    .argument('<family>', 'alfworld')
    .requiredOption('--folder <folder>', 'the folder that holds the game.tw-pddl files')
    .option('--id <id>', 'its name here (default: alfworld)', environmentId)
    .action((family: string, { folder, id }: { folder: string; id?: EnvironmentId }, command: Command) => {
      if (family !== 'alfworld') command.error(`error: only the family alfworld can be added, not ${family}`);
      return withSession(command, async ({ client, json }) => {
        const added = await client.environments.addAlfworld({
          folder: resolve(folder),
          ...(id === undefined ? {} : { id }),
        });
        for (const { file, reason } of added.rejected.slice(0, 10)) say(`left out: ${file}: ${reason}`);
        if (added.rejected.length > 10) say(`… and ${String(added.rejected.length - 10)} more left out`);
        printResult(json, added, () =>
          [
            `${added.environment.id}: ${String(added.games)} games added, ${String(added.rejected.length)} files left out.`,
            splitsLine(added.environment.splits),
          ].join('\n'),
        );
        return exitCodes.ok;
      });
    });
  addExportTasks(environments);
  environments
    .command('remove')
    .description('forget an added folder; its files stay')
    .argument('<id>', 'environment', environmentId)
    .action((id: EnvironmentId, _options: unknown, command: Command) =>
      withSession(command, async ({ client, json }) => {
        const result = await client.environments.remove({ environmentId: id });
        printResult(json, result, () =>
          result.removed ? `${id} is forgotten; its files stay.` : `${id} was not there.`,
        );
        return result.removed ? exitCodes.ok : exitCodes.notFound;
      }),
    );
}
