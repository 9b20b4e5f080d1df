import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { AppError } from '#shared/errors.ts';
import { environmentIdSchema } from '#shared/ids.ts';
import type { TaskId } from '#shared/ids.ts';
import { earlyExperienceRunSchema } from '#shared/schema/run.ts';
import type { EnvironmentProvider } from '#core/environments/port.ts';
import type { ImportedLine } from '#core/early-experience/import-demonstrations.ts';
import { parseDemonstrationLine, readDemonstrations } from '#core/early-experience/import-demonstrations.ts';
import { openLab } from '#test/helpers/methods.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'daydream-import-'));
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});
const signal = new AbortController().signal;

async function read(content: string | Uint8Array): Promise<ImportedLine[]> {
  const file = path.join(folder, 'demonstrations.jsonl');
  writeFileSync(file, content);
  const lines: ImportedLine[] = [];
  for await (const line of readDemonstrations(file, { signal })) lines.push(line);
  return lines;
}

/** A run without a model that imports its demonstrations. */
function importOf(file: string, iwm: object = {}) {
  return earlyExperienceRunSchema.parse({
    kind: 'early-experience',
    environment: { id: 'household-small' },
    demonstrations: { source: 'import', file },
    policy: { model: 'none' },
    branching: { iwm, sr: { enabled: false } },
    reflection: { enabled: false },
  });
}

test('good lines are kept, bad ones are named by number and reason', async () => {
  const lines = await read(
    [
      '\u{feff}{"task_id": "a", "actions": ["look"]}\r',
      '',
      'not json',
      '{"task_id": "b", "actions": []}',
      '{"task_id": "c"}',
      '{"task_id": "d", "actions": ["x", "y"], "thoughts": ["why"]}',
      '{"task_id": "e", "actions": ["x", "y"], "thoughts": [" why ", ""]}',
    ].join('\n'),
  );
  expect(
    lines.map((line) => (line.ok ? line.demonstration.taskId : [line.rejected.line, line.rejected.reason])),
  ).toEqual([
    'a',
    [3, 'not JSON'],
    [4, expect.stringMatching(/^actions: /u)],
    [5, expect.stringMatching(/^actions: /u)],
    [6, '1 thoughts for 2 actions'],
    'e',
  ]);
  const last = lines.at(-1);
  expect(last?.ok === true && last.demonstration.thoughts).toEqual(['why', null]);
});

test('a line too long to be a demonstration costs only itself', async () => {
  const lines = await read(`${'x'.repeat(5_000_000)}\n{"task_id": "a", "actions": ["look"]}\n`);
  expect(lines.map(({ ok }) => ok)).toEqual([false, true]);
});

test('a missing file and a file that is no text are told apart', async () => {
  const missing = (async () => {
    for await (const line of readDemonstrations(path.join(folder, 'none'), { signal })) void line;
  })();
  await expect(missing).rejects.toMatchObject({ code: 'FILE_NOT_FOUND' });
  await expect(read(Uint8Array.from([0xff, 0xfe, 0x00, 0x0a]))).rejects.toMatchObject({
    code: 'FILE_INVALID',
  });
});

test('any bytes give lines or a readable error, and every good line is found between them', async () => {
  const good = '{"task_id": "a", "actions": ["look"]}';
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.oneof(fc.string(), fc.json(), fc.constant(good)), { maxLength: 8 }),
      async (lines) => {
        const content = lines.map((line) => line.replace(/\n/gu, ' ')).join('\n');
        const found = await read(content);
        const expected = content.split('\n').filter((line) => line.trim() === good).length;
        expect(found.filter(({ ok }) => ok).length).toBeGreaterThanOrEqual(expected);
      },
    ),
    { numRuns: 100 },
  );
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 200 }), async (bytes) => {
      await read(bytes).catch((thrown: unknown) => {
        expect(thrown).toBeInstanceOf(AppError);
      });
    }),
    { numRuns: 100 },
  );
});

test('any JSON is either a demonstration or has a reason', () => {
  fc.assert(
    fc.property(fc.json(), (text) => {
      const line = parseDemonstrationLine(text, 1);
      if (!line.ok) expect(line.rejected.reason).not.toBe('');
    }),
  );
});

async function solve(provider: EnvironmentProvider, taskId: TaskId): Promise<string[]> {
  const session = await provider.open({ taskId, seed: 1 });
  await session.reset();
  const actions: string[] = [];
  for (let done = false; !done;) {
    const action = (await session.solve()) ?? '';
    actions.push(action);
    done = (await session.step(action)).terminated;
  }
  await session.close();
  return actions;
}

test('an import is executed, and only what succeeds is kept', async () => {
  const lab = openLab();
  try {
    const provider = lab.services.environments.get(environmentIdSchema.parse('household-small'));
    const [first, second] = provider.listTasks({ split: 'train', limit: 2 }).tasks;
    const [held] = provider.listTasks({ split: 'unseen', limit: 1 }).tasks;
    if (first === undefined || second === undefined || held === undefined) throw new Error('no tasks');
    const line = (task_id: string, actions: string[]) => JSON.stringify({ task_id, actions });
    // What the environment refuses is a step of the path, but no expert state.
    const actions = ['jump', ...(await solve(provider, first.taskId))];
    const file = path.join(folder, 'import.jsonl');
    const thoughts = actions.map((_, index) => `reason ${String(index)}`);
    writeFileSync(
      file,
      [
        JSON.stringify({ task_id: first.taskId, actions, thoughts }),
        line(first.taskId, actions.slice(0, -1)), // stops too early
        line(second.taskId, ['look', 'look']), // does not succeed
        line('no-such-task', actions),
        line(held.taskId, await solve(provider, held.taskId)), // an evaluation split
        JSON.stringify({ task_id: first.taskId, actions, thoughts }), // again
        'garbage',
      ].join('\n'),
    );
    const job = await lab.run('early-experience', importOf(file));
    expect(job.error).toBeNull();
    expect(job.result).toMatchObject({
      demonstrations: { demonstrations: 1, steps: actions.length, rejected: 6 },
    });
    const [dataset] = lab.services.store.datasets.list({ cursor: null, limit: 1 }).items;
    const expertRows = dataset?.manifest.files.find(({ part }) => part === 'expert_sft')?.rows;
    expect(dataset?.manifest.states).toBe(actions.length - 1);
    expect(expertRows).toBe(actions.length - 1);
    const reasons = lab.services.store.jobs
      .events(job.jobId, { afterSeq: 0, limit: 1000, includeChildren: true })
      .filter(({ type }) => type === 'demonstration-rejected')
      .map(({ message }) => message);
    expect(reasons).toHaveLength(6);
    // Each with the file and the line, also what is known only when it was executed.
    for (const line of [2, 3, 4, 5, 6, 7]) {
      expect(reasons.filter((message) => message.startsWith(`${file}, line ${String(line)}`))).toHaveLength(
        1,
      );
    }
    const refused = dataset?.manifest.refusedDemonstrations;
    expect(refused).toMatchObject({ total: 6, file });
    expect(refused?.listed.map(({ line }) => line)).toEqual([2, 3, 4, 5, 6, 7]);
    expect(refused?.listed[1]).toEqual({
      line: 3,
      taskId: second.taskId,
      reason: 'the task was not solved in 2 steps',
    });
    expect(reasons.join('\n')).toMatch(/line 4: the environment has no task no-such-task/u);
    expect(reasons.join('\n')).toMatch(/line 5: .* split unseen/u);
    expect(reasons.join('\n')).toMatch(/line 6: the same demonstration came before, in line 1/u);
    expect(reasons.join('\n')).toMatch(/line 7: not JSON/u);
    const { items } = lab.services.store.episodes.list({ success: true }, 'oldest', {
      cursor: null,
      limit: 9,
    });
    expect(items).toHaveLength(1);
    const stopped = lab.services.store.episodes.list({ success: false }, 'oldest', {
      cursor: null,
      limit: 9,
    });
    // No limit ended them: their lists did.
    expect(stopped.items.map(({ endReason }) => endReason)).toEqual(['policy-ended', 'policy-ended']);
    for (const { episodeId, steps } of stopped.items) {
      expect(lab.services.store.episodes.step(episodeId, steps - 1)).toMatchObject({
        terminated: false,
        truncated: false,
      });
    }
    const [kept] = items;
    expect(kept && lab.services.store.episodes.step(kept.episodeId, 0)?.thought).toBe('reason 0');
  } finally {
    await lab.close();
  }
});

test('one demonstration with and without thoughts gives the same world-model rows, which are counted', async () => {
  const lab = openLab();
  try {
    const provider = lab.services.environments.get(environmentIdSchema.parse('household-small'));
    const [task] = provider.listTasks({ split: 'train', limit: 1 }).tasks;
    if (task === undefined) throw new Error('no tasks');
    const actions = await solve(provider, task.taskId);
    const file = path.join(folder, 'twice.jsonl');
    const plain = { task_id: task.taskId, actions };
    const thoughtful = { ...plain, thoughts: actions.map(() => 'So it goes.') };
    writeFileSync(file, `${JSON.stringify(plain)}\n${JSON.stringify(thoughtful)}\n`);
    const job = await lab.run('early-experience', importOf(file, { sampler: 'uniform' }));
    expect(job.error).toBeNull();
    const [dataset] = lab.services.store.datasets.list({ cursor: null, limit: 1 }).items;
    const iwm = dataset?.manifest.files.find(({ part }) => part === 'iwm_sft');
    expect(iwm?.repeated).toBeGreaterThan(0);
    const told = lab.services.store.jobs
      .events(job.jobId, { afterSeq: 0, limit: 1000, includeChildren: true })
      .find(({ type, data }) => type === 'rows-repeated' && data['part'] === 'iwm_sft');
    expect(told?.message).toContain(
      `${String(iwm?.repeated)} of ${String(iwm?.rows)} rows of iwm_sft repeat`,
    );
  } finally {
    await lab.close();
  }
});

test('a file that was moved gives the same episodes, of one policy', async () => {
  const lab = openLab();
  try {
    const { episodes, jobs } = lab.services.store;
    const provider = lab.services.environments.get(environmentIdSchema.parse('household-small'));
    const { tasks } = provider.listTasks({ split: 'train', limit: 3 });
    const lines = await Promise.all(
      tasks.map(async ({ taskId }) => {
        const actions = await solve(provider, taskId);
        return `${JSON.stringify({ task_id: taskId, actions })}\n`;
      }),
    );
    for (const name of ['first.jsonl', 'moved.jsonl']) {
      const file = path.join(folder, name);
      writeFileSync(file, lines.join(''));
      const job = await lab.run('early-experience', importOf(file, { sampler: 'uniform' }));
      expect(job.error).toBeNull();
      const stage = jobs.childByStage(job.jobId, 'demonstrations');
      expect(stage?.result).toMatchObject({ demonstrations: 3 });
    }
    expect(
      episodes.list({ purpose: 'demonstration' }, 'oldest', { cursor: null, limit: 9 }).items,
    ).toHaveLength(3);
    expect(episodes.facets().policies.map(({ label }) => label)).toEqual(['imported']);
  } finally {
    await lab.close();
  }
});

test('an import of which nothing holds says why, line by line', async () => {
  const lab = openLab();
  try {
    const file = path.join(folder, 'nothing.jsonl');
    writeFileSync(file, 'garbage\n{"task_id": "no-such-task", "actions": ["look"]}\n');
    const job = await lab.run('early-experience', importOf(file));
    expect(job.error).toMatchObject({ code: 'FILE_INVALID' });
    expect(job.error?.message).toContain(`None of 2 lines of ${file} could be proved to succeed.`);
    expect(job.error?.message).toContain(
      'line 1: not JSON; line 2: the environment has no task no-such-task',
    );
  } finally {
    await lab.close();
  }
});
