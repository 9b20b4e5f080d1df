/** Any set of ALFRED games behind the environment port. Tasks are listed from an index; games are built when they are opened. */
import { AppError } from '#shared/errors.ts';
import type { TaskId } from '#shared/ids.ts';
import type { EnvironmentDescription, Task } from '#shared/schema/environment.ts';
import type { EnvironmentProvider, TaskFiles, TaskQuery } from '../port.ts';
import type { AlfredGame } from './game.ts';
import { AlfredSession } from './session.ts';

/** Loaded games kept for the next session of the same task: the branches of one state open it again and again. */
const keptGames = 32;

export interface AlfredSource {
  describe(): EnvironmentDescription;
  /** In listing order. */
  tasks(): readonly Task[];
  load(taskId: TaskId, signal?: AbortSignal): Promise<AlfredGame> | AlfredGame;
  /** Of a listed task; left out where the tasks are files already. */
  taskFiles?(taskId: TaskId): TaskFiles;
}

export const actionGuide = [
  'Each turn you give exactly one command, in lower case, with the names and numbers that you were shown:',
  '- go to RECEPTACLE            e.g. go to countertop 1',
  '- open RECEPTACLE, close RECEPTACLE            e.g. open drawer 2 (only what stands where you are)',
  '- take OBJECT from RECEPTACLE            e.g. take mug 1 from countertop 1 (only with empty hands)',
  '- move OBJECT to RECEPTACLE            e.g. move mug 1 to desk 2 (puts down what you hold)',
  '- clean OBJECT with RECEPTACLE            e.g. clean mug 1 with sinkbasin 1',
  '- heat OBJECT with RECEPTACLE            e.g. heat mug 1 with microwave 1',
  '- cool OBJECT with RECEPTACLE            e.g. cool mug 1 with fridge 1',
  '- use OBJECT            e.g. use desklamp 1',
  '- slice OBJECT with OBJECT            e.g. slice apple 1 with knife 1',
  '- examine RECEPTACLE or what you hold, look, inventory, help',
  'You carry one object at a time. Cleaning, heating and cooling work while you hold the object and stand at a sinkbasin, microwave or fridge.',
  '"Nothing happens." means that the command was not possible.',
].join('\n');

export function createAlfredProvider(source: AlfredSource): EnvironmentProvider {
  const games = new Map<TaskId, AlfredGame>();
  let byId: Map<TaskId, Task> | null = null;

  const getTask = (taskId: TaskId): Task => {
    byId ??= new Map(source.tasks().map((task) => [task.taskId, task]));
    const task = byId.get(taskId);
    if (task === undefined) {
      const { id } = source.describe();
      throw new AppError({
        code: 'NOT_FOUND',
        message: `The environment ${id} has no task ${taskId}; list its tasks to see which exist.`,
        data: { environmentId: id, taskId },
      });
    }
    return task;
  };

  const load = async (taskId: TaskId, signal: AbortSignal | undefined): Promise<AlfredGame> => {
    const kept = games.get(taskId);
    const game = kept ?? (await source.load(taskId, signal));
    games.delete(taskId);
    games.set(taskId, game);
    if (games.size > keptGames) {
      const [oldest] = games.keys();
      if (oldest !== undefined) games.delete(oldest);
    }
    return game;
  };

  const { taskFiles } = source;
  return {
    ...(taskFiles === undefined ? {} : { taskFiles: (taskId) => taskFiles(getTask(taskId).taskId) }),
    describe: () => source.describe(),
    listTasks(query) {
      const matching = source.tasks().filter((task) => matches(task, query));
      const offset = query.offset ?? 0;
      return {
        tasks: matching.slice(offset, query.limit === undefined ? undefined : offset + query.limit),
        total: matching.length,
      };
    },
    getTask,
    async open({ taskId, signal }) {
      const task = getTask(taskId);
      if (signal?.aborted === true) {
        throw new AppError({ code: 'CANCELLED', message: `Opening task ${taskId} was cancelled.` });
      }
      return new AlfredSession(task, await load(taskId, signal));
    },
  };
}

function matches(task: Task, query: TaskQuery): boolean {
  if (query.split !== undefined && task.split !== query.split) return false;
  if (query.type !== undefined && task.type !== query.type) return false;
  return query.text === undefined || task.instruction.toLowerCase().includes(query.text.toLowerCase());
}
