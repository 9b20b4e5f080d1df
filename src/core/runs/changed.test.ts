import { expect, it } from 'vitest';
import { trainRunSchema } from '#shared/schema/training.ts';
import { changed } from '#core/runs/changed.ts';

const run = trainRunSchema.parse({ dataset: { folder: '/rows' }, base: 'm' });
const set = (...sets: string[]) => changed(trainRunSchema, run, sets);

it('changes fields by their paths and leaves the rest', () => {
  expect(set('optimizer=muon', 'schedule.kind=linear')).toEqual({
    ...run,
    optimizer: 'muon',
    schedule: { ...run.schedule, kind: 'linear' },
  });
  expect(set()).toEqual(run);
});

it('names an unknown key with the one that was meant, and what a value may be', () => {
  expect(() => set('optimiser=muon')).toThrow('Did you mean `optimizer`?');
  expect(() => set('schedule.knd=linear')).toThrow('Did you mean `kind`?');
  expect(() => changed(trainRunSchema, { ...run, name: 'n'.repeat(121) }, [])).toThrow(
    /name: .* at most 120 characters/u,
  );
  expect(() => set('optimizer=sgd', 'batchRows=0')).toThrow(
    /^Nothing was started\. batchRows: .*optimizer: .*one of `adamw`, `muon`/u,
  );
});
