import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from './data-host.ts';

test.describe.configure({ mode: 'serial' });

test('the theme changes at once, is kept by the host, and another window follows', async ({ pages }) => {
  const page = await pages.open('/settings', { scheme: 'light' });
  await page.getByText('dark', { exact: true }).click();
  await expect(page.locator('html')).toHaveAttribute('data-mantine-color-scheme', 'dark');
  const other = await pages.open('/runs', { scheme: 'light' });
  await expect(other.locator('html')).toHaveAttribute('data-mantine-color-scheme', 'dark');
  await page.getByText('system', { exact: true }).click();
  await expect(page.locator('html')).toHaveAttribute('data-mantine-color-scheme', 'light');
});

test('copies the database while it is in use', async ({ pages, host }) => {
  const page = await pages.open('/settings');
  const file = join(host.dataFolder, 'copy.sqlite');
  await page.getByLabel('Backup').fill(file);
  await page.getByRole('button', { name: 'Copy the database' }).click();
  await expect(page.getByRole('status').filter({ hasText: file })).toBeVisible();
  expect(existsSync(file)).toBe(true);
});

test('checks the installation and shows each finding', async ({ pages }) => {
  const page = await pages.open('/settings');
  await page.getByRole('button', { name: 'Check this installation' }).click();
  await expect(page.getByLabel('good').first()).toBeVisible({ timeout: 30_000 });
});
