/** What can be known before a training starts: the model, its architecture, the data set, the adapter. */
import { existsSync, statSync } from 'node:fs';
import path from 'node:path';
import { AppError } from '#shared/errors.ts';
import type { TrainRun } from '#shared/schema/training.ts';
import { sentence } from '#shared/sentence.ts';
import type { CoreServices } from '#core/services.ts';
import type { TrainingDevices } from '#core/training/devices.ts';
import { partsOf } from '#core/training/recipes.ts';
import { requireMemory } from '#core/training/memory.ts';
import { datasetFolder, openParams } from '#core/training/train-job.ts';

/** @throws TRAINER_UNAVAILABLE, MODEL_NOT_FOUND, MODEL_UNSUPPORTED, NOT_FOUND, FILE_NOT_FOUND, INVALID_INPUT, CONFIG_INVALID. Returns a title for the job. */
export async function checkTraining(
  run: TrainRun,
  services: CoreServices,
  devices: TrainingDevices,
): Promise<string> {
  const base = await services.models.resolve(run.base);
  if (base.kind !== 'gguf') {
    throw new AppError({
      code: 'MODEL_UNSUPPORTED',
      message: `${base.name} is no GGUF file, so its weights cannot be trained here. Export the data set and train it at its server.`,
    });
  }
  const { name, reason } = await devices.of(run.device);
  if (name === null) {
    throw new AppError({
      code: 'TRAINER_UNAVAILABLE',
      message: `${run.device === 'cpu' ? 'The trainer does not start here' : `This machine has no ${run.device} to train on`}: ${sentence(reason ?? '')} Nothing was started.${run.device === 'cpu' ? '' : ' Choose the device cpu.'}`,
    });
  }
  const params = openParams(run, base);
  if (run.device === 'cpu') requireMemory(params, process.availableMemory());
  const folder = datasetFolder(run, services);
  for (const part of partsOf(run.recipe)) {
    const file = path.join(folder, `${part}.jsonl`);
    if (existsSync(file)) {
      if (statSync(file).size > 0) continue;
      throw new AppError({
        code: 'INVALID_INPUT',
        message: `${file} has no rows, so the recipe ${run.recipe} would train something else than it says. Nothing was started; choose another recipe, or collect again.`,
        data: { file },
      });
    }
    throw new AppError({
      code: 'FILE_NOT_FOUND',
      message: `The recipe ${run.recipe} needs ${file}, which is not there. Choose another recipe, or export the data set again.`,
      data: { file },
    });
  }
  return run.name === '' ? `Train ${run.recipe} on ${base.name}` : run.name;
}
