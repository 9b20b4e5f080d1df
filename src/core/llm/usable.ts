/** Whether a model that is known can still be loaded: its file may have gone, and what an older version took in may be of no use. */
import { existsSync } from 'node:fs';
import { AppError } from '#shared/errors.ts';
import type { Model } from '#shared/schema/model.ts';
import { isKnownArchitecture } from './gguf/architectures.ts';
import { unknownArchitecture } from './gguf/facts.ts';

/** With the problem that it has today. */
export function withPresence(model: Model): Model {
  if (model.kind !== 'gguf' || model.problem !== null) return model;
  if (existsSync(model.location)) {
    const { architecture } = model.facts ?? {};
    if (architecture === undefined || isKnownArchitecture(architecture)) return model;
    return { ...model, problem: unknownArchitecture(architecture, model.location) };
  }
  return {
    ...model,
    problem: {
      code: 'FILE_NOT_FOUND',
      message: `${model.location} is gone. Put the file back, or remove this entry and add the model where it is now.`,
      data: { file: model.location },
    },
  };
}

/** @throws its problem */
export function usable(model: Model): Model {
  if (model.problem !== null) throw new AppError(model.problem);
  return model;
}
