/** Content hashes and the canonical JSON they are taken over. */
import { createHash } from 'node:crypto';
import { sha256Schema } from '#shared/ids.ts';
import type { Sha256 } from '#shared/ids.ts';

export function sha256(text: string | Uint8Array): Sha256 {
  return sha256Schema.parse(createHash('sha256').update(text).digest('hex'));
}

/** JSON with keys in order and without undefined members: equal content, equal text. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (value !== null && typeof value === 'object') {
    const members = Object.entries(value)
      .filter(([, member]) => member !== undefined)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, member]) => `${JSON.stringify(key)}:${canonicalJson(member)}`);
    return `{${members.join(',')}}`;
  }
  return JSON.stringify(value) ?? 'null';
}

/** 24 hexadecimal digits over the parts: long enough for identities, short enough for a URL. */
export function identityHash(...parts: readonly unknown[]): string {
  return sha256(canonicalJson(parts)).slice(0, 24);
}
