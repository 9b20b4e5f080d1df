/** SHA-256 of a file in constant memory. Model files are large, so a hash is kept while size and time of change stay the same. */
import { createHash } from 'node:crypto';
import { createReadStream, statSync } from 'node:fs';
import { sha256Schema } from '#shared/ids.ts';
import type { Sha256 } from '#shared/ids.ts';

export interface FileHasher {
  hash(file: string): Promise<Sha256>;
}

export function createFileHasher(): FileHasher {
  const known = new Map<string, Promise<Sha256>>();
  return {
    hash(file) {
      const { size, mtimeMs } = statSync(file);
      const key = `${size} ${mtimeMs} ${file}`;
      const cached = known.get(key);
      if (cached !== undefined) return cached;
      const hash = hashStream(file);
      known.set(key, hash);
      hash.catch(() => known.delete(key));
      return hash;
    },
  };
}

async function hashStream(file: string): Promise<Sha256> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(file, { highWaterMark: 1 << 20 })) hash.update(chunk as Buffer);
  return sha256Schema.parse(hash.digest('hex'));
}
