import type { Page } from '@playwright/test';
import { expect, photograph, test } from './data-host.ts';

test.describe.configure({ mode: 'serial' });

async function openFirst(page: Page): Promise<void> {
  await page.getByRole('grid', { name: 'Episodes' }).getByRole('row').nth(1).click();
  await expect(page.getByRole('listbox', { name: 'Steps' })).toBeVisible();
}

test('filters the list, and the URL alone brings the filters back', async ({ pages }) => {
  const page = await pages.open('/trajectories');
  await expect(page.getByText(/^[\d,]+ episodes$/)).toBeVisible();
  await page.getByRole('combobox', { name: 'Purpose' }).click();
  await page.getByRole('option', { name: 'demonstration' }).click();
  await expect(page).toHaveURL(/purpose=demonstration/);
  await expect(page.getByText(/^4 matching episodes$/)).toBeVisible();
  await page.reload();
  await expect(page.getByText(/^4 matching episodes$/)).toBeVisible();
  await page.getByRole('button', { name: 'Clear 1' }).click();
  await expect(page).not.toHaveURL(/purpose/);
});

test('walks through an episode by keyboard; reload keeps step and tab; Back returns to the list', async ({
  pages,
}) => {
  const page = await pages.open('/trajectories?purpose=rollout');
  await openFirst(page);
  const steps = page.getByRole('listbox', { name: 'Steps' }).getByRole('option');
  await page.keyboard.press('j');
  await page.keyboard.press('j');
  await expect(steps.nth(2)).toHaveAttribute('aria-selected', 'true');
  await page.keyboard.press('k');
  await expect(steps.nth(1)).toHaveAttribute('aria-selected', 'true');
  await page.getByRole('tab', { name: 'Tokens' }).click();
  await expect(page.getByText(/\d+ sampled tokens/)).toBeVisible({ timeout: 30_000 });
  await page.reload();
  await expect(steps.nth(1)).toHaveAttribute('aria-selected', 'true');
  await expect(page.getByText(/\d+ sampled tokens/)).toBeVisible({ timeout: 30_000 });
  await page.getByRole('tab', { name: 'Prompt' }).click();
  await expect(page.getByText(/\d+ messages, \d+ new since the previous step/)).toBeVisible();
  await page.getByRole('tab', { name: 'Raw' }).click();
  await expect(page.getByText('"observationHash"')).toBeVisible();
  await page.keyboard.press('Shift+J');
  await expect(page).toHaveURL(/purpose=rollout/);
  await page.goBack();
  await expect(page.getByRole('grid', { name: 'Episodes' })).toBeVisible();
});

test('copies a step as Markdown and finds text in the episode', async ({ pages }) => {
  const page = await pages.open('/trajectories?purpose=demonstration');
  await openFirst(page);
  await page.keyboard.press('c');
  await expect.poll(() => page.evaluate(() => navigator.clipboard.readText())).toContain('#### Step 0');
  await page.keyboard.press('/');
  await page.keyboard.type('you arrive at');
  await expect(page.locator('mark').first()).toBeVisible();
});

test('opens an alternative beside the expert’s outcome', async ({ pages }) => {
  const page = await pages.open('/trajectories?purpose=demonstration');
  await openFirst(page);
  await page.keyboard.press('b');
  await expect(page).toHaveURL(/branches/);
  await expect(page.getByText('K = 8')).toBeVisible();
  await expect(page.getByText('K = 3')).toBeVisible();
  await page.keyboard.press('ArrowDown');
  await expect(page).toHaveURL(/branch=/);
  await expect(page.getByText(/of the words in common|The same text/)).toBeVisible();
  await expect(page.getByText(/same start [0-9a-f]{12}/)).toBeVisible();
  await page.reload();
  await expect(page.getByText(/of the words in common|The same text/)).toBeVisible();
  await page.keyboard.press('j');
  await expect(page.getByRole('option', { selected: true })).toContainText('1');
});

test('keeps and drops reflections by key, with a reason, and takes the last decision back', async ({
  pages,
}) => {
  // The starter's texts: the filters drop them all, so nothing waits until somebody looks for them.
  const page = await pages.open('/trajectories/reviews');
  await expect(page.getByText('Nothing waits for review')).toBeVisible();
  await expect(page.getByRole('combobox', { name: 'Filters’ verdict' })).toHaveValue('Kept by the filters');
  await page.getByRole('link', { name: 'Read what the filters dropped' }).click();
  await expect(page.getByRole('combobox', { name: 'Filters’ verdict' })).toHaveValue(
    'Dropped by the filters',
  );
  const count = page.getByText(/^\d+ reflections?$/);
  await expect(count).toBeVisible();
  const before = Number.parseInt((await count.textContent()) ?? '', 10);
  expect(before).toBeGreaterThan(2);
  await page.keyboard.press('k');
  await expect(page.getByText(`${String(before - 1)} reflections`)).toBeVisible();
  await page.getByLabel('Reason for the decision').fill('text noise');
  await page.getByRole('button', { name: 'Drop' }).click();
  await expect(page.getByText(`${String(before - 2)} reflections`)).toBeVisible();
  await page.keyboard.press('u');
  await expect(page.getByText(`${String(before - 1)} reflections`)).toBeVisible();
  await page.goto(page.url().replace(/\?.*/, '?decision=keep'));
  await expect(page.getByText('Kept by you')).toHaveCount(2);
});

test('looks right in light and dark at both sizes', async ({ pages }) => {
  test.setTimeout(300_000);
  await photograph(pages, 'trajectories', '/trajectories', async (page) => {
    await expect(page.getByRole('row').nth(3)).toBeVisible();
  });
  const page = await pages.open('/trajectories?purpose=rollout');
  await openFirst(page);
  const rollout = new URL(page.url()).pathname;
  const other = await pages.open('/trajectories?purpose=demonstration');
  await openFirst(other);
  const demonstration = new URL(other.url()).pathname;
  await photograph(pages, 'episode', `${rollout}?step=2`, async (view) => {
    await expect(view.getByText('Admissible actions')).toBeVisible();
  });
  await photograph(pages, 'tokens', `${rollout}?step=2&tab=tokens`, async (view) => {
    await expect(view.getByText(/\d+ sampled tokens/)).toBeVisible({ timeout: 30_000 });
  });
  await photograph(pages, 'branches', `${demonstration}/branches?step=1`, async (view) => {
    await expect(view.getByText('K = 8')).toBeVisible();
    await view.keyboard.press('ArrowDown');
    await expect(view.getByText(/of the words in common|The same text/)).toBeVisible();
  });
  await photograph(pages, 'reviews', '/trajectories/reviews?kept=all', async (view) => {
    await expect(view.getByRole('article', { name: 'Reflection' })).toBeVisible();
  });
});

test('a narrow window shows type, world and policy of an episode whole', async ({ pages }) => {
  const page = await pages.open('/trajectories', { size: 'small' });
  const rows = page.getByRole('grid', { name: 'Episodes' }).getByRole('row');
  await expect(rows.nth(1)).toBeVisible();
  const cut = await rows.evaluateAll((all) =>
    all
      .slice(1)
      .flatMap((row) => [...row.querySelectorAll('[role="gridcell"]')].slice(2, 5))
      .flatMap((cell) => [cell, ...cell.children])
      .filter((part) => part.scrollWidth > part.clientWidth + 1 || part.scrollHeight > part.clientHeight + 1)
      .map((part) => part.textContent),
  );
  expect(cut).toEqual([]);
});
