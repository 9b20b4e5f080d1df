import { resolve } from 'node:path';
import type { Command } from 'commander';
import { fitSizeSchema } from '#shared/contract/models.ts';
import type { Client } from '#shared/contract/index.ts';
import { AppError } from '#shared/errors.ts';
import { measuredWhileBusy } from '#shared/schema/model.ts';
import type { Model, ThreadCalibration } from '#shared/schema/model.ts';
import { knownModel, starterModelFile } from '#core/app.ts';
import { clientError } from '../client.ts';
import { withSession } from '../command.ts';
import { exitCodeOf, exitCodes } from '../exit-codes.ts';
import { bytes, duration, number, printResult, say, table, when } from '../output.ts';
import { numberIn } from '../parse.ts';
import { something } from '../short-id.ts';

/** By id, by the start of an id, by name, by its server's name for it or by path; a path that is not known yet is added. */
export async function findModel(client: Client, reference: string): Promise<Model> {
  something(reference, 'models');
  const models = await client.models.list();
  const meant = knownModel(models, reference, starterModelFile());
  if (meant !== null) return meant;
  const loose = models.filter(
    ({ modelId, name, remoteName }) =>
      modelId.startsWith(reference) || name === reference || remoteName === reference,
  );
  const [only, another] = loose;
  if (another !== undefined) {
    throw new AppError({
      code: 'INVALID_INPUT',
      message: `${reference} names ${String(loose.length)} models. Give the id.`,
    });
  }
  if (only !== undefined) return only;
  // The host may have been started in another folder.
  const path = resolve(reference);
  const [added] = await client.models.add({ path }).catch((thrown: unknown) => {
    const error = clientError(thrown);
    if (error.code !== 'FILE_NOT_FOUND' || /[/\\]|\.gguf$/u.test(reference)) throw error;
    throw new AppError({
      code: 'NOT_FOUND',
      message: `No model here is called ${reference} (\`daydream models\` lists them), and there is no file ${path}.`,
      cause: error,
    });
  });
  if (added === undefined) {
    throw new AppError({ code: 'MODEL_NOT_FOUND', message: `There is no GGUF file at ${reference}.` });
  }
  return added;
}

/** What was measured here, with a mark where the machine was busy meanwhile. */
function threadsText(calibration: ThreadCalibration, modelId: string): string[] {
  const rates = calibration.trials.map(
    ({ threads, tokensPerSecond }) => `${String(threads)}: ${tokensPerSecond.toFixed(1)}`,
  );
  const chosen = `${String(calibration.threads)} threads chosen of ${rates.join(', ')} tokens/s, measured ${when(calibration.at) ?? ''}`;
  if (!measuredWhileBusy(calibration)) return [chosen];
  return [
    `${chosen} WHILE BUSY: others used ${number(calibration.busyCores ?? 0)} cores`,
    `  measure again when nothing else runs: daydream models test ${modelId} --recalibrate`,
  ];
}

function modelTable(models: readonly Model[]): string {
  return table(
    models,
    [
      { title: 'id', value: ({ modelId }) => modelId },
      { title: 'name', value: ({ name }) => name },
      {
        title: 'kind',
        value: ({ kind, facts }) => (facts === null ? kind : `${facts.architecture} ${facts.quantisation}`),
      },
      { title: 'size', value: ({ kind, sizeBytes }) => (kind === 'http' ? null : bytes(sizeBytes)) },
      {
        title: 'template',
        value: ({ facts }) => (facts === null ? null : facts.hasChatTemplate ? 'chat' : 'none (base)'),
      },
      { title: 'problem', value: ({ problem }) => problem?.message ?? '' },
    ],
    'No models yet. Add one: daydream models add FILE.gguf',
  );
}

function inspect(program: Command): void {
  program
    .command('inspect')
    .description('what the file says about itself, and whether it fits in memory, without loading it')
    .argument('<model>', 'id, name or path')
    .option('--context <tokens>', 'context length', numberIn(fitSizeSchema.shape.contextTokens), 4096)
    .option('--sequences <n>', 'conversations decoded together', numberIn(fitSizeSchema.shape.sequences), 8)
    .action((reference: string, options: { context: number; sequences: number }, command: Command) =>
      withSession(command, async ({ client, json }) => {
        const model = await findModel(client, reference);
        const { context: contextTokens, sequences } = options;
        const usable = model.problem === null && model.kind === 'gguf';
        const fit = usable
          ? await client.models.fit({ modelId: model.modelId, contextTokens, sequences })
          : null;
        const calibration = usable ? await client.models.calibration({ modelId: model.modelId }) : null;
        printResult(json, { model, fit, calibration }, () =>
          [
            modelTable([model]),
            ...(model.kind === 'http'
              ? [`address: ${model.location}`]
              : [`file: ${model.location}`, `sha256: ${model.sha256 ?? 'none'}`]),
            ...(model.facts === null
              ? []
              : [
                  `${String(model.facts.layers)} layers, ${model.facts.parameters.toLocaleString('en')} parameters, trained context ${String(model.facts.contextLength)} tokens`,
                ]),
            ...(fit === null
              ? []
              : [
                  ...(calibration === null
                    ? ['threads not measured here yet: the first load does it']
                    : threadsText(calibration, model.modelId)),
                  `${bytes(fit.totalBytes)} needed for ${String(sequences)} × ${String(contextTokens)} tokens, ${bytes(fit.availableBytes)} free: ${fit.fits ? 'fits' : `does not fit. ${fit.advice}`}`,
                  ...(fit.copiedBytes === 0
                    ? []
                    : [
                        `up to ${bytes(fit.copiedBytes)} more while the system keeps pages of the file: this processor’s AMX has its own copy of the matrices`,
                      ]),
                ]),
          ].join('\n'),
        );
        return model.problem === null ? exitCodes.ok : exitCodeOf(model.problem.code);
      }),
    );
}

/** A server loads nothing for us, and when it read and when it wrote is not seen from here. */
function speedText(
  { kind, name }: Model,
  tested: { loadMs: number; promptTokensPerSecond: number | null; completionTokensPerSecond: number | null },
): string[] {
  const writes = tested.completionTokensPerSecond?.toFixed(1);
  if (kind === 'http') {
    return [
      `${name}: the server answered`,
      writes === undefined
        ? 'tokens written: not told by the server'
        : `${writes} tokens/s from the request to the whole answer`,
    ];
  }
  return [
    `${name}: loaded in ${duration(tested.loadMs)}`,
    `reads ${tested.promptTokensPerSecond?.toFixed(1) ?? '–'} tokens/s, writes ${writes ?? '–'} tokens/s`,
  ];
}

function test(program: Command): void {
  program
    .command('test')
    .description('load a file, measure thread counts once, write a few tokens; ask a server for an answer')
    .argument('<model>', 'id, name or path')
    .option('--recalibrate', 'of a file: measure the thread counts again; best when nothing else runs', false)
    .action((reference: string, { recalibrate }: { recalibrate: boolean }, command: Command) =>
      withSession(command, async ({ client, json, signal }) => {
        const model = await findModel(client, reference);
        const { modelId, name } = model;
        const result = await client.models.test({ modelId, recalibrate }, { signal });
        printResult(json, result, () =>
          result.error === null
            ? [
                ...speedText(model, result),
                ...(result.calibration === null ? [] : threadsText(result.calibration, modelId)),
                `it wrote: ${JSON.stringify(result.sample)}`,
              ].join('\n')
            : result.error.message.startsWith(`${name}: `)
              ? result.error.message
              : `${name}: ${result.error.message}`,
        );
        return result.error === null ? exitCodes.ok : exitCodeOf(result.error.code);
      }),
    );
}

export function addModels(program: Command): void {
  const models = program
    .command('models')
    .description('local GGUF files and OpenAI-compatible servers')
    .addHelpText(
      'after',
      `
Examples:
  daydream models add ~/models            every GGUF below the folder
  daydream models inspect qwen2.5-0.5b-instruct-q4_k_m.gguf --context 8192
  daydream models test 3fa94c20e1b2d7a8
  daydream models add --http http://127.0.0.1:8080/v1 --name my-model

A server that wants a key: set DAYDREAM_API_KEY for \`models add --http\`; the key is kept with the entry, in the data folder.
`,
    );
  models
    .command('list', { isDefault: true })
    .description('what is known here')
    .action((_options: unknown, command: Command) =>
      withSession(command, async ({ client, json }) => {
        const known = await client.models.list();
        printResult(json, known, () => modelTable(known));
        return exitCodes.ok;
      }),
    );
  models
    .command('merge')
    .description('add an adapter into its base, to a model file of its own')
    .requiredOption('--base <model>', 'id, name or path of the GGUF')
    .requiredOption('--adapter <file>', 'LoRA adapter in GGUF form')
    .requiredOption('--out <file>', 'the new GGUF')
    .action((options: { base: string; adapter: string; out: string }, command: Command) =>
      withSession(command, async ({ client, json, signal }) => {
        const base = (await findModel(client, options.base)).modelId;
        const merged = await client.training.merge(
          { base, adapter: resolve(options.adapter), file: resolve(options.out) },
          { signal },
        );
        printResult(json, merged, () => modelTable([merged]));
        return exitCodes.ok;
      }),
    );
  models
    .command('add')
    .description('add a GGUF file, a folder of them, or a server')
    .argument('[path]', 'file or folder')
    .option(
      '--http <url>',
      'base URL of an OpenAI-compatible server; its key, if it wants one, is read from DAYDREAM_API_KEY',
    )
    .option('--name <model>', 'the server’s model name')
    .action(
      (path: string | undefined, { http, name }: { http?: string; name?: string }, command: Command) => {
        if ((path === undefined) === (http === undefined))
          command.error('error: give a path, or --http with --name');
        if (http !== undefined && name === undefined) command.error('error: --http also needs --name');
        if (http !== undefined && !/^https?:\/\/[^/]/iu.test(http)) {
          command.error(
            `error: --http takes the base URL of a server, with http:// or https://, not ${JSON.stringify(http)}; for example http://127.0.0.1:8080/v1. Nothing was added.`,
          );
        }
        return withSession(command, async ({ client, json }) => {
          const apiKey = process.env['DAYDREAM_API_KEY'];
          const added =
            http === undefined
              ? await client.models.add({ path: resolve(path ?? '') })
              : [
                  await client.models.addHttp({
                    baseUrl: http,
                    model: name ?? '',
                    ...(apiKey === undefined ? {} : { apiKey }),
                  }),
                ];
          const [own] = added.filter(({ location }) => location === starterModelFile());
          if (own !== undefined && resolve(path ?? '') !== own.location) {
            say(
              `A copy of ${own.name}, byte for byte, was found there. It is the same model: it keeps its name and its place.`,
            );
          }
          printResult(json, added, () => modelTable(added));
          return added.some(({ problem }) => problem === null) ? exitCodes.ok : exitCodes.model;
        });
      },
    );
  inspect(models);
  test(models);
  models
    .command('remove')
    .description('forget an entry; the file stays')
    .argument('<model>', 'id, name or path')
    .action((reference: string, _options: unknown, command: Command) =>
      withSession(command, async ({ client, json }) => {
        const { modelId, name } = await findModel(client, reference);
        const result = await client.models.remove({ modelId });
        printResult(json, result, () => `${name} is forgotten; its file stays.`);
        return exitCodes.ok;
      }),
    );
}
