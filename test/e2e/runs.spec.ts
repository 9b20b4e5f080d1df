import type { Page } from '@playwright/test';
import { expect, expectAccessible, photograph, test } from './data-host.ts';

test.describe.configure({ mode: 'serial' });
test.use({ leaves: 'a run of 400 tasks' });

async function chooseModel(page: Page): Promise<void> {
  const model = page.locator('[id="field-policy.model"]');
  await model.click();
  await page.getByRole('option', { name: /daydream-starter/ }).click();
}

const yaml = (page: Page) => page.getByRole('textbox', { name: 'YAML of the run' });

test('form and YAML are two views of one text: either side changes the other, and comments survive', async ({
  pages,
}) => {
  const page = await pages.open('/runs/new?preset=early-experience-small');
  await expect(yaml(page)).toHaveValue(/# a model id or the path of a GGUF file/);
  await expect(page.getByRole('button', { name: /policy\.model/ })).toBeVisible();
  await chooseModel(page);
  // Longer prompts than the starter reads are a warning; nothing is in the way.
  await expect(page.getByRole('button', { name: /policy\.model/ })).toHaveCount(0);
  await expect(page.getByRole('button', { name: 'Start', exact: true })).toBeEnabled();
  await page.locator('[id="field-branching.iwm.k"]').fill('5');
  await expect(yaml(page)).toHaveValue(/k: 5/);
  await expect(yaml(page)).toHaveValue(/# a model id or the path of a GGUF file/);
  const text = await yaml(page).inputValue();
  await yaml(page).fill(text.replace(/tasks: \d+/, 'tasks: 7'));
  await expect(page.locator('[id="field-environment.tasks"]')).toHaveValue('7');
  await page.reload();
  await expect(yaml(page)).toHaveValue(/tasks: 7/);
});

test('a problem leads to its field or line, and broken YAML keeps the text and blocks the start', async ({
  pages,
}) => {
  const page = await pages.open('/runs/new?preset=early-experience-small');
  await page.getByRole('button', { name: /policy\.model/ }).click();
  await expect(page.locator('[id="field-policy.model"]')).toBeFocused();
  const text = await yaml(page).inputValue();
  await yaml(page).fill(`${text}\nlimits: [broken\n`);
  await expect(page.getByText('the form waits')).toBeVisible();
  await expect(page.getByRole('button', { name: 'Start', exact: true })).toBeDisabled();
  await expect(yaml(page)).toHaveValue(/\[broken/);
  await page.getByRole('button', { name: 'Reset', exact: true }).click();
  await expect(page.locator('[id="field-policy.model"]')).toBeVisible();
});

test('the estimate follows what one types', async ({ pages }) => {
  const page = await pages.open('/runs/new?preset=early-experience-small');
  await chooseModel(page);
  const estimate = page.getByRole('region', { name: 'Estimate' });
  await expect(estimate).toContainText(/Environment steps≤ [\d.,]+/);
  const before = (await estimate.textContent()) ?? '';
  await page.locator('[id="field-environment.tasks"]').fill('20');
  await expect(estimate).not.toHaveText(before);
  await expect(estimate.getByText('20', { exact: true })).toBeVisible();
});

test('a preset is saved, listed and removed', async ({ pages }) => {
  const page = await pages.open('/runs/new?preset=rollout-quick');
  await page.getByRole('button', { name: 'Save as preset' }).click();
  await page.getByLabel('Name of the preset').fill('Mine for the test');
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await expect(page.getByRole('button', { name: /^Mine for the test/ })).toBeVisible();
  await page.getByRole('button', { name: 'Remove the preset Mine for the test' }).click();
  await expect(page.getByRole('button', { name: /^Mine for the test/ })).toHaveCount(0);
});

test('a live run streams, pauses, resumes after a reload, and is cancelled', async ({ pages }) => {
  test.setTimeout(180_000);
  // Each page is a fresh browser context, so no draft of another story is here.
  const page = await pages.open('/runs/new?preset=quickstart');
  await expect(page.getByText('None: this run can start.')).toBeVisible();
  await page.locator('[id="field-environment.tasks"]').fill('400');
  await page.getByRole('button', { name: 'Start', exact: true }).click();
  await expect(page).toHaveURL(/\/runs\/[0-9a-f-]+$/);
  const badge = page.locator('h1 + [data-state]');
  await expect(badge).toHaveAttribute('data-state', 'running', { timeout: 30_000 });
  const branching = page.getByRole('button', { name: /^2\. Branching/ });
  await expect(branching).toContainText(/[1-9]\d* \/ [\d,]+ states/, { timeout: 60_000 });
  const before = await branching.textContent();
  await expect.poll(() => branching.textContent(), { timeout: 20_000 }).not.toBe(before);
  await expectAccessible(page);
  await page.screenshot({ path: test.info().outputPath('run-live.png') });

  await page.getByRole('button', { name: 'Pause' }).click();
  await expect(badge).toHaveAttribute('data-state', 'paused', { timeout: 30_000 });
  await page.screenshot({ path: test.info().outputPath('run-paused.png') });
  // The card, the counts under it and the end of the curve are one number, also without a reload.
  const atPause = /([\d,]+) \/ [\d,]+ states/.exec((await branching.textContent()) ?? '')?.[1] ?? 'no count';
  const results = page.getByRole('region', { name: 'Results' });
  await expect(results).toContainText(`Until the pauseStates${atPause}`);
  const curve = page.getByRole('figure', { name: /^Branches accepted/ });
  await expect(curve).toContainText(`at state ${atPause}`);
  const [card, column] = await Promise.all([
    branching.boundingBox(),
    results.getByText('Until the pause').boundingBox(),
  ]);
  expect(Math.abs((card?.x ?? 0) + 11 - (column?.x ?? 0)), 'counts stand under their stage').toBeLessThan(2);
  const elapsed = await page.getByText('Elapsed').locator('xpath=..').textContent();
  await page.reload();
  await expect(badge).toHaveAttribute('data-state', 'paused');
  await expect(page.getByText('Elapsed').locator('xpath=..')).toHaveText(elapsed ?? '');
  await expect(branching).toContainText(`${atPause} / `);
  await page.getByRole('button', { name: 'Resume' }).click();
  await expect(badge).toHaveAttribute('data-state', 'running', { timeout: 30_000 });
  await page.getByRole('button', { name: 'Cancel', exact: true }).click();
  await page.getByRole('button', { name: 'Cancel the run' }).click();
  await expect(badge).toHaveAttribute('data-state', 'cancelled', { timeout: 30_000 });
});

test('tab and stage are in the address; Esc leads back to the same row of the list', async ({ pages }) => {
  const page = await pages.open('/runs');
  const grid = page.getByRole('grid', { name: 'Runs' });
  await expect(grid.getByRole('row').nth(1)).toBeVisible();
  await grid.focus();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL(/\/runs\/[0-9a-f-]+$/);
  await page.getByRole('tab', { name: 'Log' }).click();
  await expect(page).toHaveURL(/tab=log/);
  await page.reload();
  await expect(page.getByRole('tab', { name: 'Log' })).toHaveAttribute('aria-selected', 'true');
  await page.keyboard.press('Escape');
  await expect(page).toHaveURL(/\/runs$/);
  await expect(grid.getByRole('row').nth(2)).toHaveAttribute('aria-selected', /true|false/);
});

test('a run that is not there leads back to the runs', async ({ pages }) => {
  const page = await pages.open('/runs/nothing-is-called-so');
  await expect(page.getByRole('alert')).toContainText('nothing-is-called-so');
  await expect(page.getByRole('button', { name: 'Try again' })).toHaveCount(0);
  await page.getByRole('link', { name: 'All runs' }).click();
  await expect(page).toHaveURL(/\/runs$/);
});

test('nothing on the cards of the stages is cut', async ({ pages }) => {
  for (const size of ['large', 'small'] as const) {
    const page = await pages.open('/runs', { size });
    await page.getByText('Quick start').last().click();
    const cards = page.getByRole('group', { name: 'Stages' });
    await expect(cards.getByText(/^\d+ rows$/)).toBeVisible();
    const cut = await cards
      .locator('*')
      .evaluateAll(
        (elements) =>
          elements.filter(
            (element) => element.scrollWidth > element.clientWidth + 1 && element.clientWidth > 0,
          ).length,
      );
    expect(cut, size).toBe(0);
    await page.close();
  }
});

test('looks right in light and dark at both sizes', async ({ pages }) => {
  test.setTimeout(300_000);
  await photograph(pages, 'runs', '/runs', async (page) => {
    await expect(page.getByRole('grid', { name: 'Runs' }).getByRole('row').nth(1)).toBeVisible();
  });
  await photograph(pages, 'new-run', '/runs/new?preset=early-experience-household', async (page) => {
    await expect(page.getByRole('region', { name: 'Branching' })).toBeVisible();
    await expect(page.getByRole('button', { name: /policy\.model/ })).toBeVisible();
  });
  const page = await pages.open('/runs');
  await page.getByText('Quick start').last().click();
  await expect(page).toHaveURL(/\/runs\/[0-9a-f-]+/);
  const path = new URL(page.url()).pathname;
  await photograph(pages, 'run', path, async (view) => {
    await expect(view.getByRole('region', { name: 'Curves' }).locator('canvas').first()).toBeVisible();
    await expect(
      view.getByRole('region', { name: 'Newest episodes' }).getByRole('group').first(),
    ).toBeVisible();
  });
});
