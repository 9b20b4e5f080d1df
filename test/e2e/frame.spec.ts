import type { Page } from '@playwright/test';
import { expect, photograph, test } from './data-host.ts';

async function palette(page: Page, text: string): Promise<void> {
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox', { name: 'Search' }).fill(text);
}

test('the palette finds pages, runs and episodes by id, and Enter opens them', async ({ pages }) => {
  const page = await pages.open('/');
  await palette(page, 'settings');
  await page.keyboard.press('Enter');
  await expect(page.getByRole('heading', { level: 1, name: 'Settings' })).toBeVisible();
  await palette(page, 'reflec');
  await page.keyboard.press('Enter');
  await expect(page.getByRole('heading', { level: 1, name: 'Reflections' })).toBeVisible();
  await palette(page, 'quick start');
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL(/\/runs\/[0-9a-f-]+$/);
  await page.goto(new URL('/trajectories', page.url()).href);
  await page.getByRole('grid', { name: 'Episodes' }).getByRole('row').nth(1).click();
  await page.waitForURL(/trajectories\/[^?/]+/);
  const id = /trajectories\/([^?/]+)/.exec(page.url())?.[1] ?? '';
  await page.goto(new URL('/', page.url()).href);
  await palette(page, id);
  await expect(page.getByRole('option').first()).toContainText('episode');
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL(new RegExp(`/trajectories/${id}`));
});

test('the question mark lists the keys of the page and everywhere', async ({ pages }) => {
  const page = await pages.open('/runs');
  await page.keyboard.press('?');
  await expect(page.getByRole('dialog', { name: 'Keys' })).toContainText('New run');
  await page.keyboard.press('Escape');
  await expect(page.getByRole('dialog')).toHaveCount(0);
});

test('the token leaves the address, and a reload stays connected', async ({ pages }) => {
  const page = await pages.open('/settings');
  await expect(page).not.toHaveURL(/token/);
  await page.reload();
  await expect(page.getByText('Nothing has left this machine')).toBeVisible();
});

test('a link in a new tab is connected by the tab that is open', async ({ pages }) => {
  const page = await pages.open('/');
  const opened = page.context().waitForEvent('page');
  await page
    .getByRole('navigation', { name: 'Pages' })
    .getByRole('link', { name: /^Settings/ })
    .click({ modifiers: ['ControlOrMeta'] });
  const tab = await opened;
  await expect(tab.getByText('Nothing has left this machine')).toBeVisible();
  await tab.close();
});

test('every entry of the navigation leads to a page that is there', async ({ pages }) => {
  const page = await pages.open('/');
  const links = page.getByRole('navigation', { name: 'Pages' }).getByRole('link');
  const names = await links.allTextContents();
  expect(names.map((name) => name.replace(/\d+\+?$/, ''))).toEqual([
    'Home',
    'Models',
    'Environments',
    'Runs',
    'Trajectories',
    'Training',
    'Datasets',
    'Settings',
  ]);
  for (const [index, name] of names.entries()) {
    await links.nth(index).click();
    await expect(page.getByRole('heading', { level: 1 }), name).not.toHaveText('No such page');
  }
});

test('an address that leads nowhere says so and leads home', async ({ pages }) => {
  const page = await pages.open('/nowhere');
  await expect(page.getByRole('heading', { level: 1, name: 'No such page' })).toBeVisible();
  await page.getByRole('button', { name: 'Go to Home' }).click();
  await expect(page.getByRole('heading', { level: 1, name: 'Home' })).toBeVisible();
});

test('looks right in light and dark at both sizes', async ({ pages }) => {
  test.setTimeout(240_000);
  await photograph(pages, 'home', '/', async (page) => {
    await expect(page.getByRole('heading', { name: 'Quick start' })).toBeVisible();
    await expect(page.getByText(/on this machine, up to .* with daydream-starter\.$/).first()).toBeVisible();
  });
  await photograph(pages, 'settings', '/settings', async (page) => {
    await expect(page.getByRole('cell', { name: 'react', exact: true }).first()).toBeVisible();
  });
});

test('the palette finds episodes by the words of their task', async ({ pages }) => {
  const page = await pages.open('/trajectories');
  const row = page.getByRole('grid', { name: 'Episodes' }).getByRole('row').nth(1);
  const task = (await row.getByRole('gridcell').nth(1).textContent()) ?? '';
  await page.keyboard.press('Control+K');
  await page.getByRole('combobox', { name: 'Search' }).fill(task);
  await expect(page.getByRole('option', { name: /episode/ }).first()).toContainText(task);
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL(/\/trajectories\/[0-9a-f]+/);
  await expect(page.getByRole('heading', { level: 1 })).toContainText(task);
});
