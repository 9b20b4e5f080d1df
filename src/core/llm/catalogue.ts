/** From files, addresses and script names to `Model` records; nothing is loaded. */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { AppError, toAppError } from '#shared/errors.ts';
import { modelIdSchema } from '#shared/ids.ts';
import type { Sha256 } from '#shared/ids.ts';
import type { Model } from '#shared/schema/model.ts';
import type { Clock } from '#core/ports.ts';
import type { ModelStore } from '#core/store/port.ts';
import { createFileHasher } from './file-hash.ts';
import { ggufFacts } from './gguf/facts.ts';
import { readGguf } from './gguf/read-gguf.ts';

export interface Catalogue {
  /**
   * A file, or every GGUF below a folder. Broken files of a folder are listed with their problem. The same bytes are one model, at
   * the place that was given last; but a copy of the application's own model is that model, which keeps its name and its place.
   */
  add(path: string): Promise<Model[]>;
  hashFile(file: string): Promise<Sha256>;
}

export function createCatalogue(options: {
  models: ModelStore;
  clock: Clock;
  /** Where the application's own model lies. */
  bundled?: string;
}): Catalogue {
  const { models, clock, bundled } = options;
  const hasher = createFileHasher();

  async function describe(file: string): Promise<Model> {
    const status = statSync(file);
    const stored = models.byLocation(file);
    // The stored hash holds while size and time of change say that nobody wrote to the file since.
    const unchanged =
      stored !== null && stored.sizeBytes === status.size && status.mtimeMs < stored.addedAt && stored.sha256;
    const sha256 = unchanged || (await hasher.hash(file));
    const modelId = modelIdSchema.parse(sha256.slice(0, 16));
    const own = file === bundled ? null : models.get(modelId);
    if (own !== null && own.location === bundled && existsSync(bundled)) return own;
    const base = {
      modelId,
      kind: 'gguf',
      location: file,
      remoteName: null,
      sizeBytes: status.size,
      sha256,
      addedAt: clock.now(),
    } as const;
    try {
      const facts = ggufFacts(readGguf(file), file);
      return { ...base, name: basename(file, '.gguf'), facts, problem: null };
    } catch (error) {
      return { ...base, name: basename(file), facts: null, problem: toAppError(error).toRecord() };
    }
  }

  return {
    hashFile: (file) => hasher.hash(file),
    async add(path) {
      const location = resolve(path);
      const files = filesAt(location);
      const added: Model[] = [];
      for (const file of files) {
        const model = await describe(file);
        if (files.length === 1 && file === location && model.problem !== null)
          throw new AppError(model.problem);
        models.upsert(model);
        added.push(model);
      }
      return added;
    },
  };
}

function filesAt(location: string): string[] {
  let status;
  try {
    status = statSync(location);
  } catch (error) {
    throw new AppError({
      code: 'FILE_NOT_FOUND',
      message: `There is no file or folder ${location}. Was it moved, or is the disk not mounted?`,
      data: { file: location },
      cause: error,
    });
  }
  if (!status.isDirectory()) return [location];
  const found = readdirSync(location, { withFileTypes: true, recursive: true })
    .filter(
      (entry) => entry.isFile() && entry.name.toLowerCase().endsWith('.gguf') && isFirstPart(entry.name),
    )
    .map((entry) => join(entry.parentPath, entry.name))
    .toSorted();
  if (found.length > 0) return found;
  throw new AppError({
    code: 'MODEL_NOT_FOUND',
    message: `There is no .gguf file in ${location}. Nothing was added.`,
    data: { folder: location },
  });
}

/** Of a model split into `…-00001-of-00003.gguf` the first part says for all that they must be joined. */
function isFirstPart(name: string): boolean {
  const part = /-(\d{5})-of-\d{5}\.gguf$/i.exec(name);
  return part === null || part[1] === '00001';
}

export function scriptedModel(name: string, at: number): Model {
  return {
    modelId: modelIdSchema.parse(`scripted:${name}`),
    kind: 'scripted',
    name: `scripted:${name}`,
    location: `scripted:${name}`,
    remoteName: null,
    sizeBytes: 0,
    sha256: null,
    facts: null,
    problem: null,
    addedAt: at,
  };
}

export function httpModel(baseUrl: string, remoteName: string, at: number): Model {
  return {
    modelId: modelIdSchema.parse(
      createHash('sha256').update(`${baseUrl}\n${remoteName}`).digest('hex').slice(0, 16),
    ),
    kind: 'http',
    name: `${remoteName} at ${new URL(baseUrl).host}`,
    location: baseUrl,
    remoteName,
    sizeBytes: 0,
    sha256: null,
    facts: null,
    problem: null,
    addedAt: at,
  };
}
