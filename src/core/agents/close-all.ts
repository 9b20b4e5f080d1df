/** Lets go of what an episode opened. What fails to close is logged: the episode's own outcome stands, and nothing waits for it. */
import type { Logger } from '#core/ports.ts';

/** @param closing what is being closed, by name; resolves when all is done, and never fails */
export async function closeAll(
  log: Logger,
  fields: Record<string, unknown>,
  closing: Readonly<Record<string, Promise<unknown> | undefined>>,
): Promise<void> {
  const names = Object.keys(closing);
  const results = await Promise.allSettled(Object.values(closing));
  results.forEach((result, index) => {
    if (result.status === 'fulfilled') return;
    log.warn({ ...fields, what: names[index], error: String(result.reason) }, 'close-failed');
  });
}
