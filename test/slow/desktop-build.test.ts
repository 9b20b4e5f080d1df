import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';

const run = promisify(execFile);
const project = path.resolve(import.meta.dirname, '../..');
const tool = (...args: string[]) =>
  run(process.execPath, [path.join(project, 'bin/use-node.js'), ...args], { cwd: project, timeout: 120_000 });

describe('the built desktop application', () => {
  beforeAll(async () => {
    await tool('electron-vite', 'build', '--logLevel', 'warn');
  });

  it('has a CommonJS preload without any module of its own', () => {
    const preload = readFileSync(path.join(project, 'out/preload/index.cjs'), 'utf8');
    expect([...preload.matchAll(/require\("([^"]+)"\)/g)].map(([, name]) => name)).toEqual(['electron']);
    expect(preload).not.toMatch(/^import /m);
  });

  it('has the entry that package.json names', () => {
    const { main } = JSON.parse(readFileSync(path.join(project, 'package.json'), 'utf8')) as { main: string };
    expect(existsSync(path.join(project, main))).toBe(true);
  });

  it('bundles no package', () => {
    expect(existsSync(path.join(project, 'out/node_modules'))).toBe(false);
    expect(existsSync(path.join(project, 'out/_virtual'))).toBe(false);
  });

  it('runs: core, page, presets, version and inference process are found from the build', async () => {
    const folder = await mkdtemp(path.join(tmpdir(), 'daydream-built-'));
    try {
      const { stdout } = await tool('node', 'test/electron/built-desktop.ts', folder);
      expect(JSON.parse(stdout.trim().split('\n').at(-1) ?? '')).toEqual({
        host: 'electron',
        version: expect.stringMatching(/^\d+\.\d+\.\d+/) as string,
        environments: expect.any(Number) as number,
        presets: expect.any(Number) as number,
        script: 'text/javascript; charset=utf-8',
        worker: { kind: 'ready' },
      });
      expect(stdout).not.toContain('"presets":0');
      expect(stdout).not.toContain('"environments":0');
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
});
