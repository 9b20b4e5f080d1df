/** A real pre-trained base model through the real worker; pretrained-path.test.ts takes it through the whole application. */
import { getLlama } from 'node-llama-cpp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ChatModel } from '#core/llm/port.ts';
import { testModelService } from '#test/helpers/model-service.ts';
import type { TestService } from '#test/helpers/model-service.ts';
import { fetchPretrained, pretrainedFile } from '#test/helpers/pretrained.ts';

const file = pretrainedFile;
const missing = fetchPretrained();

const text =
  'You are in the middle of a room. Looking quickly around you, you see a bed 1, a desk 1 and a drawer 1. Your task is to put a pen on the desk. You';

describe.skipIf(missing !== null)('a pre-trained base model', () => {
  let host: TestService;
  let model: ChatModel;

  beforeAll(async () => {
    host = testModelService();
    const known = await host.service.resolve(file);
    const load = { adapters: [], contextTokens: 1024, sequences: 4, threads: 1, format: 'auto' } as const;
    model = (await host.service.load(known, load)).model;
  });
  afterAll(async () => {
    await host.service.dispose();
  });

  it('is recognised as a base model with its facts', () => {
    expect(model.info).toMatchObject({ format: 'completion', threads: 1 });
    expect(model.info.facts).toMatchObject({
      architecture: 'gemma3',
      hasChatTemplate: false,
      quantisation: 'Q4_K_M',
      vocabularySize: 262_144,
    });
  });

  it('writes greedily what node-llama-cpp itself writes', async () => {
    const { promptTokens, generations } = await model.generate({
      messages: [{ role: 'user', content: text }],
      sessionKey: 'greedy',
      n: 1,
      sampling: { temperature: 0, topK: 0, topP: 1, minP: 0 },
      seed: 1,
      maxTokens: 24,
      format: 'completion',
    });
    const llama = await getLlama({ gpu: false, maxThreads: 1, build: 'never', skipDownload: true });
    const peer = await llama.loadModel({ modelPath: file });
    const context = await peer.createContext({
      contextSize: 1024,
      threads: 1,
      batchSize: 128,
      flashAttention: false,
      swaFullCache: true,
    });
    const theirs: number[] = [];
    const options = { temperature: 0, yieldEogToken: true } as const;
    type Tokens = Parameters<ReturnType<typeof context.getSequence>['evaluate']>[0];
    for await (const token of context.getSequence().evaluate(promptTokens as number[] as Tokens, options)) {
      theirs.push(token);
      if (theirs.length >= (generations[0]?.tokens.length ?? 0)) break;
    }
    expect(generations[0]?.tokens).toEqual(theirs);
    await llama.dispose();
  });

  it('knows more about language than chance', async () => {
    const prompt = await model.tokenize('The capital of France is');
    const paris = await model.tokenize(' Paris');
    const [logprob] = await model.score({ prompt: [2, ...prompt], completion: paris.slice(0, 1) });
    expect(logprob).toBeGreaterThan(Math.log(0.05));
  });

  it('gives raw log-probabilities that a token-by-token score confirms', async () => {
    const { promptTokens, generations } = await model.generate({
      messages: [{ role: 'user', content: text }],
      sessionKey: 'scores',
      n: 1,
      sampling: { temperature: 0.7, topK: 0, topP: 1, minP: 0 },
      seed: 3,
      maxTokens: 8,
      format: 'completion',
    });
    const { tokens, logprobs } = generations[0] ?? { tokens: [], logprobs: [] };
    for (const [index, token] of tokens.entries()) {
      const prompt = [...promptTokens, ...tokens.slice(0, index)];
      const [scored] = await model.score({ prompt, completion: [token] });
      expect(logprobs[index]).toBeCloseTo(scored ?? Number.NaN, 3);
    }
  });

  it('is calibrated to a thread count that really is the fastest or near it', async () => {
    const { modelId } = model.info.model;
    const { threads, trials } = await host.service.calibrate(modelId, { force: true });
    console.log(
      trials
        .map((trial) => `${trial.threads} threads: ${trial.tokensPerSecond.toFixed(1)} tokens/s`)
        .join(', '),
    );
    const best = Math.max(...trials.map((trial) => trial.tokensPerSecond));
    const chosen = trials.find((trial) => trial.threads === threads);
    expect(chosen?.tokensPerSecond).toBeGreaterThanOrEqual(best * 0.95);
    expect(best).toBeGreaterThan(3);
  });
});
