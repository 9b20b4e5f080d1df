import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { _electron as electron, expect, test } from '@playwright/test';
import type { ElectronApplication, Page } from '@playwright/test';
import { findElectron, project } from '../../scripts/lib/electron-binary.ts';

let dataFolder: string;
let app: ElectronApplication;
let page: Page;
const problems: string[] = [];

async function launch(): Promise<ElectronApplication> {
  const executablePath = findElectron();
  if (executablePath === null) throw new Error('no Electron binary');
  return electron.launch({ executablePath, args: [project, '--data-dir', dataFolder] });
}

test.beforeAll(async () => {
  dataFolder = await mkdtemp(path.join(tmpdir(), 'daydream-desktop-'));
  app = await launch();
  page = await app.firstWindow();
  page.on('console', (message) => {
    if (message.type() === 'error') problems.push(message.text());
  });
  page.on('pageerror', (error) => problems.push(error.message));
  await page.getByRole('navigation').waitFor();
});
test.afterAll(async () => {
  await app.close();
  await rm(dataFolder, { recursive: true, force: true });
});

test('shows the GUI from app:// with a live connection', async () => {
  expect(page.url()).toMatch(/^app:\/\/daydream\//);
  await page.getByRole('link', { name: 'Settings' }).click();
  await expect(page.getByText(dataFolder).first()).toBeVisible();
  expect(problems).toEqual([]);
});

test('has no Node in the page and only the bridge of the contract', async () => {
  const seen = await page.evaluate(() => ({
    require: typeof (globalThis as { require?: unknown }).require,
    process: typeof (globalThis as { process?: unknown }).process,
    bridge: Object.keys((globalThis as { daydream?: object }).daydream ?? {}).sort(),
  }));
  expect(seen).toEqual({
    require: 'undefined',
    process: 'undefined',
    bridge: ['kind', 'onNavigate', 'openDataFolder', 'requestPort'],
  });
});

test('lets the page reach nothing outside', async () => {
  const answer = await page.evaluate(() =>
    fetch('https://example.com/').then(
      () => 'reached',
      () => 'blocked',
    ),
  );
  expect(answer).toBe('blocked');
});

test('follows the menu', async () => {
  await app.evaluate(({ Menu }) => {
    const file = Menu.getApplicationMenu()?.items.find((item) => item.label === '&File');
    file?.submenu?.items.find((item) => item.label === 'New Run…')?.click();
  });
  await expect(page).toHaveURL(/\/runs\/new$/);
});

test('reloads a page to the same state', async () => {
  await page.reload();
  await expect(page).toHaveURL(/\/runs\/new$/);
  await expect(page.getByRole('navigation')).toBeVisible();
});

test('starts once: a second start ends by itself', async () => {
  const executablePath = findElectron() ?? '';
  const { spawn } = await import('node:child_process');
  const second = spawn(executablePath, [project, '--data-dir', dataFolder], { stdio: 'ignore' });
  const code = await new Promise((resolve) => second.on('exit', resolve));
  expect(code).toBe(0);
});

test('publishes its address to commands', async () => {
  const host = JSON.parse(await readFile(path.join(dataFolder, 'host.json'), 'utf8')) as { port: number };
  expect(host.port).toBeGreaterThan(0);
});
