/**
 * A real host for the data pages: its own data folder, filled by the quick start on the starter model (real episodes, branches,
 * reflections and data sets), served to a real Chromium. One for each worker; it ends with the worker.
 */
import { AxeBuilder } from '@axe-core/playwright';
import { expect, test as base } from '@playwright/test';
import type { Page } from '@playwright/test';
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const project = join(import.meta.dirname, '../..');
export const cli = join(project, 'bin/daydream.js');

export interface DataHost {
  readonly dataFolder: string;
  /** With the token that lets a page connect. */
  readonly link: string;
}

/** Runs a command on a data folder that no host holds; its JSON answer. */
function daydream(dataFolder: string, ...command: string[]): unknown {
  const result = spawnSync(process.execPath, [cli, '--json', '--data-dir', dataFolder, ...command], {
    encoding: 'utf8',
    timeout: 240_000,
  });
  if (result.status !== 0)
    throw new Error(`daydream ${command.join(' ')} failed: ${result.stderr.slice(-2000)}`);
  return JSON.parse(result.stdout);
}

/** A host of its own, for a story that needs another data folder. */
export async function serve(
  dataFolder: string,
  port = 0,
): Promise<{ link: string; stop: () => Promise<void> }> {
  const host = spawn(process.execPath, [cli, 'serve', '--data-dir', dataFolder, '--port', String(port)], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = new Promise<void>((resolve) => {
    host.once('exit', () => {
      resolve();
    });
  });
  const link = await new Promise<string>((resolve, reject) => {
    let said = '';
    const read = (chunk: Buffer) => {
      said += chunk.toString();
      const found = /http:\/\/127\.0\.0\.1:\d+\/#token=\S+/.exec(said);
      if (found !== null) resolve(found[0]);
    };
    host.stdout.on('data', read);
    host.stderr.on('data', read);
    void ended.then(() => {
      reject(new Error(`serve ended before it was ready: ${said.slice(-2000)}`));
    });
  });
  return {
    link,
    stop: async () => {
      host.kill('SIGTERM');
      await ended;
    },
  };
}

/** What a page said on the console; every test ends with a look at it. */
export interface Pages {
  /** A page at `path`, connected. `size` and `scheme` default to a large light window. */
  open(path: string, options?: { size?: 'large' | 'small'; scheme?: 'light' | 'dark' }): Promise<Page>;
}

const sizes = { large: { width: 1440, height: 900 }, small: { width: 1024, height: 768 } };

export const test = base.extend<{ pages: Pages }, { host: DataHost; leaves: string }>({
  /** A file whose stories leave data behind names it here and so gets a host of its own: `test.use({ leaves: 'a large run' })`. */
  leaves: ['nothing', { scope: 'worker', option: true }],
  host: [
    // Playwright demands the destructured form, even of nothing.
    async ({}, use) => {
      const dataFolder = mkdtempSync(join(tmpdir(), 'daydream-e2e-'));
      daydream(dataFolder, 'quickstart', '--tasks', '4');
      const { link, stop } = await serve(dataFolder);
      await use({ dataFolder, link });
      await stop();
      rmSync(dataFolder, { recursive: true, force: true });
    },
    { scope: 'worker', timeout: 300_000 },
  ],
  pages: async ({ browser, host }, use) => {
    const said: string[] = [];
    const contexts: { close(): Promise<void> }[] = [];
    await use({
      open: async (path, { size = 'large', scheme = 'light' } = {}) => {
        const context = await browser.newContext({
          viewport: sizes[size],
          colorScheme: scheme,
          permissions: ['clipboard-read', 'clipboard-write'],
        });
        contexts.push(context);
        const page = await context.newPage();
        page.on('console', (message) => {
          if (message.type() === 'error' || message.type() === 'warning') said.push(message.text());
        });
        page.on('pageerror', (error) => said.push(error.message));
        const { origin, hash } = new URL(host.link);
        await page.goto(`${origin}${path}${hash}`);
        await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
        return page;
      },
    });
    for (const context of contexts) await context.close();
    expect(said, 'the console is silent').toEqual([]);
  },
});

/** No serious or critical violation of WCAG 2 A and AA. */
export async function expectAccessible(page: Page): Promise<void> {
  const { violations } = await new AxeBuilder({ page }).withTags(['wcag2a', 'wcag2aa', 'wcag21aa']).analyze();
  const serious = violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(
      ({ id, nodes }) =>
        `${id}: ${nodes
          .map(({ target }) => target.join(' '))
          .slice(0, 5)
          .join(' | ')}`,
    );
  expect(serious).toEqual([]);
}

/** Light and dark at both sizes, kept with the results of the run, each checked for accessibility. */
export async function photograph(
  pages: Pages,
  name: string,
  path: string,
  ready: (page: Page) => Promise<void>,
): Promise<void> {
  for (const size of ['large', 'small'] as const) {
    for (const scheme of ['light', 'dark'] as const) {
      const page = await pages.open(path, { size, scheme });
      await ready(page);
      await expectAccessible(page);
      const width = await page.evaluate(() => document.documentElement.scrollWidth);
      expect(width, 'nothing reaches beyond the window').toBeLessThanOrEqual(sizes[size].width);
      await page.screenshot({ path: base.info().outputPath(`${name}-${scheme}-${size}.png`) });
      await page.close();
    }
  }
}

export { expect };
