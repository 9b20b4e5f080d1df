/** Loading a model to look at it: the test of the Models page and the one-answer box. */
import type { z } from 'zod';
import { AppError } from '#shared/errors.ts';
import type { modelsContract } from '#shared/contract/models.ts';
import type { ModelId } from '#shared/ids.ts';
import type { Model, PromptFormat } from '#shared/schema/model.ts';
import type { ChatModel } from '#core/llm/port.ts';
import type { RpcServices } from '#core/rpc/base.ts';

type Contract = typeof modelsContract;
type TestResult = z.output<NonNullable<Contract['test']['~orpc']['outputSchema']>>;
type TryOutInput = z.output<NonNullable<Contract['tryOut']['~orpc']['inputSchema']>>;
type TryOutResult = z.output<NonNullable<Contract['tryOut']['~orpc']['outputSchema']>>;

const trialContextTokens = 2048;
const testTokens = 48;
/** Long enough that the prompt rate is not all overhead. */
const testPrompt =
  'You are in the middle of a room. Looking quickly around you, you see a cabinet 1, a countertop 1, a fridge 1, a ' +
  'garbagecan 1, a microwave 1, a shelf 1, a sinkbasin 1 and a toaster 1. Describe what you would do to put a cool ' +
  'tomato on the countertop, step by step, in the order in which you would do it.';

async function withModel<Result>(
  app: RpcServices,
  model: Model,
  options: { format: PromptFormat; signal: AbortSignal | undefined },
  work: (loaded: ChatModel) => Promise<Result>,
): Promise<Result> {
  const contextTokens = Math.min(trialContextTokens, model.facts?.contextLength || trialContextTokens);
  const loaded = await app.models.load(model, {
    adapters: [],
    contextTokens,
    sequences: 1,
    threads: app.store.catalogue.settings().threads,
    format: options.format,
    signal: options.signal,
  });
  try {
    return await work(loaded.model);
  } finally {
    await loaded.release();
  }
}

function getModel(app: RpcServices, modelId: ModelId): Model {
  const model = app.store.models.get(modelId);
  if (model === null)
    throw new AppError({ code: 'MODEL_NOT_FOUND', message: `There is no model ${modelId}.` });
  if (model.problem !== null) throw new AppError(model.problem);
  return model;
}

function rate(tokens: number, ms: number): number | null {
  return tokens > 0 && ms > 0 ? (tokens * 1000) / ms : null;
}

/** Loads, calibrates threads (once per machine and model), writes a few tokens. Rates are tokens per second, one conversation. */
export async function testModel(
  app: RpcServices,
  modelId: ModelId,
  recalibrate: boolean,
  signal: AbortSignal | undefined,
): Promise<TestResult> {
  const model = getModel(app, modelId);
  const calibration =
    model.kind === 'gguf' ? await app.models.calibrate(modelId, { force: recalibrate, signal }) : null;
  const startedAt = app.clock.now();
  return withModel(app, model, { format: 'auto', signal }, async (loaded) => {
    const loadMs = app.clock.now() - startedAt;
    const result = await loaded.generate(
      {
        messages: [{ role: 'user', content: testPrompt }],
        sessionKey: `test:${modelId}:${String(startedAt)}`,
        n: 1,
        sampling: { temperature: 0.4, topK: 0, topP: 1, minP: 0 },
        seed: 1,
        maxTokens: testTokens,
        format: 'auto',
      },
      { signal },
    );
    const [generation] = result.generations;
    return {
      ok: true,
      error: null,
      loadMs: Math.round(loadMs),
      promptTokensPerSecond: rate(result.evaluatedPromptTokens, result.promptMs),
      completionTokensPerSecond: rate(result.completionLength, result.completionMs),
      sample: generation?.text ?? '',
      calibration,
    };
  });
}

export async function tryOut(
  app: RpcServices,
  input: TryOutInput,
  signal: AbortSignal | undefined,
): Promise<TryOutResult> {
  const model = getModel(app, input.modelId);
  return withModel(app, model, { format: input.format, signal }, async (loaded) => {
    const result = await loaded.generate(
      {
        messages: [{ role: 'user', content: input.prompt }],
        sessionKey: `try:${input.modelId}:${String(app.clock.now())}`,
        n: 1,
        sampling: input.sampling,
        seed: input.seed,
        maxTokens: input.maxTokens,
        format: input.format,
      },
      { signal },
    );
    const [generation] = result.generations;
    if (generation === undefined)
      throw new AppError({ code: 'INTERNAL', message: 'The model gave no answer.' });
    // A server may tell neither ids nor probabilities; then there is nothing to shade.
    const told = generation.logprobs.length === generation.tokens.length ? generation.tokens : [];
    const texts = told.length > 0 ? await loaded.detokenize(told, { signal }) : [];
    const tokens = told.map((id, index) => ({
      id,
      text: texts[index] ?? '',
      logprob: generation.logprobs[index] ?? Number.NaN,
    }));
    return { text: generation.text, tokens, stopReason: generation.stopReason, rendered: result.prompt };
  });
}
