/** The engine's side of table `jobs`: claims, leases, checkpoints, events, metrics. No rule of the state machine is here. */
import type { Connection, SqlValue } from '#core/store/driver.ts';
import { bit, decodeJson, encodeJson, numberOf } from '#core/store/columns.ts';
import { eventFromRow, jobFromRow } from '#core/store/job-rows.ts';
import type { JobChange, JobQueueStore } from '#core/store/port.ts';
import { descendantIds } from '#core/store/queries/descendants.ts';
import { AppError } from '#shared/errors.ts';
import type { JobId } from '#shared/ids.ts';
import { endedStates } from '#shared/schema/job.ts';

const endedList = endedStates.map((state) => `'${state}'`).join(', ');
const heldStates = "('running', 'pausing', 'cancelling')";
/** Adds the time since the last mark, so a crash loses at most one renewal of a job's active time. */
const addActive = 'active_ms = active_ms + max(0, @at - ifnull(active_mark, @at))';

export function createJobQueueStore(connection: Connection): JobQueueStore {
  const { file } = connection;

  function assignments(change: JobChange): { sql: string[]; values: Record<string, SqlValue> } {
    const values: Record<string, SqlValue> = {};
    const sql: string[] = [];
    function set(column: string, value: SqlValue | undefined): void {
      if (value === undefined) return;
      sql.push(`${column} = @${column}`);
      values[column] = value;
    }
    set('state', change.state);
    set('attempt', change.attempt);
    set('finished_at', change.finishedAt);
    if (change.progress !== undefined) set('progress', encodeJson(change.progress, 'nullable'));
    if (change.result !== undefined) set('result', encodeJson(change.result, 'nullable'));
    if (change.error !== undefined) set('error', encodeJson(change.error, 'nullable'));
    if (change.resumeWanted !== undefined) set('resume_wanted', bit(change.resumeWanted));
    set('crashes', change.crashes);
    set('crash_commits', change.crashCommits);
    set('idle_crashes', change.idleCrashes);
    set('crash_steps', change.crashSteps);
    if (change.activeAt !== undefined) {
      values['at'] = change.activeAt;
      sql.push(addActive, 'active_mark = @at');
    }
    if (change.releaseAt !== undefined) {
      values['at'] = change.releaseAt;
      sql.push(addActive, 'active_mark = NULL', 'lease_owner = NULL', 'lease_until = NULL');
    }
    return { sql, values };
  }

  return {
    claim({ owner, kinds, at, leaseUntil }) {
      const row = connection.get(
        `UPDATE jobs SET state = 'running', lease_owner = @owner, lease_until = @leaseUntil, active_mark = @at,
           started_at = ifnull(started_at, @at), resume_wanted = 0
         WHERE job_key = (SELECT job_key FROM jobs INDEXED BY jobs_by_state
           WHERE state = 'queued' AND kind IN (SELECT value FROM json_each(@kinds)) ORDER BY job_key LIMIT 1)
         RETURNING *`,
        { owner, at, leaseUntil, kinds: JSON.stringify(kinds) },
      );
      if (row === undefined) return null;
      return { job: jobFromRow(row, file), checkpoint: decodeJson(row['checkpoint']) };
    },

    renew({ owner, at, leaseUntil }) {
      connection.run(
        `UPDATE jobs SET lease_until = @leaseUntil, ${addActive}, active_mark = @at
         WHERE state IN ${heldStates} AND lease_owner = @owner`,
        { owner, at, leaseUntil },
      );
      return connection
        .all(`SELECT job_id FROM jobs WHERE state IN ${heldStates} AND lease_owner = ?`, [owner])
        .map((row) => String(row['job_id']) as JobId);
    },

    deadLeases({ owner, at, soleHost }) {
      return connection
        .all(
          `SELECT *, EXISTS (SELECT 1 FROM jobs AS child WHERE child.parent_id = jobs.job_id
               AND child.state NOT IN (${endedList})) AS waits,
             (SELECT count(*) FROM episodes JOIN steps USING (episode_key) WHERE episodes.job_id = jobs.job_id) AS stored_steps
           FROM jobs WHERE state IN ${heldStates} AND lease_owner IS NOT @owner
             AND (@soleHost = 1 OR lease_until IS NULL OR lease_until <= @at) ORDER BY job_key`,
          { owner, at, soleHost: bit(soleHost) },
        )
        .map((row) => ({
          job: jobFromRow(row, file),
          commits: numberOf(row, 'commits'),
          crashes: numberOf(row, 'crashes'),
          crashCommits: numberOf(row, 'crash_commits'),
          steps: numberOf(row, 'stored_steps'),
          idleCrashes: numberOf(row, 'idle_crashes'),
          crashSteps: numberOf(row, 'crash_steps'),
          waitsForChild: row['waits'] === 1,
        }));
    },

    change(jobId, change) {
      const { sql, values } = assignments(change);
      const row =
        sql.length === 0
          ? connection.get('SELECT * FROM jobs WHERE job_id = @jobId', { jobId })
          : connection.get(`UPDATE jobs SET ${sql.join(', ')} WHERE job_id = @jobId RETURNING *`, {
              ...values,
              jobId,
            });
      if (row === undefined) {
        throw new AppError({ code: 'NOT_FOUND', message: `No job ${jobId} is stored.`, data: { jobId } });
      }
      return jobFromRow(row, file);
    },

    saveCheckpoint({ jobId, owner, checkpoint, at }) {
      const changed = connection.run(
        `UPDATE jobs SET checkpoint = @checkpoint, commits = commits + 1, ${addActive}, active_mark = @at
         WHERE job_id = @jobId AND lease_owner = @owner AND state IN ${heldStates}`,
        { jobId, owner, at, checkpoint: encodeJson(checkpoint) },
      );
      if (changed === 1) return;
      throw new AppError({
        code: 'CONFLICT',
        message:
          'This run no longer holds its job, so nothing of this step was stored. Another run continues it.',
        data: { jobId },
      });
    },

    holds: (jobId, owner) =>
      connection.get(
        `SELECT 1 AS n FROM jobs WHERE job_id = ? AND lease_owner = ? AND state IN ${heldStates}`,
        [jobId, owner],
      ) !== undefined,

    resumeWanted: (jobId) =>
      connection.get('SELECT resume_wanted FROM jobs WHERE job_id = ?', [jobId])?.['resume_wanted'] === 1,

    addEvents(jobId, events) {
      const stored = events.map((event) => {
        const row = connection.get(
          `INSERT INTO job_events (job_id, at, type, level, message, data)
           VALUES (@jobId, @at, @type, @level, @message, @data) RETURNING *`,
          {
            jobId,
            at: event.at,
            type: event.type,
            level: event.level,
            message: event.message,
            data: encodeJson(event.data),
          },
        );
        return eventFromRow(row ?? {}, file);
      });
      const last = stored.at(-1);
      if (last !== undefined)
        connection.run('UPDATE jobs SET last_event_at = ? WHERE job_id = ?', [last.at, jobId]);
      return stored;
    },

    addMetrics(jobId, points) {
      for (const point of points) {
        connection.run(
          `INSERT INTO metrics (job_id, name, step, value, at) VALUES (?, ?, ?, ?, ?)
           ON CONFLICT (job_id, name, step) DO UPDATE SET value = excluded.value, at = excluded.at`,
          [jobId, point.name, point.step, point.value, point.at],
        );
      }
      // A stage that measures is alive, even where it has nothing to tell for minutes.
      const last = points.at(-1);
      if (last !== undefined)
        connection.run('UPDATE jobs SET last_event_at = ? WHERE job_id = ?', [last.at, jobId]);
    },

    descendants: (jobId) => descendantIds(connection, jobId),
  };
}
