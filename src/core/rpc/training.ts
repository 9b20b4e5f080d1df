import type { RpcServices } from '#core/rpc/base.ts';
import { os } from '#core/rpc/base.ts';
import { checkTraining, mergeAdapter } from '#core/training/index.ts';

export function trainingHandlers(app: RpcServices) {
  return {
    start: os.training.start.handler(async ({ input }) => {
      const title = await checkTraining(input, app);
      return app.jobs.submit({ kind: 'train', title, spec: input, seed: input.seed });
    }),
    merge: os.training.merge.handler(({ input }) => mergeAdapter(input, app)),
  };
}
