import { mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { gguf } from '@huggingface/gguf';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AppError } from '#shared/errors.ts';
import { writeRandomGguf } from '../random-gguf.ts';
import { ggufFacts } from './facts.ts';
import { readGguf } from './read-gguf.ts';
import { writeGguf } from './write-gguf.ts';

const folder = mkdtempSync(join(tmpdir(), 'daydream-gguf-'));
const file = join(folder, 'random-weights-1.gguf');
const damaged = join(folder, 'damaged.gguf');
let bytes: Buffer;

beforeAll(() => {
  writeRandomGguf(file, { seed: 1, words: ['go', 'to', 'desk'] });
  bytes = readFileSync(file);
});
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

function codeOf(content: Uint8Array): string | null {
  writeFileSync(damaged, content);
  try {
    ggufFacts(readGguf(damaged), damaged);
    return null;
  } catch (error) {
    if (error instanceof AppError) return error.code;
    throw error;
  }
}

describe('the GGUF reader', () => {
  it('agrees with an independent reader on metadata and tensors', async () => {
    const ours = readGguf(file);
    const theirs = await gguf(file, { allowLocalFile: true });
    expect(ours.tensors.map(({ name, shape }) => ({ name, shape }))).toEqual(
      theirs.tensorInfos.map(({ name, shape }) => ({ name, shape: shape.map(Number) })),
    );
    for (const key of ['general.architecture', 'llama.block_count', 'tokenizer.chat_template'] as const) {
      expect(ours.metadata.get(key)).toEqual((theirs.metadata as Record<string, unknown>)[key]);
    }
    expect(ours.dataOffset).toBe(Number(theirs.tensorDataOffset));
  });

  it('tells the facts of a model', () => {
    const facts = ggufFacts(readGguf(file), file);
    expect(facts).toMatchObject({
      architecture: 'llama',
      layers: 2,
      quantisation: 'F32',
      hasChatTemplate: true,
    });
    expect(facts.parameters * 4).toBeLessThan(bytes.length);
  });

  it('finds every truncation', () => {
    for (const length of [4, 20, 30, 200, 5000, bytes.length - 1]) {
      expect(codeOf(bytes.subarray(0, length))).toBe('MODEL_FILE_TRUNCATED');
    }
    writeFileSync(damaged, bytes);
    truncateSync(damaged, bytes.length - 4096);
    const there = (bytes.length - 4096).toLocaleString('en');
    const promised = bytes.length.toLocaleString('en');
    expect(() => readGguf(damaged)).toThrow(`${there} bytes are there, its header promises ${promised};`);
    truncateSync(damaged, 30);
    expect(() => readGguf(damaged)).toThrow(/30 bytes are there, its header promises at least \d+/);
  });

  it('names what is wrong with a file that is something else', () => {
    expect(codeOf(Buffer.from('PK\u0003\u0004 this is a zip archive'))).toBe('MODEL_FILE_INVALID');
    expect(codeOf(Buffer.from('<!doctype html><title>404</title>'))).toBe('MODEL_FILE_INVALID');
    const future = Buffer.from(bytes);
    future.writeUInt32LE(9, 4);
    expect(codeOf(future)).toBe('MODEL_UNSUPPORTED');
    const bigEndian = Buffer.from(bytes);
    bigEndian.writeUInt32BE(3, 4);
    writeFileSync(damaged, bigEndian);
    expect(() => readGguf(damaged)).toThrow(/big-endian/);
    expect(() => readGguf(join(folder, 'missing.gguf'))).toThrow(/There is no file/);
    expect(() => readGguf(folder)).toThrow(AppError);
  });

  it('tells an adapter from a model', () => {
    writeGguf(damaged, {
      metadata: new Map([['general.type', { type: 'string', value: 'adapter' }]]),
      tensors: [],
    });
    expect(() => ggufFacts(readGguf(damaged), damaged)).toThrow(/LoRA adapter/);
  });

  it('refuses a part of a split model: its hash and size would stand for all parts', () => {
    writeGguf(damaged, {
      metadata: new Map([
        ['general.architecture', { type: 'string', value: 'llama' }],
        ['llama.block_count', { type: 'uint32', value: 2 }],
        ['split.count', { type: 'uint32', value: 3 }],
      ]),
      tensors: [],
    });
    expect(() => ggufFacts(readGguf(damaged), damaged)).toThrow(
      /one part of a model.*llama-gguf-split --merge/,
    );
  });

  it('survives any damage with a readable error', () => {
    const headerLength = readGguf(file).dataOffset;
    const damage = fc.array(
      fc.record({ at: fc.nat(headerLength - 1), value: fc.integer({ min: 0, max: 255 }) }),
      { minLength: 1, maxLength: 12 },
    );
    fc.assert(
      fc.property(damage, fc.nat(headerLength), (edits, cut) => {
        const copy = Buffer.from(bytes.subarray(0, Math.max(4, bytes.length - cut)));
        for (const { at, value } of edits) copy[at] = value;
        const code = codeOf(copy);
        expect([null, 'MODEL_FILE_INVALID', 'MODEL_FILE_TRUNCATED', 'MODEL_UNSUPPORTED']).toContain(code);
      }),
      { numRuns: 300 },
    );
  });

  it('does not allocate what a hostile length claims', () => {
    const arbitraryHeader = fc.uint8Array({ minLength: 0, maxLength: 200 }).map((tail) => {
      const head = Buffer.alloc(24);
      head.write('GGUF');
      head.writeUInt32LE(3, 4);
      head.writeBigUInt64LE(1n, 8);
      head.writeBigUInt64LE(3n, 16);
      return Buffer.concat([head, tail]);
    });
    fc.assert(
      fc.property(arbitraryHeader, (content) => {
        expect(codeOf(content)).not.toBeNull();
      }),
      { numRuns: 300 },
    );
  });

  it('writes the same bytes from the same seed', () => {
    const again = join(folder, 'random-weights-again.gguf');
    writeRandomGguf(again, { seed: 1, words: ['go', 'to', 'desk'] });
    expect(readFileSync(again).equals(bytes)).toBe(true);
  });
});

describe('a damaged header', () => {
  const message = (change: (content: Buffer) => void): string => {
    const content = Buffer.from(bytes);
    change(content);
    writeFileSync(damaged, content);
    try {
      readGguf(damaged);
      return 'fine';
    } catch (error) {
      return error instanceof AppError ? `${error.code} ${error.message}` : String(error);
    }
  };

  it('is not called cut off: a length that no header has', () => {
    expect(message((content) => content.writeBigUInt64LE(2n ** 40n, 24))).toMatch(
      /^MODEL_FILE_INVALID .*its header is damaged: metadata key 1 of \d+ claims 1,099,511,627,776 bytes/u,
    );
  });

  it('is not called cut off: a tensor that lies elsewhere than behind the one before it', () => {
    const name = Buffer.from('blk.0.attn_q.weight');
    const dimensions = 2;
    const at = bytes.indexOf(name) + name.length + 4 + 8 * dimensions + 4;
    expect(message((content) => content.writeBigUInt64LE(2n ** 45n, at))).toMatch(
      /^MODEL_FILE_INVALID .*its header is damaged: tensor blk\.0\.attn_q\.weight begins at byte/u,
    );
  });
});
