import { existsSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { makeFolder } from '#core/make-folder.ts';

let root: string;
beforeEach(() => {
  root = mkdtempSync(path.join(tmpdir(), 'daydream-folder-'));
});
afterEach(() => {
  rmSync(root, { recursive: true, force: true });
});

it('makes a folder with its parents, and is content with one that is there', () => {
  const folder = path.join(root, 'a', 'b', 'c');
  makeFolder(folder);
  makeFolder(folder);
  makeFolder(`${folder}${path.sep}`);
  expect(statSync(folder).isDirectory()).toBe(true);
});

it('says that a file is in the way', () => {
  writeFileSync(path.join(root, 'file'), '');
  for (const folder of [path.join(root, 'file'), path.join(root, 'file', 'a', 'b')]) {
    expect(() => makeFolder(folder)).toThrow(
      expect.objectContaining({ code: 'FILE_INVALID', data: { folder } }),
    );
  }
});

it.skipIf(process.platform === 'win32')('says that a link leads nowhere, and makes nothing there', () => {
  symlinkSync(path.join(root, 'nowhere'), path.join(root, 'link'));
  expect(() => makeFolder(path.join(root, 'link', 'a'))).toThrow(
    expect.objectContaining({ code: 'FILE_INVALID' }),
  );
  expect(existsSync(path.join(root, 'nowhere'))).toBe(false);
});
