import { afterEach, expect, test } from 'vitest';
import { earlyExperienceRunSchema } from '#shared/schema/run.ts';
import type { Lab } from '#test/helpers/methods.ts';
import { openLab, withSessions } from '#test/helpers/methods.ts';

let lab: Lab | null = null;
afterEach(async () => {
  await lab?.close();
  lab = null;
});

test('a session that fails to close is logged by each stage and changes no result', async () => {
  const warned: Record<string, unknown>[] = [];
  const quiet = (): void => undefined;
  lab = openLab({
    wrap: withSessions(() => ({ close: () => Promise.reject(new Error('stuck')) })),
    log: {
      debug: quiet,
      info: quiet,
      error: quiet,
      warn: (fields, event) => void (event === 'close-failed' && warned.push(fields)),
    },
  });
  const job = await lab.run(
    'early-experience',
    earlyExperienceRunSchema.parse({
      kind: 'early-experience',
      environment: { id: 'household-small', tasks: 1 },
      policy: { model: 'scripted:expert' },
      branching: { iwm: { sampler: 'uniform' }, sr: { enabled: false } },
      reflection: { enabled: false },
    }),
  );
  expect(job.error).toBeNull();
  const [episode] = lab.services.store.episodes.list({}, 'oldest', { cursor: null, limit: 9 }).items;
  // Once after the demonstration, once after its proof, once after its branches.
  expect(warned).toEqual(
    Array(3).fill({ episodeId: episode?.episodeId, what: 'session', error: 'Error: stuck' }),
  );
});
