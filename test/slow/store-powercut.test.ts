import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { createInterface } from 'node:readline';
import Database from 'better-sqlite3';
import { expect, it } from 'vitest';
import { openStore } from '#core/store/index.ts';
import type { EpisodeId } from '#shared/ids.ts';
import { silentLog, temporaryFolder } from '#test/helpers/store-records.ts';

const kills = 100;
const child = path.join(import.meta.dirname, 'store-writer.child.ts');

/** Small and repeatable: which moment is hit is chance anyway. */
function moments(): () => number {
  let state = 12_345;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return 1 + (state % 120);
  };
}

it(`loses no committed step and stores none twice over ${kills} kills at random moments`, async () => {
  const temporary = temporaryFolder();
  const file = path.join(temporary.folder, 'daydream.sqlite');
  const committedSteps = new Map<string, Set<number>>();
  const begun = new Set<string>();
  const finished = new Set<string>();
  const nextMoment = moments();
  let next = 0;
  try {
    for (let kill = 1; kill <= kills; kill += 1) {
      const writer = spawn(process.execPath, [child, file, String(next)], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      const lines = createInterface({ input: writer.stdout });
      lines.on('line', (line) => {
        const [what, id = '', ...steps] = line.split(' ');
        if (what === 'ready') setTimeout(() => writer.kill('SIGKILL'), nextMoment());
        if (what === 'begin') begun.add(id);
        if (what === 'finish') finished.add(id);
        if (what === 'steps') {
          const own = committedSteps.get(id) ?? new Set();
          committedSteps.set(id, own);
          for (const step of steps) own.add(Number(step));
        }
      });
      // A line cut by the kill has no end and is not emitted before `close`; what it told was committed all the same.
      await Promise.all([once(writer, 'exit'), once(lines, 'close')]);
      next = begun.size + kill * 1000;

      const store = openStore({ file, clock: { now: () => Date.now() }, log: silentLog });
      for (const [id, steps] of committedSteps) {
        const stored = store.episodes.steps(id as EpisodeId).map((step) => step.stepIndex);
        // Everything that was reported is there, in order, once; at most the call in flight came on top.
        expect(stored).toEqual(stored.map((_, index) => index));
        expect(stored.length).toBeGreaterThanOrEqual(steps.size);
        if (finished.has(id)) {
          expect(store.episodes.get(id as EpisodeId)?.status).toBe('finished');
          expect(store.branches.ofEpisode(id as EpisodeId)).toHaveLength(5);
        }
      }
      const counts = store.counts();
      store.close();

      const raw = new Database(file);
      const integrity = raw.pragma('integrity_check', { simple: true });
      const real = raw.prepare('SELECT count(*) AS n FROM steps').get() as { n: number };
      const branches = raw.prepare('SELECT count(*) AS n FROM branches').get() as { n: number };
      const done = raw.prepare("SELECT count(*) AS n FROM episodes WHERE status = 'finished'").get() as {
        n: number;
      };
      raw.close();
      expect(integrity).toBe('ok');
      // The meters move in the same transactions as the rows.
      expect(counts).toMatchObject({
        steps: real.n,
        branches: branches.n,
        realEnvironmentSteps: done.n * 13,
      });
      expect(branches.n).toBe(done.n * 5);
    }
    expect(finished.size).toBeGreaterThan(kills / 4);
  } finally {
    temporary.remove();
  }
});
