/** Pre-training of the starter: batches of the generated text through the application's own trainer, resumable at any update. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import { createNodeSpawner } from '../../src/core/process/index.ts';
import {
  createBatchReader,
  firstBatch,
  readManifest,
  parseTokenizer,
  writeStarterGguf,
} from '../../src/core/starter/index.ts';
import type { BatchCursor, StarterShape } from '../../src/core/starter/index.ts';
import { readGguf } from '../../src/core/llm/index.ts';
import { TrainerClient, architectureOf, learningRate, storedTensors } from '../../src/core/training/index.ts';
import type { Trainer } from '../../src/core/training/port.ts';

export interface Pretraining {
  folder: string;
  shape: StarterShape;
  /** Tokens to have seen in the end. */
  tokens: number;
  tokensOfBatch: number;
  learningRate: number;
  muonFactor: number;
  threads: number;
  seed: number;
  signal: AbortSignal;
}

const noteSchema = z.object({
  cursor: z.object({ epoch: z.int(), shard: z.int(), document: z.int() }),
  tokens: z.int(),
});

const checkpointEvery = 50;
const printEvery = 10;

/** Writes `checkpoint.bin` and `starter.gguf` as it goes; given again, it goes on where it was. */
export async function pretrain(options: Pretraining): Promise<void> {
  const { folder, signal } = options;
  const initial = path.join(folder, 'initial.gguf');
  const checkpoint = path.join(folder, 'checkpoint.bin');
  const trainer = createTrainer();
  try {
    await openTrainer(trainer, initial, options);
    let at: { cursor: BatchCursor; tokens: number; update: number } = {
      cursor: firstBatch,
      tokens: 0,
      update: 0,
    };
    if (existsSync(checkpoint)) {
      const { update, note } = await trainer.restore({ file: checkpoint });
      at = { ...noteSchema.parse(note), update };
      console.log(`going on from update ${String(update)}, ${at.tokens.toLocaleString('en')} tokens`);
    }
    const reader = createBatchReader(folder, readManifest(folder), {
      seed: options.seed,
      tokensOfBatch: options.tokensOfBatch,
    });
    const updates = Math.ceil(options.tokens / options.tokensOfBatch);
    const schedule = { kind: 'cosine', warmupShare: 0.03, finalShare: 0.1 } as const;
    let mean = { loss: 0, tokens: 0, computed: 0, ms: 0, count: 0 };
    while (at.tokens < options.tokens && !signal.aborted) {
      const batch = reader.at(at.cursor);
      const metrics = await trainer.step(batch.rows, {
        objective: { kind: 'likelihood' },
        learningRate: learningRate(Math.min(at.update + 1, updates), updates, options.learningRate, schedule),
        stopNorm: null,
      });
      at = { cursor: batch.next, tokens: at.tokens + batch.tokens, update: at.update + 1 };
      mean = {
        loss: mean.loss + metrics.loss,
        tokens: mean.tokens + metrics.flatTokens,
        computed: mean.computed + metrics.computedTokens,
        ms: mean.ms + metrics.ms,
        count: mean.count + 1,
      };
      if (at.update % printEvery === 0) {
        const rate = (tokens: number): string => Math.round((1000 * tokens) / mean.ms).toLocaleString('en');
        console.log(
          `update ${String(at.update)}  ${at.tokens.toLocaleString('en')} tokens  loss ${(mean.loss / mean.count).toFixed(4)}  ` +
            `${rate(mean.tokens)} tokens/s (${rate(mean.computed)} computed)`,
        );
        mean = { loss: 0, tokens: 0, computed: 0, ms: 0, count: 0 };
      }
      if (at.update % checkpointEvery === 0) {
        await save(trainer, checkpoint, at);
        await writeModel(trainer, options, at.tokens);
      }
    }
    await save(trainer, checkpoint, at);
    await writeModel(trainer, options, at.tokens);
  } finally {
    await trainer.close();
  }
}

export function createTrainer(): Trainer {
  return new TrainerClient({
    spawner: createNodeSpawner({ onStderr: () => undefined }),
    clock: { now: () => Date.now() },
    log: { debug: () => undefined, info: () => undefined, warn: console.warn, error: console.error },
  });
}

/** All weights of `file`, trained by Muon and AdamW. */
export async function openTrainer(
  trainer: Trainer,
  file: string,
  options: Pick<Pretraining, 'muonFactor' | 'seed' | 'threads'>,
): Promise<void> {
  const header = readGguf(file);
  await trainer.open({
    architecture: architectureOf(header, file),
    base: { kind: 'file', file, tensors: storedTensors(header, file) },
    mode: { kind: 'full' },
    adapter: null,
    valueHead: false,
    device: 'cpu',
    threads: options.threads,
    seed: options.seed,
    adam: {
      beta1: 0.9,
      beta2: 0.95,
      epsilon: 1e-8,
      weightDecay: 0.01,
      clipNorm: 1,
      muon: { momentum: 0.95, rateFactor: options.muonFactor },
    },
    limits: { longestBlock: 1024, mostTokens: 4096, share: true },
  });
}

function save(trainer: Trainer, file: string, { cursor, tokens }: { cursor: BatchCursor; tokens: number }) {
  return trainer.save({ file, note: { cursor: { ...cursor }, tokens } });
}

async function writeModel(trainer: Trainer, { folder, shape }: Pretraining, tokens: number): Promise<void> {
  const values = new Map((await trainer.weights()).map((tensor) => [tensor.name, tensor.values]));
  const file = path.join(folder, 'starter.gguf');
  writeStarterGguf(file, {
    name: 'Daydream starter',
    description: `Pre-trained on ${tokens.toLocaleString('en')} generated tokens: errands in other worlds, random household play, next states, short reflections.`,
    shape,
    tokenizer: parseTokenizer(readFileSync(path.join(folder, 'tokenizer.json'), 'utf8')),
    type: 'F16',
    weights: (name) => {
      const found = values.get(name);
      if (found === undefined) throw new RangeError(`The trainer gave no ${name}.`);
      return found;
    },
  });
  writeFileSync(path.join(folder, 'pretrained.json'), `${JSON.stringify({ tokens }, null, 1)}\n`);
}
