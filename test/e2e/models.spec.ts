import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, photograph, test } from './data-host.ts';

test.describe.configure({ mode: 'serial' });

test('tells before loading whether a model fits, and moves with context and sequences', async ({ pages }) => {
  const page = await pages.open('/models');
  const fit = page.getByRole('region', { name: 'Fit' });
  await expect(fit).toContainText('fits');
  const before = await fit.getByRole('img').getAttribute('aria-label');
  await fit.getByLabel('Sequences').fill('64');
  await expect(fit.getByRole('img')).not.toHaveAttribute('aria-label', before ?? '');
});

test('loads a model, measures it, and answers a prompt token by token', async ({ pages }) => {
  test.setTimeout(120_000);
  const page = await pages.open('/models');
  await page.getByRole('button', { name: 'Load and measure' }).click();
  const load = page.getByRole('region', { name: 'Load test' });
  await expect(load).toContainText('Loaded in', { timeout: 60_000 });
  await page.getByRole('button', { name: 'Answer' }).click();
  const answer = page.getByLabel('Answer', { exact: true });
  await expect(answer.locator('span').first()).toHaveAttribute('title', /log-probability -?\d/, {
    timeout: 60_000,
  });
  await expect(page.getByRole('contentinfo')).toContainText('daydream-starter');
});

test('a broken file of a folder is listed with its problem in words, and its entry can be removed', async ({
  pages,
  host,
}) => {
  const folder = join(host.dataFolder, 'downloads');
  mkdirSync(folder);
  writeFileSync(join(folder, 'broken.gguf'), 'GGUF, but not really one');
  const page = await pages.open('/models');
  await page.getByLabel('Path').fill(folder);
  await page.getByRole('button', { name: 'Add', exact: true }).click();
  await expect(page.getByText('This model cannot be used')).toBeVisible();
  await expect(page.getByRole('alert').first()).toContainText('Convert it anew');
  await page.getByRole('button', { name: 'Remove' }).click();
  await page.getByRole('button', { name: 'Remove the entry' }).click();
  await expect(page.getByText('This model cannot be used')).toHaveCount(0);
});

test('a path that is not there is refused in words', async ({ pages }) => {
  const page = await pages.open('/models');
  await page.getByLabel('Path').fill('/no/such/folder');
  await page.getByRole('button', { name: 'Add', exact: true }).click();
  await expect(page.getByRole('alert')).toContainText('/no/such/folder');
});

test('looks right in light and dark at both sizes', async ({ pages }) => {
  test.setTimeout(240_000);
  await photograph(pages, 'models', '/models', async (page) => {
    await expect(page.getByRole('region', { name: 'Fit' })).toContainText('fits');
  });
});
