/** Numbered SQL, applied in order, each in its own transaction; `user_version` says how many a file has seen. */
import { openConnection } from '#core/store/driver.ts';
import type { Connection } from '#core/store/driver.ts';
import { firstSchema } from '#core/store/migrations/0001-first.ts';
import { folderGames } from '#core/store/migrations/0002-games.ts';
import { calibrationBusy } from '#core/store/migrations/0003-busy.ts';
import { episodeAttempts } from '#core/store/migrations/0004-attempts.ts';
import { AppError } from '#shared/errors.ts';

const migrations: readonly string[] = [firstSchema, folderGames, calibrationBusy, episodeAttempts];

/** "DayD": says that an SQLite file is ours. */
export const applicationId = 0x44617944;
export const schemaVersion = migrations.length;

/** Throws STORE_TOO_NEW when the file was written by a later Daydream; nothing is changed then. */
export function migrate(connection: Connection): void {
  const found = Number(connection.pragma('user_version'));
  if (found > schemaVersion) {
    throw new AppError({
      code: 'STORE_TOO_NEW',
      message:
        `The store ${connection.file} was written by a newer Daydream (schema ${found}, this one knows ${schemaVersion}). ` +
        'Nothing was changed. Open it with the newer version, or choose another data folder.',
      data: { file: connection.file, found, known: schemaVersion },
    });
  }
  migrations.slice(Math.max(found, 0)).forEach((sql, index) => {
    connection.transaction(() => {
      connection.exec(sql);
      connection.exec(
        `PRAGMA user_version = ${Math.max(found, 0) + index + 1}; PRAGMA application_id = ${applicationId};`,
      );
    });
  });
}

/** Whether the tables and indexes are the ones that the migrations made: a damaged schema text would fail only at some later query. */
export function hasExpectedSchema(connection: Connection): boolean {
  const fresh = openConnection(':memory:');
  try {
    migrate(fresh);
    return schemaOf(connection) === schemaOf(fresh);
  } finally {
    fresh.close();
  }
}

function schemaOf(connection: Connection): string {
  return JSON.stringify(
    // sqlite_stat tables are SQLite's own and come with `PRAGMA optimize`.
    connection.all(
      "SELECT type, name, tbl_name, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite_stat%' ORDER BY name",
    ),
  );
}
