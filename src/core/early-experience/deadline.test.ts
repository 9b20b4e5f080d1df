/** A model that never answers ends in TIMEOUT in every stage, with what was finished before it kept. */
import { expect, test } from 'vitest';
import { withDeadline } from '#core/agents/index.ts';
import type { Job } from '#shared/schema/job.ts';
import { earlyExperienceRunSchema } from '#shared/schema/run.ts';
import type { FakeModel } from '#test/helpers/methods.ts';
import { fakeModel, openLab } from '#test/helpers/methods.ts';

const run = earlyExperienceRunSchema.parse({
  kind: 'early-experience',
  environment: { id: 'household-small', tasks: 1 },
  policy: { model: 'fake' },
  parallel: 1,
  limits: { episodeTimeoutMs: 1000, retries: 0 },
});
/** Answers like the fake it stands for until a prompt `hangs`; then it waits for its signal. */
function hanging(hangs: (last: string) => boolean): FakeModel {
  const fake = fakeModel(() => '<action>look</action>');
  return {
    ...fake,
    generate(request, options) {
      if (!hangs(request.messages.at(-1)?.content ?? '')) return fake.generate(request, options);
      return new Promise((_, reject) => {
        options?.signal?.addEventListener('abort', () => {
          reject(options.signal?.reason as Error);
        });
      });
    },
  };
}

async function end(model: FakeModel) {
  const lab = openLab({ model });
  try {
    const { jobs, store } = lab.services;
    const { jobId } = jobs.submit({
      kind: 'early-experience',
      title: 'x',
      spec: JSON.parse(JSON.stringify(run)) as Job['spec'],
      seed: 1,
    });
    const { state, error } = await jobs.wait(jobId);
    return { state, code: error?.code, counts: store.counts() };
  } finally {
    await lab.close();
  }
}

test('in branching', async () => {
  const { state, code, counts } = await end(hanging(() => true));
  expect([state, code]).toEqual(['failed', 'TIMEOUT']);
  expect(counts.episodes).toBe(1);
}, 20_000);

test('in reflecting: the branches are kept', async () => {
  const { state, code, counts } = await end(hanging((last) => !last.includes('Admissible actions:\n')));
  expect([state, code]).toEqual(['failed', 'TIMEOUT']);
  expect(counts.branches).toBeGreaterThan(20);
}, 60_000);

test('the caller’s own abort stays a cancellation', async () => {
  const stop = new AbortController();
  const work = withDeadline(
    { what: 'It', ms: 60_000, signal: stop.signal },
    (signal) =>
      new Promise((_, reject) => {
        signal.addEventListener('abort', () => {
          reject(new Error('stopped by the caller'));
        });
      }),
  );
  stop.abort();
  await expect(work).rejects.toThrow('stopped by the caller');
});
