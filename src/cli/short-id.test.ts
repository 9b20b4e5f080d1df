import { expect, it } from 'vitest';
import { datasetIdSchema, jobIdSchema } from '#shared/ids.ts';
import { findDataset, findJobId } from './short-id.ts';

function clientWith(...ids: string[]): Parameters<typeof findJobId>[0] {
  return {
    jobs: {
      find({ prefix, limit }) {
        const found = ids.filter((id) => id.startsWith(prefix)).slice(0, limit);
        return Promise.resolve(found.map((id) => jobIdSchema.parse(id)));
      },
    },
  };
}

it('takes the first characters of an id where only one begins so', async () => {
  expect(await findJobId(clientWith('ab12', 'cd34'), 'ab')).toBe('ab12');
});

it('takes a whole id that begins another one', async () => {
  expect(await findJobId(clientWith('ab', 'ab12'), 'ab')).toBe('ab');
});

it('lists what an ambiguous prefix may mean', async () => {
  await expect(findJobId(clientWith('ab12', 'ab34', 'cd'), 'ab')).rejects.toMatchObject({
    code: 'INVALID_INPUT',
    message: expect.stringContaining('several jobs: ab12, ab34. Give more'),
  });
});

it('leaves it to the host to say that nothing begins so', async () => {
  expect(await findJobId(clientWith('ab12'), 'zz')).toBe('zz');
});

it('takes a data set by the first characters of its id, or by a path', async () => {
  const client = { datasets: { find: () => Promise.resolve([datasetIdSchema.parse('cd34')]) } };
  expect(await findDataset(client, 'cd')).toEqual({ datasetId: 'cd34' });
  expect(await findDataset(client, import.meta.filename)).toEqual({ folder: import.meta.dirname });
  await expect(findDataset(client, './no-such-folder')).rejects.toMatchObject({ code: 'FILE_NOT_FOUND' });
  await expect(findDataset(client, ' ')).rejects.toMatchObject({ code: 'INVALID_INPUT' });
});
