/** The whole rollout over a real HTTP server: nothing that only a file can do may be asked of it. */
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { z } from 'zod';
import { rolloutRunSchema } from '#shared/schema/run.ts';
import { testModelService } from '#test/helpers/model-service.ts';
import type { Lab } from '#test/helpers/methods.ts';
import { openLab } from '#test/helpers/methods.ts';

const askedSchema = z.object({ messages: z.array(z.object({ role: z.string(), content: z.string() })) });
let server: Server | null = null;
let lab: Lab | null = null;
afterEach(async () => {
  await lab?.close();
  server?.closeAllConnections();
  server?.close();
  server = lab = null;
});

/** Takes the first action offered and counts four characters a token, or refuses prompts over `context` as llama.cpp does. */
async function serve(options: { context?: number; counts?: boolean } = {}): Promise<string> {
  server = createServer((request, response) => {
    void (async () => {
      let text = '';
      for await (const chunk of request) text += String(chunk);
      const { messages } = askedSchema.parse(JSON.parse(text));
      const last = messages.at(-1)?.content ?? '';
      const action = /Admissible actions:\n- (.+)/.exec(last)?.[1] ?? 'look';
      const prompt_tokens = Math.ceil(messages.reduce((sum, { content }) => sum + content.length, 0) / 4);
      const tooLong = prompt_tokens > (options.context ?? Infinity);
      response.writeHead(tooLong ? 400 : 200, { 'content-type': 'application/json' });
      response.end(
        JSON.stringify(
          tooLong
            ? { error: { type: 'exceed_context_size_error', message: 'the request exceeds the context' } }
            : {
                choices: [{ message: { content: `<action>${action}</action>` }, finish_reason: 'stop' }],
                ...(options.counts === false ? {} : { usage: { prompt_tokens, completion_tokens: 7 } }),
              },
        ),
      );
    })();
  });
  await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
}

async function rollout(baseUrl: string, maxPromptTokens: number) {
  const { service } = testModelService();
  const { modelId } = await service.addHttp({ baseUrl, model: 'small' });
  lab = openLab({ models: service });
  const job = await lab.run(
    'rollout',
    rolloutRunSchema.parse({
      kind: 'rollout',
      environment: { id: 'household-small', tasks: 2 },
      policy: { model: modelId },
      limits: { maxSteps: 5, maxPromptTokens, retries: 0 },
    }),
  );
  await service.dispose();
  return { job, episodes: lab.services.store.episodes.list({}, 'oldest', { cursor: null, limit: 9 }).items };
}

test('a model on a server acts to the end of its episodes', async () => {
  const { job, episodes } = await rollout(await serve(), 100_000);
  expect(job.error).toBeNull();
  expect(job.result).toMatchObject({ episodes: 2, scored: 2, failed: 0, parseFailures: 0 });
  expect(episodes.map(({ status, steps }) => [status, steps])).toEqual(Array(2).fill(['finished', 5]));
  // It tells how many tokens a prompt had, though not which.
  for (const { promptTokens, evaluatedPromptTokens } of episodes) {
    expect(promptTokens).toBeGreaterThan(0);
    expect(promptTokens).toBe(evaluatedPromptTokens);
  }
  expect(job.result).toMatchObject({ completionTokens: 70 });
  expect(episodes.map(({ completionTokens }) => completionTokens)).toEqual([35, 35]);
});

test('tokens that a server does not count are not told, which is not 0', async () => {
  const { job } = await rollout(await serve({ counts: false }), 100_000);
  expect(job.result).toMatchObject({
    steps: 10,
    promptTokens: null,
    evaluatedPromptTokens: null,
    completionTokens: null,
  });
});

test('an episode on a server ends with token-limit where the server counted a longer prompt', async () => {
  const { job, episodes } = await rollout(await serve(), 64);
  expect(job.result).toMatchObject({ episodes: 2, failed: 0 });
  expect(episodes.map(({ endReason, steps }) => [endReason, steps])).toEqual(
    Array(2).fill(['token-limit', 0]),
  );
});

test('an episode on a server ends with context-full where the server refuses the prompt as too long', async () => {
  const { job, episodes } = await rollout(await serve({ context: 64 }), 100_000);
  expect(job.result).toMatchObject({ episodes: 2, failed: 0 });
  expect(episodes.map(({ endReason }) => endReason)).toEqual(['context-full', 'context-full']);
});
