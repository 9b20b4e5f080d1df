import { expect, it } from 'vitest';
import { modelIdSchema } from '#shared/ids.ts';
import { openTestApp } from '#test/helpers/app.ts';
import { findModel } from './commands/models.ts';

it('means the present starter by its name, where an earlier version of the application listed another', async () => {
  const test = await openTestApp();
  try {
    const present = await findModel(test.client, 'daydream-starter');
    // Every id begins with nothing; `models remove "$UNSET"` must not take the only one.
    await expect(findModel(test.client, '')).rejects.toMatchObject({ code: 'INVALID_INPUT' });
    const earlier = { ...present, modelId: modelIdSchema.parse('e'.repeat(64)), addedAt: 1 };
    test.app.services.store.models.upsert(earlier);
    const listed = await test.client.models.list();
    expect(listed.filter(({ name }) => name === 'daydream-starter')).toHaveLength(2);
    expect((await findModel(test.client, 'daydream-starter')).modelId).toBe(present.modelId);
  } finally {
    await test.dispose();
  }
});
