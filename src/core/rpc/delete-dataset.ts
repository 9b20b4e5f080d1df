/** Deletes what an export wrote and nothing else: the user may have put own files into the folder, or chosen a shared one. */
import { rm, rmdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Dataset } from '#shared/schema/dataset.ts';

export async function deleteDatasetFolder({ folder, manifest }: Dataset): Promise<void> {
  const written = ['manifest.json', 'README.md', ...manifest.files.map(({ file }) => basename(file))];
  for (const file of written) await rm(join(folder, file), { force: true });
  // Fails when something else is in it, and then it stays.
  await rmdir(folder).catch(() => undefined);
}
