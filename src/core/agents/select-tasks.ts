/** Which tasks a run works on: a seeded sample of a split, the same for the same (selection, seed). */
import { AppError } from '#shared/errors.ts';
import type { Task } from '#shared/schema/environment.ts';
import type { TaskSelection } from '#shared/schema/run.ts';
import type { EnvironmentProvider } from '#core/environments/port.ts';
import { randomOf } from '#core/agents/random.ts';

const PAGE = 1000;

/** How many tasks the selection can choose from, before its own limit. */
export function countTasks(
  provider: EnvironmentProvider,
  { split, taskTypes }: Pick<TaskSelection, 'split' | 'taskTypes'>,
): number {
  const count = (type?: string): number => provider.listTasks({ split, type, limit: 1 }).total;
  if (taskTypes.length === 0) return count();
  return [...new Set(taskTypes)].reduce((sum, type) => sum + count(type), 0);
}

/** @throws AppError CONFIG_INVALID when the split has no such task, naming what it has */
export function selectTasks(provider: EnvironmentProvider, selection: TaskSelection, seed: number): Task[] {
  const wanted = new Set(selection.taskTypes);
  const all: Task[] = [];
  for (let offset = 0; ; offset += PAGE) {
    const { tasks, total } = provider.listTasks({ split: selection.split, offset, limit: PAGE });
    all.push(...tasks.filter((task) => wanted.size === 0 || wanted.has(task.type)));
    const enough = !selection.shuffle && all.length >= selection.tasks;
    if (enough || tasks.length === 0 || offset + tasks.length >= total) break;
  }
  if (all.length === 0) {
    const { id, taskTypes, splits } = provider.describe();
    throw new AppError({
      code: 'CONFIG_INVALID',
      message:
        `${id} has no task in the split "${selection.split}"${wanted.size === 0 ? '' : ` of type ${[...wanted].join(', ')}`}. ` +
        `Splits: ${splits.map(({ split, tasks }) => `${split} (${String(tasks)})`).join(', ')}. Types: ${taskTypes.join(', ')}.`,
    });
  }
  const ordered = selection.shuffle ? randomOf('task-selection', seed, selection.split).shuffled(all) : all;
  return ordered.slice(0, selection.tasks);
}
