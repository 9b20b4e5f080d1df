import { AppError, toAppError } from '#shared/errors.ts';
import type { ModelId } from '#shared/ids.ts';
import type { RpcServices } from '#core/rpc/base.ts';
import { os } from '#core/rpc/base.ts';
import { testModel, tryOut } from '#core/rpc/model-trial.ts';

/** The service trusts ids; a page that shows a forgotten model must hear so in words. */
function known(app: RpcServices, modelId: ModelId): ModelId {
  if (app.store.models.get(modelId) !== null) return modelId;
  throw new AppError({
    code: 'MODEL_NOT_FOUND',
    message: `There is no model ${modelId}. Add its file with \`daydream models add FILE\`.`,
  });
}

export function modelsHandlers(app: RpcServices) {
  const models = os.models;
  return {
    list: models.list.handler(() => app.models.list()),
    add: models.add.handler(({ input }) => app.models.add(input.path)),
    addHttp: models.addHttp.handler(({ input }) => app.models.addHttp(input)),
    remove: models.remove.handler(async ({ input }) => ({
      removed: await app.models.remove(known(app, input.modelId)),
    })),
    fit: models.fit.handler(({ input: { modelId, ...options } }) =>
      app.models.fit(known(app, modelId), options),
    ),
    test: models.test.handler(async ({ input, signal }) => {
      const modelId = known(app, input.modelId);
      return testModel(app, modelId, input.recalibrate, signal).catch((thrown: unknown) => ({
        ok: false,
        error: toAppError(thrown).toRecord(),
        loadMs: 0,
        promptTokensPerSecond: null,
        completionTokensPerSecond: null,
        sample: '',
        calibration: null,
      }));
    }),
    calibration: models.calibration.handler(({ input }) => app.models.calibration(known(app, input.modelId))),
    unload: models.unload.handler(async ({ input }) => ({
      unloaded: await app.models.unload(known(app, input.modelId)),
    })),
    tryOut: models.tryOut.handler(({ input, signal }) => {
      known(app, input.modelId);
      return tryOut(app, input, signal);
    }),
  };
}
