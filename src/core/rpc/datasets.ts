import { AppError } from '#shared/errors.ts';
import type { DatasetId } from '#shared/ids.ts';
import type { Dataset } from '#shared/schema/dataset.ts';
import { deleteDatasetFolder, validateDataset } from '#core/datasets/index.ts';
import { exportAgain } from '#core/early-experience/index.ts';
import type { RpcServices } from '#core/rpc/base.ts';
import { os } from '#core/rpc/base.ts';

function getDataset(app: RpcServices, datasetId: DatasetId): Dataset {
  const dataset = app.store.datasets.get(datasetId);
  if (dataset !== null) return dataset;
  throw new AppError({
    code: 'NOT_FOUND',
    message: `There is no data set ${datasetId} in this store. List them with \`daydream datasets\`.`,
  });
}

export function datasetsHandlers(app: RpcServices) {
  const datasets = os.datasets;
  return {
    list: datasets.list.handler(({ input }) => app.store.datasets.list(input)),
    find: datasets.find.handler(({ input }) => app.store.datasets.idsStartingWith(input.prefix, input.limit)),
    get: datasets.get.handler(({ input }) => {
      const dataset = getDataset(app, input.datasetId);
      const { jobId } = dataset;
      return { ...dataset, runRemoved: jobId !== null && app.store.jobs.status(jobId) === null };
    }),
    rows: datasets.rows.handler(({ input: { datasetId, part, ...page }, signal }) =>
      app.datasetRows.rows(getDataset(app, datasetId), part, page, { signal }),
    ),
    validate: datasets.validate.handler(({ input, signal }) =>
      validateDataset(getDataset(app, input.datasetId).folder, { signal }),
    ),
    validateFolder: datasets.validateFolder.handler(({ input, signal }) =>
      validateDataset(input.folder, { signal }),
    ),
    export: datasets.export.handler(({ input, signal }) =>
      exportAgain(input, app, { signal: signal ?? new AbortController().signal }),
    ),
    remove: datasets.remove.handler(async ({ input: { datasetId, deleteFiles } }) => {
      const dataset = getDataset(app, datasetId);
      if (deleteFiles) await deleteDatasetFolder(dataset);
      return { removed: app.store.datasets.remove(datasetId) };
    }),
  };
}
