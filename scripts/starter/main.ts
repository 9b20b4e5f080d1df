/**
 * Makes the starter model's parts: `node scripts/starter/main.ts data --tokens 2000000 --out FOLDER`. Every command can be stopped and
 * given again. Pre-training and evaluation are the trainer's; they read FOLDER/tokenizer.json, FOLDER/initial.gguf and the shards.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { architectureNumber, readGguf } from '../../src/core/llm/index.ts';
import { makeFolder } from '../../src/core/make-folder.ts';
import { createHouseholdProvider } from '../../src/core/environments/household/provider.ts';
import {
  buildProbes,
  createDocumentSource,
  defaultDocuments,
  generateShards,
  initialWeights,
  parseTokenizer,
  runProbes,
  vocabularyOf,
  writeStarterGguf,
} from '../../src/core/starter/index.ts';
import type { Tokenizer } from '../../src/core/starter/index.ts';
import { printEvaluation } from './evaluate.ts';
import { grow } from './grow.ts';
import { pretrain } from './pretrain.ts';
import { printRegime } from './regime.ts';
import { scoreWithModel } from './score-model.ts';
import { percent, shareWords } from './share.ts';
import { printPromptCosts, printShardStatistics } from './statistics.ts';

const help = `node scripts/starter/main.ts COMMAND --out FOLDER [options]
  tokenizer   FOLDER/tokenizer.json from the first documents   --vocabulary 1536 --documents 6000
  data        shards of the pre-training text (makes the vocabulary first if there is none)   --tokens 2000000
  stats       tokens of the text by kind, and what the policy's prompts cost with this vocabulary
  probes      FOLDER/probes.jsonl, and with --model FILE.gguf the skills that it has   --per-skill 200
  evaluate    --model FILE.gguf only asked to act in household-small   --tasks 96 --max-steps 30
  regime      --model FILE.gguf success of imitation against demonstrations, on the development split
              --demonstrations 100,200,400,800 --seeds 1,2,3 --updates 250 --rate 1e-3 --tasks 96
  pretrain    trains FOLDER/initial.gguf on the shards to FOLDER/starter.gguf   --tokens 4000000 --batch-tokens 8192 --learning-rate 3e-3
  init        FOLDER/initial.gguf: untrained weights with vocabulary and chat format   --layers 4 --dim 128
  grow        FOLDER/initial.gguf: --model FILE.gguf with twice its layers, of which the new ones change nothing yet
Options for all: --seed 1`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    out: { type: 'string' },
    seed: { type: 'string', default: '1' },
    tokens: { type: 'string', default: '2000000' },
    vocabulary: { type: 'string', default: '1536' },
    documents: { type: 'string', default: '6000' },
    model: { type: 'string' },
    'per-skill': { type: 'string', default: '200' },
    tasks: { type: 'string', default: '96' },
    'max-steps': { type: 'string', default: '30' },
    layers: { type: 'string', default: '4' },
    dim: { type: 'string', default: '128' },
    'longest-document': { type: 'string', default: '1024' },
    'batch-tokens': { type: 'string', default: '8192' },
    'learning-rate': { type: 'string', default: '3e-3' },
    'muon-factor': { type: 'string', default: '7' },
    threads: { type: 'string', default: '1' },
    demonstrations: { type: 'string', default: '100,200,400,800' },
    seeds: { type: 'string', default: '1,2,3' },
    updates: { type: 'string', default: '250' },
    rate: { type: 'string', default: '1e-3' },
  },
});

type NumberOption =
  | 'seed'
  | 'per-skill'
  | 'tokens'
  | 'tasks'
  | 'max-steps'
  | 'vocabulary'
  | 'documents'
  | 'layers'
  | 'dim'
  | 'longest-document'
  | 'batch-tokens'
  | 'updates'
  | 'threads';

function number(name: NumberOption): number {
  const value = Number(values[name]);
  if (!Number.isSafeInteger(value) || value < 0)
    throw new RangeError(`--${name} takes a whole number, not ${values[name]}.`);
  return value;
}

const play = [
  { id: 'household-small', share: 0.9 },
  { id: 'household', share: 0.1 },
] as const;

function source() {
  const grounds = play.map(({ id, share }) => ({ provider: createHouseholdProvider(id), share }));
  return createDocumentSource({ ...defaultDocuments, seed: number('seed'), stream: 'train', play: grounds });
}

async function tokenizerOf(folder: string): Promise<Tokenizer> {
  const file = path.join(folder, 'tokenizer.json');
  if (existsSync(file)) return parseTokenizer(readFileSync(file, 'utf8'));
  const training = { documents: number('documents'), vocabularySize: number('vocabulary') };
  const tokenizer = await vocabularyOf(source(), training);
  makeFolder(folder);
  writeFileSync(file, tokenizer.toJson());
  console.log(`${file}: ${String(tokenizer.size)} tokens`);
  return tokenizer;
}

const stop = new AbortController();
process.once('SIGINT', () => {
  stop.abort();
});

async function data(folder: string): Promise<void> {
  const tokenizer = await tokenizerOf(folder);
  const from = performance.now();
  let before: number | null = null;
  const plan = {
    folder,
    tokens: number('tokens'),
    tokensOfShard: 500_000,
    longestDocument: number('longest-document'),
    recipe: { ...defaultDocuments, seed: number('seed'), stream: 'train', play },
  };
  const onShard = (manifest: { tokens: number; shards: readonly { tokens: number }[] }): void => {
    before ??= manifest.tokens - (manifest.shards.at(-1)?.tokens ?? 0);
    const seconds = (performance.now() - from) / 1000;
    const speed = Math.round((manifest.tokens - before) / seconds);
    console.log(`${manifest.tokens.toLocaleString('en')} tokens, ${speed.toLocaleString('en')} tokens/s`);
  };
  printShardStatistics(await generateShards(source(), tokenizer, plan, { signal: stop.signal, onShard }));
}

function shapeOf(dim = number('dim'), layers = number('layers')) {
  return {
    layers,
    dim,
    // 8/3 of the width, in whole blocks of 32: a gated layer then costs what a plain one of four times the width does.
    feedForward: Math.round((dim * 8) / 3 / 32) * 32,
    heads: dim / 32,
    keyValueHeads: dim / 32,
    contextLength: 2048,
    tied: true,
  };
}

function shapeOfFile(file: string) {
  const header = readGguf(file);
  return shapeOf(architectureNumber(header, 'embedding_length'), architectureNumber(header, 'block_count'));
}

async function initial(folder: string): Promise<void> {
  const tokenizer = await tokenizerOf(folder);
  const shape = shapeOf();
  const file = path.join(folder, 'initial.gguf');
  writeStarterGguf(file, {
    name: 'Daydream starter, untrained',
    description: 'Random weights: the beginning of the pre-training.',
    shape,
    tokenizer,
    type: 'F32',
    weights: initialWeights({
      seed: number('seed'),
      layers: shape.layers,
      heads: shape.heads,
      previousTokens: 2,
    }),
  });
  console.log(file);
}

async function growModel(folder: string): Promise<void> {
  if (values.model === undefined) throw new RangeError('grow needs --model FILE.gguf.');
  const to = path.join(folder, 'initial.gguf');
  await grow({
    model: values.model,
    to,
    shape: shapeOfFile(values.model),
    tokenizer: await tokenizerOf(folder),
  });
  console.log(to);
}

async function probes(folder: string): Promise<void> {
  const options = {
    tokenizer: await tokenizerOf(folder),
    household: createHouseholdProvider('household-small'),
    seed: number('seed'),
    perSkill: number('per-skill'),
  };
  const made = await buildProbes(options);
  const file = path.join(folder, 'probes.jsonl');
  writeFileSync(file, made.map((probe) => `${JSON.stringify(probe)}\n`).join(''));
  console.log(`${file}: ${String(made.length)} probes`);
  if (values.model === undefined) return;
  const { score, close } = await scoreWithModel(values.model);
  try {
    for (const { skill, n, right, chance } of await runProbes(made, score, { signal: stop.signal })) {
      console.log(`  ${skill.padEnd(17)} ${shareWords(right, n, `; guessing ${percent(chance)}`)}`);
    }
  } finally {
    await close();
  }
}

async function evaluate(): Promise<void> {
  if (values.model === undefined) throw new RangeError('evaluate needs --model FILE.gguf.');
  await printEvaluation({
    model: values.model,
    split: 'development',
    tasks: number('tasks'),
    maxSteps: number('max-steps'),
    seed: number('seed'),
    signal: stop.signal,
  });
}

function list(name: 'demonstrations' | 'seeds'): number[] {
  const numbers = values[name].split(',').map(Number);
  if (numbers.some((each) => !Number.isSafeInteger(each) || each < 1))
    throw new RangeError(`--${name} takes whole numbers with commas, not ${values[name]}.`);
  return numbers;
}

async function regime(folder: string): Promise<void> {
  if (values.model === undefined) throw new RangeError('regime needs --model FILE.gguf.');
  await printRegime({
    model: path.resolve(values.model),
    folder: path.resolve(folder),
    demonstrations: list('demonstrations'),
    seeds: list('seeds'),
    updates: number('updates'),
    learningRate: Number(values.rate),
    tasks: number('tasks'),
    maxSteps: number('max-steps'),
  });
}

const [command] = positionals;
const folder = values.out;
if (folder === undefined || command === undefined) {
  console.log(help);
  process.exitCode = 2;
} else if (command === 'tokenizer') await tokenizerOf(folder);
else if (command === 'data') await data(folder);
else if (command === 'stats') await printPromptCosts(await tokenizerOf(folder), number('seed'));
else if (command === 'probes') await probes(folder);
else if (command === 'evaluate') await evaluate();
else if (command === 'regime') await regime(folder);
else if (command === 'init') await initial(folder);
else if (command === 'grow') await growModel(folder);
else if (command === 'pretrain') {
  const begun = path.join(folder, 'initial.gguf');
  if (!existsSync(begun)) await initial(folder);
  await pretrain({
    folder,
    shape: shapeOfFile(begun),
    tokens: number('tokens'),
    tokensOfBatch: number('batch-tokens'),
    learningRate: Number(values['learning-rate']),
    muonFactor: Number(values['muon-factor']),
    threads: number('threads'),
    seed: number('seed'),
    signal: stop.signal,
  });
} else {
  console.log(`There is no command ${command}.\n${help}`);
  process.exitCode = 2;
}
