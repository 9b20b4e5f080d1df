/** What a training takes, before it starts. Weights are counted; what a batch takes follows from its shape. */
import { AppError } from '#shared/errors.ts';
import { chunksOf, pairsOf } from '#shared/worker/attention-chunks.ts';
import { largestTransposed } from '#shared/worker/trainer.ts';
import type { OpenParams } from '#shared/worker/trainer.ts';

export interface TrainingMemory {
  /** Bytes: base weights with the transposes that the way back needs, and parameters with gradients and moments. */
  weightsBytes: number;
  /** Bytes of the largest batch: activations, attention, and the soft-max over the vocabulary. */
  batchBytes: number;
}

const float = 4;
/** Share of the free memory that a training may ask for. */
const usable = 0.9;

export function trainingMemory(params: OpenParams): TrainingMemory {
  const { base, mode } = params;
  const tensors = base.kind === 'file' ? base.tensors : [];
  let weights = 0;
  for (const { name, shape } of tensors) {
    const elements = shape.reduce((product, size) => product * size, 1);
    const [inputs = 1, outputs = 1] = shape;
    if (mode.kind === 'full') {
      weights += elements * 4;
      continue;
    }
    weights += elements;
    if (outputs > 1 && elements <= largestTransposed) weights += elements;
    const adapted = mode.lora.targets.some((part) => name.endsWith(`.${part}.weight`));
    if (adapted) weights += (inputs + outputs) * mode.lora.rank * 4;
  }
  return { weightsBytes: weights * float, batchBytes: batchFloats(params) * float };
}

/** Numbers of the largest batch, there and back: found by measuring what is allocated (test/slow/training-memory.test.ts). */
function batchFloats({ architecture: a, mode, limits, device }: OpenParams): number {
  const { longestBlock: length, mostTokens: tokens } = limits;
  const gemma = a.name === 'gemma3';
  const chunks = chunksOf(length, device === 'cpu');
  const pairs = pairsOf(chunks) / length;
  // What norms gave is kept for the gradient of their weights, which an adapter does not train.
  const trainsNorms = mode.kind === 'full' ? 1 : 0;
  const headRows = 2 + (gemma || a.name === 'qwen3' ? 1 + trainsNorms : 0);
  const widthRows = 5 + 2 * trainsNorms + (gemma ? 2 + 2 * trainsNorms : 0);
  const layer =
    widthRows * a.width +
    (gemma ? 4 : 3) * a.hidden +
    headRows * (a.heads + a.kvHeads) * a.headSize +
    (mode.kind === 'lora' ? mode.lora.rank * mode.lora.targets.length : 0) +
    a.heads * pairs;
  // On top, where the way back turns: at most every token is a target, logits and their gradient; or two products of the last chunk.
  const last = chunks.at(-1) ?? { from: 0, to: 0 };
  const chunk = (last.to * (last.to - last.from)) / length;
  const peak = Math.max(2 * a.vocabulary, 2 * a.heads * chunk) + 2 * a.width;
  const masks = (a.window === null ? 1 : 2) * pairs;
  return tokens * (a.layers * layer + peak + masks);
}

/**
 * @param available bytes that are free now
 * @throws MODEL_OUT_OF_MEMORY with the longest block that would fit
 */
export function requireMemory(params: OpenParams, available: number): TrainingMemory {
  const memory = trainingMemory(params);
  if (memory.weightsBytes + memory.batchBytes <= available * usable) return memory;
  const fitting = [4096, 2048, 1024, 512, 256, 128].find((length) => {
    if (length >= params.limits.longestBlock) return false;
    const smaller = trainingMemory({
      ...params,
      limits: { ...params.limits, longestBlock: length, mostTokens: length },
    });
    return smaller.weightsBytes + smaller.batchBytes <= available * usable;
  });
  const gib = (bytes: number): string => `${(bytes / 2 ** 30).toFixed(1)} GiB`;
  throw new AppError({
    code: 'MODEL_OUT_OF_MEMORY',
    message:
      `This training would take about ${gib(memory.weightsBytes)} for weights and ${gib(memory.batchBytes)} for a batch; ${gib(available)} are free. ` +
      'Nothing was started. ' +
      (fitting === undefined
        ? params.mode.kind === 'full'
          ? 'Train an adapter (LoRA) instead of all weights, or a smaller model.'
          : 'Use a smaller model, or train the exported data set on a larger machine.'
        : `It would fit with maxBlockTokens ${fitting} (--block-tokens ${fitting}); longer rows are refused by name then.`),
    data: { weightsBytes: memory.weightsBytes, batchBytes: memory.batchBytes, availableBytes: available },
  });
}
