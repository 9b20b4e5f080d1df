/** Which tokens a model numbers how, as one hash: an adapter is only right for the tokenizer that it was trained with. */
import { createHash } from 'node:crypto';
import { closeSync, openSync, readSync } from 'node:fs';
import type { GgufHeader } from './read-gguf.ts';

/** Where an adapter says which tokenizer it was trained with. */
export const tokenizerKey = 'daydream.tokenizer.sha256';

const most = 256 * 1024 * 1024;

/** SHA-256 of the list of tokens in order; null for a file without one. */
export function tokenizerPrint(file: string, header: GgufHeader): string | null {
  const tokens = header.metadata.get('tokenizer.ggml.tokens');
  if (typeof tokens !== 'object' || !('arrayLength' in tokens)) return null;
  const bytes = Buffer.alloc(Math.min(most, tokens.end - tokens.start));
  const descriptor = openSync(file, 'r');
  try {
    for (let at = 0; at < bytes.length;) {
      const got = readSync(descriptor, bytes, at, bytes.length - at, tokens.start + at);
      if (got === 0) return null;
      at += got;
    }
  } finally {
    closeSync(descriptor);
  }
  return createHash('sha256').update(bytes).digest('hex');
}
