/** Known models and the thread count measured for each on this machine. */
import type { Connection, SqlRow } from '#core/store/driver.ts';
import { decodeJson, encodeJson, hashFromBytes, hashToBytes, parseRow } from '#core/store/columns.ts';
import type { ModelStore } from '#core/store/port.ts';
import { modelSchema, threadCalibrationSchema } from '#shared/schema/model.ts';
import type { Model } from '#shared/schema/model.ts';

export function createModelStore(connection: Connection): ModelStore {
  function fromRow(row: SqlRow): Model {
    return parseRow(
      modelSchema,
      {
        modelId: row['model_id'],
        kind: row['kind'],
        name: row['name'],
        location: row['location'],
        remoteName: row['remote_name'],
        sizeBytes: row['size_bytes'],
        sha256: hashFromBytes(row['sha256']),
        facts: decodeJson(row['facts']),
        problem: decodeJson(row['problem']),
        addedAt: row['added_at'],
      },
      { table: 'models', file: connection.file },
    );
  }

  return {
    upsert(model) {
      connection.run(
        `INSERT INTO models (model_id, kind, name, location, remote_name, size_bytes, sha256, facts, problem, added_at)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
         ON CONFLICT (model_id) DO UPDATE SET kind = excluded.kind, name = excluded.name, location = excluded.location,
           remote_name = excluded.remote_name, size_bytes = excluded.size_bytes, sha256 = excluded.sha256,
           facts = excluded.facts, problem = excluded.problem, added_at = excluded.added_at`,
        [
          model.modelId,
          model.kind,
          model.name,
          model.location,
          model.remoteName,
          model.sizeBytes,
          model.sha256 === null ? null : hashToBytes(model.sha256),
          encodeJson(model.facts, 'nullable'),
          encodeJson(model.problem, 'nullable'),
          model.addedAt,
        ],
      );
    },
    get(modelId) {
      const row = connection.get('SELECT * FROM models WHERE model_id = ?', [modelId]);
      return row === undefined ? null : fromRow(row);
    },
    byLocation(location) {
      const row = connection.get('SELECT * FROM models WHERE location = ? ORDER BY added_at DESC LIMIT 1', [
        location,
      ]);
      return row === undefined ? null : fromRow(row);
    },
    list: () => connection.all('SELECT * FROM models ORDER BY name, model_id').map(fromRow),
    remove: (modelId) =>
      connection.transaction(() => {
        connection.run('DELETE FROM calibrations WHERE model_id = ?', [modelId]);
        return connection.run('DELETE FROM models WHERE model_id = ?', [modelId]) === 1;
      }),
    calibration(modelId, machine) {
      const row = connection.get('SELECT * FROM calibrations WHERE model_id = ? AND machine = ?', [
        modelId,
        machine,
      ]);
      if (row === undefined) return null;
      return parseRow(
        threadCalibrationSchema,
        {
          modelId: row['model_id'],
          machine: row['machine'],
          threads: row['threads'],
          trials: decodeJson(row['trials']),
          busyCores: row['busy_cores'],
          at: row['at'],
        },
        { table: 'calibrations', file: connection.file },
      );
    },
    saveCalibration(calibration) {
      connection.run(
        `INSERT INTO calibrations (model_id, machine, threads, trials, busy_cores, at) VALUES (?, ?, ?, ?, ?, ?)
         ON CONFLICT (model_id, machine) DO UPDATE SET threads = excluded.threads, trials = excluded.trials,
           busy_cores = excluded.busy_cores, at = excluded.at`,
        [
          calibration.modelId,
          calibration.machine,
          calibration.threads,
          encodeJson(calibration.trials),
          calibration.busyCores,
          calibration.at,
        ],
      );
    },
  };
}
