/**
 * A full disk cannot be made without rights on the machine; the system call's answer stands in for it. Where there are rights,
 * test/slow/disk-full.test.ts fills a real one.
 */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import type * as promises from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { beforeEach, expect, test, vi } from 'vitest';
import { datasetIdSchema } from '#shared/ids.ts';
import { writeDataset } from '#core/datasets/index.ts';
import { soundRow, wholeContent } from '#test/helpers/sft-rows.ts';

/** The file that cannot even be opened, and how many of the others were opened and closed. */
const files = vi.hoisted(() => ({ unopenable: '', opened: 0, closed: 0 }));
beforeEach(() => {
  Object.assign(files, { unopenable: '', opened: 0, closed: 0 });
});

vi.mock('node:fs/promises', async (original) => {
  const real = await original<typeof promises>();
  const full = () => Promise.reject(Object.assign(new Error('no space left on device'), { code: 'ENOSPC' }));
  const open: typeof real.open = async (...args) => {
    const name = path.basename(String(args[0]));
    if (name === files.unopenable) return full();
    const handle: promises.FileHandle = await real.open(...args);
    if (!name.endsWith('.jsonl')) return handle;
    files.opened += 1;
    handle.write = full;
    const close = handle.close.bind(handle);
    handle.close = () => {
      files.closed += 1;
      return close();
    };
    return handle;
  };
  return { ...real, open };
});

/** Writes one row; what it was refused with, and what was left there. */
async function attempt(): Promise<{ refusal: unknown; left: string[] }> {
  const root = mkdtempSync(path.join(tmpdir(), 'daydream-full-'));
  try {
    const refusal: unknown = await writeDataset(
      { folder: path.join(root, 'set'), name: 'x', owner: datasetIdSchema.parse('d'), maxCharacters: null },
      async (writer) => {
        await writer.add('expert_sft', soundRow());
        return wholeContent();
      },
      { signal: new AbortController().signal },
    ).catch((thrown: unknown) => thrown);
    return { refusal, left: readdirSync(root) };
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

const refusedAsFull = {
  code: 'DISK_FULL',
  message: expect.stringContaining('collected data are kept') as string,
};

test('a full disk removes the half-written export and says what was kept', async () => {
  expect(await attempt()).toMatchObject({ refusal: refusedAsFull, left: [] });
  expect(files).toMatchObject({ opened: 3, closed: 3 });
});

test('a file that cannot be opened leaves none of the others open', async () => {
  files.unopenable = 'iwm_sft.jsonl';
  expect(await attempt()).toMatchObject({ refusal: refusedAsFull, left: [] });
  expect(files).toMatchObject({ opened: 1, closed: 1 });
});
