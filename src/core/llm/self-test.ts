/** Does the native library load and decode on this machine? Asked by `doctor`; leaves nothing behind. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Clock } from '#core/ports.ts';
import type { InferenceClient } from './inference-client.ts';
import { writeRandomGguf } from './random-gguf.ts';

/** @throws AppError MODEL_… with the library's own reason */
export async function selfTest(
  client: InferenceClient,
  clock: Clock,
  { signal }: { signal?: AbortSignal | undefined } = {},
): Promise<{ device: string; tookMs: number }> {
  const folder = await mkdtemp(join(tmpdir(), 'daydream-self-test-'));
  const startedAt = clock.now();
  try {
    const file = join(folder, 'random-weights-self-test.gguf');
    writeRandomGguf(file, { seed: 1, layers: 1, contextLength: 128 });
    const loadId = `self-test:${file}`;
    const load = {
      loadId,
      file,
      architecture: 'llama',
      adapters: [],
      contextTokens: 64,
      sequences: 1,
      threads: 1,
    };
    const { device } = await client.call('load', load, signal);
    await client.call('tokenize', { loadId, text: 'look' }, signal);
    await client.call('unload', { loadId }, signal);
    return { device, tookMs: clock.now() - startedAt };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
