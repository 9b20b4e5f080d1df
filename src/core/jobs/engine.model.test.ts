import fc from 'fast-check';
import { it } from 'vitest';
import { jobCommands, runJobCommands } from '#test/helpers/job-model.ts';

it('agrees with its model on every state, attempt and committed step, whatever is asked of it and whenever it crashes', async () => {
  await fc.assert(fc.asyncProperty(jobCommands, runJobCommands), { numRuns: 40 });
}, 60_000);
