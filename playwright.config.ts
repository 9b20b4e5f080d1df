import { existsSync } from 'node:fs';
import { defineConfig } from '@playwright/test';

/**
 * Stories on real data in the system's Chromium. There is no web server here: each worker starts its own host on its own data
 * folder (test/e2e/data-host.ts), as a user would. CHROMIUM names another browser; without either, Playwright's own is used.
 */
const candidates = [
  process.env['CHROMIUM'] ?? '',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
];
const executablePath = candidates.find((path) => path !== '' && existsSync(path));

export default defineConfig({
  testDir: 'test/e2e',
  outputDir: 'test-results',
  // Each worker has a host with a model: two of them would measure each other.
  workers: 1,
  fullyParallel: false,
  retries: 0,
  timeout: 60_000,
  expect: { timeout: 10_000 },
  reporter: [['list']],
  use: {
    headless: true,
    actionTimeout: 10_000,
    trace: 'retain-on-failure',
    launchOptions: {
      ...(executablePath === undefined ? {} : { executablePath }),
      args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking'],
    },
  },
});
