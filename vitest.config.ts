import { defineConfig } from 'vitest/config';

// unit and renderer are the README's `npm test`; slow (crash loops, long properties) and integration
// (other people's software: the original ALFWorld engine, a pre-trained model) run in .ci/run.
export default defineConfig({
  test: {
    maxWorkers: 2,
    projects: [
      {
        test: {
          name: 'unit',
          environment: 'node',
          include: [
            'src/{shared,core,workers,cli,serve,main,preload}/**/*.test.ts',
            'test/{arch,electron}/**/*.test.ts',
            'bench/lib/**/*.test.ts',
          ],
          testTimeout: 30_000,
        },
      },
      {
        test: {
          name: 'renderer',
          environment: 'happy-dom',
          include: ['src/renderer/**/*.test.{ts,tsx}'],
          testTimeout: 15_000,
        },
      },
      {
        test: {
          name: 'slow',
          environment: 'node',
          include: ['test/slow/**/*.test.ts'],
          testTimeout: 600_000,
          hookTimeout: 120_000,
          fileParallelism: false,
        },
      },
      {
        test: {
          name: 'integration',
          environment: 'node',
          include: ['test/integration/**/*.test.ts'],
          testTimeout: 1_200_000,
          hookTimeout: 1_200_000,
          fileParallelism: false,
        },
      },
    ],
  },
});
