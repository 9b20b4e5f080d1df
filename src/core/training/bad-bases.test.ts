/** What a file or a batch can have wrong: said by name, before anything is computed, and the process lives on. */
import { mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { OpenParams, StoredTensor } from '#shared/worker/trainer.ts';
import { readGguf } from '#core/llm/index.ts';
import { architectureOf, storedTensors } from '#core/training/index.ts';
import type { TrainerClient } from '#core/training/index.ts';
import { architectureVocabulary, writeArchitectureGguf } from '#test/helpers/architecture-gguf.ts';
import { fileParams, newTrainer } from '#test/helpers/file-trainer.ts';

let folder: string;
let file: string;
let good: OpenParams;
let tensors: StoredTensor[];
let trainer: TrainerClient;
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'daydream-bad-bases-'));
  file = path.join(folder, 'llama.gguf');
  writeArchitectureGguf(file, 'llama', { seed: 5 });
  good = fileParams(file);
  tensors = good.base.kind === 'file' ? good.base.tensors : [];
  trainer = newTrainer();
});
afterAll(async () => {
  await trainer.close();
  rmSync(folder, { recursive: true, force: true });
});

function withTensors(changed: StoredTensor[]): OpenParams {
  return { ...good, base: { kind: 'file', file, tensors: changed } };
}

const changed = (name: string, change: Partial<StoredTensor>): OpenParams =>
  withTensors(tensors.map((tensor) => (tensor.name === name ? { ...tensor, ...change } : tensor)));

describe('a base with tensors that do not make a model', () => {
  const query = 'blk.0.attn_q.weight';
  it.each<[string, () => OpenParams, RegExp]>([
    [
      'tensors missing',
      () => withTensors(tensors.filter(({ name }) => name !== query && name !== 'output_norm.weight')),
      /output_norm\.weight is missing; blk\.0\.attn_q\.weight is missing\. Nothing was changed/,
    ],
    [
      'a tensor of no known part',
      () =>
        withTensors([
          ...tensors,
          { name: 'blk.0.ffn_gate_exps.weight', shape: [8], type: 0, offset: 0, bytes: 32 },
        ]),
      /blk\.0\.ffn_gate_exps\.weight is not part of llama as it is supported here/,
    ],
    [
      'a tensor of another shape',
      () => changed(query, { shape: [32, 128] }),
      /attn_q\.weight is 32 × 128, expected 64 × 64/,
    ],
    [
      'a type that is not read',
      () => changed(query, { type: 24, bytes: 4096 }),
      /attn_q\.weight is stored in ggml's type 24.*it reads F32, F16/,
    ],
    [
      'rows that do not fill blocks',
      () => changed(query, { type: 12, bytes: 2304 }),
      /rows of 64, no multiple of Q4_K's blocks of 256/,
    ],
    [
      'too few bytes',
      () => changed(query, { bytes: 400 }),
      /attn_q\.weight has 400 bytes, F32 of this shape has 16384/,
    ],
    [
      'more missing than one can list',
      () => withTensors(tensors.slice(0, 2)),
      /; and \d+ more\. Nothing was changed/,
    ],
  ])('is refused: %s', async (_, params, message) => {
    await expect(trainer.open(params())).rejects.toMatchObject({
      code: 'MODEL_UNSUPPORTED',
      message: expect.stringMatching(message) as string,
    });
  });

  it.each<[string, Partial<OpenParams['architecture']>, RegExp]>([
    ['heads that share unevenly', { heads: 4, kvHeads: 3 }, /4 heads do not share 3 key heads evenly/],
    ['rotation wider than a head', { ropeDimensions: 34 }, /34 rotary dimensions do not fit heads of 16/],
    ['an odd rotation', { ropeDimensions: 7 }, /7 rotary dimensions do not fit heads of 16/],
  ])('is refused: %s', async (_, architecture, message) => {
    const params = { ...good, architecture: { ...good.architecture, ...architecture } };
    await expect(trainer.open(params)).rejects.toMatchObject({
      code: 'MODEL_UNSUPPORTED',
      message: expect.stringMatching(message) as string,
    });
  });
});

describe('a base with damaged weights', () => {
  it('is refused with the place of the first NaN', async () => {
    const damaged = path.join(folder, 'nan.gguf');
    const bytes = readFileSync(file);
    const tensor = tensors.find(({ name }) => name === 'blk.1.ffn_up.weight');
    bytes.writeFloatLE(NaN, (tensor?.offset ?? 0) + 4 * 77);
    bytes.writeFloatLE(Infinity, (tensor?.offset ?? 0) + 4 * 99);
    writeFileSync(damaged, bytes);
    await expect(trainer.open(fileParams(damaged))).rejects.toMatchObject({
      code: 'MODEL_FILE_INVALID',
      message: expect.stringMatching(
        /nan\.gguf: the tensor blk\.1\.ffn_up\.weight holds NaN at element 77\./,
      ) as string,
    });
  });

  it('is refused with what is missing, when it was cut off after its header was read', async () => {
    const cut = path.join(folder, 'cut.gguf');
    writeFileSync(cut, readFileSync(file));
    const params = fileParams(cut);
    truncateSync(cut, readFileSync(cut).length - 1000);
    await expect(trainer.open(params)).rejects.toMatchObject({
      code: 'MODEL_FILE_TRUNCATED',
      message: expect.stringMatching(
        /cut\.gguf ends inside the tensor blk\.1\.ffn_down\.weight: \d+ of 24576 bytes/,
      ) as string,
    });
  });
});

describe('a header that the trainer cannot build', () => {
  const header = () => readGguf(file);
  const withMetadata = (key: string, value: string | number | undefined) => {
    const made = header();
    const metadata = new Map(made.metadata);
    if (value === undefined) metadata.delete(key);
    else metadata.set(key, value);
    return { ...made, metadata };
  };
  it.each<[string, string, string | number | undefined, RegExp]>([
    [
      'another architecture',
      'general.architecture',
      'mamba',
      /its architecture is "mamba".*Supported: the architectures llama, qwen2, qwen3, gemma3/,
    ],
    ['another rotation', 'llama.rope.scaling.type', 'yarn', /its rope scaling is "yarn"/],
    ['no layers', 'llama.block_count', undefined, /its metadata lack or contradict: layers/],
  ])('is refused: %s', (_, key, value, message) => {
    expect(() => architectureOf(withMetadata(key, value), file)).toThrow(message);
  });

  it('is refused: a tensor type of a later ggml', () => {
    const made = header();
    const later = { ...made, tensors: made.tensors.map((tensor) => ({ ...tensor, type: 99, bytes: null })) };
    expect(() => storedTensors(later, file)).toThrow(/has the unknown type 99/);
  });
});

describe('a batch that does not fit the model', () => {
  it.each<[string, number[], number[], RegExp]>([
    [
      'a token beyond the vocabulary',
      [1, 2, architectureVocabulary],
      [1],
      /row 0: token 300 at position 2 is not in the vocabulary of 300/,
    ],
    ['a negative token', [1, -1, 2], [2], /row 0: token -1 at position 1/],
    ['a target beyond the row', [1, 2, 3], [3], /row 0: no target at 3/],
    ['a target with nothing before it', [1, 2, 3], [0], /row 0: no target at 0/],
    [
      'longer than the longest block',
      Array.from({ length: 300 }, () => 5),
      [1],
      /a row of 300 tokens is longer than the longest block, 256/,
    ],
  ])('is refused: %s', async (_, tokens, targets, message) => {
    await trainer.open(good);
    const rows = [{ tokens: Int32Array.from(tokens), targets: Int32Array.from(targets) }];
    await expect(trainer.score(rows, { adapters: true })).rejects.toMatchObject({
      code: 'INVALID_INPUT',
      message: expect.stringMatching(message) as string,
    });
  });

  it('leaves the model usable', async () => {
    const pid = trainer.pid;
    const [scored] = await trainer.score([{ tokens: Int32Array.of(1, 2, 3), targets: Int32Array.of(1, 2) }], {
      adapters: true,
    });
    expect(scored).toHaveLength(2);
    expect(trainer.pid).toBe(pid);
  });
});
