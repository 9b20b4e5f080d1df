import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, expectAccessible, photograph, test } from './data-host.ts';

test.describe.configure({ mode: 'serial' });

test('lists the worlds, checks one and shows rule by rule what was checked', async ({ pages }) => {
  const page = await pages.open('/environments');
  await expect(page.getByRole('link', { name: 'Household (small)' })).toBeVisible();
  await page.getByRole('link', { name: 'Household (small)' }).click();
  await page.getByRole('tab', { name: 'Conformance' }).click();
  await expect(page).toHaveURL(/tab=conformance/);
  await page.getByLabel('Tasks of each split').fill('2');
  await page.getByRole('button', { name: 'Check', exact: true }).click();
  const rules = page.getByRole('table', { name: 'Conformance rules' });
  await expect(rules).toBeVisible({ timeout: 60_000 });
  await expect(rules.getByText('broken')).toHaveCount(0);
  expect(await rules.getByText('holds').count()).toBeGreaterThan(3);
  await page.reload();
  await expect(rules).toBeVisible();
});

test('finds tasks by split, type and text, and the URL brings them back', async ({ pages }) => {
  const page = await pages.open('/environments/household-small');
  await expect(page.getByText(/^[\d,]+ tasks$/)).toBeVisible();
  await page.getByLabel('Search the instruction').fill('apple');
  await expect(page).toHaveURL(/text=apple/);
  await page.getByRole('combobox', { name: 'Split' }).click();
  await page.getByRole('option', { name: 'unseen' }).click();
  await expect(page).toHaveURL(/split=unseen/);
  const count = await page.getByText(/^[\d,]+ tasks$/).textContent();
  await page.reload();
  await expect(page.getByText(count ?? '', { exact: true })).toBeVisible();
  await expect(page.getByLabel('Search the instruction')).toHaveValue('apple');
});

test('plays a task by keyboard to success with the expert’s hints, and records the demonstration', async ({
  pages,
}) => {
  const page = await pages.open('/environments/household-small?split=train');
  await page.getByRole('grid', { name: 'Tasks' }).getByRole('row').nth(1).click();
  await expect(page).toHaveURL(/play=/);
  const field = page.getByLabel('Action');
  await expect(field).toBeFocused();

  // A wrong action costs a step and can be taken back exactly.
  await page.keyboard.type('dance with the fridge');
  await page.keyboard.press('Enter');
  await expect(page.getByText('was not a valid action; it cost a step.')).toBeVisible();
  await page.getByRole('button', { name: 'Undo' }).click();
  await expect(page.getByText('0 of 50 steps')).toBeVisible();

  // A digit acts also when a button has the focus; a reload comes back to the same move.
  await page.getByRole('button', { name: 'Hint' }).click();
  await page.keyboard.press('1');
  await expect(page.getByText('1 of 50 steps')).toBeVisible();
  await page.reload();
  await expect(page.getByText('1 of 50 steps')).toBeVisible();

  const done = page.getByText(/^Goal reached in \d+ steps\.$/);
  for (let move = 1; move < 30 && !(await done.isVisible()); move++) {
    await page.getByRole('button', { name: 'Hint' }).click();
    await page.locator('[data-hint]').click();
    await expect(page.getByText(`${String(move + 1)} of 50 steps`)).toBeVisible();
  }
  await expect(done).toBeVisible();
  await expect(page.getByText('The game is over: nothing more can be done in it.')).toBeVisible();
  await page.getByRole('button', { name: 'Record as demonstration' }).click();
  await page.getByRole('link', { name: 'Recorded as demonstration: open it' }).click();
  await expect(page.getByText('Success').first()).toBeVisible();
  await expect(page.getByRole('listbox', { name: 'Steps' }).getByRole('option').first()).toBeVisible();
});

test('a task that models are measured on says before the first move that it gives no demonstration', async ({
  pages,
}) => {
  const page = await pages.open('/environments/household-small?split=unseen');
  await page.getByRole('grid', { name: 'Tasks' }).getByRole('row').nth(1).click();
  await expect(page.getByText(/This is a task of the split unseen: models are measured on it/)).toBeVisible();
  const done = page.getByText(/^Goal reached in \d+ steps\.$/);
  for (let move = 0; move < 30 && !(await done.isVisible()); move++) {
    await page.getByRole('button', { name: 'Hint' }).click();
    await page.locator('[data-hint]').click();
    await expect(page.getByText(`${String(move + 1)} of 50 steps`)).toBeVisible();
  }
  await expectAccessible(page);
  await expect(page.getByRole('button', { name: 'Record as demonstration' })).toHaveCount(0);
  await page.getByRole('button', { name: 'Record as episode' }).click();
  await expect(page.getByRole('link', { name: 'Recorded: open it' })).toBeVisible();
});

test('says which folder has no games, and adds nothing', async ({ pages }) => {
  const page = await pages.open('/environments');
  await page.getByRole('button', { name: 'Add ALFWorld games' }).click();
  await page.getByLabel('Folder').fill('/nowhere/at/all');
  await page.getByRole('button', { name: 'Read the games' }).click();
  await expect(page.getByRole('dialog').getByRole('alert')).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(page.getByRole('link', { name: 'alfworld', exact: true })).toHaveCount(0);
});

test('writes tasks as files of the original, and refuses a folder that holds something', async ({
  pages,
  host,
}) => {
  const folder = join(host.dataFolder, 'games');
  const page = await pages.open('/environments/household-small');
  await page.getByRole('button', { name: 'Write as ALFWorld games' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Folder').fill(folder);
  await dialog.getByLabel('Tasks').fill('2');
  await dialog.getByRole('button', { name: 'Write' }).click();
  await expect(dialog.getByText('8 tasks in 24 files')).toBeVisible();
  expect(readdirSync(folder).sort()).toEqual(['train', 'valid_seen', 'valid_train', 'valid_unseen']);
  await dialog.getByRole('button', { name: 'Done' }).click();
  await page.getByRole('button', { name: 'Write as ALFWorld games' }).click();
  await dialog.getByRole('button', { name: 'Write' }).click();
  await expect(dialog.getByRole('alert')).toContainText('not empty');
});

test('looks right in light and dark at both sizes', async ({ pages }) => {
  test.setTimeout(240_000);
  await photograph(pages, 'environments', '/environments', async (page) => {
    await expect(page.getByRole('link', { name: 'Household (small)' })).toBeVisible();
  });
  await photograph(pages, 'tasks', '/environments/household-small', async (page) => {
    await expect(page.getByRole('row').nth(3)).toBeVisible();
  });
  await photograph(pages, 'conformance', '/environments/household-small?tab=conformance', async (page) => {
    await expect(page.getByRole('table', { name: 'Conformance rules' })).toBeVisible();
  });
});
