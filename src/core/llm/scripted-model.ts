/**
 * A model whose answers are a function of the request: for tests, and `scripted:random` as a floor. Token ids are the UTF-8
 * bytes of the text, so everything that handles ids works; log-probabilities are those of the script's choice where it knows.
 */
import { createHash } from 'node:crypto';
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus';
import { uniformFloat64 } from 'pure-rand/distribution/uniformFloat64';
import type { Model } from '#shared/schema/model.ts';
import { contextFull, promptOverLimit } from '#shared/worker/too-long.ts';
import type {
  ChatModel,
  ChatModelInfo,
  GenerateRequest,
  GenerateResult,
  Generation,
  EncodedRow,
  ModelMessage,
} from './port.ts';

/** The text of sample `index`. `random`: in [0, 1), seeded by the request. */
export type Script = (
  request: GenerateRequest,
  context: { index: number; random: () => number; signal: AbortSignal | undefined },
) => string | Promise<string>;

/** Built in: `random` takes an admissible action uniformly, `echo` repeats the last message. */
export const builtInScripts: Readonly<Record<string, Script>> = {
  random: (request, { random }) => {
    const actions = offeredActions(request);
    const action = actions[Math.floor(random() * actions.length)] ?? 'look';
    return `<action>${action}</action>`;
  },
  echo: (request) => request.messages.at(-1)?.content ?? '',
};

export class ScriptedModel implements ChatModel {
  readonly info: ChatModelInfo;
  readonly #script: Script;
  readonly #isLimited: boolean;
  readonly #evaluated = new Map<string, readonly number[]>();

  /** @param options.reads how long a prompt may be: chance and echo read none, so no limit of tokens cuts their episodes */
  constructor(
    model: Model,
    script: Script,
    { reads, ...options }: { contextTokens: number; sequences: number; reads: 'within limits' | 'anything' },
  ) {
    this.#script = script;
    this.#isLimited = reads === 'within limits';
    this.info = {
      model,
      facts: null,
      ...options,
      threads: null,
      format: 'chat',
      chatTemplateHash: null,
      adapterSha256: [],
    };
  }

  async generate(
    request: GenerateRequest,
    options?: { signal?: AbortSignal | undefined },
  ): Promise<GenerateResult> {
    const signal = options?.signal;
    signal?.throwIfAborted();
    const prompt = request.messages.map(({ role, content }) => `${role}: ${content}\n`).join('');
    const promptTokens = bytesOf(prompt);
    const { maxPromptTokens } = request;
    if (this.#isLimited && maxPromptTokens !== undefined && promptTokens.length > maxPromptTokens) {
      throw promptOverLimit(promptTokens.length, maxPromptTokens);
    }
    if (this.#isLimited && promptTokens.length >= this.info.contextTokens) {
      throw contextFull(promptTokens.length, this.info.contextTokens);
    }
    const generations: Generation[] = [];
    for (let index = 0; index < request.n; index += 1) {
      const random = seeded(request.seed + index);
      const text = await this.#script(request, { index, random, signal });
      signal?.throwIfAborted();
      generations.push(cutAnswer(text, request));
    }
    const before = this.#evaluated.get(request.sessionKey) ?? [];
    this.#evaluated.set(request.sessionKey, promptTokens);
    return {
      generations,
      prompt,
      promptTokens,
      promptLength: promptTokens.length,
      evaluatedPromptTokens: promptTokens.length - commonLength(before, promptTokens),
      completionLength: generations.reduce((sum, { tokens }) => sum + tokens.length, 0),
      promptMs: 0,
      completionMs: 0,
    };
  }

  score(request: { completion: readonly number[] }): Promise<number[]> {
    return Promise.resolve(request.completion.map(() => -Math.log(256)));
  }

  /** A hash of the words, so that texts with common words are near each other. */
  embed(texts: readonly string[]): Promise<Float32Array[]> {
    return Promise.resolve(texts.map(embedWords));
  }

  encode(rows: readonly (readonly ModelMessage[])[]): Promise<EncodedRow[]> {
    return Promise.resolve(
      rows.map((messages) => ({
        prompt: bytesOf(
          messages
            .slice(0, -1)
            .map(({ content }) => content)
            .join('\n'),
        ),
        completion: bytesOf(messages.at(-1)?.content ?? ''),
      })),
    );
  }

  tokenize(text: string): Promise<number[]> {
    return Promise.resolve(bytesOf(text));
  }

  detokenize(tokens: readonly number[]): Promise<string[]> {
    return Promise.resolve(tokens.map((token) => Buffer.from([token]).toString('latin1')));
  }

  endSession(sessionKey: string): Promise<void> {
    this.#evaluated.delete(sessionKey);
    return Promise.resolve();
  }
}

function cutAnswer(text: string, request: GenerateRequest): Generation {
  const ends = (request.stop ?? []).flatMap((stop) => {
    const at = text.indexOf(stop);
    return at < 0 ? [] : [at + stop.length];
  });
  const end = Math.min(text.length, ...ends);
  const tokens = bytesOf(text.slice(0, end));
  if (tokens.length > request.maxTokens) {
    const kept = tokens.slice(0, request.maxTokens);
    return {
      text: Buffer.from(kept).toString('utf8'),
      tokens: kept,
      logprobs: kept.map(() => 0),
      stopReason: 'length',
    };
  }
  return {
    text: text.slice(0, end),
    tokens,
    logprobs: tokens.map(() => 0),
    stopReason: ends.length > 0 ? 'stop' : 'end',
  };
}

/** From the grammar where one confines the answer, else the list at the end of the last message. */
/** What the grammar allows, else what the prompt lists, else what the state admits. */
function offeredActions(request: GenerateRequest): readonly string[] {
  if (request.grammar?.kind === 'choice') return request.grammar.options;
  const text = request.messages.at(-1)?.content ?? '';
  const list = text.slice(text.toLowerCase().lastIndexOf('admissible actions'));
  const listed = [...list.matchAll(/^[-*] (.+)$/gm)].flatMap(([, action]) => action ?? []);
  return listed.length > 0 ? listed : (request.admissible ?? []);
}

function bytesOf(text: string): number[] {
  return [...Buffer.from(text, 'utf8')];
}

function commonLength(a: readonly number[], b: readonly number[]): number {
  let length = 0;
  while (length < a.length && length < b.length && a[length] === b[length]) length += 1;
  return length;
}

function seeded(seed: number): () => number {
  const generator = xoroshiro128plus(seed | 0);
  for (let step = 0; step < 8; step += 1) generator.next();
  return () => uniformFloat64(generator);
}

const embeddingSize = 64;

function embedWords(text: string): Float32Array {
  const vector = new Float32Array(embeddingSize);
  for (const word of text.toLowerCase().match(/\w+/g) ?? []) {
    const hash = createHash('sha256').update(word).digest();
    const cell = (hash[0] ?? 0) % embeddingSize;
    vector[cell] = (vector[cell] ?? 0) + ((hash[1] ?? 0) % 2 === 0 ? 1 : -1);
  }
  const length = Math.hypot(...vector);
  return length === 0 ? vector : vector.map((value) => value / length);
}
