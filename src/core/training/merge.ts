/** An adapter added into its base: a model of its own. */
import { existsSync } from 'node:fs';
import path from 'node:path';
import { AppError } from '#shared/errors.ts';
import type { Model } from '#shared/schema/model.ts';
import { loraTargets } from '#shared/schema/training.ts';
import { readGguf } from '#core/llm/index.ts';
import { makeFolder } from '#core/make-folder.ts';
import type { CoreServices } from '#core/services.ts';
import { architectureOf, storedTensors } from '#core/training/architecture-of.ts';
import { writeModel } from '#core/training/model-files.ts';

/**
 * The adapted matrices become float32; everything else is copied as it is.
 * @throws CONFLICT when the file exists, MODEL_UNSUPPORTED, CONFIG_INVALID when the adapter does not fit
 */
export async function mergeAdapter(
  request: { base: string; adapter: string; file: string },
  services: Pick<CoreServices, 'models' | 'newTrainer'>,
): Promise<Model> {
  const base = await services.models.resolve(request.base);
  if (existsSync(request.file)) {
    throw new AppError({
      code: 'CONFLICT',
      message: `${request.file} exists. Nothing was written; choose another name.`,
    });
  }
  const header = readGguf(base.location);
  const adapterHeader = readGguf(request.adapter);
  const tensors = storedTensors(adapterHeader, request.adapter);
  const rank = tensors.find(({ name }) => name.endsWith('.lora_a'))?.shape[1];
  const alpha = Number(adapterHeader.metadata.get('adapter.lora.alpha'));
  if (rank === undefined || !(alpha > 0)) {
    throw new AppError({
      code: 'MODEL_FILE_INVALID',
      message: `${request.adapter} is no LoRA adapter (no lora_a tensors, or no adapter.lora.alpha).`,
    });
  }
  const architecture = architectureOf(header, base.location);
  const trainer = services.newTrainer();
  try {
    await trainer.open({
      architecture,
      base: { kind: 'file', file: base.location, tensors: storedTensors(header, base.location) },
      mode: {
        kind: 'lora',
        lora: {
          rank,
          alpha,
          targets: loraTargets.filter((part) => tensors.some(({ name }) => name.includes(`.${part}.weight`))),
        },
      },
      adapter: { file: request.adapter, tensors },
      valueHead: false,
      device: 'cpu',
      threads: 1,
      seed: 0,
      adam: { beta1: 0.9, beta2: 0.999, epsilon: 1e-8, weightDecay: 0, clipNorm: 0, muon: null },
      limits: { longestBlock: 64, mostTokens: 64, share: true },
    });
    makeFolder(path.dirname(request.file));
    writeModel(request.file, base.location, await trainer.merged());
  } finally {
    await trainer.close();
  }
  const [model] = await services.models.add(request.file);
  if (model === undefined)
    throw new AppError({ code: 'INTERNAL', message: `${request.file} was not registered.` });
  return model;
}
