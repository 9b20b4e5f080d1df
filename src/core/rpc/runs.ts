import type { RpcServices } from '#core/rpc/base.ts';
import { os } from '#core/rpc/base.ts';
import { allPresets, checkRun, removePreset, savePreset, startRun } from '#core/runs/index.ts';

export function runsHandlers(app: RpcServices) {
  const runs = os.runs;
  const { catalogue } = app.store;
  return {
    presets: runs.presets.handler(() => allPresets(catalogue)),
    savePreset: runs.savePreset.handler(({ input }) => savePreset(catalogue, input.title, input.yaml)),
    removePreset: runs.removePreset.handler(({ input }) => ({
      removed: removePreset(catalogue, input.presetId),
    })),
    check: runs.check.handler(({ input, signal }) => checkRun(app, input.yaml, { signal })),
    start: runs.start.handler(({ input, signal }) => startRun(app, input.yaml, { signal })),
  };
}
