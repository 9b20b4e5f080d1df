import path from 'node:path';
import { defineConfig } from '@playwright/test';

/** One window at a time: the instance lock is part of what is tested. */
export default defineConfig({
  testDir: '.',
  testMatch: '*.spec.ts',
  workers: 1,
  timeout: 60_000,
  retries: 0,
  reporter: 'list',
  outputDir: path.join(import.meta.dirname, '../../test-results/electron'),
});
