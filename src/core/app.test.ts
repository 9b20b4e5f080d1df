import { expect, test } from 'vitest';
import { environmentIdSchema } from '#shared/ids.ts';
import { createApp, nodePorts } from '#core/app.ts';
import { openTestApp } from '#test/helpers/app.ts';
import { withSessions } from '#test/helpers/methods.ts';

const broken = () => Promise.reject(new Error('It does not close.'));

test.each([
  ['a game that does not close', 'game', undefined],
  ['a service that does not close', 'service', /The rest was closed, this was not: Error: It does not close/],
] as const)('%s keeps neither the store open nor the folder locked', async (_, what, message) => {
  const first = await openTestApp();
  const { environments, models } = first.app.services;
  if (what === 'service') models.dispose = broken;
  else {
    const get = environments.get.bind(environments);
    environments.get = (id) => withSessions(() => ({ close: broken }))(get(id));
    const environmentId = environmentIdSchema.parse('household-small');
    const [task] = get(environmentId).listTasks({ split: 'train', limit: 1 }).tasks;
    if (task === undefined) throw new Error('no task');
    await first.client.environments.play.open({ environmentId, taskId: task.taskId, seed: 1 });
  }
  const disposed = first.app.dispose();
  if (message === undefined) await disposed;
  else await expect(disposed).rejects.toThrow(message);
  const second = await createApp(nodePorts({ kind: 'cli', dataFolder: first.folder }));
  await second.dispose();
  await first.dispose();
});
