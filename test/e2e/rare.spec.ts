/** What seldom happens and must be told apart all the same, and a list as long as weeks of work make it. */
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from '@playwright/test';
import { cli, expect, expectAccessible, serve, test as base } from './data-host.ts';
import type { DataHost } from './data-host.ts';

const ordinary = 50_000;
const child = join(import.meta.dirname, 'rare-data.child.ts');

/** A real run in a real host that is killed in the middle; whoever opens the folder next goes on with it. */
async function leaveACrashedRun(dataFolder: string): Promise<void> {
  const host = spawn(
    process.execPath,
    [
      cli,
      '--data-dir',
      dataFolder,
      'rollout',
      '--model',
      'scripted:random',
      '--environment',
      'household',
    ].concat(['--tasks', '600', '--parallel', '4']),
    { stdio: ['ignore', 'ignore', 'pipe'], detached: true },
  );
  const ended = new Promise<void>((resolve) => host.once('exit', () => resolve()));
  let said = '';
  await new Promise<void>((resolve, reject) => {
    host.stderr.on('data', (chunk: Buffer) => {
      said += chunk.toString();
      if (/ [1-9][\d,]*\/[\d,]+ episodes/.test(said)) resolve();
    });
    void ended.then(() => reject(new Error(`the run ended before it was killed: ${said.slice(-2000)}`)));
  });
  // The command starts the Node that it needs: the whole group is the host.
  process.kill(-(host.pid ?? 0), 'SIGKILL');
  await ended;
}

/** Takes requests and never answers, as an overloaded model server does. */
async function silentModelServer(): Promise<{ url: string; close(): void }> {
  const server = createServer((request) => request.resume());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${String(port)}/v1`,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

const test = base.extend<object, { host: DataHost; games: string }>({
  games: [
    async ({}, use) => {
      const folder = mkdtempSync(join(tmpdir(), 'daydream-games-'));
      await use(folder);
      rmSync(folder, { recursive: true, force: true });
    },
    { scope: 'worker' },
  ],
  host: [
    async ({ games }, use) => {
      const dataFolder = mkdtempSync(join(tmpdir(), 'daydream-e2e-rare-'));
      const filled = spawnSync(process.execPath, [child, dataFolder, games, String(ordinary)], {
        encoding: 'utf8',
      });
      if (filled.status !== 0)
        throw new Error(`the store could not be filled: ${filled.stderr.slice(-2000)}`);
      await leaveACrashedRun(dataFolder);
      const { link, stop } = await serve(dataFolder);
      await use({ dataFolder, link });
      await stop();
      rmSync(dataFolder, { recursive: true, force: true });
    },
    { scope: 'worker', timeout: 300_000 },
  ],
});

const badge = (page: Page) => page.locator('h1 + [data-state]');

test('a run whose host was killed goes on by itself and says so', async ({ pages }) => {
  test.setTimeout(180_000);
  const page = await pages.open('/runs');
  await page.getByRole('grid', { name: 'Runs' }).getByRole('row').nth(1).click();
  await expect(page.getByText('Attempt 2: the host stopped in the middle before')).toBeVisible();
  await page.getByRole('tab', { name: 'Log' }).click();
  await page.getByText('Warnings', { exact: true }).click();
  const crashed = page.getByText('The host died while this job was running.');
  // The page begins with the newest lines; by now the crash may lie behind them.
  await expect(async () => {
    const more = page.getByRole('button', { name: 'More lines' });
    if (!(await crashed.isVisible()) && (await more.isVisible())) await more.click();
    await expect(crashed).toBeVisible({ timeout: 1000 });
  }).toPass({ timeout: 20_000 });
  await expectAccessible(page);
  await expect(badge(page)).toHaveAttribute('data-state', 'succeeded', { timeout: 120_000 });
});

test('a list of more than 50,000 episodes is counted, walked, filtered and found again', async ({
  pages,
}) => {
  const page = await pages.open('/trajectories?environment=household-small');
  const grid = page.getByRole('grid', { name: 'Episodes' });
  const count = `${(ordinary + 3).toLocaleString('en')} matching episodes`;
  await expect(page.getByText(count)).toBeVisible();
  await expect(grid).toHaveAttribute('aria-rowcount', String(ordinary + 3));
  await grid.focus();
  // Each End loads the pages behind it; the document holds only what is seen of them.
  const last = async () => Number(await grid.getByRole('row').last().getAttribute('aria-rowindex'));
  await expect
    .poll(
      async () => {
        await page.keyboard.press('End');
        return last();
      },
      { timeout: 30_000 },
    )
    .toBeGreaterThan(1000);
  expect(await grid.getByRole('row').count()).toBeLessThan(80);

  // Coming back finds the same row at the same place.
  await page.keyboard.press('Enter');
  await expect(page.getByRole('listbox', { name: 'Steps' })).toBeVisible();
  await page.goBack();
  await expect(grid.locator('[aria-selected=true]')).toBeVisible();
  expect(await last()).toBeGreaterThan(900);

  await page.getByRole('combobox', { name: 'Outcome' }).click();
  await page.getByRole('option', { name: 'Success', exact: true }).click();
  await expect(page.getByText(`${(ordinary / 5 + 1).toLocaleString('en')} matching episodes`)).toBeVisible();
  await page.getByLabel('Search the instruction').fill('rare branches');
  await expect(page.getByText('1 matching episode', { exact: true })).toBeVisible();
});

test('an abandoned and a failed episode are neither a success nor a failure, and say what they are worth', async ({
  pages,
}) => {
  const page = await pages.open('/trajectories?environment=household-small');
  const row = (text: string) => page.getByRole('grid', { name: 'Episodes' }).getByRole('row', { name: text });
  await expect(row('an episode that its host left')).toContainText('Abandoned');
  const broken = row('an episode whose world broke').getByText('World error');
  await expect(broken).toBeVisible();
  await expect(broken).toHaveAttribute('title', /^ENVIRONMENT_CRASHED: /);
  // Nothing of it is cut.
  expect(await broken.evaluate((text) => text.scrollWidth <= (text.parentElement?.clientWidth ?? 0))).toBe(
    true,
  );
  await row('an episode that its host left').click();
  await expect(
    page.getByText(/Abandoned: the host ended or the run was cancelled.*never trained on/),
  ).toBeVisible();
  await expectAccessible(page);
  await page.goBack();
  await row('an episode whose world broke').click();
  await expect(
    page.getByText(
      /Stopped by ENVIRONMENT_CRASHED after 3 retries.*left out of scores and training.*The world went away/,
    ),
  ).toBeVisible();
  await expectAccessible(page);
});

test('rejected and invalid branches are shown apart from the others and from each other', async ({
  pages,
}) => {
  const page = await pages.open('/trajectories/episode-1/branches?step=1');
  const alternatives = page.getByRole('region', { name: 'Alternatives' });
  await expect(alternatives.getByRole('heading', { name: 'World modelling K = 2' })).toBeVisible();
  await expect(alternatives.getByRole('heading', { name: 'Self-reflection K = 1' })).toBeVisible();
  const rejected = alternatives
    .locator('section')
    .filter({ has: page.getByRole('heading', { name: /^Rejected/ }) });
  await expect(rejected.getByRole('listitem')).toHaveCount(1);
  await expect(rejected.getByRole('listitem')).toContainText('Rejected: start not proved');
  await expect(alternatives.getByRole('button', { name: /eat desk 1/ })).toContainText('Invalid action');
  await expect(alternatives.getByRole('button', { name: /look/ })).toContainText('New outcome');
  await rejected.getByRole('button').click();
  await expect(page.getByText(/start differs: expected [0-9a-f]{12}, saw [0-9a-f]{12}/)).toBeVisible();
  await expect(page.getByText('the replayed prefix ended in another room')).toBeVisible();
  // An invalid outcome is signal and becomes a triple, a rejected one never does.
  const triples = page.getByRole('table').filter({ hasText: 'Target: next state' });
  await expect(triples).toContainText('eat desk 1');
  await expect(triples).not.toContainText('open drawer 1');
  await expectAccessible(page);
});

test('a folder of ALFWorld games becomes a world that can be played; what could not be read is named', async ({
  pages,
  games,
}) => {
  const page = await pages.open('/environments');
  await page.getByRole('button', { name: 'Add ALFWorld games' }).click();
  await page.getByLabel('Folder').fill(games);
  await page.getByRole('button', { name: 'Read the games' }).click();
  const dialog = page.getByRole('dialog');
  await expect(dialog).toContainText('3 games are now alfworld. 1 files were left out:');
  await expect(dialog.getByRole('listitem')).toContainText('train/broken/trial_4/game.tw-pddl');
  await expectAccessible(page);
  await dialog.getByRole('link', { name: 'alfworld' }).click();
  await expect(page).toHaveURL(/environments\/alfworld$/);
  await expect(page.getByText('3 tasks', { exact: true })).toBeVisible();
  await page.getByRole('grid', { name: 'Tasks' }).getByRole('row').nth(1).click();
  const done = page.getByText(/^Goal reached in \d+ steps\.$/);
  for (let move = 0; move < 40 && !(await done.isVisible()); move += 1) {
    await page.getByRole('button', { name: 'Hint' }).click();
    await page.locator('[data-hint]').click();
    await expect(page.getByText(`${String(move + 1)} of 50 steps`)).toBeVisible();
  }
  await expect(done).toBeVisible();
  await page.reload();
  await expect(done).toBeVisible();
});

test('a run that waits for a silent model server is shown as stalled, and can be cancelled', async ({
  pages,
  host,
}) => {
  test.setTimeout(240_000);
  const server = await silentModelServer();
  try {
    const added = spawn(
      process.execPath,
      [cli, '--data-dir', host.dataFolder, 'models', 'add'].concat([
        '--http',
        server.url,
        '--name',
        'silent',
      ]),
      { stdio: 'ignore' },
    );
    expect(await new Promise((resolve) => added.once('exit', resolve))).toBe(0);
    const page = await pages.open('/runs/new?preset=rollout-quick');
    await page.locator('[id="field-policy.model"]').click();
    await page.getByRole('option', { name: /silent/ }).click();
    await page.getByRole('button', { name: 'Start', exact: true }).click();
    await expect(badge(page)).toHaveAttribute('data-state', 'running', { timeout: 90_000 });
    await expect(badge(page)).toHaveAttribute('data-state', 'stalled', { timeout: 60_000 });
    await expect(page.getByText(/^No event for \d+ s, the last at .*nothing finished is lost/)).toBeVisible();
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Cancel', exact: true }).click();
    await page.getByRole('button', { name: 'Cancel the run' }).click();
    await expect(badge(page)).toHaveAttribute('data-state', 'cancelled', { timeout: 30_000 });
  } finally {
    server.close();
  }
});
