/** Tasks that were really used, so that an episode can be read without its environment. */
import type { Connection } from '#core/store/driver.ts';
import { decodeJson, encodeJson, parseRow } from '#core/store/columns.ts';
import type { TaskStore } from '#core/store/port.ts';
import { taskSchema } from '#shared/schema/environment.ts';

export function createTaskStore(connection: Connection): TaskStore {
  return {
    upsert(tasks) {
      connection.transaction(() => {
        for (const task of tasks) {
          connection.run(
            `INSERT INTO tasks (environment_id, task_id, family, split, type, instruction, meta) VALUES (?, ?, ?, ?, ?, ?, ?)
             ON CONFLICT (environment_id, task_id) DO UPDATE SET family = excluded.family, split = excluded.split,
               type = excluded.type, instruction = excluded.instruction, meta = excluded.meta`,
            [
              task.environmentId,
              task.taskId,
              task.family,
              task.split,
              task.type,
              task.instruction,
              encodeJson(task.meta),
            ],
          );
        }
      });
    },
    get(environmentId, taskId) {
      const row = connection.get('SELECT * FROM tasks WHERE environment_id = ? AND task_id = ?', [
        environmentId,
        taskId,
      ]);
      if (row === undefined) return null;
      return parseRow(
        taskSchema,
        {
          taskId: row['task_id'],
          environmentId: row['environment_id'],
          family: row['family'],
          split: row['split'],
          type: row['type'],
          instruction: row['instruction'],
          meta: decodeJson(row['meta']),
        },
        { table: 'tasks', file: connection.file },
      );
    },
  };
}
