/**
 * Does the GUI stay quick under a person's hands while a run streams into it: from a key press to the next painted frame, in a
 * real Chromium against a real host, first on an idle page and then on the page of a live run.
 */
import { spawn, spawnSync } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import type { Browser, Page } from 'playwright-core';
import type { Bench, BenchOptions, Figure } from './lib/figure.ts';
import { median, valueFigure } from './lib/figure.ts';

const cli = join(import.meta.dirname, '../bin/daydream.js');
const mostMs = 100;

function browserFile(): string | undefined {
  const candidates = [
    process.env['CHROMIUM'] ?? '',
    '/usr/bin/chromium',
    '/usr/bin/chromium-browser',
    '/usr/bin/google-chrome',
  ];
  return candidates.find((path) => path !== '' && existsSync(path));
}

async function serve(dataFolder: string): Promise<{ link: string; host: ChildProcess }> {
  const host = spawn(process.execPath, [cli, 'serve', '--data-dir', dataFolder], {
    stdio: ['ignore', 'pipe', 'pipe'],
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
    host.once('exit', () => {
      reject(new Error(`serve ended before it was ready: ${said.slice(-1000)}`));
    });
  });
  return { link, host };
}

/**
 * Runs in the page; a text, because this project is not compiled for a DOM. From the event's own time stamp (when the browser got
 * the key) to the first task after the frame that it caused. The listener stays: one set up for each key could come after its key.
 */
const listen = `(() => {
  window.keyTimes = [];
  window.addEventListener('keydown', (event) => {
    requestAnimationFrame(() => {
      const channel = new MessageChannel();
      channel.port1.onmessage = () => window.keyTimes.push(performance.now() - event.timeStamp);
      channel.port2.postMessage(null);
    });
  }, { capture: true });
})()`;

/** Lengths of the frames, ms, while the list is scrolled from end to end. */
const scrollFrames = `(async () => {
  const grid = document.querySelector('[role="grid"]');
  const frames = [];
  let last = performance.now();
  for (let step = 0; step < 90; step += 1) {
    grid.scrollTop = (grid.scrollHeight - grid.clientHeight) * Math.abs(Math.sin(step / 14));
    await new Promise(requestAnimationFrame);
    const now = performance.now();
    frames.push(now - last);
    last = now;
  }
  return frames;
})()`;

async function keyToPaint(page: Page, keys: readonly string[], times: number): Promise<number[]> {
  await page.evaluate('window.keyTimes.length = 0');
  for (let index = 0; index < times; index += 1) {
    const key = keys[index % keys.length] ?? '';
    await page.keyboard.press(key);
    // Not waitForFunction: the page's content policy forbids evaluated texts, as it should.
    const until = performance.now() + 10_000;
    while ((await page.evaluate<number>('window.keyTimes.length')) <= index) {
      if (performance.now() > until) throw new Error(`key ${key} never reached the page`);
      await page.waitForTimeout(5);
    }
    await page.waitForTimeout(20);
  }
  return page.evaluate<number[]>('window.keyTimes.slice()');
}

interface Latency {
  medians: number[];
  worst: number;
}

async function latency(
  page: Page,
  options: BenchOptions,
  prepare: (page: Page) => Promise<string[]>,
): Promise<Latency> {
  const keys = await prepare(page);
  await page.evaluate(listen);
  const rounds = options.quick ? 5 : 9;
  const medians: number[] = [];
  let worst = 0;
  for (let round = 0; round < rounds && !options.signal.aborted; round += 1) {
    const times = await keyToPaint(page, keys, options.quick ? 8 : 15);
    medians.push(median(times));
    worst = Math.max(worst, ...times);
  }
  return { medians, worst };
}

async function measure(browser: Browser, link: string, options: BenchOptions): Promise<Figure[]> {
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
  const origin = new URL(link).origin;
  await page.goto(link);
  await page.waitForSelector('h1');

  options.say('Key presses on an idle page…');
  const openForm = async (view: Page) => {
    await view.goto(`${origin}/runs/new?preset=quickstart`);
    const field = view.locator('[id="field-name"]');
    await field.click();
    // In turn: a name may have 120 characters.
    return ['x', 'Backspace'];
  };
  const idle = await latency(page, options, openForm);

  options.say('Starting a run…');
  await page.locator('[id="field-environment.tasks"]').fill('1000');
  await page.getByRole('button', { name: 'Start', exact: true }).click();
  await page.waitForURL(/\/runs\/[0-9a-f-]+$/);
  await page
    .getByRole('button', { name: /^2\. Branching/ })
    .getByText(/[1-9]\d* \/ [\d,]+ states/)
    .waitFor({ timeout: 120_000 });
  const runPage = page.url();

  options.say('Key presses on the live page…');
  const live = await latency(page, options, async (view) => {
    await view.getByRole('tab', { name: 'Overview' }).focus();
    return ['ArrowRight'];
  });
  options.say('Key presses in the form while the run goes on…');
  const form = await latency(page, options, openForm);

  options.say('Scrolling the list while the run goes on…');
  await page.goto(`${origin}/trajectories`);
  await page.getByRole('grid').getByRole('row').nth(5).waitFor();
  const rounds: number[] = [];
  for (let round = 0; round < 5; round += 1) rounds.push(median(await page.evaluate<number[]>(scrollFrames)));

  await page.goto(runPage);
  const still = await page
    .locator('h1 + [data-state="running"]')
    .waitFor({ timeout: 10_000 })
    .then(
      () => true,
      () => false,
    );
  const note = still ? {} : { note: 'at the end the run was not shown as running' };
  const bar = { op: '<', limit: mostMs } as const;
  return [
    valueFigure('key to paint, form, nothing running', 'ms', median(idle.medians), bar),
    { ...valueFigure('key to paint, live run page', 'ms', median(live.medians), bar), ...note },
    valueFigure('key to paint, live run page, worst', 'ms', live.worst, null),
    {
      ...valueFigure('key to paint, form while a run streams', 'ms', median(form.medians), bar),
      baseline: median(idle.medians),
      ratio: median(form.medians) / median(idle.medians),
    },
    valueFigure('key to paint, form while a run streams, worst', 'ms', form.worst, null),
    valueFigure('frame while scrolling the episodes, run streaming', 'ms', median(rounds), {
      op: '<',
      limit: 50,
    }),
  ];
}

async function run(options: BenchOptions): Promise<Figure[]> {
  const executablePath = browserFile();
  const dataFolder = mkdtempSync(join(tmpdir(), 'daydream-gui-bench-'));
  let host: ChildProcess | null = null;
  let browser: Browser | null = null;
  try {
    options.say('Filling a data folder…');
    const filled = spawnSync(
      process.execPath,
      [cli, '--json', '--data-dir', dataFolder, 'quickstart', '--tasks', '4'],
      {
        encoding: 'utf8',
        timeout: 240_000,
      },
    );
    if (filled.status !== 0) throw new Error(`quickstart failed: ${filled.stderr.slice(-1000)}`);
    const served = await serve(dataFolder);
    host = served.host;
    browser = await chromium.launch({
      ...(executablePath === undefined ? {} : { executablePath }),
      args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking'],
    });
    return await measure(browser, served.link, options);
  } finally {
    await browser?.close();
    if (host !== null) {
      const ended = new Promise((resolve) => host?.once('exit', resolve));
      host.kill('SIGTERM');
      await ended;
    }
    rmSync(dataFolder, { recursive: true, force: true });
  }
}

const bench: Bench = {
  name: 'gui',
  summary: 'input latency (key press to painted frame) while a run streams, and list scrolling',
  run,
};
export default bench;
