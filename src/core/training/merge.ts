/** An adapter added into its base: a model of its own. */
import { existsSync } from 'node:fs';
import path from 'node:path';
import { AppError } from '#shared/errors.ts';
import type { Model } from '#shared/schema/model.ts';
import { readGguf } from '#core/llm/index.ts';
import { makeFolder } from '#core/make-folder.ts';
import type { CoreServices } from '#core/services.ts';
import { readAdapter } from '#core/training/adapter.ts';
import { architectureOf, storedTensors } from '#core/training/architecture-of.ts';
import { writeModel } from '#core/training/model-files.ts';

/** A name alone lies with the host's own models; a GGUF is named so. */
function outputFile(name: string, dataFolder: string): string {
  const file = path.isAbsolute(name) ? name : path.join(dataFolder, 'models', name);
  return file.endsWith('.gguf') ? file : `${file}.gguf`;
}

/**
 * The adapted matrices become float32; everything else is copied as it is.
 * @throws FILE_EXISTS, MODEL_UNSUPPORTED, CONFIG_INVALID when the adapter does not fit
 */
export async function mergeAdapter(
  request: { base: string; adapter: string; file: string },
  services: Pick<CoreServices, 'models' | 'newTrainer' | 'dataFolder'>,
  options: { signal?: AbortSignal | undefined } = {},
): Promise<Model> {
  const base = await services.models.resolve(request.base);
  if (base.kind !== 'gguf') {
    throw new AppError({
      code: 'MODEL_UNSUPPORTED',
      message: `${base.name} is no GGUF file, so nothing can be added into its weights.`,
    });
  }
  const file = outputFile(request.file, services.dataFolder);
  if (existsSync(file)) {
    throw new AppError({
      code: 'FILE_EXISTS',
      message: `${file} exists. Nothing was written; choose another name.`,
    });
  }
  const header = readGguf(base.location);
  const { lora, tensors } = readAdapter(request.adapter, { file: base.location, header });
  const architecture = architectureOf(header, base.location);
  const trainer = services.newTrainer();
  try {
    await trainer.open(
      {
        architecture,
        base: { kind: 'file', file: base.location, tensors: storedTensors(header, base.location) },
        mode: { kind: 'lora', lora },
        adapter: { file: request.adapter, tensors },
        valueHead: false,
        device: 'cpu',
        threads: 1,
        seed: 0,
        adam: { beta1: 0.9, beta2: 0.999, epsilon: 1e-8, weightDecay: 0, clipNorm: 0, muon: null },
        limits: { longestBlock: 64, mostTokens: 64, share: true },
      },
      options,
    );
    makeFolder(path.dirname(file));
    await writeModel(file, base.location, await trainer.merged(), options);
  } finally {
    await trainer.close();
  }
  const [model] = await services.models.add(file);
  if (model === undefined) throw new AppError({ code: 'INTERNAL', message: `${file} was not registered.` });
  return model;
}
