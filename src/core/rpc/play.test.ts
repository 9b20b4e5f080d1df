import { afterEach, expect, test } from 'vitest';
import { AppError } from '#shared/errors.ts';
import { environmentIdSchema } from '#shared/ids.ts';
import { PlayDesk } from '#core/rpc/play.ts';
import type { Lab } from '#test/helpers/methods.ts';
import { openLab, withSessions } from '#test/helpers/methods.ts';

let lab: Lab | null = null;
afterEach(async () => {
  await lab?.close();
  lab = null;
});

test.each(['reset', 'snapshot', 'solve'] as const)(
  'a game whose %s fails while it opens leaves no session behind',
  async (method) => {
    let closed = 0;
    lab = openLab({
      wrap: withSessions((session) => ({
        [method]: () =>
          Promise.reject(new AppError({ code: 'ENVIRONMENT_CRASHED', message: 'The world broke.' })),
        close: () => {
          closed += 1;
          return session.close();
        },
      })),
    });
    const environmentId = environmentIdSchema.parse('household-small');
    const [task] = lab.services.environments.get(environmentId).listTasks({ split: 'train', limit: 1 }).tasks;
    if (task === undefined) throw new Error('no task');
    const desk = new PlayDesk(lab.services);
    const opening = desk.open({ environmentId, taskId: task.taskId, seed: 1 }, { signal: undefined });
    await expect(opening).rejects.toMatchObject({ code: 'ENVIRONMENT_CRASHED' });
    expect(closed).toBe(1);
    await desk.dispose();
    expect(closed).toBe(1);
  },
);
