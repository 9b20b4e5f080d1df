import { test as base, chromium, expect } from '@playwright/test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expectAccessible, serve } from './data-host.ts';

/** An empty data folder: what somebody sees who has just cloned the repository. */
const test = base.extend<{ link: string }>({
  link: async ({}, use) => {
    const dataFolder = mkdtempSync(join(tmpdir(), 'daydream-first-'));
    const { link, stop } = await serve(dataFolder);
    await use(link);
    await stop();
    rmSync(dataFolder, { recursive: true, force: true });
  },
});

test('the first launch is one sentence and one button, and the button really collects experience', async ({
  page,
  link,
}) => {
  test.setTimeout(180_000);
  await page.goto(link);
  await expect(page.getByText('Daydream lets a local model learn')).toBeVisible();
  await expectAccessible(page);
  await page.screenshot({ path: base.info().outputPath('first-launch.png') });
  const button = page.getByRole('button', { name: 'Run Early Experience on the bundled world' });
  await expect(button).toBeEnabled();
  await button.click();
  await expect(page).toHaveURL(/\/runs\/[0-9a-f-]+$/);
  await expect(page.locator('h1 + [data-state="succeeded"]')).toBeVisible({ timeout: 120_000 });
  await page.getByRole('link', { name: 'Open the data set' }).click();
  await expect(page.getByText('iwm_sft.jsonl')).toBeVisible();
  await page.goto(new URL('/', link).href);
  await expect(page.getByRole('region', { name: 'Last results' })).toContainText('Quick start');
});

test('a page without the token is told which link to open', async ({ link }) => {
  const browser = await chromium.launch(base.info().project.use.launchOptions);
  const page = await browser.newPage();
  await page.goto(new URL('/', link).href);
  await expect(page.getByRole('alert')).toContainText('token', { timeout: 20_000 });
  await browser.close();
});
