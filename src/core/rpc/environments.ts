import path from 'node:path';
import { AppError } from '#shared/errors.ts';
import { checkConformance, writeTasks } from '#core/environments/index.ts';
import type { RpcServices } from '#core/rpc/base.ts';
import { os } from '#core/rpc/base.ts';
import { offsetOf, pageFrom } from '#core/rpc/offset-page.ts';

export function environmentsHandlers(app: RpcServices) {
  const environments = os.environments;
  const registry = app.environments;
  const { catalogue } = app.store;
  return {
    list: environments.list.handler(() => registry.list().map((provider) => provider.describe())),
    missing: environments.missing.handler(() => registry.missing()),
    get: environments.get.handler(({ input }) => registry.get(input.environmentId).describe()),
    tasks: environments.tasks.handler(({ input: { environmentId, cursor, limit, ...query } }) => {
      const offset = offsetOf(cursor);
      const { tasks, total } = registry.get(environmentId).listTasks({ ...query, offset, limit });
      return pageFrom(tasks, offset, total);
    }),
    check: environments.check.handler(async ({ input, signal }) => {
      const provider = registry.get(input.environmentId);
      const result = await checkConformance(provider, {
        tasksPerSplit: input.tasksPerSplit,
        now: () => app.clock.now(),
        ...(signal === undefined ? {} : { signal }),
      });
      catalogue.saveConformance(result);
      return result;
    }),
    lastCheck: environments.lastCheck.handler(({ input }) =>
      catalogue.conformance(registry.get(input.environmentId).describe().id),
    ),
    addAlfworld: environments.addAlfworld.handler(async ({ input: { folder, id } }) => {
      const { provider, games, rejected } = await registry.addAlfworld(folder, id);
      const environment = provider.describe();
      return { environment, games, rejected };
    }),
    writeTasks: environments.writeTasks.handler(({ input: { environmentId, folder, ...wanted }, signal }) =>
      writeTasks(registry.get(environmentId), { ...wanted, folder: path.resolve(folder) }, { signal }),
    ),
    remove: environments.remove.handler(({ input }) => {
      // A folder that is away has no provider, and can be removed all the same.
      if (registry.remove(input.environmentId)) return { removed: true };
      if (registry.get(input.environmentId).describe().folder === null) {
        throw new AppError({
          code: 'CONFLICT',
          message: `${input.environmentId} is bundled with the application and cannot be removed.`,
        });
      }
      return { removed: false };
    }),
    play: {
      open: environments.play.open.handler(({ input, signal }) => app.plays.open(input, { signal })),
      get: environments.play.get.handler(({ input }) => app.plays.get(input.playId)),
      act: environments.play.act.handler(({ input, signal }) =>
        app.plays.act(input.playId, input.action, { signal }),
      ),
      undo: environments.play.undo.handler(({ input }) => app.plays.undo(input.playId)),
      close: environments.play.close.handler(({ input }) => app.plays.close(input.playId)),
      record: environments.play.record.handler(({ input }) => app.plays.record(input.playId)),
    },
  };
}
