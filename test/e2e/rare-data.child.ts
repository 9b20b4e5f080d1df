/**
 * Child of rare.spec.ts, in a process of its own because Playwright compiles what it imports: a store with what seldom happens (a
 * rejected and an invalid branch, an abandoned and a failed episode) before 50,000 ordinary episodes, and a folder of game files.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { writeGameFile } from '#core/environments/alfred/game-file.ts';
import { catalogueOf } from '#core/environments/household/catalogue.ts';
import { instructionOf, problemOf, taskText } from '#core/environments/household/task.ts';
import { openStore } from '#core/store/index.ts';
import { jobIdSchema } from '#shared/ids.ts';
import { earlyExperienceRunSchema } from '#shared/schema/run.ts';
import { makeBranch, makeEpisode, makeStep, sha, silentLog } from '#test/helpers/store-records.ts';

const [dataFolder = '', gamesFolder = '', ordinary = '0'] = process.argv.slice(2);

const store = openStore({
  file: path.join(dataFolder, 'daydream.db'),
  clock: { now: () => Date.now() },
  log: silentLog,
});
const world = { environmentId: 'household-small' };

/** Older than the rare ones, so that those stand at the top of the list. */
const firstAt = 1_600_000_000_000;
for (let from = 0; from < Number(ordinary); from += 2000) {
  store.transaction(() => {
    for (let index = from; index < Math.min(from + 2000, Number(ordinary)); index += 1) {
      const success = index % 5 === 0;
      const episode = makeEpisode(100 + index, {
        ...world,
        status: 'finished',
        endReason: success ? 'terminated' : 'step-limit',
        success,
        totalReward: success ? 1 : 0,
        steps: 1,
        retries: 0,
        startedAt: firstAt + index * 1000,
        finishedAt: firstAt + index * 1000 + 500,
      });
      store.episodes.insertWhole(episode, [makeStep(episode.episodeId, 0, { terminated: success })]);
    }
  });
}

const expert = makeEpisode(1, {
  ...world,
  purpose: 'demonstration',
  instruction: 'a demonstration with rare branches',
  status: 'finished',
  endReason: 'terminated',
  success: true,
  steps: 2,
});
store.episodes.insertWhole(expert, [
  makeStep('episode-1', 0, { action: 'go to desk 1', observation: 'On the desk 1, you see a mug 1.' }),
  makeStep('episode-1', 1, { action: 'take mug 1', observation: 'You pick up the mug 1.', terminated: true }),
]);
// The run that executed the branches: what it wants decides which of them become rows.
const run = earlyExperienceRunSchema.parse({
  kind: 'early-experience',
  environment: { id: world.environmentId },
  policy: { model: 'scripted:random' },
});
const jobId = jobIdSchema.parse('job-1');
store.jobs.insert({
  jobId,
  parentId: null,
  stage: null,
  kind: 'branching',
  title: 'Rare branches',
  spec: { run, demonstrationsJobId: jobId },
  seed: 1,
  at: firstAt,
});
store.queue.change(jobId, { state: 'succeeded', finishedAt: firstAt });
store.branches.insert([
  makeBranch('episode-1', 1, 0, { action: 'look', observation: 'You look around you.' }),
  makeBranch('episode-1', 1, 1, { action: 'eat desk 1', observation: 'Nothing happens.', valid: false }),
  makeBranch('episode-1', 1, 2, {
    action: 'open drawer 1',
    status: 'rejected',
    rejectReason: 'the replayed prefix ended in another room',
    observation: '',
    proof: { method: 'replay', expectedHash: sha('here'), observedHash: sha('elsewhere'), prefixLength: 1 },
  }),
  makeBranch('episode-1', 1, 3, { purpose: 'sr', action: 'inventory', observation: 'You carry nothing.' }),
]);

const cut = makeEpisode(2, { ...world, instruction: 'an episode that its host left', retries: 0 });
store.episodes.begin(cut);
store.episodes.appendSteps([makeStep('episode-2', 0)]);
store.episodes.abandonRunning({ at: cut.startedAt + 1000 });

const failed = makeEpisode(3, {
  ...world,
  instruction: 'an episode whose world broke',
  status: 'failed',
  retries: 3,
  steps: 1,
  error: { code: 'ENVIRONMENT_CRASHED', message: 'The world went away.', data: {} },
});
store.episodes.insertWhole(failed, [makeStep('episode-3', 0)]);
store.close();

const places = ['train/a/trial_1', 'train/b/trial_2', 'valid_unseen/c/trial_3'];
const combinations = catalogueOf('household-small');
for (const [index, place] of [...places, 'train/broken/trial_4'].entries()) {
  const folder = path.join(gamesFolder, place);
  mkdirSync(folder, { recursive: true });
  const combination = combinations[index];
  if (combination === undefined) throw new Error('no task');
  const text = writeGameFile(
    problemOf('household-small', combination),
    taskText(instructionOf('household-small', combination)),
  );
  writeFileSync(path.join(folder, 'game.tw-pddl'), place.includes('broken') ? text.slice(0, 1000) : text);
}
