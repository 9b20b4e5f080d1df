/**
 * The encoded text on disk. A folder holds a manifest and shards; a shard is four files of little-endian numbers:
 * `.ids` u16 [token], `.weights` u8 [token] (100 = 1.0), `.offsets` u32 [document + 1], `.kinds` u8 [document].
 * A shard is written whole before the manifest names it, so whatever stops the writer, what is named is complete, and writing goes on
 * at `nextIndex`.
 */
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import { AppError } from '#shared/errors.ts';
import { makeFolder } from '#core/make-folder.ts';
import { documentKinds } from '#core/starter/document.ts';
import type { DocumentKind, EncodedDocument } from '#core/starter/document.ts';

const shardSchema = z.object({
  name: z.string(),
  documents: z.int(),
  tokens: z.int(),
  /** Longer than the limit; they have no place in the shard. */
  skipped: z.int(),
  /** Tokens of each kind. */
  kinds: z.record(z.enum(documentKinds), z.int()),
});
const manifestSchema = z.object({
  format: z.literal('daydream-pretraining'),
  version: z.literal(1),
  /** Everything that decides the text; another one cannot go on in this folder. */
  recipe: z.string(),
  nextIndex: z.int(),
  tokens: z.int(),
  shards: z.array(shardSchema),
});
export type ShardManifest = z.infer<typeof manifestSchema>;

const manifestFile = 'manifest.json';

/** @throws AppError CONFLICT where the folder holds text of another recipe */
export function openShards(folder: string, recipe: string): ShardManifest {
  makeFolder(folder);
  const file = path.join(folder, manifestFile);
  if (!existsSync(file)) {
    return { format: 'daydream-pretraining', version: 1, recipe, nextIndex: 0, tokens: 0, shards: [] };
  }
  const manifest = manifestSchema.parse(JSON.parse(readFileSync(file, 'utf8')));
  if (manifest.recipe === recipe) return manifest;
  throw new AppError({
    code: 'CONFLICT',
    message: `${folder} holds text of another recipe (seed, vocabulary, mix or limits). Nothing was changed; choose another folder.`,
    data: { folder, recipe, found: manifest.recipe },
  });
}

/** Adds one shard and returns the manifest that names it. */
export function writeShard(
  folder: string,
  manifest: ShardManifest,
  documents: readonly { kind: DocumentKind; encoded: EncodedDocument }[],
  progress: { nextIndex: number; skipped: number },
): ShardManifest {
  const name = `shard-${String(manifest.shards.length).padStart(5, '0')}`;
  const offsets = new Uint32Array(documents.length + 1);
  const kinds: Record<DocumentKind, number> = {
    errand: 0,
    search: 0,
    play: 0,
    prediction: 0,
    reflection: 0,
    generation: 0,
  };
  documents.forEach(({ kind, encoded: { ids } }, index) => {
    offsets[index + 1] = (offsets[index] ?? 0) + ids.length;
    kinds[kind] += ids.length;
  });
  const tokens = offsets.at(-1) ?? 0;
  const ids = new Uint16Array(tokens);
  const weights = new Uint8Array(tokens);
  documents.forEach(({ encoded }, index) => {
    ids.set(encoded.ids, offsets[index]);
    weights.set(encoded.weights, offsets[index]);
  });
  const kindIds = Uint8Array.from(documents, ({ kind }) => documentKinds.indexOf(kind));
  for (const [extension, data] of Object.entries({ ids, weights, offsets, kinds: kindIds })) {
    replaceFile(path.join(folder, `${name}.${extension}`), new Uint8Array(data.buffer));
  }
  const shard = { name, documents: documents.length, tokens, skipped: progress.skipped, kinds };
  const next: ShardManifest = {
    ...manifest,
    nextIndex: progress.nextIndex,
    tokens: manifest.tokens + tokens,
    shards: [...manifest.shards, shard],
  };
  replaceFile(path.join(folder, manifestFile), `${JSON.stringify(next, null, 1)}\n`);
  return next;
}

/** What lies in the folder, whatever made it. @throws AppError FILE_NOT_FOUND when nothing does */
export function readManifest(folder: string): ShardManifest {
  const file = path.join(folder, manifestFile);
  if (existsSync(file)) return manifestSchema.parse(JSON.parse(readFileSync(file, 'utf8')));
  throw new AppError({
    code: 'FILE_NOT_FOUND',
    message: `${folder} holds no pre-training text. Generate it first: node scripts/starter/main.ts data --out ${folder}`,
  });
}

export interface Shard {
  ids: Uint16Array;
  weights: Uint8Array;
  offsets: Uint32Array;
  kinds: Uint8Array;
}

/** @throws AppError FILE_INVALID when a file is missing, cut or of another shard */
export function readShard(
  folder: string,
  { name, documents, tokens }: ShardManifest['shards'][number],
): Shard {
  const read = (extension: string, bytes: number): ArrayBuffer => {
    const file = path.join(folder, `${name}.${extension}`);
    const content = existsSync(file) ? readFileSync(file) : null;
    if (content?.length === bytes)
      return content.buffer.slice(content.byteOffset, content.byteOffset + bytes) as ArrayBuffer;
    throw new AppError({
      code: 'FILE_INVALID',
      message: `${file} is missing or has not the ${String(bytes)} bytes that the manifest says. Delete the folder and generate the text again: it will be the same.`,
      data: { file },
    });
  };
  return {
    ids: new Uint16Array(read('ids', tokens * 2)),
    weights: new Uint8Array(read('weights', tokens)),
    offsets: new Uint32Array(read('offsets', (documents + 1) * 4)),
    kinds: new Uint8Array(read('kinds', documents)),
  };
}

function replaceFile(file: string, content: Uint8Array | string): void {
  const temporary = `${file}.part`;
  writeFileSync(temporary, content, { flush: true });
  renameSync(temporary, file);
}
