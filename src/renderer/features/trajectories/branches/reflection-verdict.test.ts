import { expect, it } from 'vitest';
import { verdictOf } from './reflection-verdict.ts';

const text = { text: 'A reason.', keptByFilters: true, droppedBy: [], exported: true, runRemoved: false };
const review = (decision: 'pending' | 'keep' | 'drop') => ({ review: { decision, reason: '', at: null } });

it('says of a text whose decision it was, and takes from the export alone whether it goes into the data set', () => {
  expect(verdictOf({ ...text, ...review('pending') })).toEqual({ kept: true, text: 'Kept by the filters' });
  expect(verdictOf({ ...text, ...review('keep') })).toEqual({ kept: true, text: 'Kept by you' });
  const out = { ...text, exported: false };
  expect(verdictOf({ ...out, runRemoved: true, review: { decision: 'keep', reason: '', at: 1 } }).text).toBe(
    'Its run was removed: it is not exported again',
  );
  expect(verdictOf({ ...out, ...review('drop') }).text).toBe('Dropped by you');
  expect(verdictOf({ ...out, ...review('pending') })).toEqual({
    kept: false,
    text: 'Not used: another attempt at this text is',
  });
  expect(verdictOf({ ...out, ...review('keep') }).kept).toBe(false);
  expect(verdictOf({ ...out, text: ' ', ...review('keep') }).text).toBe('Empty: nothing to train on');
  const dropped = { ...out, keptByFilters: false, droppedBy: ['label-leak', 'too-long'] };
  expect(verdictOf({ ...dropped, ...review('pending') }).text).toBe('Dropped: label leak, too long');
});
