/** Ids by their first characters, as a range of the column's unique index. No character sorts after the bound's last one. */
import type { Connection } from '#core/store/driver.ts';

export function idsStartingWith(
  connection: Connection,
  {
    table,
    column,
  }:
    | { table: 'jobs'; column: 'job_id' }
    | { table: 'episodes'; column: 'episode_id' }
    | { table: 'datasets'; column: 'dataset_id' },
  prefix: string,
  limit: number,
): string[] {
  return connection
    .all(
      `SELECT ${column} AS id FROM ${table} WHERE ${column} >= @prefix AND ${column} < @prefix || char(1114111)
       ORDER BY ${column} LIMIT @limit`,
      { prefix, limit },
    )
    .map(({ id }) => String(id));
}
