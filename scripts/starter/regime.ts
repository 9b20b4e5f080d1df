/**
 * The regime: success of imitation learning against the number of demonstrations. Everything is done by the application's own commands
 * (collect, train, act on the development split), so each number can be had by hand; given again, what was measured is not repeated.
 */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { stringify } from 'yaml';
import { z } from 'zod';
import { makeFolder } from '../../src/core/make-folder.ts';
import { percent, shareWords } from './share.ts';

export interface Regime {
  model: string;
  /** Data folder, files of the runs, `regime.jsonl`. */
  folder: string;
  demonstrations: readonly number[];
  seeds: readonly number[];
  updates: number;
  learningRate: number;
  tasks: number;
  maxSteps: number;
}

const pointSchema = z.object({
  model: z.string(),
  /** Of the model's file: another model of the same name is measured anew. */
  modelSha256: z.string(),
  demonstrations: z.int(),
  seed: z.int(),
  updates: z.int(),
  learningRate: z.number(),
  trainingSeconds: z.number(),
  split: z.string(),
  tasks: z.int(),
  maxSteps: z.int(),
  scored: z.int(),
  successes: z.int(),
  steps: z.int(),
  invalidActions: z.int(),
  parseFailures: z.int(),
});
type Point = z.infer<typeof pointSchema>;
type Measured = Pick<
  Point,
  'trainingSeconds' | 'scored' | 'successes' | 'steps' | 'invalidActions' | 'parseFailures'
>;

const collected = z.object({ result: z.object({ export: z.object({ folder: z.string() }) }) });
const trained = z.object({ activeMs: z.number(), result: z.object({ file: z.string() }) });
const acted = z.object({
  result: z.object({
    scored: z.int(),
    successes: z.int(),
    steps: z.int(),
    invalidActions: z.int(),
    parseFailures: z.int(),
    failed: z.int(),
  }),
});

/** Prints the table as it grows. @throws Error with the end of what a command said, when one fails */
export async function printRegime(regime: Regime): Promise<void> {
  const { folder, demonstrations, seeds } = regime;
  makeFolder(folder);
  const modelSha256 = createHash('sha256').update(readFileSync(regime.model)).digest('hex');
  const file = path.join(folder, 'regime.jsonl');
  for (const count of demonstrations) {
    for (const seed of seeds) {
      const wanted = { ...settingsOf(regime, modelSha256), demonstrations: count };
      const measured = read(file).filter((point) => agrees(point, wanted));
      let own = measured.find((point) => point.seed === seed);
      if (own === undefined) {
        own = { ...wanted, seed, ...(await measure(regime, count, seed)) };
        appendFileSync(file, `${JSON.stringify(own)}\n`);
        measured.push(own);
      }
      console.log(lineOf(measured));
    }
  }
}

type Settings = Omit<Point, keyof Measured | 'demonstrations' | 'seed'>;

/** Everything but seed and demonstrations that decides a point. */
function settingsOf(regime: Regime, modelSha256: string): Settings {
  const { model, updates, learningRate, tasks, maxSteps } = regime;
  return {
    model: path.basename(model),
    modelSha256,
    updates,
    learningRate,
    split: 'development',
    tasks,
    maxSteps,
  };
}

function agrees(point: Point, wanted: Partial<Point>): boolean {
  return (Object.keys(wanted) as (keyof Point)[]).every((key) => point[key] === wanted[key]);
}

async function measure(regime: Regime, count: number, seed: number): Promise<Measured> {
  const data = path.join(regime.folder, 'data');
  const common = ['--data-dir', data, '--seed', String(seed), '--json'];
  const sets = [
    `policy.model=${regime.model}`,
    `environment.tasks=${String(count)}`,
    'policy.prompt=compact',
    'policy.thought=false',
    'branching.iwm.enabled=false',
    'branching.sr.enabled=false',
    'reflection.enabled=false',
  ].flatMap((set) => ['--set', set]);
  const dataset = collected.parse(await daydream(['run', 'early-experience-small', ...sets, ...common]))
    .result.export.folder;
  const training = trained.parse(
    await daydream([
      ...['train', '--dataset', dataset, '--base', regime.model, '--recipe', 'il', '--full'],
      ...['--updates', String(regime.updates), '--learning-rate', String(regime.learningRate)],
      ...['--group-by', 'episode', '--set', 'optimizer=muon', ...common],
    ]),
  );
  const run = path.join(regime.folder, 'act.yaml');
  writeFileSync(run, stringify(evaluation(regime, training.result.file)));
  const { result } = acted.parse(await daydream(['run', run, ...common]));
  // A broken machine says nothing about the model.
  if (result.failed > 0) throw new Error(`${String(result.failed)} episodes failed.`);
  const { scored, successes, steps, invalidActions, parseFailures } = result;
  return {
    trainingSeconds: training.activeMs / 1000,
    ...{ scored, successes, steps, invalidActions, parseFailures },
  };
}

function evaluation({ tasks, maxSteps }: Regime, model: string): unknown {
  return {
    kind: 'rollout',
    name: 'Regime',
    environment: { id: 'household-small', split: 'development', tasks, shuffle: false },
    policy: { model, prompt: 'compact', thought: false, maxTokens: 32 },
    limits: { maxSteps, maxPromptTokens: 1900 },
    parallel: 8,
  };
}

/** The JSON that a command prints. */
async function daydream(words: readonly string[]): Promise<unknown> {
  const child = spawn(process.execPath, [path.resolve('src/cli/main.ts'), ...words], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const output: Buffer[] = [];
  let said = '';
  child.stdout.on('data', (part: Buffer) => output.push(part));
  child.stderr.on('data', (part: Buffer) => {
    said = `${said}${part.toString()}`.slice(-2000);
  });
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  if (code !== 0)
    throw new Error(`daydream ${words.join(' ')} ended with ${String(code)}:\n${said.slice(-1500)}`);
  return JSON.parse(Buffer.concat(output).toString());
}

function read(file: string): Point[] {
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, 'utf8').split('\n').filter(Boolean);
  return lines.map((line) => pointSchema.parse(JSON.parse(line)));
}

function lineOf(points: readonly Point[]): string {
  const sum = (key: 'scored' | 'successes' | 'steps' | 'invalidActions' | 'trainingSeconds'): number =>
    points.reduce((total, point) => total + point[key], 0);
  const each = points.map((point) => percent(point.successes / point.scored)).join(', ');
  const [first] = points;
  const successes = shareWords(
    sum('successes'),
    sum('scored'),
    points.length > 1 ? ' as if the seeds had no tasks in common' : '',
  );
  return (
    `${String(first?.demonstrations).padStart(5)} demonstrations  ${successes}  seeds ${each}  ` +
    `inadmissible ${percent(sum('invalidActions') / sum('steps'))}  ` +
    `training ${(sum('trainingSeconds') / points.length).toFixed(0)} s`
  );
}
