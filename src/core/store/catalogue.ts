/** What the user added or chose: environment folders, conformance results, presets, settings. */
import { z } from 'zod';
import type { Connection } from '#core/store/driver.ts';
import { decodeJson, encodeJson, parseRow } from '#core/store/columns.ts';
import type { CatalogueStore } from '#core/store/port.ts';
import { environmentIdSchema } from '#shared/ids.ts';
import { conformanceResultSchema } from '#shared/schema/environment.ts';
import { settingsSchema } from '#shared/schema/system.ts';

const folderSchema = z.object({
  environmentId: environmentIdSchema,
  kind: z.literal('alfworld'),
  folder: z.string(),
  addedAt: z.int(),
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
    addFolder(entry) {
      connection.run(
        `INSERT INTO environment_folders (environment_id, kind, folder, added_at) VALUES (?, ?, ?, ?)
         ON CONFLICT (environment_id) DO UPDATE SET kind = excluded.kind, folder = excluded.folder, added_at = excluded.added_at`,
        [entry.environmentId, entry.kind, entry.folder, entry.addedAt],
      );
    },
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
