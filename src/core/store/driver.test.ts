import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createBlobStore } from '#core/store/blobs.ts';
import { openConnection } from '#core/store/driver.ts';
import type { Connection } from '#core/store/driver.ts';
import { createEpisodeStore } from '#core/store/episodes.ts';
import { createMeters } from '#core/store/meters.ts';
import { migrate } from '#core/store/migrations/index.ts';
import type { EpisodeId } from '#shared/ids.ts';
import { makeEpisode, makeStep, temporaryFolder } from '#test/helpers/store-records.ts';

let temporary: ReturnType<typeof temporaryFolder>;
let connection: Connection;
beforeEach(() => {
  temporary = temporaryFolder();
  connection = openConnection(`${temporary.folder}/test.sqlite`);
  connection.exec('CREATE TABLE numbers (value INTEGER NOT NULL) STRICT');
});
afterEach(() => {
  connection.close();
  temporary.remove();
});

function add(value: number): void {
  connection.run('INSERT INTO numbers VALUES (?)', [value]);
}
function values(): unknown[] {
  return connection.all('SELECT value FROM numbers ORDER BY value').map((row) => row['value']);
}

describe('a connection', () => {
  it('puts each commit on the disk before it returns', () => {
    expect(connection.pragma('journal_mode')).toBe('wal');
    expect(connection.pragma('synchronous')).toBe(2);
  });

  it('undoes an outer transaction with everything in it', () => {
    expect(() =>
      connection.transaction(() => {
        add(1);
        connection.transaction(() => {
          add(2);
        });
        throw new Error('no');
      }),
    ).toThrow('no');
    expect(values()).toEqual([]);
  });

  it('undoes only the inner transaction when the outer one goes on', () => {
    connection.transaction(() => {
      add(1);
      expect(() =>
        connection.transaction(() => {
          add(2);
          throw new Error('inner');
        }),
      ).toThrow('inner');
      add(3);
    });
    expect(values()).toEqual([1, 3]);
  });

  it('refuses asynchronous work, which would leave the transaction open', () => {
    expect(() => connection.transaction(() => Promise.resolve(add(1)))).toThrow(TypeError);
    expect(values()).toEqual([]);
    add(2);
    expect(values()).toEqual([2]);
  });
});

describe('a full disk', () => {
  it('undoes the whole write, says DISK_FULL, and works again when there is space', () => {
    migrate(connection);
    const episodes = createEpisodeStore(connection, createBlobStore(connection), createMeters(connection));
    episodes.insertWhole(makeEpisode(1, { status: 'finished' }), [makeStep('episode-1', 0)]);
    // SQLite's limit on pages stands for the disk: the same code from the same place. test/slow/disk-full.test.ts fills a real one.
    connection.pragma(`max_page_count = ${Number(connection.pragma('page_count')) + 3}`);
    const steps = Array.from({ length: 300 }, (_, step) =>
      makeStep('episode-2', step, { observation: 'x'.repeat(900) }),
    );
    function work(): void {
      connection.transaction(() => {
        episodes.begin(makeEpisode(2));
        try {
          episodes.appendSteps(steps);
        } catch (error) {
          // A caller that swallows the failure must not end up with the half that came before it and the half after.
          episodes.begin(makeEpisode(3));
          throw error;
        }
      });
    }
    expect(work).toThrow(expect.objectContaining({ code: 'DISK_FULL' }));
    expect(episodes.get('episode-2' as EpisodeId)).toBeNull();
    expect(episodes.get('episode-3' as EpisodeId)).toBeNull();
    expect(episodes.steps('episode-1' as EpisodeId)).toHaveLength(1);
    connection.pragma('max_page_count = 4294967294');
    episodes.begin(makeEpisode(2));
    episodes.appendSteps(steps);
    expect(episodes.steps('episode-2' as EpisodeId)).toHaveLength(300);
  });
});
