import type { Command } from 'commander';
import { withSession } from '../command.ts';
import { exitCodes } from '../exit-codes.ts';
import { printResult } from '../output.ts';

const marks = { ok: 'ok     ', warning: 'warning', error: 'ERROR  ' } as const;

export function addDoctor(program: Command): void {
  program
    .command('doctor')
    .description(
      'check this machine and this installation: Node, store, inference library, disk, browser, environments',
    )
    .addHelpText('after', '\nEach line that is not ok says what to do. Exit code 1 when one is an error.\n')
    .action((_options: unknown, command: Command) =>
      withSession(command, async ({ client, json, signal }) => {
        const checks = await client.system.doctor(undefined, { signal });
        printResult(json, checks, () =>
          checks
            .map(
              ({ check, status, detail, fix }) =>
                `${marks[status]}  ${check}: ${detail}${fix === '' ? '' : `\n           → ${fix}`}`,
            )
            .join('\n'),
        );
        return checks.some(({ status }) => status === 'error') ? exitCodes.failed : exitCodes.ok;
      }),
    );
}
