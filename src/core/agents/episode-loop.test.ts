import { afterEach, expect, test } from 'vitest';
import { AppError } from '#shared/errors.ts';
import { environmentIdSchema } from '#shared/ids.ts';
import { limitsSchema } from '#shared/schema/run.ts';
import { plainFacts, runEpisode } from '#core/agents/index.ts';
import type { Lab } from '#test/helpers/methods.ts';
import { openLab, withSessions } from '#test/helpers/methods.ts';

let lab: Lab | null = null;
afterEach(async () => {
  await lab?.close();
  lab = null;
});

test('a policy that cannot begin leaves no session open', async () => {
  const sessions = { opened: 0, closed: 0 };
  lab = openLab({
    wrap: withSessions((session) => {
      sessions.opened += 1;
      return {
        close: () => {
          sessions.closed += 1;
          return session.close();
        },
      };
    }),
  });
  const provider = lab.services.environments.get(environmentIdSchema.parse('household-small'));
  const [task] = provider.listTasks({ split: 'train', limit: 1 }).tasks;
  if (task === undefined) throw new Error('no task');
  const policy = {
    label: 'broken',
    facts: plainFacts('solver'),
    expensive: false,
    actor: () => {
      throw new AppError({ code: 'CONFIG_INVALID', message: 'No mind.' });
    },
  };
  const playing = runEpisode(
    { task, purpose: 'rollout', jobId: null, seed: 1, rolloutIndex: 0 },
    { ...lab.services, provider, policy, limits: limitsSchema.parse({}) },
    { signal: new AbortController().signal },
  );
  await expect(playing).rejects.toThrow('No mind.');
  expect(sessions).toEqual({ opened: 1, closed: 1 });
});
