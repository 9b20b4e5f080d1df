/** How much memory a load will take, before loading: weights, KV cache, compute buffers. Bytes. */
import type { FitEstimate } from '#shared/schema/model.ts';
import { AppError } from '#shared/errors.ts';
import { batchTokens } from '#shared/worker/batch-tokens.ts';
import type { GgufHeader } from './gguf/read-gguf.ts';
import { architectureList, architectureNumber } from './gguf/facts.ts';

const half = 2;
const float = 4;
/** Left to the rest of the system. */
const reserveBytes = 256 * 1024 * 1024;

export interface FitRequest {
  contextTokens: number;
  sequences: number;
  vocabularySize: number;
  availableBytes: number;
}

export function estimateFit(header: GgufHeader, request: FitRequest): FitEstimate {
  const layers = architectureNumber(header, 'block_count');
  const weightsBytes = header.tensors.reduce((sum, { bytes }) => sum + (bytes ?? 0), 0);
  // llama.cpp rounds a sequence's cells up to 256.
  const cells = Math.ceil(request.contextTokens / 256) * 256 * request.sequences;
  const kvCacheBytes = cells * keyValueNumbersPerToken(header, layers) * half;
  const computeBytes = computeBufferBytes(header, request);
  const totalBytes = weightsBytes + kvCacheBytes + computeBytes;
  const fits = totalBytes + reserveBytes <= request.availableBytes;
  return {
    weightsBytes,
    kvCacheBytes,
    computeBytes,
    totalBytes,
    availableBytes: request.availableBytes,
    fits,
    contextTokens: request.contextTokens,
    sequences: request.sequences,
    gpuLayers: 0,
    totalLayers: layers,
    advice: fits ? '' : advice(weightsBytes, kvCacheBytes, computeBytes, request),
  };
}

/** @throws MODEL_OUT_OF_MEMORY with what would fit. */
export function refuseIfTooLarge(fit: FitEstimate, name: string): void {
  if (fit.fits) return;
  throw new AppError({
    code: 'MODEL_OUT_OF_MEMORY',
    message:
      `${name} needs about ${gigabytes(fit.totalBytes)} (weights ${gigabytes(fit.weightsBytes)}, context ${gigabytes(fit.kvCacheBytes)}, ` +
      `buffers ${gigabytes(fit.computeBytes)}), and ${gigabytes(fit.availableBytes)} are free. It was not loaded. ${fit.advice}`,
    data: { neededBytes: fit.totalBytes, availableBytes: fit.availableBytes },
  });
}

function keyValueNumbersPerToken(header: GgufHeader, layers: number): number {
  const heads = architectureNumber(header, 'attention.head_count', 1);
  const headSize = Math.ceil(architectureNumber(header, 'embedding_length') / Math.max(heads, 1));
  const keys = architectureNumber(header, 'attention.key_length', headSize);
  const values = architectureNumber(header, 'attention.value_length', headSize);
  const perLayer = architectureList(header, 'attention.head_count_kv');
  const keyValueHeads =
    perLayer === null
      ? layers * architectureNumber(header, 'attention.head_count_kv', heads)
      : perLayer.slice(0, layers).reduce((sum, count) => sum + count, 0);
  return keyValueHeads * (keys + values);
}

/** Logits of a whole batch twice (graph and output), plus a few activations. */
function computeBufferBytes(header: GgufHeader, request: FitRequest): number {
  const batch = batchTokens(request.vocabularySize, request.contextTokens, request.sequences);
  const width =
    architectureNumber(header, 'embedding_length') * 6 +
    architectureNumber(header, 'feed_forward_length') * 3;
  const heads = architectureNumber(header, 'attention.head_count', 1);
  return batch * (request.vocabularySize * 2 + width + Math.min(request.contextTokens, 4096) * heads) * float;
}

function advice(weights: number, cache: number, compute: number, request: FitRequest): string {
  const room = request.availableBytes - reserveBytes - weights - compute;
  if (room <= 0) return 'Choose a smaller model or a smaller quantisation, or close other programs.';
  const perToken = cache / (request.contextTokens * request.sequences);
  const tokens = Math.floor(room / perToken / request.sequences / 256) * 256;
  if (tokens >= 512) return `A context of ${tokens} tokens with ${request.sequences} sequences would fit.`;
  const sequences = Math.floor(room / perToken / request.contextTokens);
  return sequences >= 1
    ? `${sequences} sequences of ${request.contextTokens} tokens would fit.`
    : 'Choose a smaller context, a smaller model, or close other programs.';
}

function gigabytes(bytes: number): string {
  return bytes >= 1e9 ? `${(bytes / 1e9).toFixed(1)} GB` : `${Math.max(1, Math.round(bytes / 1e6))} MB`;
}
