/** Keys of model servers: a 0600 file beside the store, so that a backup or an export of the store never carries one. */
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { z } from 'zod';
import type { SecretStore } from '#core/llm/index.ts';

const secretsSchema = z.record(z.string(), z.string());

function read(file: string): Record<string, string> {
  try {
    return secretsSchema.parse(JSON.parse(readFileSync(file, 'utf8')));
  } catch {
    // Missing or damaged: the keys have to be entered again, nothing else depends on them.
    return {};
  }
}

export function createSecretFile(file: string): SecretStore {
  const write = (secrets: Record<string, string>): void => {
    const temporary = `${file}.${String(process.pid)}`;
    writeFileSync(temporary, JSON.stringify(secrets), { mode: 0o600 });
    renameSync(temporary, file);
  };
  return {
    get: (key) => new Map(Object.entries(read(file))).get(key),
    set(key, value) {
      write({ ...read(file), [key]: value });
    },
    remove(key) {
      const { [key]: removed, ...rest } = read(file);
      if (removed !== undefined) write(rest);
    },
  };
}
