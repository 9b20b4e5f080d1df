/** Child of store-powercut.test.ts: writes episodes from `from` on (an unfinished one is begun again), branches and blobs as fast as it can and reports each call that returned. */
import { openStore } from '#core/store/index.ts';
import { makeBranch, makeEpisode, makeStep, silentLog } from '#test/helpers/store-records.ts';

const [file = '', from = '0'] = process.argv.slice(2);
const store = openStore({ file, clock: { now: () => Date.now() }, log: silentLog });

function report(line: string): void {
  // Synchronous on a pipe: what the parent reads was committed before.
  process.stdout.write(`${line}\n`);
}

report('ready');
// A host that comes back marks what was in flight, and begins it again.
store.episodes.abandonRunning({ at: Date.now() });
for (let index = Number(from); ; index += 1) {
  const episode = makeEpisode(index);
  const id = episode.episodeId;
  if (store.episodes.finished([id]).size > 0) continue;
  store.episodes.begin(episode);
  report(`begin ${id}`);
  for (let step = 0; step < 8; step += 2) {
    const pair = [
      makeStep(id, step, { observation: `${step} `.repeat(step * 200 + 1) }),
      makeStep(id, step + 1),
    ];
    store.episodes.appendSteps(pair);
    report(`steps ${id} ${step} ${step + 1}`);
    // The same call again, as a job does that was killed between commit and checkpoint.
    store.episodes.appendSteps(pair);
  }
  store.transaction(() => {
    store.branches.insert(Array.from({ length: 5 }, (_, alternative) => makeBranch(id, 3, alternative)));
    store.episodes.finish({ ...episode, status: 'finished', endReason: 'terminated', steps: 8 });
    store.addRealSteps('train', 13);
  });
  report(`finish ${id}`);
}
