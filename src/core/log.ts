/** Events with fields, one JSON object a line, in the data folder. Nothing is sent anywhere. */
import { existsSync, renameSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { pino } from 'pino';
import { makeFolder } from '#core/make-folder.ts';
import type { Logger } from '#core/ports.ts';

/** The file before this size is kept as `.1`; older ones go. */
const rotateAtBytes = 10 * 1024 * 1024;

export function createFileLogger(dataFolder: string): Logger {
  const folder = join(dataFolder, 'logs');
  makeFolder(folder);
  const file = join(folder, 'daydream.log');
  if (existsSync(file) && statSync(file).size > rotateAtBytes) renameSync(file, `${file}.1`);
  // Synchronous: the lines before a crash are the ones that matter.
  const destination = pino.destination({ dest: file, sync: true });
  // A full disk: a line that cannot be written must not end the host, which tells of it where it matters.
  destination.on('error', () => undefined);
  return pino({ base: { pid: process.pid } }, destination);
}
