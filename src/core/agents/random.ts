/**
 * Randomness as an input: a generator is named by what it is for, so the same state draws the same alternatives whatever
 * ran before it or beside it.
 */
import { createHash } from 'node:crypto';
import { canonicalJson } from '#core/agents/hash.ts';
import { randomFrom } from '#core/random.ts';
import type { Random } from '#core/random.ts';

/** A 31-bit seed made from the parts. */
export function seedOf(...parts: readonly unknown[]): number {
  return createHash('sha256').update(canonicalJson(parts)).digest().readUInt32BE(0) & 0x7fffffff;
}

export function randomOf(...parts: readonly unknown[]): Random {
  return randomFrom(seedOf(...parts));
}
