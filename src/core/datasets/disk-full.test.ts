/**
 * A full disk cannot be made without rights on the machine; the system call's answer stands in for it. Where there are rights,
 * test/slow/disk-full.test.ts fills a real one.
 */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import type * as promises from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, test, vi } from 'vitest';
import { datasetIdSchema } from '#shared/ids.ts';
import { writeDataset } from '#core/datasets/index.ts';
import { soundRow, wholeContent } from '#test/helpers/sft-rows.ts';

vi.mock('node:fs/promises', async (original) => {
  const real = await original<typeof promises>();
  const open: typeof real.open = async (...args) => {
    const handle: promises.FileHandle = await real.open(...args);
    if (!String(args[0]).endsWith('.jsonl')) return handle;
    handle.write = () =>
      Promise.reject(Object.assign(new Error('no space left on device'), { code: 'ENOSPC' }));
    return handle;
  };
  return { ...real, open };
});

test('a full disk removes the half-written export and says what was kept', async () => {
  const root = mkdtempSync(path.join(tmpdir(), 'daydream-full-'));
  try {
    const writing = writeDataset(
      { folder: path.join(root, 'set'), name: 'x', owner: datasetIdSchema.parse('d'), maxCharacters: null },
      async (writer) => {
        await writer.add('expert_sft', soundRow());
        return wholeContent();
      },
      { signal: new AbortController().signal },
    );
    await expect(writing).rejects.toMatchObject({
      code: 'DISK_FULL',
      message: expect.stringContaining('collected data are kept') as string,
    });
    expect(readdirSync(root)).toEqual([]);
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
});
