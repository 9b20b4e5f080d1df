import { afterAll, beforeAll, expect, it } from 'vitest';
import { openTestApp } from '#test/helpers/app.ts';
import type { TestApp } from '#test/helpers/app.ts';

let test: TestApp;
beforeAll(async () => {
  test = await openTestApp();
  test.app.start();
});
afterAll(() => test.dispose());

function rollout(tasks: number): string {
  return `kind: rollout\nenvironment: { id: household-small, tasks: ${String(tasks)} }\npolicy: { model: 'scripted:random' }\nlimits: { maxSteps: 5 }\n`;
}

it('takes the time from what a finished run of this kind and model took, in proportion to the work', async () => {
  const before = await test.client.runs.check({ yaml: rollout(4) });
  expect(before.estimate?.durationMs).toBeNull();

  const { jobId } = await test.client.runs.start({ yaml: rollout(4) });
  const { activeMs, state } = await test.app.services.jobs.wait(jobId);
  expect(state).toBe('succeeded');

  const same = await test.client.runs.check({ yaml: rollout(4) });
  expect(same.estimate?.durationMs).toBe(activeMs);
  const tenfold = await test.client.runs.check({ yaml: rollout(40) });
  expect(Math.abs((tenfold.estimate?.durationMs ?? 0) - 10 * activeMs)).toBeLessThanOrEqual(5);

  const other = await test.client.runs.check({ yaml: rollout(4).replace('random', 'expert') });
  expect(other.estimate?.durationMs).toBeNull();
});
