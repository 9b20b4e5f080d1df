import {
  appendFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { datasetIdSchema } from '#shared/ids.ts';
import type { Dataset, SftRow } from '#shared/schema/dataset.ts';
import { manifestSchema } from '#shared/schema/dataset.ts';
import { DatasetReader, deleteDatasetFolder, validateDataset, writeDataset } from '#core/datasets/index.ts';
import { soundRow, wholeContent, wholeManifest } from '#test/helpers/sft-rows.ts';

let root = '';
beforeEach(() => {
  root = mkdtempSync(path.join(tmpdir(), 'daydream-datasets-'));
});
afterEach(() => {
  rmSync(root, { recursive: true, force: true });
});

const signal = new AbortController().signal;
const target = (extra: object = {}) => ({
  folder: path.join(root, 'set'),
  name: 'A set: "quoted"',
  owner: datasetIdSchema.parse('d1'),
  maxCharacters: 100_000,
  ...extra,
});

async function write(rows: readonly SftRow[], extra: object = {}, abort: AbortSignal = signal) {
  const to = target(extra);
  await writeDataset(
    to,
    async (writer) => {
      for (const row of rows) await writer.add('expert_sft', row);
      return wholeContent();
    },
    { signal: abort },
  );
  return to.folder;
}

const rows = (count: number) => Array.from({ length: count }, (_, index) => soundRow(index));

test('what is written validates, and any page comes back as it was', async () => {
  const written = rows(500);
  const folder = await write(written);
  expect(await validateDataset(folder)).toEqual({ ok: true, problems: [] });
  const reader = new DatasetReader();
  await fc.assert(
    fc.asyncProperty(fc.nat({ max: 520 }), fc.integer({ min: 1, max: 200 }), async (offset, limit) => {
      const page = await reader.rows({ folder }, 'expert_sft', { offset, limit });
      expect(page).toEqual({ rows: written.slice(offset, offset + limit), total: 500 });
    }),
    { numRuns: 60 },
  );
  expect(await reader.rows({ folder }, 'iwm_sft', { offset: 0, limit: 5 })).toEqual({ rows: [], total: 0 });
});

test('a file that grew is indexed again', async () => {
  const folder = await write(rows(3));
  const reader = new DatasetReader();
  await reader.rows({ folder }, 'expert_sft', { offset: 0, limit: 1 });
  appendFileSync(path.join(folder, 'expert_sft.jsonl'), `${JSON.stringify(soundRow(3))}\n`);
  expect((await reader.rows({ folder }, 'expert_sft', { offset: 3, limit: 5 })).rows).toEqual([soundRow(3)]);
});

test('the card’s configurations name the files that have rows', async () => {
  const folder = await write(rows(2));
  const card = readFileSync(path.join(folder, 'README.md'), 'utf8');
  expect(card).toMatch(
    /^---\n[\s\S]*configs:\n- config_name: expert_sft\n {2}data_files: expert_sft\.jsonl\n---\n/u,
  );
  expect(card).not.toContain('config_name: iwm_sft');
  expect(card).toContain('pretty_name: "A set: \\"quoted\\""');
  await expect(card).toMatchFileSnapshot('../../../test/golden/dataset-card.md');
});

test('a row that must not be trained on stops the export and leaves nothing', async () => {
  await expect(write([...rows(2), soundRow(3, { split: 'unseen' })])).rejects.toMatchObject({
    code: 'INTERNAL',
    message: expect.stringContaining('split: a task of unseen') as string,
  });
  await expect(write([soundRow(0), soundRow(0)])).rejects.toMatchObject({
    data: { problem: 'id: not unique' },
  });
  expect(readdirSync(root)).toEqual([]);
});

test('an overlong row is left out whole and counted, never cut', async () => {
  const long = soundRow(9);
  long.messages[1] = { role: 'user', content: 'word '.repeat(201) };
  let dropped: unknown;
  const to = target({ maxCharacters: 500 });
  await writeDataset(
    to,
    async (writer) => {
      for (const row of [soundRow(0), long, soundRow(1)]) await writer.add('expert_sft', row);
      dropped = writer.dropped();
      return wholeContent();
    },
    { signal },
  );
  expect(dropped).toMatchObject([{ part: 'expert_sft', filter: 'overlong', dropped: 1, flagged: null }]);
  const { rows: kept } = await new DatasetReader().rows(to, 'expert_sft', { offset: 0, limit: 9 });
  expect(kept).toEqual([soundRow(0), soundRow(1)]);
});

test('rows that repeat an earlier one word for word are kept and counted', async () => {
  const again = soundRow(0, { episode_id: 'the same game, imported once more' });
  const folder = await write([soundRow(0), soundRow(1), { ...again, id: 'il-again' }]);
  const manifest = manifestSchema.parse(JSON.parse(readFileSync(path.join(folder, 'manifest.json'), 'utf8')));
  expect(manifest.files.map(({ rows: count, repeated }) => [count, repeated])).toEqual([
    [3, 1],
    [0, 0],
    [0, 0],
  ]);
  expect(readFileSync(path.join(folder, 'README.md'), 'utf8')).toContain(
    '- `expert_sft.jsonl`: 1 of 3 rows repeat an earlier one word for word; they are kept',
  );
});

test('a stopped export leaves no folder', async () => {
  const controller = new AbortController();
  const writing = writeDataset(
    target(),
    async (writer) => {
      for (let index = 0; index < 20_000; index += 1) {
        if (index === 10_000) controller.abort();
        await writer.add('expert_sft', soundRow(index));
      }
      return wholeContent();
    },
    { signal: controller.signal },
  );
  await expect(writing).rejects.toMatchObject({ code: 'CANCELLED' });
  expect(readdirSync(root)).toEqual([]);
});

test('nobody else’s folder is overwritten; one’s own earlier attempt is replaced', async () => {
  const folder = path.join(root, 'set');
  mkdirSync(folder);
  writeFileSync(path.join(folder, 'thesis.tex'), 'precious');
  await expect(write(rows(1))).rejects.toMatchObject({ code: 'FILE_EXISTS' });
  expect(readFileSync(path.join(folder, 'thesis.tex'), 'utf8')).toBe('precious');
  rmSync(folder, { recursive: true });
  await write(rows(1));
  await write(rows(2));
  expect((await new DatasetReader().rows({ folder }, 'expert_sft', { offset: 0, limit: 9 })).total).toBe(2);
  await expect(write(rows(1), { owner: datasetIdSchema.parse('d2') })).rejects.toMatchObject({
    code: 'FILE_EXISTS',
  });
});

test('a file that comes into the folder during an export stays, and the export says so', async () => {
  for (const earlier of [false, true]) {
    rmSync(path.join(root, 'set'), { recursive: true, force: true });
    const folder = earlier ? await write(rows(1)) : path.join(root, 'set');
    const before = earlier ? readdirSync(folder) : [];
    const writing = writeDataset(
      target(),
      async (writer) => {
        mkdirSync(folder, { recursive: true });
        writeFileSync(path.join(folder, 'mine.txt'), 'precious');
        await writer.add('expert_sft', soundRow(0));
        return wholeContent();
      },
      { signal },
    );
    await expect(writing).rejects.toMatchObject({
      code: 'FILE_EXISTS',
      message: expect.stringContaining('mine.txt') as string,
    });
    expect(readFileSync(path.join(folder, 'mine.txt'), 'utf8')).toBe('precious');
    expect(readdirSync(folder).sort()).toEqual([...before, 'mine.txt'].sort());
    expect(readdirSync(root)).toEqual(['set']);
  }
});

test.skipIf(process.platform === 'win32')('a link to an empty folder is followed, not replaced', async () => {
  mkdirSync(path.join(root, 'elsewhere'));
  symlinkSync(path.join(root, 'elsewhere'), path.join(root, 'set'));
  const folder = await write(rows(1));
  expect(lstatSync(folder).isSymbolicLink()).toBe(true);
  expect(await validateDataset(folder)).toEqual({ ok: true, problems: [] });
});

test('deleting a data set leaves room for the next one, and what is not its own', async () => {
  const folder = await write(rows(1));
  const set = (owner: string) =>
    ({
      datasetId: datasetIdSchema.parse(owner),
      folder,
      manifest: wholeManifest(),
      name: 'n',
      jobId: null,
      createdAt: 0,
    }) satisfies Dataset;
  await deleteDatasetFolder(set('another that was here before'));
  expect(await validateDataset(folder)).toEqual({ ok: true, problems: [] });
  await deleteDatasetFolder(set('d1'));
  expect(existsSync(folder)).toBe(false);
  await write(rows(2), { owner: datasetIdSchema.parse('d2') });
  writeFileSync(path.join(folder, 'notes.md'), 'precious');
  await deleteDatasetFolder(set('d2'));
  expect(readdirSync(folder)).toEqual(['notes.md']);
  await deleteDatasetFolder(set('d2'));
});

test('every kind of damage is found, by file and line', async () => {
  const damage = async (spoil: (file: string, text: string) => void) => {
    rmSync(path.join(root, 'set'), { recursive: true, force: true });
    const folder = await write(rows(5));
    const file = path.join(folder, 'expert_sft.jsonl');
    spoil(file, readFileSync(file, 'utf8'));
    const { ok, problems } = await validateDataset(folder);
    expect(ok).toBe(false);
    return problems.map(({ line, reason }) => `${String(line)} ${reason}`).join('\n');
  };
  expect(await damage((file, text) => writeFileSync(file, text.slice(0, -30)))).toMatch(/^5 not JSON/mu);
  expect(await damage((file, text) => writeFileSync(file, text.replace('State 2', 'State X')))).toMatch(
    /checksum/u,
  );
  expect(await damage((file, text) => writeFileSync(file, text.replace('"train"', '"seen"')))).toMatch(
    /^1 split/mu,
  );
  expect(await damage((file, text) => writeFileSync(file, text.split('\n').slice(1).join('\n')))).toMatch(
    /4 rows, the manifest says 5/u,
  );
  expect(await damage((file, text) => writeFileSync(file, `${text.split('\n')[0] ?? ''}\n${text}`))).toMatch(
    /^2 id: il-0 came before/mu,
  );
  expect(await damage((file) => rmSync(file))).toMatch(/the file is not there/u);
  expect(
    await damage((file) => writeFileSync(path.join(path.dirname(file), 'manifest.json'), '{"format": 3}')),
  ).toMatch(/^null /u);
});

test('any bytes in a row file give rows or an error with file and line', async () => {
  const folder = await write(rows(2));
  const file = path.join(folder, 'expert_sft.jsonl');
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ minLength: 1, maxLength: 300 }), async (bytes) => {
      writeFileSync(file, bytes);
      const read = new DatasetReader().rows({ folder }, 'expert_sft', { offset: 0, limit: 200 });
      await read.then(
        (page) => expect(page.rows.length).toBeLessThanOrEqual(page.total),
        (thrown: unknown) => expect(thrown).toMatchObject({ code: 'FILE_INVALID', data: { file } }),
      );
      expect((await validateDataset(folder)).ok).toBe(false);
    }),
    { numRuns: 100 },
  );
});

test('a moved folder says what to do', async () => {
  const folder = await write(rows(1));
  rmSync(folder, { recursive: true });
  const read = new DatasetReader().rows({ folder }, 'expert_sft', { offset: 0, limit: 1 });
  await expect(read).rejects.toMatchObject({
    code: 'FILE_NOT_FOUND',
    message: expect.stringContaining('export') as string,
  });
  expect(existsSync(folder)).toBe(false);
});
