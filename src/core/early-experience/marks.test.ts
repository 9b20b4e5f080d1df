/** What the pages show as rows of a data set are the rows of its files: compared by name, after a real run. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, expect, test } from 'vitest';
import type { JobId } from '#shared/ids.ts';
import { branchKey, reflectionKey } from '#shared/row-key.ts';
import type { DatasetPart, SftRow } from '#shared/schema/dataset.ts';
import { earlyExperienceRunSchema } from '#shared/schema/run.ts';
import { exportAgain, exportedTexts, markBranches } from '#core/early-experience/index.ts';
import type { Lab } from '#test/helpers/methods.ts';
import { fakeModel, openLab, soundReflection } from '#test/helpers/methods.ts';

let lab: Lab | null = null;
afterEach(async () => {
  await lab?.close();
  lab = null;
});

/** Each first text leaks the label and is dropped; each second one is sound. */
function leaksFirst(): ReturnType<typeof fakeModel> {
  const asked = new Set<string>();
  return fakeModel((request) => {
    const prompt = request.messages.at(-1)?.content ?? '';
    if (prompt.includes('Admissible actions:\n- ')) return '<action>look</action>';
    if (asked.has(prompt)) return soundReflection(request);
    asked.add(prompt);
    return 'The expert action is the best of these.';
  });
}

async function finished(extra: object): Promise<Lab & { jobId: JobId }> {
  const opened = openLab({ model: leaksFirst() });
  lab = opened;
  const run = earlyExperienceRunSchema.parse({
    kind: 'early-experience',
    environment: { id: 'household-small', tasks: 1 },
    policy: { model: 'fake' },
    limits: { maxPromptTokens: 100_000 },
    ...extra,
  });
  const job = await opened.run('early-experience', run);
  expect(job.error).toBeNull();
  return { ...opened, jobId: job.jobId };
}

async function fileOf({ services, jobId }: Lab & { jobId: JobId }, part: DatasetPart): Promise<SftRow[]> {
  const { folder } = await exportAgain({ jobId, folder: null, name: 'again' }, services, {
    signal: AbortSignal.timeout(10_000),
  });
  const text = readFileSync(path.join(folder, `${part}.jsonl`), 'utf8');
  return text.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line) as SftRow]));
}

function stored({ services: { store } }: Lab) {
  const { items } = store.episodes.list({}, 'oldest', { cursor: null, limit: 10 });
  const branches = items.flatMap(({ episodeId }) => store.branches.ofEpisode(episodeId));
  return {
    branches: markBranches(branches, store.jobs.get),
    reflections: store.reflections.list({}, { cursor: null, limit: 500 }).items,
  };
}

test('of two attempts that both stand, one is marked as exported: the one in the file', async () => {
  const run = await finished({ reflection: { attempts: 2 } });
  const { store } = run.services;
  for (const { attempt, reflectionId } of stored(run).reflections) {
    if (attempt === 0) store.reflections.review(reflectionId, { decision: 'keep', reason: '', at: 1 });
  }
  const { reflections, branches } = stored(run);
  const standing = reflections.filter(
    ({ review, keptByFilters }) => review.decision === 'keep' || keptByFilters,
  );
  const rows = await fileOf(run, 'reflection_sft');
  expect(rows.length).toBeGreaterThan(3);
  expect(standing).toHaveLength(2 * rows.length);
  const marks = exportedTexts(store.reflections.attempts(reflections));
  const marked = reflections.filter(({ reflectionId }) => marks.has(reflectionId));
  const names = marked.map((reflection) =>
    reflectionKey(
      reflection,
      reflection.branchIds.flatMap((id) => branches.find(({ branchId }) => branchId === id) ?? []),
    ),
  );
  expect(names.toSorted()).toEqual(rows.map(({ meta }) => meta.reflection_id).toSorted());

  // A list that shows only some of the attempts, as the review queue does, marks them the same.
  const second = reflections.filter(({ attempt }) => attempt === 1);
  const seen = exportedTexts(store.reflections.attempts(second));
  expect(second.filter(({ reflectionId }) => seen.has(reflectionId))).toEqual([]);
});

test('the expert’s triples that a run without world modelling executes are marked as no rows', async () => {
  const run = await finished({ branching: { iwm: { enabled: false } }, reflection: { attempts: 1 } });
  const { branches } = stored(run);
  expect(
    branches.filter(({ purpose, status }) => purpose === 'expert' && status === 'accepted').length,
  ).toBeGreaterThan(3);
  expect(branches.filter(({ inIwm }) => inIwm)).toEqual([]);
  expect(await fileOf(run, 'iwm_sft')).toEqual([]);
});

test('with world modelling, the marked branches are the rows of the file', async () => {
  const run = await finished({});
  const { branches } = stored(run);
  const rows = await fileOf(run, 'iwm_sft');
  expect(rows.length).toBeGreaterThan(10);
  const marked = branches.flatMap((branch) => (branch.inIwm === true ? [branchKey(branch)] : []));
  expect(marked.toSorted()).toEqual(rows.flatMap(({ meta }) => meta.branch_ids).toSorted());
  run.services.store.jobs.remove(run.jobId);
  expect(new Set(stored(run).branches.map(({ inIwm }) => inIwm))).toEqual(new Set([null]));
});
