/** Content-addressed bytes, and the rule which texts of other tables live here. */
import { hash } from 'node:crypto';
import type { Connection, SqlValue } from '#core/store/driver.ts';
import { bufferOf, decodeJson, encodeJson, hashToBytes } from '#core/store/columns.ts';
import type { BlobStore } from '#core/store/port.ts';
import type { Sha256 } from '#shared/ids.ts';

/** Bytes. Below this a hash, a second row and its index entry would cost more than the text itself. */
const inlineLimit = 1024;

export interface TextColumns {
  /** The value for a column of type ANY. */
  write(text: string): SqlValue;
  writeJson(value: unknown): SqlValue;
  /** Undoes `write`. `undefined` when the blob is missing, which no schema accepts. */
  read(value: SqlValue | undefined): string | null | undefined;
  readJson(value: SqlValue | undefined): unknown;
}

export function createBlobStore(connection: Connection): BlobStore & TextColumns {
  function putBytes(bytes: Uint8Array): Sha256 {
    const digest = hash('sha256', bytes, 'hex') as Sha256;
    connection.run('INSERT INTO blobs (hash, content) VALUES (?, ?) ON CONFLICT (hash) DO NOTHING', [
      hashToBytes(digest),
      bytes,
    ]);
    return digest;
  }

  function getBytes(key: Uint8Array): Uint8Array | null {
    const content = connection.get('SELECT content FROM blobs WHERE hash = ?', [key])?.['content'];
    return content instanceof Uint8Array ? content : null;
  }

  function write(text: string): SqlValue {
    // A UTF-16 unit takes at most three bytes, so most texts need no measuring.
    if (text.length * 3 <= inlineLimit || Buffer.byteLength(text) <= inlineLimit) return text;
    return hashToBytes(putBytes(Buffer.from(text, 'utf8')));
  }

  function read(value: SqlValue | undefined): string | null | undefined {
    if (value === null || value === undefined) return null;
    if (typeof value === 'string') return value;
    if (!(value instanceof Uint8Array)) return undefined;
    const bytes = getBytes(value);
    return bytes === null ? undefined : bufferOf(bytes).toString('utf8');
  }

  return {
    put: (content) => putBytes(typeof content === 'string' ? Buffer.from(content, 'utf8') : content),
    getBytes: (key) => getBytes(hashToBytes(key)),
    getText(key) {
      const bytes = getBytes(hashToBytes(key));
      return bytes === null ? null : bufferOf(bytes).toString('utf8');
    },
    write,
    writeJson: (value) => write(encodeJson(value)),
    read,
    readJson(value) {
      const text = read(value);
      return text === undefined ? undefined : decodeJson(text);
    },
  };
}
