import { expect, it } from 'vitest';
import { errorCodes } from '#shared/errors.ts';
import { outcomeOf } from './outcome.ts';

it('calls what broke by words that fit into the column of a list, for every code', () => {
  const label = (code: (typeof errorCodes)[number]) => {
    const error = { code, message: 'It broke.', data: {} };
    const outcome = outcomeOf({ status: 'failed', success: false, endReason: null, error });
    expect(outcome.kind).toBe('error');
    return outcome.label;
  };
  expect(label('MODEL_HTTP')).toBe('Model error');
  expect(label('ENVIRONMENT_CRASHED')).toBe('World error');
  expect(label('TIMEOUT')).toBe('Timed out');
  for (const code of errorCodes) expect(label(code).length).toBeLessThanOrEqual(12);
});
