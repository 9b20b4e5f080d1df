import { createServer } from 'node:http';
import type { IncomingMessage, Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { GenerateRequest } from '#core/llm/port.ts';
import { httpModel } from './catalogue.ts';
import { HttpModel } from './http-model.ts';
import type { HttpModelOptions } from './http-model.ts';

interface Reply {
  status: number;
  body: string;
  headers?: Record<string, string>;
  afterMs?: number;
}
interface Seen {
  path: string;
  authorization: string | undefined;
  body: Record<string, unknown>;
}

let server: Server;
let baseUrl = '';
let replies: Reply[] = [];
let seen: Seen[] = [];

beforeAll(async () => {
  server = createServer((request, response) => {
    void readBody(request).then((body) => {
      seen.push({ path: request.url ?? '', authorization: request.headers.authorization, body });
      const reply = replies.shift() ?? { status: 500, body: 'no reply left' };
      setTimeout(() => {
        response.writeHead(reply.status, { 'content-type': 'application/json', ...reply.headers });
        response.end(reply.body);
      }, reply.afterMs ?? 0);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});
beforeEach(() => {
  replies = [];
  seen = [];
});

async function readBody(request: IncomingMessage): Promise<Record<string, unknown>> {
  let text = '';
  for await (const chunk of request) text += String(chunk);
  return JSON.parse(text) as Record<string, unknown>;
}

let outgoing = 0;
function client(options: Partial<HttpModelOptions> = {}): HttpModel {
  outgoing = 0;
  return new HttpModel({
    model: httpModel(baseUrl, 'small', 0),
    apiKey: undefined,
    contextTokens: 4096,
    sequences: 4,
    onOutgoing: () => (outgoing += 1),
    firstPauseMs: 1,
    ...options,
  });
}

const ask: GenerateRequest = {
  messages: [
    { role: 'system', content: 'act' },
    { role: 'user', content: 'look' },
  ],
  sessionKey: 's',
  n: 2,
  sampling: { temperature: 0.4, topK: 0, topP: 1, minP: 0 },
  seed: 11,
  maxTokens: 20,
  stop: ['</action>'],
  format: 'auto',
};

type Usage = Record<string, unknown>;
function completion(...texts: string[]): Reply {
  return counted({ prompt_tokens: 9 }, ...texts);
}

function counted(usage: Usage, ...texts: string[]): Reply {
  return {
    status: 200,
    body: JSON.stringify({
      choices: texts.map((content) => ({
        message: { role: 'assistant', content },
        finish_reason: 'stop',
        logprobs: { content: [{ token: 'x', logprob: -0.5 }] },
      })),
      usage,
    }),
  };
}

describe('a model on an OpenAI-compatible server', () => {
  it('is asked for n samples with seed, stop and log-probabilities', async () => {
    replies = [completion('<action>look', 'nothing')];
    const model = client({ apiKey: 'secret' });
    const result = await model.generate(ask);
    expect(seen[0]).toMatchObject({
      path: '/v1/chat/completions',
      authorization: 'Bearer secret',
      body: {
        model: 'small',
        n: 2,
        seed: 11,
        temperature: 0.4,
        max_tokens: 20,
        stop: ['</action>'],
        logprobs: true,
      },
    });
    expect(result.generations).toEqual([
      { text: '<action>look</action>', tokens: [], logprobs: [-0.5], stopReason: 'stop' },
      { text: 'nothing', tokens: [], logprobs: [-0.5], stopReason: 'end' },
    ]);
    expect(result).toMatchObject({ promptTokens: [], promptLength: 9, evaluatedPromptTokens: 9 });
    expect(outgoing).toBe(1);
  });

  it('is asked again with the next seed when it ignores n', async () => {
    replies = [completion('a'), completion('b')];
    const result = await client().generate(ask);
    expect(result.generations.map(({ text }) => text)).toEqual(['a', 'b']);
    expect(seen.map(({ body }) => body['seed'])).toEqual([11, 12]);
  });

  it('counts tokens as the server does, cached ones too, over every call that an answer took', async () => {
    const usage = {
      prompt_tokens: 9,
      completion_tokens: 30,
      prompt_tokens_details: { cached_tokens: 6 },
    };
    replies = [counted(usage, 'a'), counted(usage, 'b')];
    expect(await client().generate(ask)).toMatchObject({
      promptLength: 9,
      evaluatedPromptTokens: 6,
      completionLength: 60,
    });
  });

  it('counts listed tokens where the server does not, and nothing where it lists none', async () => {
    replies = [completion('a', 'b')];
    expect(await client().generate(ask)).toMatchObject({ completionLength: 2 });
    const unlisted = JSON.stringify({
      choices: [{ message: { content: 'a' } }, { message: { content: 'b' } }],
    });
    replies = [{ status: 200, body: unlisted }];
    expect(await client().generate(ask)).toMatchObject({ promptLength: 0, completionLength: 0 });
  });

  it('is asked again after 429, 503 and a broken answer of its proxy', async () => {
    replies = [
      { status: 429, body: '{"error":{"message":"slow down"}}', headers: { 'retry-after': '0' } },
      { status: 503, body: 'busy' },
      completion('a', 'b'),
    ];
    await client().generate(ask);
    expect(seen).toHaveLength(3);
    expect(outgoing).toBe(3);
  });

  it('fails in words after the last try', async () => {
    replies = [
      { status: 500, body: '{"error":"out of memory"}' },
      { status: 500, body: '{"error":"out of memory"}' },
    ];
    await expect(client({ tries: 2 }).generate(ask)).rejects.toMatchObject({
      code: 'MODEL_HTTP',
      message: expect.stringMatching(/answered 500: out of memory/) as string,
    });
  });

  it('is not asked again when the request itself is refused', async () => {
    replies = [{ status: 401, body: '{"error":{"message":"bad key"}}' }];
    await expect(client().generate(ask)).rejects.toThrow(/bad key\. Check the key/);
    expect(seen).toHaveLength(1);
  });

  it.each(['<html>hello</html>', '{"choices":[]}', '{"unexpected":true}'])(
    'is told from something else: %s',
    async (body) => {
      replies = [{ status: 200, body }];
      await expect(client().generate(ask)).rejects.toMatchObject({ code: 'MODEL_HTTP' });
    },
  );

  it.each([
    '{"error":{"code":"context_length_exceeded","message":"too long"}}',
    '{"error":{"code":400,"type":"exceed_context_size_error","message":"too long"}}',
    '{"object":"error","message":"This model\'s maximum context length is 4096 tokens."}',
  ])('says context-full, not a failure, where the server calls the prompt too long: %s', async (body) => {
    replies = [{ status: 400, body }];
    await expect(client().generate(ask)).rejects.toMatchObject({ code: 'MODEL_CONTEXT_FULL' });
    expect(seen).toHaveLength(1);
  });

  it('refuses an answer whose prompt was over the limit, by the server’s own count', async () => {
    replies = [completion('a', 'b'), completion('a', 'b')];
    await expect(client().generate({ ...ask, maxPromptTokens: 8 })).rejects.toMatchObject({
      code: 'MODEL_PROMPT_LIMIT',
      data: { tokens: 9, maxPromptTokens: 8 },
    });
    await expect(client().generate({ ...ask, maxPromptTokens: 9 })).resolves.toMatchObject({
      evaluatedPromptTokens: 9,
    });
  });

  it('times out with the time it had', async () => {
    replies = [{ ...completion('a', 'b'), afterMs: 2000 }];
    await expect(client({ timeoutMs: 50 }).generate(ask)).rejects.toThrow(/within 0\.05 s/);
  });

  it('says when nothing listens there', async () => {
    const model = httpModel('http://127.0.0.1:9', 'small', 0);
    await expect(client({ model, tries: 2 }).generate(ask)).rejects.toThrow(/Is the server running/);
  });

  it('stops waiting when aborted', async () => {
    replies = [{ ...completion('a', 'b'), afterMs: 2000 }];
    const started = performance.now();
    await expect(client().generate(ask, { signal: AbortSignal.timeout(50) })).rejects.toThrow();
    expect(performance.now() - started).toBeLessThan(1000);
  });

  it('gives unit vectors in the order of the texts', async () => {
    replies = [
      {
        status: 200,
        body: JSON.stringify({
          data: [
            { index: 1, embedding: [0, 2] },
            { index: 0, embedding: [3, 4] },
          ],
        }),
      },
    ];
    const [first, second] = await client().embed(['a', 'b']);
    expect([...(first ?? [])].map((value) => Number(value.toFixed(5)))).toEqual([0.6, 0.8]);
    expect([...(second ?? [])]).toEqual([0, 1]);
  });

  it('says what only a file can do', async () => {
    await expect(client().score()).rejects.toMatchObject({ code: 'MODEL_UNSUPPORTED' });
  });
});
