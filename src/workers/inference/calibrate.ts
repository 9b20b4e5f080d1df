/** Tokens per second for each thread count: single tokens, because that is what an agent waits for. */
import type { Llama, LlamaModel } from 'node-llama-cpp';
import { openNative } from './native.ts';
import type { Turnstile } from './decoder.ts';

const warmUpTokens = 2;
const longestTrialMs = 1500;
const mostTokens = 32;

export async function calibrateThreads(
  llama: Llama,
  model: LlamaModel,
  threadCounts: readonly number[],
  turnstile: Turnstile,
  signal: AbortSignal,
): Promise<{ threads: number; tokensPerSecond: number }[]> {
  const context = await model.createContext({
    contextSize: 256,
    sequences: 1,
    batchSize: 8,
    threads: Math.max(...threadCounts),
    failedCreationRemedy: false,
  });
  try {
    const native = openNative(model, context).context;
    const token = model.tokens.bos ?? 0;
    const trials: { threads: number; tokensPerSecond: number }[] = [];
    for (const threads of threadCounts) {
      native.disposeSequence(0);
      native.setThreads(threads);
      const rate = await turnstile(async () => {
        let position = 0;
        const decode = async (): Promise<void> => {
          signal.throwIfAborted();
          native.initBatch(1);
          native.addToBatch(0, position, Uint32Array.of(token), Uint32Array.of(0));
          await native.decodeBatch();
          position += 1;
        };
        for (let index = 0; index < warmUpTokens; index += 1) await decode();
        const started = performance.now();
        let tokens = 0;
        while (tokens < mostTokens && performance.now() - started < longestTrialMs) {
          await decode();
          tokens += 1;
        }
        return (tokens * 1000) / (performance.now() - started);
      });
      trials.push({ threads, tokensPerSecond: rate });
    }
    return trials;
  } finally {
    await context.dispose();
  }
}
