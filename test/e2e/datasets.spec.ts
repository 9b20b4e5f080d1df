import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import type { Page } from '@playwright/test';
import { expect, photograph, test } from './data-host.ts';

test.describe.configure({ mode: 'serial' });

async function openFirst(page: Page): Promise<void> {
  await page.getByRole('grid', { name: 'Data sets' }).getByRole('row').nth(1).click();
  await expect(page.getByRole('tab', { name: 'Manifest' })).toBeVisible();
}

test('shows the manifest, validates the files, and names the line that somebody broke', async ({ pages }) => {
  const page = await pages.open('/datasets');
  await openFirst(page);
  await expect(page.getByText('iwm_sft.jsonl')).toBeVisible();
  await expect(page.getByRole('cell', { name: 'constant-k', exact: true })).toBeVisible();
  await page.getByRole('button', { name: 'Validate' }).click();
  await expect(page.getByText(/^Valid: every line parses/)).toBeVisible();

  const folder = (await page.locator('[data-folder]').textContent()) ?? '';
  const file = `${folder}/expert_sft.jsonl`;
  const whole = readFileSync(file);
  appendFileSync(file, '{"id": "half');
  await page.getByRole('button', { name: 'Validate' }).click();
  await expect(page.getByText(/problems?\. The files are unchanged/)).toBeVisible();
  await expect(page.getByText(/expert_sft\.jsonl/).first()).toBeVisible();
  writeFileSync(file, whole);
  await page.getByRole('button', { name: 'Validate' }).click();
  await expect(page.getByText(/^Valid: every line parses/)).toBeVisible();
});

test('previews the rows of each part and links each to its episode step', async ({ pages }) => {
  const page = await pages.open('/datasets');
  await openFirst(page);
  await page.getByRole('tab', { name: 'Rows' }).click();
  await page.getByText('World model', { exact: true }).click();
  await expect(page).toHaveURL(/part=iwm_sft/);
  await expect(page.getByText('target, the loss is here')).toBeVisible();
  await page.keyboard.press('j');
  await page.keyboard.press('j');
  await expect(page).toHaveURL(/row=2/);
  await page.getByRole('link', { name: /^Episode step/ }).click();
  await expect(page).toHaveURL(/trajectories\/.*branches\?step=\d+&branch=/);
});

test('exports the run again with the reviews, and removes that copy with its files', async ({ pages }) => {
  const page = await pages.open('/datasets');
  await openFirst(page);
  await page.getByRole('button', { name: 'Export again' }).click();
  await page.getByLabel('Name').fill('Second copy');
  await page.getByRole('button', { name: 'Export', exact: true }).click();
  await expect(page.getByRole('heading', { level: 1, name: 'Second copy' })).toBeVisible({ timeout: 60_000 });
  await page.getByRole('tab', { name: 'Use it' }).click();
  await expect(page.getByText(/load_dataset\(.*"iwm_sft"/)).toBeVisible();
  await page.getByRole('button', { name: 'Remove' }).click();
  await page.getByLabel(/Also delete the files/).check();
  await page.getByRole('button', { name: 'Remove and delete' }).click();
  await expect(page).toHaveURL(/\/datasets$/);
  await expect(page.getByText('Second copy')).toHaveCount(0);
});

test('looks right in light and dark at both sizes', async ({ pages }) => {
  test.setTimeout(240_000);
  await photograph(pages, 'datasets', '/datasets', async (page) => {
    await expect(page.getByRole('row').nth(1)).toBeVisible();
  });
  const page = await pages.open('/datasets');
  await openFirst(page);
  const path = new URL(page.url()).pathname;
  await photograph(pages, 'manifest', path, async (view) => {
    await expect(view.getByText('iwm_sft.jsonl')).toBeVisible();
  });
  await photograph(pages, 'rows', `${path}?tab=rows&part=iwm_sft`, async (view) => {
    await expect(view.getByText('target, the loss is here')).toBeVisible();
  });
  await photograph(pages, 'use', `${path}?tab=use`, async (view) => {
    await expect(view.getByRole('button', { name: 'Copy' }).first()).toBeVisible();
  });
});
