/**
 * What ggml keeps once more on a processor with AMX: a matrix that is only multiplied, in the order of AMX's tiles, beside the mapped
 * file (ggml-cpu/amx of the pinned llama.cpp). The file's pages are read once and can be dropped then.
 */
import { readFileSync } from 'node:fs';
import { ggmlTypes } from '#shared/ggml-types.ts';
import type { GgufHeader, TensorInfo } from './gguf/read-gguf.ts';

/** By ggml's number of the type, bytes that the packed form of a block adds. F16 is copied as it is. */
const addedBytes: Readonly<Record<number, number>> = { 1: 0, 2: 0, 3: 0, 8: 4, 12: 4, 13: 4, 14: 0, 23: 2 };
/** Rows and columns that a tile takes at once; blocks of 256 are whole by their format. */
const tileRows = 32;
const tileColumns: Readonly<Record<number, number>> = { 1: 16 };

/** Of this machine. Only Linux tells; elsewhere it is taken to have none. */
export function hasAmx(): boolean {
  try {
    const flags = readFileSync('/proc/cpuinfo', 'utf8');
    return /\bamx_int8\b/.test(flags) && /\bavx512_vnni\b/.test(flags);
  } catch {
    return false;
  }
}

/** Bytes of the copies. */
export function amxCopies({ tensors }: GgufHeader): number {
  const untied = tensors.some(({ name }) => name === 'output.weight');
  // An embedding that is not the output too is looked up, not multiplied.
  const multiplied = tensors.filter(({ name }) => !(untied && name === 'token_embd.weight'));
  return multiplied.reduce((sum, tensor) => sum + packedBytes(tensor), 0);
}

function packedBytes({ type, shape, bytes }: TensorInfo): number {
  const added = addedBytes[type];
  const known = ggmlTypes[type];
  const [columns = 0, rows = 0] = shape;
  if (added === undefined || known === undefined || bytes === null || shape.length !== 2) return 0;
  const [, elements, blockBytes] = known;
  if (rows % tileRows !== 0 || columns % (tileColumns[type] ?? elements) !== 0) return 0;
  return (bytes / blockBytes) * (blockBytes + added);
}
