/** Bundled worlds and the user's folders under one roof. Folders are remembered in the catalogue and indexed again on first use. */
import { statSync } from 'node:fs';
import path from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { AppError } from '#shared/errors.ts';
import { environmentIdSchema } from '#shared/ids.ts';
import type { EnvironmentId } from '#shared/ids.ts';
import type { Clock } from '#core/ports.ts';
import type { CatalogueStore } from '#core/store/port.ts';
import { findGameFiles, inspectGame } from './alfworld/folder.ts';
import type { FoundGame, Rejected } from './alfworld/folder.ts';
import { createAlfworldProvider } from './alfworld/provider.ts';
import { createHouseholdProvider } from './household/provider.ts';
import type { EnvironmentProvider, EnvironmentRegistry } from './port.ts';

/** The part of the store that the registry needs. */
export type FolderCatalogue = Pick<CatalogueStore, 'folders' | 'addFolder' | 'removeFolder'>;

export function createEnvironmentRegistry(options: {
  catalogue: FolderCatalogue;
  clock: Clock;
}): EnvironmentRegistry {
  const { catalogue, clock } = options;
  const bundled = [createHouseholdProvider('household'), createHouseholdProvider('household-small')];
  const bundledIds = new Set(bundled.map((provider) => provider.describe().id));
  const opened = new Map<EnvironmentId, EnvironmentProvider>();

  /** null: the folder is gone or has no playable game any more; the entry is kept, the disk may come back. */
  const fromFolder = (environmentId: EnvironmentId, folder: string): EnvironmentProvider | null => {
    const known = opened.get(environmentId);
    if (known !== undefined) return known;
    if (!isFolder(folder)) return null;
    const games: FoundGame[] = [];
    for (const file of findGameFiles(folder)) {
      const game = inspectGame(folder, file);
      if ('split' in game) games.push(game);
    }
    if (games.length === 0) return null;
    const provider = createAlfworldProvider({ environmentId, folder, games });
    opened.set(environmentId, provider);
    return provider;
  };

  return {
    list() {
      const added = catalogue.folders().map((entry) => fromFolder(entry.environmentId, entry.folder));
      return [...bundled, ...added.filter((provider) => provider !== null)];
    },
    get(environmentId) {
      const provider = bundled.find((candidate) => candidate.describe().id === environmentId);
      if (provider !== undefined) return provider;
      const entry = catalogue.folders().find((candidate) => candidate.environmentId === environmentId);
      if (entry === undefined) {
        const ids = [...bundledIds, ...catalogue.folders().map((folder) => folder.environmentId)];
        throw new AppError({
          code: 'ENVIRONMENT_UNKNOWN',
          message: `There is no environment "${environmentId}". There are: ${ids.join(', ')}.`,
          data: { environmentId },
        });
      }
      const added = fromFolder(entry.environmentId, entry.folder);
      if (added === null) {
        throw new AppError({
          code: 'FILE_NOT_FOUND',
          message: `The environment "${environmentId}" reads its games from ${entry.folder}, where none can be read now. Its recorded episodes are kept; bring the folder back, or remove the environment and add it again.`,
          data: { environmentId, folder: entry.folder },
        });
      }
      return added;
    },
    async addAlfworld(folder, id) {
      const root = path.resolve(folder);
      const environmentId = id ?? freeId(bundledIds, catalogue);
      if (
        bundledIds.has(environmentId) ||
        catalogue.folders().some((entry) => entry.environmentId === environmentId)
      ) {
        throw new AppError({
          code: 'CONFLICT',
          message: `An environment "${environmentId}" exists already; choose another id, or remove it first.`,
          data: { environmentId },
        });
      }
      if (!isFolder(root)) {
        throw new AppError({
          code: 'FILE_NOT_FOUND',
          message: `There is no folder ${root}; nothing was added. Give the folder that holds train/, valid_seen/ and valid_unseen/.`,
          data: { folder: root },
        });
      }
      const games: FoundGame[] = [];
      const rejected: Rejected[] = [];
      for (const [index, file] of findGameFiles(root).entries()) {
        const game = inspectGame(root, file);
        if ('split' in game) games.push(game);
        else rejected.push(game);
        // Thousands of files take seconds: let the host answer others meanwhile.
        if (index % 16 === 15) await nextTurn();
      }
      if (games.length === 0) {
        const [first] = rejected;
        throw new AppError({
          code: 'ENVIRONMENT_DATA_INVALID',
          message:
            first === undefined
              ? `There is no game.tw-pddl below ${root}; nothing was added.`
              : `None of the ${String(rejected.length)} games below ${root} can be played; nothing was added. The first, ${first.file}: ${first.reason}.`,
          data: { folder: root, rejected: rejected.length },
        });
      }
      const provider = createAlfworldProvider({ environmentId, folder: root, games });
      catalogue.addFolder({ environmentId, kind: 'alfworld', folder: root, addedAt: clock.now() });
      opened.set(environmentId, provider);
      return { provider, games: games.length, rejected };
    },
    remove(environmentId) {
      opened.delete(environmentId);
      return catalogue.removeFolder(environmentId);
    },
  };
}

function isFolder(folder: string): boolean {
  return statSync(folder, { throwIfNoEntry: false })?.isDirectory() === true;
}

/** `alfworld`, or `alfworld-2` and so on. */
function freeId(bundled: ReadonlySet<EnvironmentId>, catalogue: FolderCatalogue): EnvironmentId {
  const taken = new Set([...bundled, ...catalogue.folders().map((entry) => entry.environmentId)]);
  for (let number = 1; ; number += 1) {
    const id = environmentIdSchema.parse(number === 1 ? 'alfworld' : `alfworld-${String(number)}`);
    if (!taken.has(id)) return id;
  }
}
