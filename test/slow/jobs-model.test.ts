import fc from 'fast-check';
import { it } from 'vitest';
import { jobCommands, runJobCommands } from '#test/helpers/job-model.ts';

it('agrees with its model in hundreds of long histories', async () => {
  await fc.assert(fc.asyncProperty(jobCommands, runJobCommands), { numRuns: 500 });
});
