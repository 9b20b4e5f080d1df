import { expect, it } from 'vitest';
import { createMemory } from '#core/agents/remember.ts';
import { createHouseholdProvider } from '#core/environments/household/provider.ts';

it('measures once for an environment and a key, and keeps no failure', async () => {
  const remembered = createMemory<number>();
  const one = createHouseholdProvider('household-small');
  const other = { ...one };
  let measured = 0;
  const measure = () => {
    measured += 1;
    return measured === 1 ? Promise.reject(new Error('broken')) : Promise.resolve(measured);
  };
  await expect(remembered(one, 'a', measure)).rejects.toThrow('broken');
  expect(await remembered(one, 'a', measure)).toBe(2);
  expect(await remembered(one, 'a', measure)).toBe(2);
  expect(await remembered(one, 'b', measure)).toBe(3);
  expect(await remembered(other, 'a', measure)).toBe(4);
  for (let key = 0; key < 64; key += 1) await remembered(one, String(key), measure);
  expect(await remembered(one, 'a', measure)).toBe(measured);
});
