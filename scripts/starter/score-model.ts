/** Log-probabilities of a GGUF file by the inference process, in the form that the probes ask for. */
import { openLlmBench } from '../../bench/lib/llm.ts';
import type { ScoreRows } from '../../src/core/starter/index.ts';

export async function scoreWithModel(file: string): Promise<{ score: ScoreRows; close(): Promise<void> }> {
  const bench = await openLlmBench({ seed: 1, model: file });
  const known = await bench.service.resolve(file);
  const loaded = await bench.service.load(known, {
    adapters: [],
    contextTokens: 2048,
    sequences: 1,
    threads: 1,
    format: 'auto',
  });
  return {
    async score(rows, { signal }) {
      const scored: Float32Array[] = [];
      for (const { tokens, targets } of rows) {
        const from = targets[0] ?? tokens.length;
        const completion = [...tokens.subarray(from)];
        if (completion.length !== targets.length)
          throw new RangeError('The targets of a probe are its last tokens.');
        const request = { prompt: [...tokens.subarray(0, from)], completion };
        scored.push(Float32Array.from(await loaded.model.score(request, { signal })));
      }
      return scored;
    },
    async close() {
      await loaded.release();
      await bench.close();
    },
  };
}
