/** Nothing is lost and nothing is stored twice: pause, cancel, and a host that dies in the middle. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { Job } from '#shared/schema/job.ts';
import { earlyExperienceRunSchema } from '#shared/schema/run.ts';
import type { Lab, Writer } from '#test/helpers/methods.ts';
import { fakeModel, openLab, soundReflection } from '#test/helpers/methods.ts';

const run = earlyExperienceRunSchema.parse({
  kind: 'early-experience',
  environment: { id: 'household-small', tasks: 4 },
  policy: { model: 'fake' },
  parallel: 2,
});
const slow: Writer = async (request, sample) => {
  await sleep(2);
  const last = request.messages.at(-1)?.content ?? '';
  const actions = last
    .split('Admissible actions:\n')[1]
    ?.split('\n')
    .map((line) => line.slice(2));
  if (actions === undefined) return soundReflection(request);
  return `<action>${actions[(sample + last.length) % actions.length] ?? ''}</action>`;
};
const submit = ({ services }: Lab): Job =>
  services.jobs.submit({
    kind: 'early-experience',
    title: 'x',
    spec: JSON.parse(JSON.stringify(run)) as Job['spec'],
    seed: 1,
  });

/** Everything that was collected, without times and job ids. */
function content({ services: { store } }: Lab) {
  const { items } = store.episodes.list({}, 'oldest', { cursor: null, limit: 100 });
  const ids = items.map(({ episodeId }) => episodeId);
  return {
    steps: ids
      .flatMap((id) =>
        store.episodes.steps(id).map(({ stepIndex, action }) => [id, stepIndex, action].join('|')),
      )
      .sort(),
    branches: ids
      .flatMap((id) => store.branches.ofEpisode(id))
      .map((one) =>
        [one.episodeId, one.stepIndex, one.purpose, one.alternativeIndex, one.action, one.observation].join(
          '|',
        ),
      )
      .sort(),
    reflections: ids
      .flatMap((id) => store.reflections.ofEpisode(id))
      .map(({ episodeId, stepIndex, attempt, text }) => [episodeId, stepIndex, attempt, text].join('|'))
      .sort(),
    files: store.datasets
      .list({ cursor: null, limit: 9 })
      .items.map(({ manifest }) => manifest.files.map(({ part, rows }) => [part, rows])),
  };
}

async function undisturbed() {
  const lab = openLab({ model: fakeModel(slow) });
  try {
    await lab.services.jobs.wait(submit(lab).jobId);
    return content(lab);
  } finally {
    await lab.close();
  }
}

async function until(condition: () => boolean): Promise<void> {
  for (let tries = 0; !condition(); tries += 1) {
    if (tries > 2000) throw new Error('it did not happen');
    await sleep(2);
  }
}

const branchCount = (lab: Lab) => lab.services.store.counts().branches;
const reflectionCount = (lab: Lab) => lab.services.store.counts().reflections;

test('paused and resumed in every stage, it collects what an undisturbed run collects', async () => {
  const expected = await undisturbed();
  const lab = openLab({ model: fakeModel(slow) });
  try {
    const { jobs } = lab.services;
    const { jobId } = submit(lab);
    for (const reached of [
      () => branchCount(lab) > 20,
      () => branchCount(lab) > 100,
      () => reflectionCount(lab) > 3,
    ]) {
      await until(reached);
      jobs.pause(jobId);
      const paused = await jobs.wait(jobId, { orPaused: true });
      expect(paused.state).toBe('paused');
      const [branches, reflections] = [branchCount(lab), reflectionCount(lab)];
      await sleep(30);
      expect([branchCount(lab), reflectionCount(lab)]).toEqual([branches, reflections]);
      jobs.resume(jobId);
    }
    expect((await jobs.wait(jobId)).state).toBe('succeeded');
    expect(content(lab)).toEqual(expected);
  } finally {
    await lab.close();
  }
}, 30_000);

test('a host that goes down in the middle goes on where it stopped', async () => {
  const expected = await undisturbed();
  const folder = mkdtempSync(path.join(tmpdir(), 'daydream-resume-'));
  try {
    let lab = openLab({ model: fakeModel(slow), folder });
    const { jobId } = submit(lab);
    for (const reached of [() => branchCount(lab) > 30, () => reflectionCount(lab) > 3]) {
      await until(reached);
      await lab.close();
      lab = openLab({ model: fakeModel(slow), folder });
    }
    const job = await lab.services.jobs.wait(jobId);
    expect(job.error).toBeNull();
    expect(content(lab)).toEqual(expected);
    const branching = lab.services.store.jobs.childByStage(jobId, 'branching');
    const result = branching?.result as { states: number; accepted: number; executed: number } | null;
    expect(result?.accepted).toBe(result?.executed);
    expect(result?.states).toBe(expected.steps.length);
    await lab.close();
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}, 30_000);

test('cancelled, it keeps what was collected and exports nothing', async () => {
  const lab = openLab({ model: fakeModel(slow) });
  try {
    const { jobs, store } = lab.services;
    const { jobId } = submit(lab);
    await until(() => branchCount(lab) > 30);
    jobs.cancel(jobId);
    expect((await jobs.wait(jobId)).state).toBe('cancelled');
    expect(branchCount(lab)).toBeGreaterThan(30);
    expect(store.datasets.list({ cursor: null, limit: 9 }).items).toEqual([]);
    await sleep(20);
    const { items } = store.episodes.list({ status: 'running' }, 'oldest', { cursor: null, limit: 9 });
    expect(items).toEqual([]);
  } finally {
    await lab.close();
  }
});
