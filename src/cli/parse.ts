/** Readers of option values; commander turns a refusal into a usage error (exit code 2). */
import { InvalidArgumentError } from 'commander';
import type { z } from 'zod';
import { environmentIdSchema } from '#shared/ids.ts';
import type { EnvironmentId } from '#shared/ids.ts';
import { rangeWords } from '#shared/issue-words.ts';

export function positiveInteger(text: string): number {
  const value = Number(text);
  if (Number.isSafeInteger(value) && value > 0) return value;
  throw new InvalidArgumentError('A whole number from 1 up.');
}

/** A reader for a field of a schema, which holds its range. */
export function numberIn<Value>(schema: z.ZodType<Value>): (text: string) => Value {
  return (text) => {
    const parsed = schema.safeParse(text.trim() === '' ? Number.NaN : Number(text));
    if (parsed.success) return parsed.data;
    throw new InvalidArgumentError(rangeWords(schema));
  };
}

export function nonNegativeInteger(text: string): number {
  const value = Number(text);
  if (/^\d+$/.test(text) && Number.isSafeInteger(value)) return value;
  throw new InvalidArgumentError('A whole number from 0 up.');
}

/** The largest that every random generator here takes. */
const largestSeed = 2_147_483_647;

export function seed(text: string): number {
  const value = Number(text);
  if (/^\d+$/.test(text) && value <= largestSeed) return value;
  throw new InvalidArgumentError(`A whole number from 0 to ${String(largestSeed)}.`);
}

export function port(text: string): number {
  const value = nonNegativeInteger(text);
  if (value <= 65_535) return value;
  throw new InvalidArgumentError('A port from 0 (any free one) to 65535.');
}

export function collect(value: string, before: string[]): string[] {
  return [...before, value];
}

export function environmentId(text: string): EnvironmentId {
  const parsed = environmentIdSchema.safeParse(text);
  if (parsed.success) return parsed.data;
  throw new InvalidArgumentError(
    'An id has lower-case letters, digits and hyphens, for example household-small.',
  );
}
