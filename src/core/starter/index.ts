/** The bundled starter model: its vocabulary, its pre-training text, its file. scripts/starter makes it; docs/design/starter.md. */
export { createBatchReader, firstBatch } from '#core/starter/batches.ts';
export type { BatchCursor } from '#core/starter/batches.ts';
export { encodeConversation } from '#core/starter/chat-format.ts';
export { createDocumentSource, defaultDocuments } from '#core/starter/documents.ts';
export { generateShards, vocabularyOf } from '#core/starter/generate.ts';
export { initialWeights } from '#core/starter/initial-weights.ts';
export { writeStarterGguf } from '#core/starter/model-file.ts';
export type { StarterShape } from '#core/starter/model-file.ts';
export { readManifest } from '#core/starter/shards.ts';
export type { ShardManifest } from '#core/starter/shards.ts';
export { parseTokenizer } from '#core/starter/tokenizer.ts';
export type { Tokenizer } from '#core/starter/tokenizer.ts';
export { buildProbes, runProbes } from '#core/starter/probes.ts';
export type { ScoreRows } from '#core/starter/probes.ts';
