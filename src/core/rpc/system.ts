import type { RpcServices } from '#core/rpc/base.ts';
import { os } from '#core/rpc/base.ts';
import { definedOnly } from '#core/rpc/defined.ts';
import { doctor } from '#core/rpc/doctor.ts';
import { licences } from '#core/rpc/licences.ts';
import { systemStatus } from '#core/rpc/status.ts';
import { changes, typedErrors } from '#core/rpc/stream.ts';

async function* watchStatus(app: RpcServices, signal: AbortSignal | undefined) {
  const subscribe = (onChange: () => void) => {
    const stops = [app.jobs.subscribe(onChange), app.models.onStatus(onChange)];
    return () => {
      for (const stop of stops) stop();
    };
  };
  for await (const _ of changes({ subscribe, intervalMs: 1000, signal })) yield systemStatus(app);
}

export function systemHandlers(app: RpcServices) {
  const system = os.system;
  const { catalogue } = app.store;
  return {
    status: system.status.handler(() => systemStatus(app)),
    watch: system.watch.handler(({ signal }) => typedErrors(watchStatus(app, signal))),
    doctor: system.doctor.handler(({ signal }) => doctor(app, { signal })),
    backup: system.backup.handler(async ({ input: { file } }) => ({
      file,
      bytes: (await app.store.backup(file)).bytes,
    })),
    settings: {
      get: system.settings.get.handler(() => catalogue.settings()),
      set: system.settings.set.handler(({ input }) => {
        const settings = { ...catalogue.settings(), ...definedOnly(input) };
        catalogue.saveSettings(settings);
        return settings;
      }),
    },
    licences: system.licences.handler(() => licences(app)),
  };
}
