import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { soundRow } from '../helpers/sft-rows.ts';
import { expect, expectAccessible, photograph, test } from './data-host.ts';

test.use({ leaves: 'a training' });
test.describe.configure({ mode: 'serial' });

const objects = ['mug', 'pen', 'book'];
let trained = '';

/** Next states and actions of a world with three things. */
function writeRows(folder: string): void {
  mkdirSync(folder, { recursive: true });
  const lines = (target: (object: string) => string) =>
    objects
      .concat(objects)
      .map((object, index) =>
        JSON.stringify({
          ...soundRow(index),
          messages: [
            { role: 'system', content: 'You act.' },
            { role: 'user', content: `there is a ${object}` },
            { role: 'assistant', content: target(object) },
          ],
        }),
      )
      .join('\n');
  writeFileSync(
    join(folder, 'expert_sft.jsonl'),
    lines((object) => `take ${object}`),
  );
  writeFileSync(
    join(folder, 'iwm_sft.jsonl'),
    lines((object) => `you hold the ${object}`),
  );
}

test('trains an adapter on a folder of rows, shows curves and result, and acts with it', async ({
  pages,
  host,
}) => {
  test.setTimeout(120_000);
  const folder = join(host.dataFolder, 'tiny-rows');
  writeRows(folder);
  const page = await pages.open('/training');
  await expect(page.getByText('No training yet')).toBeVisible();
  await page.getByRole('link', { name: 'New training' }).first().click();
  await expect(page.getByRole('heading', { level: 1, name: 'New training' })).toBeVisible();

  await page.getByRole('button', { name: 'Start' }).click();
  await expect(page.getByText('Choose a data set, or type the path of a folder.')).toBeVisible();
  await expect(page.getByLabel('Data set', { exact: true })).toBeFocused();

  await page.getByLabel('Data set', { exact: true }).fill('/no/such/folder');
  await page.getByLabel('Base model').click();
  await page.getByRole('option', { name: /daydream-starter/ }).click();
  // Refused in view, however far down the form one was.
  await page.locator('[data-page-scroll]').evaluate((content) => content.scrollTo(0, content.scrollHeight));
  await page.getByRole('button', { name: 'Start' }).click();
  await expect(page.getByRole('alert')).toContainText('/no/such/folder');
  await expect(page.getByRole('alert')).toBeInViewport();

  await page.getByLabel('Data set', { exact: true }).fill(folder);
  await page.getByLabel('Recipe', { exact: true }).click();
  await page.getByRole('option', { name: 'iwm-il', exact: true }).click();
  await page.getByLabel('Epochs', { exact: true }).fill('4');
  await page.getByLabel('IWM epochs').fill('4');
  await page.getByLabel('Batch').fill('3');
  await page.getByLabel('Learning rate').pressSequentially('0.005');
  await page.reload();
  await expect(page.getByLabel('Learning rate')).toHaveValue('0.005');
  await page.getByRole('button', { name: 'Start' }).click();

  await expect(
    page.getByRole('heading', { level: 1, name: /^Train iwm-il on daydream-starter/ }),
  ).toBeVisible();
  const result = page.getByRole('region', { name: 'Result' });
  await expect(result).toBeVisible({ timeout: 40_000 });
  await expect(result).toContainText('iwm 6 rows, 8 updates → il 6 rows, 8 updates');
  await expect(result).toContainText(folder);
  await expect(page.getByRole('region', { name: 'Budget' })).toContainText('16 / 16');
  await expect(page.getByRole('region', { name: 'Budget' })).toContainText('update 16');
  const curves = page.getByRole('region', { name: 'Curves' });
  for (const name of ['Loss, iwm', 'Loss, il', 'Gradient norm', 'Learning rate'])
    await expect(curves.getByText(name, { exact: true })).toBeVisible();
  await expectAccessible(page);
  trained = new URL(page.url()).pathname;

  await page.getByRole('link', { name: 'Run again…' }).click();
  await expect(page.getByLabel('Learning rate')).toHaveValue('0.005');
  await page.goBack();
  await page.getByRole('link', { name: 'Use it as a policy' }).click();
  await expect(page.getByRole('heading', { level: 1, name: 'New run' })).toBeVisible();
  await expect(page.getByText(/daydream-starter-\S*iwm-il\.gguf/).first()).toBeVisible();
  // That it acts is the story, not for how long: the preset's 8 × 20 steps are minutes on a busy machine.
  await page.locator('[id="field-environment.tasks"]').fill('1');
  await page.locator('[id="field-limits.maxSteps"]').fill('2');
  await page.getByRole('button', { name: 'Start', exact: true }).click();
  await expect(page).toHaveURL(/\/runs\/[^/?]+$/);
  await expect(page.getByRole('heading', { level: 1 }).locator('..')).toContainText('succeeded', {
    timeout: 30_000,
  });

  await page.goto(new URL('/training', page.url()).href);
  await page.getByRole('grid', { name: 'Trainings' }).getByRole('row').nth(1).click();
  await expect(page).toHaveURL(new RegExp(`${trained}$`));
});

test('looks right in light and dark at both sizes', async ({ pages }) => {
  test.setTimeout(240_000);
  await photograph(pages, 'trainings', '/training', async (page) => {
    await expect(page.getByRole('row').nth(1)).toBeVisible();
  });
  await photograph(pages, 'new-training', '/training/new', async (page) => {
    await expect(page.getByLabel('Base model')).toBeVisible();
  });
  await photograph(pages, 'training', trained, async (page) => {
    await expect(page.getByText('Loss, il', { exact: true })).toBeVisible();
  });
});
