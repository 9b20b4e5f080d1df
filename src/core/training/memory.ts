/** What a training takes, before it starts. Weights are counted; what a batch takes is estimated from its largest parts. */
import { AppError } from '#shared/errors.ts';
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
  const { architecture: a, base, mode, limits } = params;
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
  const { longestBlock: length, mostTokens: tokens } = limits;
  // Kept for the way back: about ten rows of the width, three of the hidden width, and two squares of attention a head.
  const layer =
    tokens *
    (10 * a.width + 3 * a.hidden + (2 * a.heads + 2 * a.kvHeads) * a.headSize + 2 * a.heads * length);
  // At most every token is a target: logits, probabilities and their gradient.
  const head = tokens * a.vocabulary * 3;
  return { weightsBytes: weights * float, batchBytes: (a.layers * layer + head) * float };
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
