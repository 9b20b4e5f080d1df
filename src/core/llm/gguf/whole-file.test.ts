import { existsSync, mkdtempSync, readFileSync, readdirSync, readlinkSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { copyGguf, writeRandomGguf } from '#core/llm/index.ts';
import { writeWhole } from './whole-file.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'daydream-whole-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

/** What this process holds open below the folder: a removed file that is still open keeps its space. */
function heldOpen(): string[] {
  if (!existsSync('/proc/self/fd')) return [];
  return readdirSync('/proc/self/fd').flatMap((descriptor) => {
    try {
      const target = readlinkSync(path.join('/proc/self/fd', descriptor));
      return target.startsWith(folder) ? [target] : [];
    } catch {
      // The one that lists the folder is gone by now.
      return [];
    }
  });
}

it('is there as a whole', () => {
  const file = path.join(folder, 'a.bin');
  writeWhole(file, (write) => {
    write(Buffer.from('one '));
    write(Buffer.from('two'));
  });
  expect(readFileSync(file, 'utf8')).toBe('one two');
  expect([readdirSync(folder), heldOpen()]).toEqual([['a.bin'], []]);
});

it('leaves nothing behind, and nothing open, when writing fails', () => {
  expect(() => {
    writeWhole(path.join(folder, 'a.bin'), (write) => {
      write(Buffer.alloc(10));
      throw new Error('no room');
    });
  }).toThrow('no room');
  expect([readdirSync(folder), heldOpen()]).toEqual([[], []]);
});

it('so does the copy of a model, which can be cancelled', async () => {
  const base = path.join(folder, 'random-weights-base.gguf');
  writeRandomGguf(base, { seed: 1 });
  const copy = path.join(folder, 'copy.gguf');
  await copyGguf(base, copy, () => null);
  expect(readFileSync(copy).length).toBeGreaterThan(0.9 * readFileSync(base).length);
  rmSync(copy);
  await expect(copyGguf(base, copy, () => new Float32Array(3))).rejects.toThrow('3 values');
  const signal = AbortSignal.abort(new Error('enough'));
  await expect(copyGguf(base, copy, () => null, { signal })).rejects.toThrow('enough');
  expect([readdirSync(folder), heldOpen()]).toEqual([['random-weights-base.gguf'], []]);
});
