/** How much memory a load will take, before loading: weights, KV cache, compute buffers. Bytes. */
import type { FitEstimate } from '#shared/schema/model.ts';
import { AppError } from '#shared/errors.ts';
import { batchTokens } from '#shared/worker/batch-tokens.ts';
import type { GgufHeader } from './gguf/read-gguf.ts';
import { amxCopies } from './amx.ts';
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
  /** Whether the processor has it. */
  amx: boolean;
}

export function estimateFit(header: GgufHeader, request: FitRequest): FitEstimate {
  const weightsBytes = header.tensors.reduce((sum, { bytes }) => sum + (bytes ?? 0), 0);
  const { kvCacheBytes, computeBytes } = contextBytes(header, request);
  const room = request.availableBytes - reserveBytes - weightsBytes;
  const fits = kvCacheBytes + computeBytes <= room;
  return {
    weightsBytes,
    copiedBytes: request.amx ? amxCopies(header) : 0,
    kvCacheBytes,
    computeBytes,
    totalBytes: weightsBytes + kvCacheBytes + computeBytes,
    availableBytes: request.availableBytes,
    fits,
    contextTokens: request.contextTokens,
    sequences: request.sequences,
    gpuLayers: 0,
    totalLayers: architectureNumber(header, 'block_count'),
    advice: fits ? '' : advice(header, request, room),
  };
}

/** What one context takes beside the weights. */
function contextBytes(
  header: GgufHeader,
  request: FitRequest,
): { kvCacheBytes: number; computeBytes: number } {
  const layers = architectureNumber(header, 'block_count');
  // llama.cpp rounds a sequence's cells up to 256.
  const cells = Math.ceil(request.contextTokens / 256) * 256 * request.sequences;
  return {
    kvCacheBytes: cells * keyValueNumbersPerToken(header, layers) * half,
    computeBytes: computeBufferBytes(header, request),
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

/**
 * The graph's largest moment, as llama.cpp reserves it without flash attention: logits of the whole batch, or one layer's
 * activations beside its attention scores and mask, or its feed-forward part; and the kept logits of one row a sequence.
 * Measured against the worker's own figure (test/integration/memory-fit.test.ts).
 */
function computeBufferBytes(header: GgufHeader, request: FitRequest): number {
  const { vocabularySize, contextTokens, sequences } = request;
  const batch = batchTokens(vocabularySize, contextTokens, sequences);
  const width = architectureNumber(header, 'embedding_length');
  const heads = architectureNumber(header, 'attention.head_count', 1);
  const logits = vocabularySize + width;
  const attention = width * 8 + contextTokens * (heads + 1);
  const feedForward = width * 2 + architectureNumber(header, 'feed_forward_length') * 3;
  return (batch * Math.max(logits, attention, feedForward) + sequences * vocabularySize) * float;
}

/** @param room bytes for the context: what is free, without reserve and weights */
function advice(header: GgufHeader, request: FitRequest, room: number): string {
  const holds = (change: Partial<FitRequest>): boolean => {
    const { kvCacheBytes, computeBytes } = contextBytes(header, { ...request, ...change });
    return kvCacheBytes + computeBytes <= room;
  };
  const step = 256;
  const steps = largest(Math.floor(request.contextTokens / step), (count) =>
    holds({ contextTokens: count * step }),
  );
  if (steps * step >= 512) {
    return `A context of ${steps * step} tokens with ${request.sequences} sequences would fit.`;
  }
  const sequences = largest(request.sequences, (count) => holds({ sequences: count }));
  if (sequences >= 1) return `${sequences} sequences of ${request.contextTokens} tokens would fit.`;
  return holds({ contextTokens: step, sequences: 1 })
    ? 'Choose a smaller context, a smaller model, or close other programs.'
    : 'Choose a smaller model or a smaller quantisation, or close other programs.';
}

/** The largest number up to `limit` that holds; 0 when none does. What holds for a number holds for all below it. */
function largest(limit: number, holds: (count: number) => boolean): number {
  let low = 0;
  let high = limit;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (holds(middle)) low = middle;
    else high = middle - 1;
  }
  return low;
}

function gigabytes(bytes: number): string {
  return bytes >= 1e9 ? `${(bytes / 1e9).toFixed(1)} GB` : `${Math.max(1, Math.round(bytes / 1e6))} MB`;
}
