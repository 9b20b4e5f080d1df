/**
 * Tokens that one llama.cpp batch may hold. Its compute buffers have a float for each vocabulary entry and batch token, so a
 * large vocabulary gets a smaller batch (about 128 MiB); every sequence must fit with one token.
 */
export function batchTokens(vocabulary: number, contextTokens: number, sequences: number): number {
  const affordable = Math.floor((128 * 1024 * 1024) / (4 * Math.max(vocabulary, 1)));
  return Math.max(sequences, Math.min(512, Math.max(64, affordable), contextTokens * sequences));
}
