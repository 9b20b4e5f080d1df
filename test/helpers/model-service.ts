/** A real model service over a real worker process, with the store's part in memory. */
import { createModelService } from '#core/llm/index.ts';
import type { ModelServiceOptions } from '#core/llm/index.ts';
import type { ModelService } from '#core/llm/port.ts';
import { createNodeSpawner } from '#core/process/index.ts';
import type { ChildHandle, Logger } from '#core/ports.ts';
import type { ModelStore } from '#core/store/port.ts';
import type { Model, ThreadCalibration } from '#shared/schema/model.ts';

export function memoryModelStore(): ModelStore {
  const models = new Map<string, Model>();
  const calibrations = new Map<string, ThreadCalibration>();
  return {
    upsert: (model) => void models.set(model.modelId, model),
    get: (modelId) => models.get(modelId) ?? null,
    byLocation: (location) => [...models.values()].find((model) => model.location === location) ?? null,
    list: () => [...models.values()],
    remove: (modelId) => models.delete(modelId),
    calibration: (modelId, machine) => calibrations.get(`${modelId} ${machine}`) ?? null,
    saveCalibration: (calibration) =>
      void calibrations.set(`${calibration.modelId} ${calibration.machine}`, calibration),
  };
}

export const quietLog: Logger = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

export interface TestService {
  service: ModelService;
  models: ModelStore;
  /** The children started so far, newest last. */
  children: ChildHandle[];
  outgoing: () => number;
}

/** One thread, no GPU. */
export function testModelService(overrides: Partial<ModelServiceOptions> = {}): TestService {
  const children: ChildHandle[] = [];
  const spawner = createNodeSpawner();
  const models = memoryModelStore();
  let outgoing = 0;
  const service = createModelService({
    models,
    spawner: {
      spawn: (entry, options) => {
        const child = spawner.spawn(entry, options);
        children.push(child);
        return child;
      },
    },
    clock: { now: () => Date.now() },
    log: quietLog,
    threads: () => 1,
    onOutgoing: () => (outgoing += 1),
    gpu: 'off',
    ...overrides,
  });
  return { service, models, children, outgoing: () => outgoing };
}

/** node-llama-cpp's log-probabilities of every token but the first, by row. */
export async function engineLogprobs(
  service: ModelService,
  file: string,
  rows: readonly { tokens: Int32Array }[],
): Promise<number[][]> {
  const loaded = await service.load(await service.resolve(file), {
    adapters: [],
    contextTokens: 256,
    sequences: 1,
    threads: 1,
    format: 'auto',
  });
  const scored: number[][] = [];
  for (const { tokens } of rows) {
    scored.push(
      await loaded.model.score({ prompt: [...tokens.subarray(0, 1)], completion: [...tokens.subarray(1)] }),
    );
  }
  await loaded.release();
  return scored;
}
