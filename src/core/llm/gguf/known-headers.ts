/** Headers of files that have not changed since they were read: an estimate at each keystroke reads no file twice. */
import { statSync } from 'node:fs';
import { readGguf } from './read-gguf.ts';
import type { GgufHeader } from './read-gguf.ts';

/** A header names each tensor: about 100 kB. */
const mostHeaders = 16;

/** `readGguf` with a memory, by file, size and time of change; throws as it does. */
export function createHeaderReader(): (file: string) => GgufHeader {
  const known = new Map<string, { stamp: string; header: GgufHeader }>();
  return (file) => {
    const status = statSync(file, { throwIfNoEntry: false });
    const stamp = `${String(status?.size)} ${String(status?.mtimeMs)}`;
    const found = known.get(file);
    known.delete(file);
    const entry = found?.stamp === stamp ? found : { stamp, header: readGguf(file) };
    known.set(file, entry);
    const [oldest] = known.keys();
    if (known.size > mostHeaders && oldest !== undefined) known.delete(oldest);
    return entry.header;
  };
}
