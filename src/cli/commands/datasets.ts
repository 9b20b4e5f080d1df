import { resolve } from 'node:path';
import type { Command } from 'commander';
import type { Dataset } from '#shared/schema/dataset.ts';
import { lookInto, withSession } from '../command.ts';
import { exitCodes } from '../exit-codes.ts';
import { printResult, table, when } from '../output.ts';
import { allDatasets } from '../all-datasets.ts';
import { findDataset, findJobId } from '../short-id.ts';

function datasetTable(datasets: readonly Dataset[]): string {
  return table(
    datasets,
    [
      { title: 'id', value: ({ datasetId }) => datasetId },
      { title: 'name', value: ({ name }) => name },
      {
        title: 'rows',
        value: ({ manifest }) => manifest.files.map(({ part, rows }) => `${part} ${String(rows)}`).join(', '),
      },
      { title: 'created', value: ({ createdAt }) => when(createdAt) },
      { title: 'folder', value: ({ folder }) => folder },
    ],
    'No data sets yet. Collect some: daydream run early-experience-small --set policy.model=FILE.gguf',
  );
}

export function addDatasets(program: Command): void {
  const datasets = program
    .command('datasets')
    .description('what was exported, and whether its files are still whole');
  datasets
    .command('list', { isDefault: true })
    .description('newest first')
    .action((_options: unknown, command: Command) =>
      lookInto(command, async ({ client, json }) => {
        const items: Dataset[] = [];
        for await (const dataset of allDatasets(client)) items.push(dataset);
        printResult(json, items, () => datasetTable(items));
        return exitCodes.ok;
      }),
    );
  datasets
    .command('validate')
    .description('read every line of every file again, and every checksum of the manifest')
    .argument('<dataset>', 'id, or its first characters, or the folder of a data set, wherever it came from')
    .addHelpText(
      'after',
      `
Exit code 1 when a line or a checksum is wrong; each problem is named by file and line.

Examples:
  daydream datasets validate 0193f2…
  daydream datasets validate ./household-ee
`,
    )
    .action((typed: string, _options: unknown, command: Command) =>
      withSession(command, async ({ client, json, signal }) => {
        const dataset = await findDataset(client, typed);
        const result =
          'datasetId' in dataset
            ? await client.datasets.validate(dataset, { signal })
            : await client.datasets.validateFolder(dataset, { signal });
        printResult(json, result, () =>
          result.ok
            ? 'Every line and every checksum is right.'
            : result.problems
                .map(
                  ({ file, line, reason }) => `${file}${line === null ? '' : `:${String(line)}`}: ${reason}`,
                )
                .join('\n'),
        );
        return result.ok ? exitCodes.ok : exitCodes.failed;
      }),
    );
}

export function addExport(program: Command): void {
  program
    .command('export')
    .description('write the data sets of a finished Early Experience job again, with the reviews made since')
    .argument('<job>', 'id of the job, or its first characters')
    .option('--folder <folder>', 'where to (default: inside the data folder)')
    .option('--name <name>', 'its name in lists', '')
    .addHelpText('after', '\nExample:\n  daydream export 0193f2… --folder ./household-ee\n')
    .action((typed: string, { folder, name }: { folder?: string; name: string }, command: Command) =>
      withSession(command, async ({ client, json, signal }) => {
        const dataset = await client.datasets.export(
          {
            jobId: await findJobId(client, typed),
            folder: folder === undefined ? null : resolve(folder),
            name,
          },
          { signal },
        );
        printResult(json, dataset, () => datasetTable([dataset]));
        return exitCodes.ok;
      }),
    );
}
