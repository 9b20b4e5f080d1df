/** Exported data sets: their manifest, and which episodes they hold rows of. */
import type { Connection, SqlRow } from '#core/store/driver.ts';
import { decodeJson, encodeJson, numberOf, parseRow } from '#core/store/columns.ts';
import type { DatasetStore } from '#core/store/port.ts';
import { decodeCursor, encodeCursor, pageFrom } from '#core/store/queries/cursor.ts';
import { idsStartingWith } from '#core/store/queries/id-prefix.ts';
import { AppError } from '#shared/errors.ts';
import type { DatasetId } from '#shared/ids.ts';
import { datasetSchema } from '#shared/schema/dataset.ts';
import type { Dataset } from '#shared/schema/dataset.ts';

export function createDatasetStore(connection: Connection): DatasetStore {
  function fromRow(row: SqlRow): Dataset {
    return parseRow(
      datasetSchema,
      {
        datasetId: row['dataset_id'],
        name: row['name'],
        jobId: row['job_id'],
        folder: row['folder'],
        manifest: decodeJson(row['manifest']),
        createdAt: row['created_at'],
      },
      { table: 'datasets', file: connection.file },
    );
  }

  return {
    insert(dataset, episodes) {
      connection.transaction(() => {
        connection.run('DELETE FROM datasets WHERE dataset_id = ?', [dataset.datasetId]);
        connection.run(
          'INSERT INTO datasets (dataset_id, name, job_id, folder, manifest, created_at) VALUES (?, ?, ?, ?, ?, ?)',
          [
            dataset.datasetId,
            dataset.name,
            dataset.jobId,
            dataset.folder,
            encodeJson(dataset.manifest),
            dataset.createdAt,
          ],
        );
        for (const episodeId of new Set(episodes)) {
          const added = connection.run(
            `INSERT INTO dataset_episodes (episode_key, dataset_key)
             SELECT episode_key, (SELECT dataset_key FROM datasets WHERE dataset_id = ?) FROM episodes WHERE episode_id = ?`,
            [dataset.datasetId, episodeId],
          );
          if (added === 1) continue;
          throw new AppError({
            code: 'NOT_FOUND',
            message: `Data set ${dataset.name} names episode ${episodeId}, which is not stored. The data set was not entered.`,
            data: { datasetId: dataset.datasetId, episodeId },
          });
        }
      });
    },

    get(datasetId) {
      const row = connection.get('SELECT * FROM datasets WHERE dataset_id = ?', [datasetId]);
      return row === undefined ? null : fromRow(row);
    },

    idsStartingWith: (prefix, limit) =>
      idsStartingWith(connection, { table: 'datasets', column: 'dataset_id' }, prefix, limit) as DatasetId[],

    list(page) {
      const after = decodeCursor('datasets', 1, page.cursor);
      const rows = connection.all(
        `SELECT * FROM datasets ${after === null ? '' : 'WHERE dataset_key < ?'} ORDER BY dataset_key DESC LIMIT ?`,
        [...(after ?? []), page.limit + 1],
      );
      return pageFrom(rows, page.limit, {
        item: fromRow,
        cursor: (row) => encodeCursor('datasets', [numberOf(row, 'dataset_key')]),
        total: after === null ? numberOf(connection.get('SELECT count(*) AS n FROM datasets'), 'n') : null,
      });
    },

    ofEpisode: (episodeId) =>
      connection
        .all(
          `SELECT datasets.dataset_id, datasets.name FROM dataset_episodes JOIN datasets USING (dataset_key)
           WHERE episode_key = (SELECT episode_key FROM episodes WHERE episode_id = ?) ORDER BY dataset_key DESC`,
          [episodeId],
        )
        .map((row) => ({ datasetId: String(row['dataset_id']) as DatasetId, name: String(row['name']) })),

    remove: (datasetId) => connection.run('DELETE FROM datasets WHERE dataset_id = ?', [datasetId]) === 1,
  };
}
