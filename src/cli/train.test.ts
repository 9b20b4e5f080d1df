/** What `daydream train` and `daydream models merge` say of bad input: what is wrong, what to do, and nothing is made. */
import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { writeRandomGguf } from '#core/llm/index.ts';
import { soundRow } from '#test/helpers/sft-rows.ts';

const entry = new URL('./main.ts', import.meta.url).pathname;
let folder: string;
let base: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'daydream-cli-train-'));
  base = join(folder, 'random-weights-a.gguf');
  writeRandomGguf(base, { seed: 1, words: ['take', 'mug'] });
  const row = {
    ...soundRow(0),
    messages: [
      { role: 'user', content: 'mug '.repeat(100) },
      { role: 'assistant', content: 'take mug' },
    ],
  };
  writeFileSync(join(folder, 'expert_sft.jsonl'), `${JSON.stringify(row)}\n`);
  writeFileSync(join(folder, 'iwm_sft.jsonl'), '');
  const other = readFileSync(base);
  other.write('mamba', other.indexOf('llama', other.indexOf('general.architecture')), 'utf8');
  other.write('mamba', other.indexOf('llama.block_count'), 'utf8');
  writeFileSync(join(folder, 'random-weights-mamba.gguf'), other);
});
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

function daydream(...args: string[]): Promise<{ code: number; said: string }> {
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      [entry, '--data-dir', join(folder, 'data'), ...args],
      { cwd: folder, encoding: 'utf8' },
      (error, stdout, stderr) => {
        resolve({ code: typeof error?.code === 'number' ? error.code : 0, said: stdout + stderr });
      },
    );
  });
}

it.each<[string, string[], RegExp]>([
  ['rows that are too long', ['--block-tokens', '64'], /expert_sft\.jsonl:1 \(\d+\)[^]*nothing was cut/],
  ['a part without rows', ['--recipe', 'iwm-il'], /iwm_sft\.jsonl has no rows/],
  ['an adapter that is a model', ['--adapter', 'random-weights-a.gguf'], /is no adapter/],
  ['a rank for an adapter', ['--adapter', 'a.gguf', '--rank', '8'], /keeps its rank, alpha and targets/],
  ['an alpha for an adapter', ['--adapter', 'a.gguf', '--set', 'weights.alpha=8'], /keeps its rank, alpha/],
  [
    'a rate that is no number',
    ['--learning-rate', 'fast'],
    /'fast' is invalid\. A number above 0, at most 1\./,
  ],
  [
    'a rate out of range',
    ['--learning-rate', '1e30'],
    /'--learning-rate <rate>'.*A number above 0, at most 1\./,
  ],
  ['a block that is too short', ['--block-tokens', '16'], /A whole number from 64 to 131072\./],
  ['a name that is too long', ['--name', 'n'.repeat(121)], /name: .* it takes at most 120 characters/],
  ['a data set of no name', ['--dataset', ''], /The id is empty/],
])(
  'refuses %s',
  async (_, options, message) => {
    const { code, said } = await daydream('train', '--dataset', folder, '--base', base, ...options);
    expect(said).toMatch(message);
    expect(code).not.toBe(0);
  },
  60_000,
);

it('refuses another architecture, and an adapter to merge that is none', async () => {
  const trained = await daydream('train', '--dataset', folder, '--base', 'random-weights-mamba.gguf');
  expect(trained.said).toMatch(/its architecture is "mamba"[^]*llama, qwen2, qwen3, gemma3/);
  expect(trained.code).not.toBe(0);
  const out = join(folder, 'out.gguf');
  const merged = await daydream('models', 'merge', '--base', base, '--adapter', base, '--out', out);
  expect(merged.said).toMatch(/is no adapter/);
  expect(merged.code).not.toBe(0);
  expect(existsSync(out)).toBe(false);
}, 60_000);
