import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { episodeFilterSchema } from '#shared/schema/episode.ts';
import { countFilters, filterParameters, readQuery, withFilter, writeQuery } from './filters.ts';

const word = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 });
const anyQuery = fc.record({
  sort: fc.constantFrom('newest', 'oldest', 'reward', 'steps'),
  filter: fc
    .record(
      {
        environmentId: fc.constantFrom('household', 'household-small', 'alfworld'),
        split: fc.constantFrom('train', 'development', 'seen', 'unseen'),
        taskType: word,
        purpose: fc.constantFrom('rollout', 'demonstration', 'human', 'evaluation'),
        status: fc.constantFrom('running', 'finished', 'abandoned', 'failed'),
        success: fc.boolean(),
        jobId: word,
        policyKey: word,
        taskId: word,
        errorCode: word,
        hasInvalid: fc.boolean(),
        minimumSteps: fc.nat(1000),
        maximumSteps: fc.nat(1000),
        text: word,
      },
      { requiredKeys: [] },
    )
    .map((filter) => episodeFilterSchema.parse(filter)),
});

describe('trajectory filters in the URL', () => {
  it('come back from the URL as they went in, for every filter there is', () => {
    fc.assert(
      fc.property(anyQuery, (query) => {
        const text = writeQuery(query).toString();
        expect(readQuery(new URLSearchParams(text))).toEqual(query);
      }),
    );
    expect(Object.keys(filterParameters).sort()).toEqual(Object.keys(episodeFilterSchema.shape).sort());
  });

  it('drop the one value that does not parse and keep the rest', () => {
    const { filter, sort } = readQuery(
      new URLSearchParams('split=nowhere&environment=household&success=perhaps&min-steps=x&sort=best'),
    );
    expect(filter).toEqual({ environmentId: 'household' });
    expect(sort).toBe('newest');
  });

  it('survive any hostile query string', () => {
    fc.assert(fc.property(fc.string(), (text) => void readQuery(new URLSearchParams(text))));
  });

  it('leave the selected step and tab of the URL alone', () => {
    const written = writeQuery(
      { filter: { success: false }, sort: 'steps' },
      new URLSearchParams('step=3&tab=tokens&success=true&type=pick'),
    );
    expect(written.toString()).toBe('step=3&tab=tokens&success=false&sort=steps');
  });

  it('are removed by an undefined value and counted', () => {
    const query = readQuery(new URLSearchParams('success=false&type=pick'));
    expect(countFilters(query.filter)).toBe(2);
    expect(withFilter(query, 'success', undefined).filter).toEqual({ taskType: 'pick' });
  });
});
