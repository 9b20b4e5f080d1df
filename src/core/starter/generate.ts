/** Documents → tokens → shards, until the budget is spent. Stops between two shards when it is told to, and goes on from there. */
import { createHash } from 'node:crypto';
import { AppError } from '#shared/errors.ts';
import { encodeDocument } from '#core/starter/document.ts';
import type { DocumentKind, EncodedDocument } from '#core/starter/document.ts';
import type { DocumentSource } from '#core/starter/documents.ts';
import { openShards, writeShard } from '#core/starter/shards.ts';
import type { ShardManifest } from '#core/starter/shards.ts';
import type { Tokenizer } from '#core/starter/tokenizer.ts';
import { trainTokenizer } from '#core/starter/train-tokenizer.ts';

/** Raised by whoever changes what the generator says, so that a folder never holds two kinds of text. */
const generatorVersion = 5;

export interface GenerationPlan {
  folder: string;
  /** At least so many; the last shard may go over by one document. */
  tokens: number;
  tokensOfShard: number;
  /** Longer documents are left out. */
  longestDocument: number;
  /** What else decided the text: seed, stream, mix, weights. */
  recipe: object;
}

export async function generateShards(
  source: DocumentSource,
  tokenizer: Tokenizer,
  plan: GenerationPlan,
  options: { signal: AbortSignal; onShard?: (manifest: ShardManifest) => void },
): Promise<ShardManifest> {
  const vocabulary = createHash('sha256').update(tokenizer.toJson()).digest('hex');
  const { tokensOfShard, longestDocument } = plan;
  const recipe = JSON.stringify({ generatorVersion, vocabulary, longestDocument, ...plan.recipe });
  let manifest = openShards(plan.folder, recipe);
  while (manifest.tokens < plan.tokens) {
    const wanted = Math.min(tokensOfShard, plan.tokens - manifest.tokens);
    const documents: { kind: DocumentKind; encoded: EncodedDocument }[] = [];
    let tokens = 0;
    let skipped = 0;
    let index = manifest.nextIndex;
    for (; tokens < wanted; index += 1) {
      if (options.signal.aborted) {
        throw new AppError({
          code: 'CANCELLED',
          message: `Generation was stopped; ${String(manifest.tokens)} tokens in ${plan.folder} are kept. The same command goes on there.`,
        });
      }
      const document = await source.document(index);
      const encoded = encodeDocument(document, tokenizer);
      if (encoded.ids.length > longestDocument) {
        skipped += 1;
        continue;
      }
      documents.push({ kind: document.kind, encoded });
      tokens += encoded.ids.length;
    }
    manifest = writeShard(plan.folder, manifest, documents, { nextIndex: index, skipped });
    options.onShard?.(manifest);
  }
  return manifest;
}

/** The vocabulary of the first documents. */
export async function vocabularyOf(
  source: DocumentSource,
  training: { documents: number; vocabularySize: number },
): Promise<Tokenizer> {
  const texts: string[] = [];
  for (let index = 0; index < training.documents; index += 1) {
    for (const { content } of (await source.document(index)).messages) texts.push(content);
  }
  const { vocabularySize } = training;
  return trainTokenizer(texts, { vocabularySize, minimumCharacterCount: 50 });
}
