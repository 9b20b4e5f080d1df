import { mkdtempSync, rmSync, utimesSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { writeRandomGguf } from '../random-gguf.ts';
import { createHeaderReader } from './known-headers.ts';

const folder = mkdtempSync(join(tmpdir(), 'daydream-headers-'));
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

it('reads a file once, again when it changed, and says when it is gone', () => {
  const file = join(folder, 'random-weights-a.gguf');
  writeRandomGguf(file, { seed: 1 });
  const read = createHeaderReader();
  const first = read(file);
  expect(read(file)).toBe(first);
  utimesSync(file, 1, 1);
  const second = read(file);
  expect(second).not.toBe(first);
  expect(second).toEqual(first);
  expect(read(file)).toBe(second);
  rmSync(file);
  expect(() => read(file)).toThrow(expect.objectContaining({ code: 'FILE_NOT_FOUND' }));
});
