/** Built-in presets are YAML files whose first comment lines are title, summary and what they reproduce; the user's are rows. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { AppError } from '#shared/errors.ts';
import type { Preset } from '#shared/schema/run.ts';
import { resourceFolder } from '#core/resources.ts';
import type { CatalogueStore } from '#core/store/port.ts';

function header(yaml: string, field: string): string {
  return new RegExp(`^# ${field}: (.*)$`, 'm').exec(yaml)?.[1]?.trim() ?? '';
}

export function builtInPresets(): Preset[] {
  const folder = resourceFolder('presets');
  return readdirSync(folder)
    .filter((file) => file.endsWith('.yaml'))
    .toSorted()
    .map((file) => {
      const yaml = readFileSync(join(folder, file), 'utf8');
      return {
        presetId: file.slice(0, -'.yaml'.length),
        title: header(yaml, 'title'),
        summary: header(yaml, 'summary'),
        reproduces: header(yaml, 'reproduces'),
        yaml,
        builtIn: true,
      };
    });
}

function userPreset({ presetId, title, yaml }: { presetId: string; title: string; yaml: string }): Preset {
  return { presetId, title, summary: header(yaml, 'summary'), reproduces: '', yaml, builtIn: false };
}

export function allPresets(catalogue: CatalogueStore): Preset[] {
  return [...builtInPresets(), ...catalogue.presets().map(userPreset)];
}

function slug(title: string): string {
  const words = title
    .toLowerCase()
    .normalize('NFKD')
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '');
  return words === '' ? 'preset' : words.slice(0, 60);
}

/** Saving under the title of an own preset replaces it; a built-in one keeps its name. */
export function savePreset(catalogue: CatalogueStore, title: string, yaml: string): Preset {
  const id = slug(title);
  const presetId = builtInPresets().some((preset) => preset.presetId === id) ? `${id}-mine` : id;
  const preset = { presetId, title, yaml };
  catalogue.savePreset(preset);
  return userPreset(preset);
}

export function removePreset(catalogue: CatalogueStore, presetId: string): boolean {
  if (builtInPresets().some((preset) => preset.presetId === presetId)) {
    throw new AppError({ code: 'CONFLICT', message: `${presetId} is built in and cannot be removed.` });
  }
  return catalogue.removePreset(presetId);
}
