/** What the model benches share: a real service over a real worker, and a model of the starter's size. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createModelService, writeRandomGguf } from '#core/llm/index.ts';
import type { ModelService } from '#core/llm/port.ts';
import { createNodeSpawner } from '#core/process/index.ts';
import type { Logger } from '#core/ports.ts';
import type { Store } from '#core/store/port.ts';
import { openStore } from '#core/store/index.ts';

export const silent: Logger = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
const clock = { now: () => Date.now() };

export interface LlmBench {
  folder: string;
  modelFile: string;
  service: ModelService;
  store: Store;
  close(): Promise<void>;
}

/** ggml spins at barriers: on a shared machine one thread measures the code, two measure the neighbours. */
export const benchThreads = 1;

export async function openLlmBench(options: { seed: number; model: string | null }): Promise<LlmBench> {
  const folder = mkdtempSync(join(tmpdir(), 'daydream-bench-'));
  const modelFile = options.model ?? join(folder, 'random-weights-bench.gguf');
  if (options.model === null) writeRandomGguf(modelFile, { seed: options.seed, layers: 4, dim: 128 });
  const store = openStore({ file: join(folder, 'store.sqlite'), clock, log: silent });
  const service = createModelService({
    models: store.models,
    spawner: createNodeSpawner(),
    clock,
    log: silent,
    threads: () => benchThreads,
    onOutgoing: () => {},
    gpu: 'off',
  });
  await service.resolve(modelFile);
  return {
    folder,
    modelFile,
    service,
    store,
    close: async () => {
      await service.dispose();
      store.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
