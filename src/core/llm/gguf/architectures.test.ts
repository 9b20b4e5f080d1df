import { existsSync, globSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { isKnownArchitecture, knownArchitectures } from './architectures.ts';

const [library] = globSync('node_modules/@node-llama-cpp/*/bins/*/*llama.*', {
  exclude: ['**/*ggml*'],
}).filter((file) => /(?:^|[\\/])(?:lib)?llama\.[^/\\]*(?:so|dylib|dll)$/u.test(file) && existsSync(file));

test.skipIf(library === undefined)('every name that the bundled library knows is known, and no other', () => {
  const text = readFileSync(library ?? '').toString('latin1');
  const start = text.indexOf('\0clip\0llama\0');
  const table = text.slice(start + '\0clip\0'.length, text.indexOf('\0(unknown)\0', start)).split('\0');
  expect(start).toBeGreaterThan(0);
  const listed = table.filter((name) => name !== '');
  expect(listed.filter((name) => !isKnownArchitecture(name))).toEqual([]);
  // A linker keeps a name that ends another one only there: bert in eurobert.
  const absent = knownArchitectures.filter((name) => !listed.includes(name));
  expect(absent.filter((name) => !text.includes(`${name}\0`))).toEqual([]);
  expect(absent.length).toBeLessThanOrEqual(8);
});

test('what only looks like an architecture is not known', () => {
  for (const name of ['', 'clip', 'llama9', 'Llama', 'unknown'])
    expect(isKnownArchitecture(name)).toBe(false);
});
