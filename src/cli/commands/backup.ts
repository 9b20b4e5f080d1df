import { resolve } from 'node:path';
import type { Command } from 'commander';
import { withSession } from '../command.ts';
import { exitCodes } from '../exit-codes.ts';
import { bytes, printResult } from '../output.ts';

export function addBackup(program: Command): void {
  program
    .command('backup')
    .description('copy the database while it is in use; the copy is whole')
    .argument('<file>', 'where to')
    .action((file: string, _options: unknown, command: Command) =>
      withSession(command, async ({ client, json }) => {
        const result = await client.system.backup({ file: resolve(file) });
        printResult(json, result, () => `${result.file}: ${bytes(result.bytes)}.`);
        return exitCodes.ok;
      }),
    );
}
