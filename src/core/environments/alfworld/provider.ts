/** A folder of official ALFWorld games as an environment: native, without Python. */
import { createHash } from 'node:crypto';
import { sha256Schema, taskIdSchema } from '#shared/ids.ts';
import type { EnvironmentId, TaskId } from '#shared/ids.ts';
import { AppError } from '#shared/errors.ts';
import type { FolderGame } from '#core/store/port.ts';
import type { EnvironmentDescription, Task } from '#shared/schema/environment.ts';
import { loadGameFile } from '../alfred/game-file.ts';
import { actionGuide, createAlfredProvider } from '../alfred/provider.ts';
import { maxSteps } from '../alfred/session.ts';
import type { EnvironmentProvider } from '../port.ts';
import { hashOfGame, readGameText } from './folder.ts';

export function createAlfworldProvider(options: {
  environmentId: EnvironmentId;
  folder: string;
  games: readonly FolderGame[];
}): EnvironmentProvider {
  const { environmentId, folder, games } = options;
  const gameOf = new Map<TaskId, FolderGame>();
  const hash = createHash('sha256');
  const tasks = games.map((game): Task => {
    const taskId = taskIdSchema.parse(game.file.replace(/\/?game\.tw-pddl$/, '') || 'game');
    gameOf.set(taskId, game);
    hash.update(`${game.file}\n${game.contentHash}\n`);
    return {
      taskId,
      environmentId,
      family: 'household',
      split: game.split,
      type: game.type,
      instruction: game.instruction,
      meta: { file: game.file },
    };
  });
  const description: EnvironmentDescription = {
    id: environmentId,
    title: environmentId === 'alfworld' ? 'ALFWorld' : `ALFWorld (${environmentId})`,
    summary: 'Official ALFWorld text games from a folder of yours, played natively: no Python.',
    version: '1',
    dataChecksum: sha256Schema.parse(hash.digest('hex')),
    licence: 'MIT (ALFWorld)',
    family: 'household',
    standsBeside: 'ALFWorld',
    actionMode: 'enumerable',
    snapshot: 'native',
    deterministic: true,
    needsUserModel: false,
    expert: 'solver',
    maxSteps,
    taskTypes: [...new Set(tasks.map(({ type }) => type))].toSorted(),
    splits: (['train', 'development', 'seen', 'unseen'] as const).map((split) => ({
      split,
      tasks: tasks.filter((task) => task.split === split).length,
    })),
    actionGuide,
    folder,
  };
  return createAlfredProvider({
    describe: () => description,
    tasks: () => tasks,
    load(taskId) {
      const game = gameOf.get(taskId);
      if (game === undefined) throw new Error(`no file for listed task ${taskId}`);
      const text = readGameText(folder, game.file);
      if (hashOfGame(text) !== game.contentHash) {
        throw new AppError({
          code: 'ENVIRONMENT_DATA_INVALID',
          message: `${game.file} in ${folder} is another game than the one that was added. What was recorded is kept. Bring the file back, or remove the environment ${environmentId} and add the folder again.`,
          data: { environmentId, file: game.file },
        });
      }
      return loadGameFile(game.file, text).game;
    },
  });
}
