/** Bundled worlds and the user's folders under one roof. A folder's games are read once, when it is added (docs/adr/0019). */
import { statSync } from 'node:fs';
import path from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { AppError } from '#shared/errors.ts';
import { environmentIdSchema } from '#shared/ids.ts';
import type { EnvironmentId } from '#shared/ids.ts';
import type { Clock } from '#core/ports.ts';
import type { CatalogueStore, FolderGame } from '#core/store/port.ts';
import { findGameFiles, inspectGame } from './alfworld/folder.ts';
import type { Rejected } from './alfworld/folder.ts';
import { createAlfworldProvider } from './alfworld/provider.ts';
import { createHouseholdProvider } from './household/provider.ts';
import type { EnvironmentProvider, EnvironmentRegistry } from './port.ts';

/** The part of the store that the registry needs. */
export type FolderCatalogue = Pick<CatalogueStore, 'folders' | 'games' | 'addFolder' | 'removeFolder'>;

export function createEnvironmentRegistry(options: {
  catalogue: FolderCatalogue;
  clock: Clock;
}): EnvironmentRegistry {
  const { catalogue, clock } = options;
  const bundled = [createHouseholdProvider('household'), createHouseholdProvider('household-small')];
  const bundledIds = new Set(bundled.map((provider) => provider.describe().id));
  const opened = new Map<EnvironmentId, EnvironmentProvider>();

  /** null: the folder is gone (the entry is kept, the disk may come back), or its games are not in the catalogue. */
  const fromFolder = (environmentId: EnvironmentId, folder: string): EnvironmentProvider | null => {
    if (!isFolder(folder)) return null;
    const known = opened.get(environmentId);
    if (known !== undefined) return known;
    const games = catalogue.games(environmentId);
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
    missing() {
      return catalogue
        .folders()
        .filter((entry) => fromFolder(entry.environmentId, entry.folder) === null)
        .map(({ environmentId, folder }) => ({ environmentId, folder }));
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
      if (id !== undefined) refuseTaken(id, bundledIds, catalogue);
      refuseKnownFolder(root, catalogue);
      if (!isFolder(root)) {
        throw new AppError({
          code: 'FILE_NOT_FOUND',
          message: `There is no folder ${root}; nothing was added. Give the folder that holds train/, valid_seen/ and valid_unseen/.`,
          data: { folder: root },
        });
      }
      const games: FolderGame[] = [];
      const rejected: Rejected[] = [];
      for (const file of await findGameFiles(root)) {
        const game = inspectGame(root, file);
        if ('split' in game) games.push(game);
        else rejected.push(game);
        // Thousands of files take seconds: let the host answer others meanwhile.
        await nextTurn();
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
      // Only now, in one turn: another folder may have been added while this one was read.
      refuseKnownFolder(root, catalogue);
      const environmentId = id ?? freeId(bundledIds, catalogue);
      refuseTaken(environmentId, bundledIds, catalogue);
      const provider = createAlfworldProvider({ environmentId, folder: root, games });
      catalogue.addFolder({ environmentId, kind: 'alfworld', folder: root, addedAt: clock.now() }, games);
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

/** @throws AppError CONFLICT */
function refuseTaken(
  environmentId: EnvironmentId,
  bundled: ReadonlySet<EnvironmentId>,
  catalogue: FolderCatalogue,
): void {
  const added = catalogue.folders().some((entry) => entry.environmentId === environmentId);
  if (!added && !bundled.has(environmentId)) return;
  throw new AppError({
    code: 'CONFLICT',
    message: `An environment "${environmentId}" exists already; choose another id, or remove it first.`,
    data: { environmentId },
  });
}

/** The same games twice are two environments whose episodes do not count together. @throws AppError CONFLICT */
function refuseKnownFolder(root: string, catalogue: FolderCatalogue): void {
  const known = catalogue.folders().find(({ folder }) => folder === root);
  if (known === undefined) return;
  throw new AppError({
    code: 'CONFLICT',
    message: `The folder ${root} is here already, as the environment "${known.environmentId}"; nothing was added. Where its games have changed, remove that environment and add the folder again: its recorded episodes are kept.`,
    data: { environmentId: known.environmentId, folder: root },
  });
}

/** `alfworld`, or `alfworld-2` and so on. */
function freeId(bundled: ReadonlySet<EnvironmentId>, catalogue: FolderCatalogue): EnvironmentId {
  const taken = new Set([...bundled, ...catalogue.folders().map((entry) => entry.environmentId)]);
  for (let number = 1; ; number += 1) {
    const id = environmentIdSchema.parse(number === 1 ? 'alfworld' : `alfworld-${String(number)}`);
    if (!taken.has(id)) return id;
  }
}
