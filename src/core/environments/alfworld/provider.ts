/** A folder of official ALFWorld games as an environment: native, without Python. */
import { createHash } from 'node:crypto';
import { sha256Schema, taskIdSchema } from '#shared/ids.ts';
import type { EnvironmentId, TaskId } from '#shared/ids.ts';
import type { EnvironmentDescription, Task } from '#shared/schema/environment.ts';
import { loadGameFile } from '../alfred/game-file.ts';
import { actionGuide, createAlfredProvider } from '../alfred/provider.ts';
import { maxSteps } from '../alfred/session.ts';
import type { EnvironmentProvider } from '../port.ts';
import { readGameText } from './folder.ts';
import type { FoundGame } from './folder.ts';

export function createAlfworldProvider(options: {
  environmentId: EnvironmentId;
  folder: string;
  games: readonly FoundGame[];
}): EnvironmentProvider {
  const { environmentId, folder, games } = options;
  const fileOf = new Map<TaskId, string>();
  const hash = createHash('sha256');
  const tasks = games.map((game): Task => {
    const taskId = taskIdSchema.parse(game.file.replace(/\/?game\.tw-pddl$/, '') || 'game');
    fileOf.set(taskId, game.file);
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
      const file = fileOf.get(taskId);
      if (file === undefined) throw new Error(`no file for listed task ${taskId}`);
      return loadGameFile(file, readGameText(folder, file)).game;
    },
  });
}
