/** A model that goes away in the middle of the reflections: the run fails, keeps what it has, and goes on when it is back. */
import { expect, test } from 'vitest';
import { AppError } from '#shared/errors.ts';
import type { Job } from '#shared/schema/job.ts';
import { earlyExperienceRunSchema } from '#shared/schema/run.ts';
import { fakeModel, openLab, soundReflection } from '#test/helpers/methods.ts';

const run = earlyExperienceRunSchema.parse({
  kind: 'early-experience',
  environment: { id: 'household-small', tasks: 3 },
  policy: { model: 'fake' },
  parallel: 2,
  limits: { retries: 0 },
});

test('a run is not done while a model that went away owes most of its texts', async () => {
  let away = false;
  let texts = 0;
  const model = fakeModel((request) => {
    if ((request.messages.at(-1)?.content ?? '').includes('Admissible actions:\n'))
      return '<action>look</action>';
    texts += 1;
    if (away || texts === 4) {
      away = true;
      throw new AppError({ code: 'MODEL_HTTP', message: 'The server does not answer' });
    }
    return soundReflection(request);
  });
  const lab = openLab({ model });
  try {
    const { jobs, store } = lab.services;
    const spec = JSON.parse(JSON.stringify(run)) as Job['spec'];
    const { jobId } = jobs.submit({ kind: 'early-experience', title: 'x', spec, seed: 1 });
    const failed = await jobs.wait(jobId);
    expect([failed.state, failed.error?.code]).toEqual(['failed', 'MODEL_HTTP']);
    expect(failed.error?.message).toContain('The server does not answer. That is the 5th failure in a row');
    const kept = store.counts();
    expect(kept.reflections).toBe(3);

    away = false;
    texts = 10;
    jobs.resume(jobId);
    const done = await jobs.wait(jobId);
    expect(done.error).toBeNull();
    const states = store.episodes
      .list({ purpose: 'demonstration' }, 'oldest', { cursor: null, limit: 9 })
      .items.reduce((sum, { steps }) => sum + steps, 0);
    expect(store.counts()).toMatchObject({ reflections: states, branches: kept.branches });
  } finally {
    await lab.close();
  }
}, 60_000);
