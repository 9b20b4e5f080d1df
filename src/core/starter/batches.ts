/**
 * Shards → batches for a trainer, in an order that follows from the seed: each epoch draws the shards and the documents inside a shard
 * anew. Where it stands is three numbers, so a run that continues from its checkpoint sees the batches it would have seen.
 */
import { drawOf } from '#core/starter/draw.ts';
import { readShard } from '#core/starter/shards.ts';
import type { Shard, ShardManifest } from '#core/starter/shards.ts';

/** A document as the trainer takes it. */
export interface PretrainingRow {
  tokens: Int32Array;
  /** Positions ≥ 1, ascending, that are learned. */
  targets: Int32Array;
  /** By target: its share of the batch's loss. They sum to 1 over the batch. */
  weights: Float32Array;
}

export interface BatchCursor {
  epoch: number;
  /** In the epoch's order of shards. */
  shard: number;
  /** In the shard's order of documents. */
  document: number;
}

export const firstBatch: BatchCursor = { epoch: 0, shard: 0, document: 0 };

export interface Batch {
  rows: PretrainingRow[];
  /** All tokens, learned or only read. */
  tokens: number;
  /** Where the next batch begins. */
  next: BatchCursor;
}

export interface BatchReader {
  at(cursor: BatchCursor): Batch;
}

/** A batch has whole documents, at least `tokensOfBatch` tokens of them. */
export function createBatchReader(
  folder: string,
  manifest: ShardManifest,
  options: { seed: number; tokensOfBatch: number },
): BatchReader {
  if (!manifest.shards.some(({ documents }) => documents > 0)) {
    throw new RangeError(`${folder} holds no text yet. Generate some first.`);
  }
  let loaded: { index: number; shard: Shard } | null = null;
  const shardAt = (index: number): Shard => {
    if (loaded?.index === index) return loaded.shard;
    const named = manifest.shards[index];
    if (named === undefined) throw new RangeError(`There is no shard ${String(index)}.`);
    loaded = { index, shard: readShard(folder, named) };
    return loaded.shard;
  };
  const orders = new Map<string, number[]>();
  const order = (count: number, ...name: readonly unknown[]): number[] => {
    const key = name.join('/');
    const known = orders.get(key);
    if (known !== undefined) return known;
    if (orders.size > 4) orders.clear();
    const made = drawOf(options.seed, 'order', ...name).some([...Array(count).keys()], count);
    orders.set(key, made);
    return made;
  };

  return {
    at(cursor) {
      let { epoch, shard, document } = cursor;
      const taken: { ids: Uint16Array; weights: Uint8Array }[] = [];
      let tokens = 0;
      while (tokens < options.tokensOfBatch) {
        const index = order(manifest.shards.length, epoch)[shard] ?? 0;
        const { ids, weights, offsets } = shardAt(index);
        const count = offsets.length - 1;
        const chosen = order(count, epoch, index)[document] ?? 0;
        if (document < count) {
          const [from, to] = [offsets[chosen], offsets[chosen + 1]];
          const part = ids.subarray(from, to);
          taken.push({ ids: part, weights: weights.subarray(from, to) });
          tokens += part.length;
        }
        document += 1;
        if (document < count) continue;
        document = 0;
        shard = (shard + 1) % manifest.shards.length;
        if (shard === 0) epoch += 1;
      }
      return { rows: rowsOf(taken), tokens, next: { epoch, shard, document } };
    },
  };
}

function rowsOf(documents: readonly { ids: Uint16Array; weights: Uint8Array }[]): PretrainingRow[] {
  const total = documents.reduce(
    (sum, { weights }) => sum + weights.reduce((part, weight) => part + weight, 0),
    0,
  );
  return documents.map(({ ids, weights }) => {
    const targets = Int32Array.from([...weights.keys()].filter((position) => (weights[position] ?? 0) > 0));
    return {
      tokens: Int32Array.from(ids),
      targets,
      weights: Float32Array.from(targets, (position) => (weights[position] ?? 0) / total),
    };
  });
}
