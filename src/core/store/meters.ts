/** Counters that grow with the work. Counting millions of rows for a status line would be slow, so writers keep the sums. */
import type { Connection } from '#core/store/driver.ts';
import { numberOf } from '#core/store/columns.ts';

/** Real environment steps by split, e.g. `real-steps:train`. */
export const realStepsPrefix = 'real-steps:';

export interface Meters {
  add(name: string, amount: number): void;
  read(name: string): number;
  /** Over all meters whose name begins with this prefix. */
  sum(prefix: string): number;
}

export function createMeters(connection: Connection): Meters {
  return {
    add(name, amount) {
      if (amount === 0) return;
      connection.run(
        'INSERT INTO meters (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = value + excluded.value',
        [name, amount],
      );
    },
    read: (name) => numberOf(connection.get('SELECT value FROM meters WHERE name = ?', [name]), 'value'),
    sum: (prefix) =>
      numberOf(
        connection.get('SELECT ifnull(sum(value), 0) AS total FROM meters WHERE name >= ? AND name < ?', [
          prefix,
          `${prefix}\u{10ffff}`,
        ]),
        'total',
      ),
  };
}
