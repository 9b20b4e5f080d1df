import { readFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { AppError } from '#shared/errors.ts';
import type { JobId } from '#shared/ids.ts';
import type { Manifest } from '#shared/schema/dataset.ts';
import { validateDataset } from '#core/datasets/index.ts';
import { exportAgain } from '#core/early-experience/index.ts';
import type { SftRow } from '#shared/schema/dataset.ts';
import { datasetSchema } from '#shared/schema/dataset.ts';
import { earlyExperienceRunSchema } from '#shared/schema/run.ts';
import type { GenerateRequest } from '#core/llm/port.ts';
import type { Lab, LabOptions } from '#test/helpers/methods.ts';
import { fakeModel, openLab, soundReflection } from '#test/helpers/methods.ts';

let lab: Lab | null = null;
afterEach(async () => {
  await lab?.close();
  lab = null;
});

function open(options: LabOptions): Lab {
  lab = openLab(options);
  return lab;
}

/** Proposes admissible actions, repeats itself, and writes a sound reflection when it is not asked for an action. */
const writer = fakeModelWriter();
function fakeModelWriter() {
  return (request: GenerateRequest, sample: number): string => {
    const last = request.messages.at(-1)?.content ?? '';
    const actions = last
      .split('Admissible actions:\n')[1]
      ?.split('\n')
      .map((line) => line.slice(2));
    if (actions === undefined) return soundReflection(request);
    return `<think>a thought</think><action>${actions[(sample >> 1) % actions.length] ?? ''}</action>`;
  };
}

const run = (extra: object = {}) =>
  earlyExperienceRunSchema.parse({
    kind: 'early-experience',
    name: 'Small',
    environment: { id: 'household-small', tasks: 3 },
    policy: { model: 'fake' },
    ...extra,
  });

interface Result {
  export: { folder: string; files: { part: string; rows: number }[] };
  branching: { states: number; rejected: number; shortSets: number };
  reflection: object;
}

function rowsOf(result: Result, part: string): SftRow[] {
  const text = readFileSync(path.join(result.export.folder, `${part}.jsonl`), 'utf8');
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as SftRow);
}

test('collects, branches, reflects and exports in one run', async () => {
  const { run: start, services } = open({ model: fakeModel(writer) });
  const job = await start('early-experience', run());
  expect(job.error).toBeNull();
  const result = job.result as unknown as Result;
  const { states } = result.branching;
  expect(result.branching).toMatchObject({ rejected: 0, shortSets: 0 });
  expect(result.export.files.map(({ part, rows }) => [part, rows])).toEqual([
    ['expert_sft', states],
    ['iwm_sft', states * 9],
    ['reflection_sft', states],
  ]);
  expect(await validateDataset(result.export.folder)).toEqual({ ok: true, problems: [] });
  const datasets = services.store.datasets.list({ cursor: null, limit: 10 }).items;
  expect(datasets).toHaveLength(1);
  expect(datasetSchema.parse(datasets[0]).manifest.branches.executed).toBe(states * 12);
});

test('equal runs export equal bytes, whatever job and store they ran in', async () => {
  // Answers by the request's seed alone, as sampling does.
  const sampled = fakeModel((request, sample) => {
    const text = writer(request, request.seed + sample);
    return text.includes('<action>') ? text : `${text} That is reason ${String(request.seed % 1000)}.`;
  });
  const checksums = (job: { error: unknown; result: unknown }) => {
    expect(job.error).toBeNull();
    const { files } = (job.result as unknown as { export: { files: { sha256: string; rows: number }[] } })
      .export;
    for (const { rows } of files) expect(rows).toBeGreaterThan(0);
    return files;
  };
  const { run: start } = open({ model: sampled });
  const first = await start('early-experience', run());
  const again = await start('early-experience', run());
  expect(again.jobId).not.toBe(first.jobId);
  expect(checksums(again)).toEqual(checksums(first));
  const elsewhere = openLab({ model: sampled });
  try {
    expect(checksums(await elsewhere.run('early-experience', run()))).toEqual(checksums(first));
    const others = checksums(await elsewhere.run('early-experience', run({ seed: 2 }), 2));
    expect(others).not.toEqual(checksums(first));
  } finally {
    await elsewhere.close();
  }
});

test('every alternative differs from the expert’s action and was executed where the demonstration stood', async () => {
  const { run: start, services } = open({ model: fakeModel(writer) });
  await start('early-experience', run());
  const { items } = services.store.episodes.list({}, 'oldest', { cursor: null, limit: 10 });
  for (const { episodeId } of items) {
    const steps = services.store.episodes.steps(episodeId);
    for (const branch of services.store.branches.ofEpisode(episodeId)) {
      expect(branch.proof.observedHash).toBe(branch.proof.expectedHash);
      const same = branch.canonicalAction === steps[branch.stepIndex]?.action;
      expect(same).toBe(branch.purpose === 'expert');
    }
  }
});

test('replay gives the same branches as snapshots do', async () => {
  const actions = async (execution: string) => {
    const { run: start, services, close } = openLab({ model: fakeModel(writer) });
    try {
      await start('early-experience', run({ branching: { execution } }));
      const { items } = services.store.episodes.list({}, 'oldest', { cursor: null, limit: 10 });
      return items
        .flatMap(({ episodeId }) => services.store.branches.ofEpisode(episodeId))
        .map(({ episodeId, stepIndex, purpose, action, observation, status }) =>
          [episodeId, stepIndex, purpose, action, observation, status].join('|'),
        )
        .sort();
    } finally {
      await close();
    }
  };
  expect(await actions('replay')).toEqual(await actions('snapshot'));
});

test('the rows of a state share its exact prompt', async () => {
  const { run: start } = open({ model: fakeModel(writer) });
  const result = (await start('early-experience', run())).result as unknown as Result;
  const expert = new Map(
    rowsOf(result, 'expert_sft').map((row) => [`${row.meta.episode_id}:${String(row.meta.step)}`, row]),
  );
  const reflections = rowsOf(result, 'reflection_sft');
  expect(reflections.length).toBeGreaterThan(5);
  for (const row of reflections) {
    const twin = expert.get(`${row.meta.episode_id}:${String(row.meta.step)}`);
    expect(row.messages.slice(0, -1)).toEqual(twin?.messages.slice(0, -1));
    expect(row.messages.at(-1)?.content).toContain(twin?.messages.at(-1)?.content);
  }
});

test('a dropped reflection comes back by review, and a kept one goes', async () => {
  const leaking = fakeModel((request, sample) => {
    const text = writer(request, sample);
    return text.includes('<action>') ? text : `The expert action is right here. ${text}`;
  });
  const { run: start, services } = open({ model: leaking });
  const job = await start('early-experience', run({ reflection: { attempts: 2 } }));
  const result = job.result as unknown as Result;
  expect(rowsOf(result, 'reflection_sft')).toEqual([]);
  const page = services.store.reflections.list({ flag: 'label-leak' }, { cursor: null, limit: 100 });
  const { states } = result.branching;
  expect(page.items.length).toBe(states * 2);
  // Two attempts a state, one verdict: stage and manifest count the same.
  expect(result.reflection).toMatchObject({
    texts: states,
    dropped: states,
    droppedBy: { 'label-leak': states },
  });
  const [before] = services.store.datasets.list({ cursor: null, limit: 1 }).items;
  expect(before?.manifest.filters).toEqual([
    expect.objectContaining({ filter: 'label-leak', dropped: states }),
  ]);
  const [first] = page.items;
  if (first === undefined) throw new Error('no reflection');
  services.store.reflections.review(first.reflectionId, { decision: 'keep', reason: 'fine', at: 1 });
  const dataset = await exportAgain({ jobId: job.jobId, folder: null, name: '' }, services, {
    signal: new AbortController().signal,
  });
  expect(dataset.manifest.files.find(({ part }) => part === 'reflection_sft')?.rows).toBe(1);
  expect(dataset.manifest.filters).toEqual([
    expect.objectContaining({ filter: 'label-leak', dropped: states - 1 }),
  ]);
});

/** Every block of the manifest by itself. */
function expectSums({ branches, files, filters, iwmTargets, states }: Manifest): void {
  const { expert, iwm, sr, executed, accepted, rejected } = branches;
  expect((expert ?? 0) + (iwm ?? 0) + (sr ?? 0)).toBe(executed);
  expect(accepted + rejected).toBe(executed);
  for (const { part, candidates, rows } of files) {
    const left = filters.filter((filter) => filter.part === part);
    expect(candidates).toBe(rows + left.reduce((sum, { dropped }) => sum + dropped, 0));
  }
  expect(files.find(({ part }) => part === 'expert_sft')?.candidates).toBe(states);
  const written = files.find(({ part }) => part === 'iwm_sft')?.rows;
  expect(iwmTargets?.kinds.reduce((sum, { rows }) => sum + rows, 0)).toBe(written);
}

const manifestOf = (from: Lab): Manifest => {
  const [dataset] = from.services.store.datasets.list({ cursor: null, limit: 1 }).items;
  if (dataset === undefined) throw new Error('no data set');
  return dataset.manifest;
};

test('what was left out is counted for each file, once a candidate, and every sum adds up', async () => {
  let texts = 0;
  const mixed = fakeModel((request, sample) => {
    const text = writer(request, sample);
    if (text.includes('<action>')) return text;
    texts += 1;
    return ['', `${text} The expert action is alternative 2.`, text][texts % 3] ?? '';
  });
  const { run: start, services } = open({ model: mixed });
  const job = await start('early-experience', run({ limits: { maxPromptTokens: 3000 }, parallel: 1 }));
  expect(job.error).toBeNull();
  const manifest = lab === null ? null : manifestOf(lab);
  if (manifest === null) throw new Error('no manifest');
  expectSums(manifest);
  const count = (part: string, filter: string) =>
    manifest.filters.find((one) => one.part === part && one.filter === filter);
  for (const { part } of manifest.files) expect(count(part, 'overlong')?.dropped).toBeGreaterThan(0);
  // Both leaks are in each of these texts: flagged each, dropped once.
  const leaks = count('reflection_sft', 'label-leak');
  expect(leaks?.dropped).toBeGreaterThan(0);
  expect(leaks?.flagged).toBe(leaks?.dropped);
  expect(count('reflection_sft', 'numbering')).toMatchObject({ dropped: 0, flagged: leaks?.dropped });
  expect(count('reflection_sft', 'empty')?.dropped).toBeGreaterThan(0);
  expect(manifest.branches).toMatchObject({ expert: manifest.states, unasked: 0, promptTooLong: 0 });
  expect(manifest.iwmTargets?.kinds.map(({ kind }) => kind)).toContain('help');
  // Told, not only counted.
  const exported = services.store.jobs.childByStage(job.jobId, 'export');
  if (exported === null) throw new Error('no export');
  const { items } = services.store.jobs.eventsPage(
    exported.jobId,
    { level: 'warn' },
    { cursor: null, limit: 10 },
  );
  expect(items.filter(({ type }) => type === 'rows-left-out')).toHaveLength(3);
});

/** Its context holds this many characters of a conversation, and this many of a request for a reflection. */
function narrow(conversation: number, reflection = conversation) {
  const model = fakeModel(writer);
  const generate: typeof model.generate = (request, options) => {
    const length = request.messages.reduce((sum, { content }) => sum + content.length, 0);
    if (length > (request.messages.length > 1 ? conversation : reflection)) {
      return Promise.reject(new AppError({ code: 'MODEL_CONTEXT_FULL', message: 'Too long.' }));
    }
    return model.generate(request, options);
  };
  return { ...model, generate };
}

test('where the prompt does not fit the policy, states and alternatives say so: nothing was refilled', async () => {
  const opened = open({ model: narrow(3500, 2000) });
  const job = await opened.run('early-experience', run());
  expect(job.error).toBeNull();
  const manifest = manifestOf(opened);
  expectSums(manifest);
  const { promptTooLong, unasked, refilled } = manifest.branches;
  expect(promptTooLong).toBeGreaterThan(0);
  expect(promptTooLong).toBeLessThan(manifest.states);
  expect(unasked).toBe((promptTooLong ?? 0) * 3);
  const all = opened.services.store.episodes
    .list({}, 'oldest', { cursor: null, limit: 10 })
    .items.flatMap(({ episodeId }) => opened.services.store.branches.ofEpisode(episodeId));
  expect(all.filter(({ source }) => source === 'refill')).toHaveLength(refilled);
  expect(all.filter(({ source }) => source === 'unasked').every(({ purpose }) => purpose === 'sr')).toBe(
    true,
  );
  expect(manifest.filters.find(({ filter }) => filter === 'prompt-too-long')?.dropped).toBeGreaterThan(0);
});

test('a run without a single expert row fails, says what was kept and which limit would do', async () => {
  const opened = open({ model: narrow(100) });
  const job = await opened.run('early-experience', run({ limits: { maxPromptTokens: 64 } }));
  expect(job.state).toBe('failed');
  expect(job.error).toMatchObject({ code: 'MODEL_PROMPT_LIMIT' });
  expect(job.error?.message).toMatch(
    /None of the \d+ expert states .* needs about \d+ tokens.* are kept\. .*limits\.maxPromptTokens/u,
  );
  expect(opened.services.store.datasets.list({ cursor: null, limit: 1 }).items).toEqual([]);
  expect(opened.services.store.counts().branches).toBeGreaterThan(0);
});

test('an excluded command is no alternative of the world model; the expert’s and the other method’s stay', async () => {
  const opened = open({ model: fakeModel(writer) });
  const branching = { iwm: { excludeActions: ['help', 'go to *'] } };
  const job = await opened.run('early-experience', run({ branching }));
  expect(job.error).toBeNull();
  const manifest = manifestOf(opened);
  expectSums(manifest);
  const iwm = rowsOf(job.result as unknown as Result, 'iwm_sft');
  const drawn = iwm.filter(({ meta }) => meta.source !== 'expert').map(({ meta }) => meta.action);
  expect(drawn.length).toBeGreaterThan(50);
  expect(drawn.filter((action) => action === 'help' || action.startsWith('go to'))).toEqual([]);
  expect(iwm.some(({ meta }) => meta.source === 'expert' && meta.action.startsWith('go to'))).toBe(true);
  expect(manifest.deviations.map(({ label }) => label)).toContain('iwm-exclude');
});

test('the manifest knows the model that was used, by whatever name the run calls it', async () => {
  const model = fakeModel(writer);
  const { run: start, services } = open({ model });
  services.store.models.upsert({ ...model.info.model, name: 'my writer' });
  const job = await start('early-experience', run({ policy: { model: 'my writer' } }));
  expect(job.error).toBeNull();
  const sha256 = 'f'.repeat(64);
  const [dataset] = services.store.datasets.list({ cursor: null, limit: 10 }).items;
  expect(dataset?.manifest.models).toEqual([
    { role: 'policy', label: 'my writer', sha256 },
    { role: 'reflector', label: 'my writer', sha256 },
  ]);
  // Renamed since: what was loaded then is what the stages say, not what the name means now.
  services.store.models.upsert({ ...model.info.model, name: 'renamed' });
  const again = await exportAgain({ jobId: job.jobId, folder: null, name: 'again' }, services, {
    signal: new AbortController().signal,
  });
  expect(again.manifest.models.map((used) => used.sha256)).toEqual([sha256, sha256]);
});

test('a model that no stage asked is known by its name', async () => {
  const model = fakeModel(writer);
  const { run: start, services } = open({ model });
  services.store.models.upsert({ ...model.info.model, name: 'my writer' });
  const branching = { iwm: { sampler: 'uniform' }, sr: { enabled: false } };
  const job = await start('early-experience', run({ policy: { model: 'my writer' }, branching }));
  expect(job.error).toBeNull();
  const [dataset] = services.store.datasets.list({ cursor: null, limit: 10 }).items;
  expect(dataset?.manifest.models).toEqual([{ role: 'policy', label: 'my writer', sha256: 'f'.repeat(64) }]);
});

test('what a person dropped is counted, too', async () => {
  const { run: start, services } = open({ model: fakeModel(writer) });
  const job = await start('early-experience', run());
  const { states } = (job.result as unknown as Result).branching;
  const [first] = services.store.reflections.list({}, { cursor: null, limit: 1 }).items;
  if (first === undefined) throw new Error('no reflection');
  services.store.reflections.review(first.reflectionId, { decision: 'drop', reason: 'dull', at: 1 });
  const { manifest } = await exportAgain({ jobId: job.jobId, folder: null, name: '' }, services, {
    signal: new AbortController().signal,
  });
  expect(manifest.filters).toEqual([
    { part: 'reflection_sft', filter: 'review', dropped: 1, flagged: null, help: 'dropped by a person' },
  ]);
  expect(manifest.files.find(({ part }) => part === 'reflection_sft')?.rows).toBe(states - 1);
});

test('an export that is cancelled reads no further demonstration', async () => {
  const { run: start, services } = open({ model: fakeModel(writer) });
  const job = await start('early-experience', run());
  const { branches } = services.store;
  const stop = new AbortController();
  let read = 0;
  const watched: typeof branches = {
    ...branches,
    ofEpisode: (...which) => {
      read += 1;
      stop.abort();
      return branches.ofEpisode(...which);
    },
  };
  const cancelled = exportAgain(
    { jobId: job.jobId, folder: null, name: '' },
    { ...services, store: { ...services.store, branches: watched } },
    { signal: stop.signal },
  );
  await expect(cancelled).rejects.toMatchObject({ code: 'CANCELLED' });
  expect(read).toBe(1);
});

test('a run that is still collecting, or failed on the way, is not exported as one without branches', async () => {
  let whileRunning: Promise<unknown> | null = null;
  const again = (jobId: JobId) =>
    exportAgain({ jobId, folder: null, name: '' }, services, { signal: new AbortController().signal });
  const model = fakeModel(() => {
    const [pipeline] = services.store.jobs.list(
      { kind: 'early-experience' },
      { cursor: null, limit: 1 },
    ).items;
    if (pipeline !== undefined) whileRunning ??= again(pipeline.jobId).catch((error: unknown) => error);
    throw new Error('the model is gone');
  });
  const { run: start, services } = open({ model });
  const job = await start('early-experience', run());
  expect(job.state).toBe('failed');
  expect(await whileRunning).toMatchObject({
    code: 'CONFLICT',
    message: expect.stringMatching(/is running .*branching.*Wait/) as string,
  });
  await expect(again(job.jobId)).rejects.toMatchObject({
    code: 'CONFLICT',
    message: expect.stringMatching(/is failed .*branching, reflection.*Resume/) as string,
  });
  expect(services.store.datasets.list({ cursor: null, limit: 1 }).items).toEqual([]);
});
