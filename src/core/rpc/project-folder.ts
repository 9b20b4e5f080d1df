import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** The folder above this file that holds the application's package.json and its node_modules; null in a bundle without them. */
export function projectFolder(): string | null {
  let folder = import.meta.dirname;
  while (!existsSync(join(folder, 'node_modules')) || !existsSync(join(folder, 'package.json'))) {
    const parent = dirname(folder);
    if (parent === folder) return null;
    folder = parent;
  }
  return folder;
}
