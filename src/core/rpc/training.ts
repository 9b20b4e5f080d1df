import type { RpcServices } from '#core/rpc/base.ts';
import { os } from '#core/rpc/base.ts';
import { TrainingDevices, checkTraining, lineageOf, mergeAdapter } from '#core/training/index.ts';

export function trainingHandlers(app: RpcServices) {
  const devices = new TrainingDevices(app.newTrainer);
  return {
    start: os.training.start.handler(async ({ input }) => {
      const title = await checkTraining(input, app, devices);
      return app.jobs.submit({ kind: 'train', title, spec: input, seed: input.seed });
    }),
    devices: os.training.devices.handler(() => devices.all()),
    lineage: os.training.lineage.handler(({ input }) => lineageOf(input.jobId, app.store.jobs)),
    merge: os.training.merge.handler(({ input, signal }) => mergeAdapter(input, app, { signal })),
  };
}
