/** The first quit waits for the core to put everything down, but not for ever: all that matters is already committed. */
import type { Disposable, Logger } from '#core/ports.ts';
import type { ElectronApi } from './electron-api.ts';

export const disposeWithinMs = 8_000;

/** Resolves true when all were disposed in time; a failing one does not keep the others. */
export async function disposeBounded(
  disposables: readonly Disposable[],
  { withinMs = disposeWithinMs, log }: { withinMs?: number; log: Logger },
): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => {
      resolve(false);
    }, withinMs);
  });
  const all = (async () => {
    // In order: the server must stop answering before the store under it closes.
    for (const disposable of disposables) {
      await disposable.dispose().catch((error: unknown) => {
        log.error({ error: String(error) }, 'dispose-failed');
      });
    }
    return true;
  })();
  const inTime = await Promise.race([all, late]);
  clearTimeout(timer);
  if (!inTime) log.warn({ withinMs }, 'dispose-timed-out');
  return inTime;
}

export function quitGracefully(
  { app }: Pick<ElectronApi, 'app'>,
  disposables: () => readonly Disposable[],
  options: { withinMs?: number; log: Logger },
): void {
  let state: 'running' | 'disposing' = 'running';
  app.on('before-quit', (event) => {
    event.preventDefault();
    if (state === 'disposing') return;
    state = 'disposing';
    void disposeBounded(disposables(), options).then(() => {
      app.exit(0);
    });
  });
}
