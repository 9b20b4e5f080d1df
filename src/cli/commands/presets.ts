import type { Command } from 'commander';
import type { Client } from '#shared/contract/index.ts';
import { AppError } from '#shared/errors.ts';
import type { Preset } from '#shared/schema/run.ts';
import { withSession } from '../command.ts';
import { exitCodes } from '../exit-codes.ts';
import { printResult, table } from '../output.ts';

export async function findPreset(client: Client, name: string): Promise<Preset> {
  const presets = await client.runs.presets();
  const found = presets.find(({ presetId, title }) => presetId === name || title === name);
  if (found !== undefined) return found;
  const known = presets.map(({ presetId }) => presetId).join(', ');
  throw new AppError({
    code: 'NOT_FOUND',
    message: `There is no preset and no file ${name}. Presets: ${known}.`,
  });
}

export function addPresets(program: Command): void {
  const presets = program.command('presets').description('runs to start from; each says what it reproduces');
  presets
    .command('list', { isDefault: true })
    .description('built-in and saved ones')
    .action((_options: unknown, command: Command) =>
      withSession(command, async ({ client, json }) => {
        const all = await client.runs.presets();
        printResult(json, all, () =>
          table(
            all,
            [
              { title: 'preset', value: ({ presetId }) => presetId },
              { title: 'what it does', value: ({ summary, title }) => summary || title },
              {
                title: 'reproduces',
                value: ({ reproduces, builtIn }) => (builtIn ? reproduces : 'saved by you'),
              },
            ],
            'No presets.',
          ),
        );
        return exitCodes.ok;
      }),
    );
  presets
    .command('show')
    .description('its YAML, to copy and edit')
    .argument('<preset>', 'name')
    .addHelpText('after', '\nExample:\n  daydream presets show early-experience-small > mine.yaml\n')
    .action((name: string, _options: unknown, command: Command) =>
      withSession(command, async ({ client, json }) => {
        const preset = await findPreset(client, name);
        printResult(json, preset, () => preset.yaml.trimEnd());
        return exitCodes.ok;
      }),
    );
}
