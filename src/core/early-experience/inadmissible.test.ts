/** `branching.sr.inadmissible`: what the policy proposes and the world does not admit (appendix B.1 and B.2). */
import { expect, test } from 'vitest';
import { earlyExperienceRunSchema } from '#shared/schema/run.ts';
import { fakeModel, openLab } from '#test/helpers/methods.ts';

/** Of five proposals a state one cannot be done, one repeats it, and one is no action. */
const proposer = (_request: unknown, sample: number): string =>
  ['fly to moon 1', 'Fly to  moon 1', 'dance', '', 'sing'].map((action) =>
    action === '' ? 'no action' : `<action>${action}</action>`,
  )[sample] ?? '';

async function collect(inadmissible: 'replace' | 'execute') {
  const lab = openLab({ model: fakeModel(proposer) });
  try {
    const job = await lab.run(
      'early-experience',
      earlyExperienceRunSchema.parse({
        kind: 'early-experience',
        environment: { id: 'household-small', tasks: 2 },
        policy: { model: 'fake' },
        branching: { iwm: { enabled: false }, sr: { k: 2, extra: 3, inadmissible } },
        reflection: { enabled: false },
      }),
    );
    expect(job.error).toBeNull();
    const [dataset] = lab.services.store.datasets.list({ cursor: null, limit: 1 }).items;
    if (dataset === undefined) throw new Error('no data set');
    const { items } = lab.services.store.episodes.list({}, 'oldest', { cursor: null, limit: 9 });
    const branches = items.flatMap(({ episodeId }) => lab.services.store.branches.ofEpisode(episodeId));
    return { dataset, branches: branches.filter(({ purpose }) => purpose === 'sr') };
  } finally {
    await lab.close();
  }
}

test('they are executed where the run says so, and their answer is the outcome', async () => {
  const { dataset, branches } = await collect('execute');
  const { states, branches: counts, proposals, deviations } = dataset.manifest;
  expect(states).toBeGreaterThan(3);
  expect(branches).toHaveLength(2 * states);
  for (const branch of branches) {
    expect(['fly to moon 1', 'dance']).toContain(branch.action);
    expect(branch).toMatchObject({
      source: 'policy',
      status: 'accepted',
      admissible: false,
      valid: false,
      observation: 'Nothing happens.',
    });
  }
  expect(counts).toMatchObject({
    sr: 2 * states,
    invalid: 2 * states,
    inadmissible: 2 * states,
    refilled: 0,
  });
  expect(proposals).toEqual({
    drawn: 5 * states,
    used: 2 * states,
    expert: 0,
    duplicate: states,
    unreadable: 0,
    inadmissible: 0,
    excluded: 0,
    surplus: 2 * states,
  });
  expect(deviations.map(({ label }) => label)).toContain('execute-inadmissible');
});

test('they are replaced by default, as in the paper’s ALFWorld, and each reason is counted', async () => {
  const { dataset, branches } = await collect('replace');
  const { states, branches: counts, proposals, deviations } = dataset.manifest;
  expect(branches.map(({ source }) => source)).toEqual(branches.map(() => 'refill'));
  expect(counts).toMatchObject({ invalid: 0, inadmissible: 0, refilled: 2 * states });
  expect(proposals).toEqual({
    drawn: 5 * states,
    used: 0,
    expert: 0,
    duplicate: states,
    unreadable: states,
    inadmissible: 3 * states,
    excluded: 0,
    surplus: 0,
  });
  expect(deviations.map(({ label }) => label)).not.toContain('replace-inadmissible');
});
