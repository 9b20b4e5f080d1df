/** How the attention of a block is cut: the trainer computes so, and the estimate of memory counts so. */

/** Queries from … to − 1; their keys are 0 … to − 1. */
export interface Chunk {
  from: number;
  to: number;
}

const shortestChunk = 128;
const mostChunks = 8;

/** @param cut false where one large product is better than several small ones (graphics processors) */
export function chunksOf(length: number, cut: boolean): Chunk[] {
  const size = cut ? Math.max(shortestChunk, Math.ceil(length / mostChunks / 64) * 64) : length;
  return Array.from({ length: Math.ceil(length / size) }, (_, index) => ({
    from: index * size,
    to: Math.min(length, (index + 1) * size),
  }));
}

/** Pairs of a query and a key in one block, as they are computed. */
export function pairsOf(chunks: readonly Chunk[]): number {
  return chunks.reduce((sum, { from, to }) => sum + to * (to - from), 0);
}
