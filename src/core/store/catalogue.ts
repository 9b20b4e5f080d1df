/** What the user added or chose: environment folders, conformance results, presets, settings. */
import { z } from 'zod';
import type { Connection } from '#core/store/driver.ts';
import { decodeJson, encodeJson, hashFromBytes, hashToBytes, parseRow } from '#core/store/columns.ts';
import type { CatalogueStore } from '#core/store/port.ts';
import { environmentIdSchema, sha256Schema } from '#shared/ids.ts';
import { conformanceResultSchema, splitSchema } from '#shared/schema/environment.ts';
import { settingsSchema } from '#shared/schema/system.ts';

const folderSchema = z.object({
  environmentId: environmentIdSchema,
  kind: z.literal('alfworld'),
  folder: z.string(),
  addedAt: z.int(),
});
const gameSchema = z.object({
  file: z.string(),
  split: splitSchema,
  type: z.string(),
  instruction: z.string(),
  contentHash: sha256Schema,
});
const presetSchema = z.object({ presetId: z.string(), title: z.string(), yaml: z.string() });

export function createCatalogueStore(connection: Connection): CatalogueStore {
  const { file } = connection;
  return {
    folders: () =>
      connection
        .all(
          'SELECT environment_id AS environmentId, kind, folder, added_at AS addedAt FROM environment_folders ORDER BY environment_id',
        )
        .map((row) => parseRow(folderSchema, row, { table: 'environment_folders', file })),
    addFolder({ environmentId, kind, folder, addedAt }, games) {
      connection.transaction(() => {
        // Takes the games of an earlier entry with it.
        connection.run('DELETE FROM environment_folders WHERE environment_id = ?', [environmentId]);
        connection.run(
          'INSERT INTO environment_folders (environment_id, kind, folder, added_at) VALUES (?, ?, ?, ?)',
          [environmentId, kind, folder, addedAt],
        );
        for (const { file: game, split, type, instruction, contentHash } of games) {
          connection.run(
            'INSERT INTO environment_games (environment_id, file, split, type, instruction, content_hash) VALUES (?, ?, ?, ?, ?, ?)',
            [environmentId, game, split, type, instruction, hashToBytes(contentHash)],
          );
        }
      });
    },
    games: (environmentId) =>
      connection
        .all(
          'SELECT file, split, type, instruction, content_hash FROM environment_games WHERE environment_id = ? ORDER BY file',
          [environmentId],
        )
        .map(({ content_hash: hash, ...row }) =>
          parseRow(
            gameSchema,
            { ...row, contentHash: hashFromBytes(hash) },
            { table: 'environment_games', file },
          ),
        ),
    removeFolder: (environmentId) =>
      connection.run('DELETE FROM environment_folders WHERE environment_id = ?', [environmentId]) === 1,
    saveConformance(result) {
      connection.run(
        `INSERT INTO conformance_results (environment_id, at, rules) VALUES (?, ?, ?)
         ON CONFLICT (environment_id) DO UPDATE SET at = excluded.at, rules = excluded.rules`,
        [result.environmentId, result.at, encodeJson(result.rules)],
      );
    },
    conformance(environmentId) {
      const row = connection.get('SELECT * FROM conformance_results WHERE environment_id = ?', [
        environmentId,
      ]);
      if (row === undefined) return null;
      return parseRow(
        conformanceResultSchema,
        { environmentId: row['environment_id'], at: row['at'], rules: decodeJson(row['rules']) },
        { table: 'conformance_results', file },
      );
    },
    presets: () =>
      connection
        .all('SELECT preset_id AS presetId, title, yaml FROM presets ORDER BY preset_id')
        .map((row) => parseRow(presetSchema, row, { table: 'presets', file })),
    savePreset(preset) {
      connection.run(
        `INSERT INTO presets (preset_id, title, yaml) VALUES (?, ?, ?)
         ON CONFLICT (preset_id) DO UPDATE SET title = excluded.title, yaml = excluded.yaml`,
        [preset.presetId, preset.title, preset.yaml],
      );
    },
    removePreset: (presetId) => connection.run('DELETE FROM presets WHERE preset_id = ?', [presetId]) === 1,
    settings() {
      const row = connection.get("SELECT value FROM settings WHERE name = 'settings'");
      return parseRow(settingsSchema, row === undefined ? {} : decodeJson(row['value']), {
        table: 'settings',
        file,
      });
    },
    saveSettings(settings) {
      connection.run(
        "INSERT INTO settings (name, value) VALUES ('settings', ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
        [encodeJson(settings)],
      );
    },
  };
}
