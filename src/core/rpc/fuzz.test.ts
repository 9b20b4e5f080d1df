import { isContractProcedure } from '@orpc/contract';
import { ORPCError } from '@orpc/server';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { contract } from '#shared/contract/index.ts';
import { errorRecordSchema } from '#shared/errors.ts';
import { openTestApp } from '#test/helpers/app.ts';
import type { TestApp } from '#test/helpers/app.ts';

type Call = (input: unknown, options: { signal: AbortSignal }) => Promise<unknown>;

function procedures(node: unknown, path: string[] = []): { path: string[]; keys: string[] }[] {
  if (typeof node !== 'object' || node === null) return [];
  if (isContractProcedure(node)) {
    const schema = node['~orpc'].inputSchema as { shape?: Record<string, unknown> } | undefined;
    return [{ path, keys: Object.keys(schema?.shape ?? {}) }];
  }
  return Object.entries(node).flatMap(([key, child]) => procedures(child, [...path, key]));
}

let test: TestApp;
beforeAll(async () => {
  test = await openTestApp();
});
afterAll(() => test.dispose());

async function call(path: readonly string[], input: unknown): Promise<void> {
  const procedure = path.reduce<unknown>(
    (node, key) => (node as Record<string, unknown>)[key],
    test.client,
  ) as Call;
  const stop = new AbortController();
  try {
    const result = await procedure(input, { signal: stop.signal });
    stop.abort();
    if (typeof result === 'object' && result !== null && 'return' in result) {
      await (result as AsyncGenerator).return(undefined);
    }
  } catch (thrown) {
    expect(thrown).toBeInstanceOf(ORPCError);
    const { code, data } = thrown as ORPCError<string, unknown>;
    expect(code).toBe('APP');
    const record = errorRecordSchema.parse(data);
    // An unforeseen failure is a fault of ours, whatever was sent.
    expect(record, JSON.stringify({ path, input })).not.toMatchObject({ code: 'INTERNAL' });
  }
}

/** Would write or read outside the test's folder with any text. */
const touchesFiles = new Set(['system.backup', 'models.add', 'environments.addAlfworld', 'datasets.export']);
const oddValues = fc.oneof(
  fc.constantFrom(
    null,
    true,
    -1,
    0,
    1,
    0.5,
    1e308,
    '',
    'x',
    'household-small',
    '\0',
    '../..',
    'é'.repeat(300),
    [],
    {},
    ['x'],
    { x: 1 },
  ),
  fc.jsonValue({ maxDepth: 2 }),
);

describe.each(procedures(contract).map((procedure) => [procedure.path.join('.'), procedure] as const))(
  '%s',
  (name, { path, keys }) => {
    it('answers any JSON with a result or the typed error', async () => {
      await fc.assert(
        fc.asyncProperty(fc.jsonValue(), (input) => call(path, input)),
        { numRuns: name === 'system.doctor' || name === 'system.licences' ? 2 : 25 },
      );
    });

    it.runIf(keys.length > 0 && !touchesFiles.has(name))(
      'answers odd values in its own fields the same way',
      async () => {
        const fields = fc.record(Object.fromEntries(keys.map((key) => [key, oddValues])), {
          requiredKeys: [],
        });
        await fc.assert(
          fc.asyncProperty(fields, (input) => call(path, input)),
          { numRuns: 60 },
        );
      },
    );
  },
);

it('still works after all of that', async () => {
  expect(await test.client.environments.list()).not.toHaveLength(0);
  expect((await test.client.system.status()).counts.jobs).toBe(0);
});
