/** A LoRA adapter as the trainer goes on from it, merges it, and tells where it comes from. */
import { AppError } from '#shared/errors.ts';
import { loraTargets } from '#shared/schema/training.ts';
import type { LoraSettings, StoredTensor } from '#shared/worker/trainer.ts';
import { checkAdapter } from '#core/llm/index.ts';
import type { GgufHeader } from '#core/llm/index.ts';
import { storedTensors } from '#core/training/architecture-of.ts';

export interface Adapter {
  file: string;
  tensors: StoredTensor[];
  lora: LoraSettings;
}

/**
 * @throws FILE_NOT_FOUND, MODEL_FILE_INVALID, MODEL_UNSUPPORTED; CONFIG_INVALID with each matrix that does not fit the base
 */
export function readAdapter(file: string, base: { file: string; header: GgufHeader }): Adapter {
  const header = checkAdapter(file, base);
  const tensors = storedTensors(header, file);
  const rank = tensors.find(({ name }) => name.endsWith('.lora_a'))?.shape[1];
  const alpha = Number(header.metadata.get('adapter.lora.alpha'));
  if (rank === undefined || !(alpha > 0)) {
    throw new AppError({
      code: 'MODEL_FILE_INVALID',
      message: `${file} is no LoRA adapter (no lora_a tensors, or no adapter.lora.alpha). Nothing was changed.`,
      data: { file },
    });
  }
  const targets = loraTargets.filter((part) => tensors.some(({ name }) => name.includes(`.${part}.weight.`)));
  const problems = misfits(tensors, rank, base.header, targets);
  if (problems.length > 0) {
    const more = problems.length > 6 ? `; and ${String(problems.length - 6)} more` : '';
    throw new AppError({
      code: 'CONFIG_INVALID',
      message:
        `The adapter ${file} does not fit ${base.file}: ${problems.slice(0, 6).join('; ')}${more}. ` +
        'Nothing was changed. Choose the base that it was trained on.',
      data: { file, base: base.file },
    });
  }
  return { file, tensors, lora: { rank, alpha, targets } };
}

function misfits(
  tensors: readonly StoredTensor[],
  rank: number,
  base: GgufHeader,
  targets: readonly string[],
): string[] {
  const shapes = new Map(base.tensors.map(({ name, shape }) => [name, shape]));
  const found = new Set(tensors.map(({ name }) => name));
  const wrong = tensors.flatMap(({ name, shape }) => {
    const [, matrix = '', side] = /^(.+)\.lora_([ab])$/.exec(name) ?? [];
    const target = shapes.get(matrix);
    if (side === undefined || !targets.some((part) => matrix.endsWith(`.${part}.weight`)))
      return [`${name} is nothing that is trained here`];
    if (target === undefined) return [`the base has no ${matrix}`];
    const wanted = side === 'a' ? [target[0], rank] : [rank, target[1]];
    return wanted.every((size, index) => (shape[index] ?? 1) === size)
      ? []
      : [`${name} is ${shape.join(' × ')}, it would have to be ${wanted.join(' × ')}`];
  });
  const missing = [...shapes.keys()]
    .filter((name) => targets.some((part) => name.endsWith(`.${part}.weight`)))
    .flatMap((name) => [`${name}.lora_a`, `${name}.lora_b`])
    .filter((name) => !found.has(name))
    .map((name) => `${name} is missing`);
  return [...wrong, ...missing];
}
