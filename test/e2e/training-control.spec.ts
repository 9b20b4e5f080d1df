/** A training under a person's hands: paused, resumed, cancelled, its process killed, continued, merged, refused. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from '@playwright/test';
import { soundRow } from '../helpers/sft-rows.ts';
import { expect, expectAccessible, photograph, test } from './data-host.ts';
import type { DataHost, Pages } from './data-host.ts';

test.use({ leaves: 'trainings that were interrupted' });
test.describe.configure({ mode: 'serial' });

let finished = '';
/** More than any machine makes while a story looks on: what is paused, killed or cancelled has never just ended by itself. */
const endless = 100_000;

function writeRows(folder: string, longest = 1): string {
  mkdirSync(folder, { recursive: true });
  const lines = ['mug', 'pen', 'book'].map((object, index) =>
    JSON.stringify({
      ...soundRow(index),
      messages: [
        { role: 'user', content: `there is a ${`${object} `.repeat(index === 1 ? longest : 1)}` },
        { role: 'assistant', content: `take ${object}` },
      ],
    }),
  );
  writeFileSync(join(folder, 'expert_sft.jsonl'), `${lines.join('\n')}\n`);
  return folder;
}

const starter = join(import.meta.dirname, '../../resources/starter/daydream-starter.gguf');

/** The form filled in for so many updates, not yet started. */
async function form(pages: Pages, host: DataHost, updates: number, base = starter): Promise<Page> {
  const rows = writeRows(join(host.dataFolder, 'three-rows'));
  const page = await pages.open('/training/new');
  await page.getByLabel('Data set', { exact: true }).fill(rows);
  await page.getByLabel('Base model').fill(base);
  const updatesField = page.locator('#field-updates');
  await page.locator('details', { has: updatesField }).locator('summary').first().click();
  await updatesField.fill(String(updates));
  await page.getByLabel('Batch').fill('3');
  await page.getByLabel('Learning rate').pressSequentially('0.005');
  return page;
}

async function start(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Start', exact: true }).click();
  await expect(page).toHaveURL(/\/training\/jobs\/[^/?]+$/);
}

const state = (page: Page) => page.getByRole('heading', { level: 1 }).locator('..');
const budget = (page: Page) => page.getByRole('region', { name: 'Budget' });

async function updatesDone(page: Page): Promise<number> {
  const text = (await budget(page).textContent()) ?? '';
  return Number(/Updates([\d,]+)/.exec(text)?.[1]?.replaceAll(',', '') ?? 0);
}

/** The trainer processes among our own descendants. */
function trainers(): number[] {
  const processes = execFileSync('ps', ['-eo', 'pid=,ppid=,args='], { encoding: 'utf8' })
    .trim()
    .split('\n')
    .map((line) => /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line))
    .flatMap((match) =>
      match === null ? [] : [{ pid: Number(match[1]), parent: Number(match[2]), command: match[3] ?? '' }],
    );
  const ours = new Set([process.pid]);
  for (const { pid, parent } of processes.toSorted((a, b) => a.pid - b.pid))
    if (ours.has(parent)) ours.add(pid);
  return processes
    .filter(({ pid, command }) => ours.has(pid) && /workers.trainer/.test(command))
    .map(({ pid }) => pid);
}

test('shows curves at once, stands still while paused, goes on where it stood, and ends when it is cancelled', async ({
  pages,
  host,
}) => {
  const page = await form(pages, host, endless);
  await start(page);
  await expect(page.getByText('Loss, il', { exact: true })).toBeVisible({ timeout: 30_000 });
  await expect.poll(() => updatesDone(page), { timeout: 30_000 }).toBeGreaterThan(5);

  await page.getByRole('button', { name: 'Pause' }).click();
  await expect(state(page)).toContainText('paused');
  expect(trainers()).toEqual([]);
  // The last count may come a moment after the state: it stands when it is the checkpoint's.
  await expect
    .poll(async () => {
      const words = (await budget(page).textContent()) ?? '';
      return words.includes(`Checkpointupdate ${(await updatesDone(page)).toLocaleString('en')},`);
    })
    .toBe(true);
  const stood = await updatesDone(page);
  await page.reload();
  await expect(state(page)).toContainText('paused');
  expect(await updatesDone(page)).toBe(stood);

  await page.getByRole('button', { name: 'Resume' }).click();
  await expect.poll(() => updatesDone(page), { timeout: 30_000 }).toBeGreaterThan(stood);
  await page.getByRole('button', { name: 'Cancel' }).click();
  await page.getByRole('button', { name: 'Cancel the run' }).click();
  await expect(state(page)).toContainText('cancelled');
  expect(trainers()).toEqual([]);
  await expect(page.getByRole('button', { name: 'Resume' })).toBeHidden();
  await expect(page.getByRole('region', { name: 'Result' })).toBeHidden();
  await page.getByRole('tab', { name: 'Log' }).click();
  await expect(page.getByText(`from update ${String(stood)}.`)).toBeVisible();
});

test('goes on from its last checkpoint when its process is killed', async ({ pages, host }) => {
  const page = await form(pages, host, endless);
  await start(page);
  await expect(budget(page)).toContainText(/Checkpointupdate \d/, { timeout: 30_000 });
  const [pid] = trainers();
  if (pid === undefined) throw new Error('no trainer process to kill');
  process.kill(pid, 'SIGKILL');
  await page.getByRole('tab', { name: 'Log' }).click();
  await expect(page.getByText(/trainer process died/).first()).toBeVisible({ timeout: 30_000 });
  const resumed = page.getByText(/numbers on .*from update \d+/);
  await expect(resumed).toBeVisible({ timeout: 30_000 });
  const from = Number(/from update (\d+)/.exec((await resumed.textContent()) ?? '')?.[1]);
  expect(from).toBeGreaterThan(0);
  await page.getByRole('tab', { name: 'Overview' }).click();
  await expect.poll(() => updatesDone(page), { timeout: 30_000 }).toBeGreaterThan(from);
  await page.getByRole('button', { name: 'Cancel' }).click();
  await page.getByRole('button', { name: 'Cancel the run' }).click();
  await expect(state(page)).toContainText('cancelled');
});

test('goes on from an adapter with its lineage, and merges what came out into a model', async ({
  pages,
  host,
}) => {
  const page = await form(pages, host, 10);
  await start(page);
  await expect(state(page)).toContainText('succeeded', { timeout: 40_000 });
  finished = new URL(page.url()).pathname;
  const before = (await page.getByRole('heading', { level: 1 }).textContent()) ?? '';
  await page.getByRole('link', { name: 'Continue training…' }).click();
  await expect(page.getByLabel('Adapter')).toHaveValue(/-il\.gguf$/);
  await expect(page.getByLabel('LoRA rank')).toBeHidden();
  await page.getByLabel('Data set', { exact: true }).fill(join(host.dataFolder, 'three-rows'));
  await start(page);
  await expect(state(page)).toContainText('succeeded', { timeout: 40_000 });
  const lineage = page.getByRole('region', { name: 'Lineage' }).getByRole('listitem');
  await expect(lineage).toHaveCount(3);
  await expect(lineage.nth(1)).toContainText(`${before}: il on …/three-rows`);
  await expect(lineage.nth(2)).toContainText('this training');
  await expectAccessible(page);

  await page.getByRole('link', { name: 'Merge into a model…' }).click();
  const merging = page.getByRole('region', { name: 'Merge an adapter' });
  await expect(merging.getByLabel('Adapter')).toHaveValue(/-il\.gguf$/);
  await merging.getByLabel('Name of the new model').fill('taught-twice');
  await merging.getByRole('button', { name: 'Merge' }).click();
  await expect(merging.getByRole('status')).toContainText('Merged into', { timeout: 30_000 });
  await merging.getByRole('button', { name: 'Merge' }).click();
  await expect(merging.getByRole('alert')).toContainText('taught-twice.gguf exists. Nothing was written');
  await expectAccessible(page);
  await page
    .getByRole('link', { name: /taught-twice/ })
    .first()
    .click();
  await expect(page.getByRole('heading', { level: 2, name: 'taught-twice' })).toBeVisible();
});

test('refuses what cannot be trained, with the reason above the form', async ({ pages, host }) => {
  test.setTimeout(90_000);
  const refusal = (page: Page) => page.getByRole('alert').first();
  const begin = (page: Page) => page.getByRole('button', { name: 'Start', exact: true }).click();

  // Bytes of the same length: the file stays whole.
  /** The starter with `from` written over at its first place after `after`, or at each place of its architecture's keys. */
  const altered = (name: string, from: string, to: string, { after = '', each = false } = {}): string => {
    const bytes = readFileSync(starter);
    const end = bytes.indexOf('tokenizer.ggml.model');
    for (let at = bytes.indexOf(from, bytes.indexOf(after)); at !== -1; at = bytes.indexOf(from, at + 1)) {
      if (each && at > end) break;
      bytes.write(to, at, 'utf8');
      if (!each) break;
    }
    const file = join(host.dataFolder, `${name}.gguf`);
    writeFileSync(file, bytes);
    return file;
  };
  const other = await form(pages, host, 5, altered('mamba', 'llama', 'mamba', { each: true }));
  await begin(other);
  await expect(refusal(other)).toContainText('its architecture is "mamba"');
  await expect(refusal(other)).toContainText('llama, qwen2, qwen3, gemma3');

  const page = await form(
    pages,
    host,
    5,
    altered('tokens', 'microwave', 'microwafe', { after: 'tokenizer.ggml.tokens' }),
  );
  const adapter = readdirSync(join(host.dataFolder, 'training'), { recursive: true, encoding: 'utf8' }).find(
    (name) => name.endsWith('-il.gguf'),
  );
  await page.getByLabel('Adapter').fill(join(host.dataFolder, 'training', adapter ?? 'none'));
  await begin(page);
  await expect(refusal(page)).toContainText('was trained with another tokenizer');

  const empty = join(host.dataFolder, 'no-rows');
  mkdirSync(empty, { recursive: true });
  writeFileSync(join(empty, 'expert_sft.jsonl'), '');
  await page.getByLabel('Adapter').fill('');
  await page.getByLabel('Base model').fill(starter);
  await page.getByLabel('Data set', { exact: true }).fill(empty);
  await begin(page);
  await expect(refusal(page)).toContainText('has no rows');

  await page.getByLabel('Data set', { exact: true }).fill(writeRows(join(host.dataFolder, 'long'), 9000));
  await start(page);
  await expect(state(page)).toContainText('failed', { timeout: 30_000 });
  await expect(refusal(page)).toContainText(
    '1 row is longer than the 2048 tokens that fit: expert_sft.jsonl:2',
  );
  await expect(refusal(page)).toContainText('longer than the model’s context');
});

test('offers only devices that are there, and looks right in light and dark at both sizes', async ({
  pages,
}) => {
  test.setTimeout(240_000);
  const page = await pages.open('/training/new');
  await page.getByLabel('Device').click();
  const metal = page.getByRole('option', { name: /^metal/ });
  if (process.platform !== 'darwin') {
    await expect(metal).toContainText('not here: Metal is there on Apple’s systems only.');
    await expect(metal).toHaveAttribute('data-combobox-disabled', 'true');
  }
  await expect(page.getByRole('option', { name: /^cpu \S/ })).toBeVisible();
  await page.close();
  await photograph(pages, 'training-smoothed', `${finished}?smooth=0.80`, async (shown) => {
    await expect(shown.getByText('smoothed').first()).toBeVisible();
  });
});
