/** What the rest of the application knows of a GGUF, from its header alone. */
import { createHash } from 'node:crypto';
import { AppError } from '#shared/errors.ts';
import type { ErrorRecord } from '#shared/errors.ts';
import { sha256Schema } from '#shared/ids.ts';
import type { GgufFacts } from '#shared/schema/model.ts';
import { isKnownArchitecture } from './architectures.ts';
import type { GgufHeader, MetadataValue } from './read-gguf.ts';
import { fileTypeName, tensorTypeName } from './tensor-types.ts';

/** @throws MODEL_UNSUPPORTED for a GGUF that is not a language model or does not say its layers, MODEL_FILE_INVALID without an architecture. */
export function ggufFacts(header: GgufHeader, file: string): GgufFacts {
  const kind = textOf(header.metadata.get('general.type'));
  if (kind !== null && kind !== 'model') {
    throw new AppError({
      code: 'MODEL_UNSUPPORTED',
      message:
        kind === 'adapter'
          ? `${file} is a LoRA adapter, not a model. Choose it under "Adapters" together with its base model.`
          : `${file} is a GGUF of the kind "${kind}", not a language model.`,
      data: { file, kind },
    });
  }
  // Its hash, its size and its need of memory would be those of the first part alone.
  if (Number(header.metadata.get('split.count') ?? 1) > 1) {
    throw new AppError({
      code: 'MODEL_UNSUPPORTED',
      message:
        `${file} is one part of a model that was split into several files. Join them first ` +
        '(llama-gguf-split --merge FIRST-PART.gguf WHOLE.gguf, from llama.cpp) and add the whole file.',
      data: { file },
    });
  }
  const architecture = textOf(header.metadata.get('general.architecture'));
  if (architecture === null) {
    throw new AppError({
      code: 'MODEL_FILE_INVALID',
      message: `${file} does not name its architecture (general.architecture). It is no complete model.`,
      data: { file },
    });
  }
  // Every architecture that llama.cpp loads needs it; without it neither memory nor speed can be estimated.
  if (!header.metadata.has(`${architecture}.block_count`)) {
    throw new AppError({
      code: 'MODEL_UNSUPPORTED',
      message:
        `${file} has the architecture "${architecture}", but no "${architecture}.block_count": llama.cpp cannot load it. ` +
        'It is no language model, or its metadata is damaged. Choose another file, or convert it anew.',
      data: { file, architecture },
    });
  }
  if (!isKnownArchitecture(architecture)) throw new AppError(unknownArchitecture(architecture, file));
  const template = textOf(header.metadata.get('tokenizer.chat_template'));
  const hasChatTemplate = template !== null && template.trim() !== '';
  return {
    architecture,
    name: textOf(header.metadata.get('general.name')),
    parameters: header.tensors.reduce((sum, { shape }) => sum + shape.reduce((a, b) => a * b, 1), 0),
    quantisation: quantisation(header),
    layers: architectureNumber(header, 'block_count'),
    contextLength: architectureNumber(header, 'context_length'),
    embeddingLength: architectureNumber(header, 'embedding_length'),
    vocabularySize: vocabularySize(header),
    hasChatTemplate,
    chatTemplateHash: hasChatTemplate
      ? sha256Schema.parse(createHash('sha256').update(template).digest('hex'))
      : null,
  };
}

/** What is wrong with a file of this architecture; also said of what an older version took in. */
export function unknownArchitecture(architecture: string, file: string): ErrorRecord {
  return {
    code: 'MODEL_UNSUPPORTED',
    message:
      `${file} has the architecture "${architecture}", which the bundled llama.cpp does not know, so it cannot be loaded. ` +
      'Choose a model of another architecture; a newer version of the application may know this one.',
    data: { file, architecture },
  };
}

/** `llama.block_count` and its kind; a per-layer list gives its largest entry. */
export function architectureNumber(header: GgufHeader, key: string, missing = 0): number {
  const architecture = textOf(header.metadata.get('general.architecture')) ?? '';
  const value = header.metadata.get(`${architecture}.${key}`);
  const number = Array.isArray(value) ? Math.max(0, ...(value as readonly number[])) : Number(value);
  return Number.isSafeInteger(number) && number >= 0 && value !== undefined ? number : missing;
}

export function architectureList(header: GgufHeader, key: string): readonly number[] | null {
  const architecture = textOf(header.metadata.get('general.architecture')) ?? '';
  const value = header.metadata.get(`${architecture}.${key}`);
  return Array.isArray(value) ? (value as readonly number[]) : null;
}

export function textOf(value: MetadataValue | undefined): string | null {
  return typeof value === 'string' ? value : null;
}

function quantisation(header: GgufHeader): string {
  const named = fileTypeName(Number(header.metadata.get('general.file_type') ?? -1));
  if (named !== null) return named;
  const bytes = new Map<number, number>();
  for (const { type, bytes: size } of header.tensors) bytes.set(type, (bytes.get(type) ?? 0) + (size ?? 0));
  const [largest] = [...bytes.entries()].toSorted((a, b) => b[1] - a[1]);
  return largest === undefined ? 'unknown' : tensorTypeName(largest[0]);
}

function vocabularySize(header: GgufHeader): number {
  const tokens = header.metadata.get('tokenizer.ggml.tokens');
  if (typeof tokens === 'object' && 'arrayLength' in tokens) return tokens.arrayLength;
  return architectureNumber(header, 'vocab_size');
}
