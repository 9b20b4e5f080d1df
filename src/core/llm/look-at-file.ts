/** What the header of a model file says, before anybody adds it: neither hashed nor loaded, and read once while the file stays the same. */
import { statSync } from 'node:fs';
import { basename } from 'node:path';
import { toAppError } from '#shared/errors.ts';
import type { Model } from '#shared/schema/model.ts';
import { ggufFacts } from './gguf/facts.ts';
import { readGguf } from './gguf/read-gguf.ts';

export type FileLook = Pick<Model, 'name' | 'facts' | 'problem'>;

/** Files remembered; a form looks at one again at each keystroke. */
const mostLooks = 16;
const looks = new Map<string, FileLook>();

function read(file: string): FileLook {
  const name = basename(file, '.gguf');
  try {
    return { name, facts: ggufFacts(readGguf(file), file), problem: null };
  } catch (error) {
    return { name, facts: null, problem: toAppError(error).toRecord() };
  }
}

/** null for a folder and for what is not there. */
export function lookAtFile(file: string): FileLook | null {
  const status = statSync(file, { throwIfNoEntry: false });
  if (status?.isFile() !== true) return null;
  const key = JSON.stringify([file, status.size, status.mtimeMs]);
  const look = looks.get(key) ?? read(file);
  looks.delete(key);
  looks.set(key, look);
  const [oldest] = looks.keys();
  if (looks.size > mostLooks && oldest !== undefined) looks.delete(oldest);
  return look;
}
