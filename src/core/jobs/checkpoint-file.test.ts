import { readdirSync, truncateSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readCheckpointFile, writeCheckpointFile } from '#core/jobs/index.ts';
import { temporaryFolder } from '#test/helpers/store-records.ts';

let temporary: ReturnType<typeof temporaryFolder>;
beforeEach(() => {
  temporary = temporaryFolder();
});
afterEach(() => {
  temporary.remove();
});

describe('a checkpoint file', () => {
  const content = Buffer.from('weights and optimiser state');

  it('comes back whole and leaves no temporary file', () => {
    const checkpoint = writeCheckpointFile(`${temporary.folder}/job`, 'step-1.bin', content);
    expect(readCheckpointFile(checkpoint)).toEqual(content);
    expect(readdirSync(`${temporary.folder}/job`)).toEqual(['step-1.bin']);
    expect(checkpoint.bytes).toBe(content.length);
  });

  it('is refused when it was cut or changed, and when it is gone', () => {
    const checkpoint = writeCheckpointFile(temporary.folder, 'step-1.bin', content);
    truncateSync(checkpoint.file, 5);
    expect(() => readCheckpointFile(checkpoint)).toThrow(expect.objectContaining({ code: 'FILE_INVALID' }));
    writeFileSync(checkpoint.file, Buffer.alloc(content.length));
    expect(() => readCheckpointFile(checkpoint)).toThrow(expect.objectContaining({ code: 'FILE_INVALID' }));
    expect(() => readCheckpointFile({ ...checkpoint, file: `${temporary.folder}/gone` })).toThrow(
      expect.objectContaining({ code: 'FILE_NOT_FOUND' }),
    );
  });

  it('is not there at all when it could not be written', () => {
    writeFileSync(`${temporary.folder}/file`, '');
    expect(() => writeCheckpointFile(`${temporary.folder}/file`, 'step-1.bin', content)).toThrow();
    expect(readdirSync(temporary.folder)).toEqual(['file']);
  });
});
