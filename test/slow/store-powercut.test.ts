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
  /** Steps that were reported as committed, over all attempts of an episode. */
  const reported = new Map<string, number>();
  const begun = new Set<string>();
  const finished = new Set<string>();
  /** Every step row that any look into the file has found, by its key, with what it says. */
  let seen = new Map<number, string>();
  let abandonedSteps = 0;
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
        if (what === 'steps') reported.set(id, (reported.get(id) ?? 0) + steps.length);
      });
      // A line cut by the kill has no end and is not emitted before `close`; what it told was committed all the same.
      await Promise.all([once(writer, 'exit'), once(lines, 'close')]);
      // What was in flight is begun again, as a job does; the number of the last episode begun says which.
      next = Math.max(0, begun.size - 1);

      const store = openStore({ file, clock: { now: () => Date.now() }, log: silentLog });
      for (const id of finished) {
        expect(store.episodes.get(id as EpisodeId)?.status).toBe('finished');
        expect(store.branches.ofEpisode(id as EpisodeId)).toHaveLength(5);
      }
      const counts = store.counts();
      store.close();

      const raw = new Database(file);
      const integrity = raw.pragma('integrity_check', { simple: true });
      const rows = raw
        .prepare(
          'SELECT step_key AS key, episode_key, step_index, action, created_at, hex(observation_hash) AS hash FROM steps',
        )
        .all() as { key: number }[];
      const attempts = raw
        .prepare(
          `SELECT ifnull(replaced_by, episode_id) AS id, status, count(step_key) AS steps, ifnull(max(step_index) + 1, 0) AS next
           FROM episodes LEFT JOIN steps USING (episode_key) GROUP BY episode_key`,
        )
        .all() as { id: string; status: string; steps: number; next: number }[];
      const branches = raw.prepare('SELECT count(*) AS n FROM branches').get() as { n: number };
      raw.close();
      expect(integrity).toBe('ok');
      // No step that was ever committed has gone or changed, whatever was begun again since.
      const now = new Map(rows.map((row) => [row.key, JSON.stringify(row)]));
      for (const [key, row] of seen) expect(now.get(key)).toBe(row);
      seen = now;
      // In every attempt they are in order, once; what was reported is there, with at most the call in flight on top.
      for (const { steps, next: following } of attempts) expect(steps).toBe(following);
      for (const [id, steps] of reported) {
        const stored = attempts.reduce((sum, attempt) => sum + (attempt.id === id ? attempt.steps : 0), 0);
        expect(stored).toBeGreaterThanOrEqual(steps);
      }
      const done = attempts.filter(({ status }) => status === 'finished').length;
      const abandoned = attempts.filter(({ status }) => status === 'abandoned');
      abandonedSteps = abandoned.reduce((sum, { steps }) => sum + steps, 0);
      // The meters move in the same transactions as the rows.
      expect(counts).toMatchObject({
        steps: rows.length,
        branches: branches.n,
        realEnvironmentSteps: done * 13 + abandonedSteps,
      });
      expect(branches.n).toBe(done * 5);
    }
    expect(finished.size).toBeGreaterThan(kills / 4);
    // The kills did meet episodes in flight, and what they had stood to the end.
    expect(abandonedSteps).toBeGreaterThan(kills / 4);
  } finally {
    temporary.remove();
  }
});
