/**
 * Blobs that no row needs any more: an episode that is started again replaces its steps, and their long texts stay behind, because
 * other rows may have the same ones.
 *
 * Only when the store is opened, and only after an episode was started again: it reads every row once (as the check of the file
 * does anyway), and no reader runs yet that holds a row and is about to ask for its text. Rows and their blobs are written in one
 * transaction and this is another one, so no writer can be in between.
 */
import type { Connection } from '#core/store/driver.ts';
import type { Meters } from '#core/store/meters.ts';

/** Every column of type ANY (migrations/0001-first.ts): the ones that may hold a blob's hash. */
export const textColumns: Readonly<Record<string, readonly string[]>> = {
  episode_details: ['initial_observation', 'initial_admissible', 'policy'],
  steps: ['completion', 'thought', 'observation', 'admissible'],
  branches: ['observation', 'proposal_raw'],
  reflections: ['text', 'prompt', 'raw'],
};

/** Episodes started again since the last collection. */
const restartsMeter = 'restarts-since-collection';

/** In the transaction that replaces an episode's rows. */
export function noteRestart(meters: Meters): void {
  meters.add(restartsMeter, 1);
}

/** Returns how many blobs were removed. Throws DISK_FULL; everything is as it was then. */
export function collectBlobs(connection: Connection, meters: Meters): number {
  return connection.transaction(() => {
    const restarts = meters.read(restartsMeter);
    if (restarts === 0) return 0;
    meters.add(restartsMeter, -restarts);
    return connection.run(`DELETE FROM blobs WHERE hash NOT IN (${referencedHashes})`);
  });
}

/** Without NULL, which would make every NOT IN unknown. */
const referencedHashes = Object.entries(textColumns)
  .flatMap(([table, columns]) =>
    columns.map((column) => `SELECT ${column} FROM ${table} WHERE typeof(${column}) = 'blob'`),
  )
  .join(' UNION ALL ');
