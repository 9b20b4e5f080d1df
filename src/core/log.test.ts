import { execFileSync } from 'node:child_process';
import { expect, it } from 'vitest';

/** Linux has a file that is always full. */
it.skipIf(process.platform !== 'linux')('does not end the process when no line can be written', () => {
  const program = `
    import { mkdtempSync, mkdirSync, symlinkSync } from 'node:fs';
    import { join } from 'node:path';
    import { tmpdir } from 'node:os';
    import { createFileLogger } from '#core/log.ts';
    const folder = mkdtempSync(join(tmpdir(), 'daydream-log-'));
    mkdirSync(join(folder, 'logs'));
    symlinkSync('/dev/full', join(folder, 'logs', 'daydream.log'));
    const log = createFileLogger(folder);
    log.info('lost');
    log.error('lost too');
    setTimeout(() => console.log('still here'), 50);`;
  const output = execFileSync(process.execPath, ['--input-type=module-typescript', '-e', program], {
    encoding: 'utf8',
  });
  expect(output.trim()).toBe('still here');
});
