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

/** It is held, and so can neither be unloaded nor forgotten. */
export function inUse(name: string, users: number): AppError {
  const who = users === 1 ? 'one job or try-out uses' : `${String(users)} jobs or try-outs use`;
  return new AppError({
    code: 'CONFLICT',
    message: `${name} was not unloaded: ${who} it. Wait for the end or stop the job first.`,
    data: { users },
  });
}
