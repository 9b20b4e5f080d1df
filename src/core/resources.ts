/** What is shipped beside the application. */
import { existsSync } from 'node:fs';
import { dirname, join, sep } from 'node:path';
import { AppError } from '#shared/errors.ts';

/** Sources and bundles lie at different depths below the folder that holds `resources/`. */
export function resourceFolder(name: string): string {
  let folder = import.meta.dirname;
  while (!existsSync(join(folder, 'resources', name))) {
    const parent = dirname(folder);
    if (parent === folder) {
      throw new AppError({
        code: 'FILE_NOT_FOUND',
        message: `resources/${name} is missing beside the application. Install it again.`,
      });
    }
    folder = parent;
  }
  return join(folder, 'resources', name);
}

/** The starter model's name in the list of models, and in the presets. */
export const starterName = 'daydream-starter';

/** The starter model. Native code reads it, and cannot look into the desktop's archive: there it lies unpacked beside it. */
export function starterModelFile(): string {
  const file = join(resourceFolder('presets'), '..', 'starter', `${starterName}.gguf`);
  return file.replace(`app.asar${sep}`, `app.asar.unpacked${sep}`);
}
