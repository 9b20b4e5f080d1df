/** Jobs, their events and metrics, for readers and for `submit`. What only the engine may change is in job-queue.ts. */
import type { Connection, SqlValue } from '#core/store/driver.ts';
import { encodeJson, numberOf, parseRow } from '#core/store/columns.ts';
import { eventFromRow, jobFromRow, statusColumns, statusFromRow } from '#core/store/job-rows.ts';
import type { JobStore } from '#core/store/port.ts';
import { decodeCursor, encodeCursor, pageFrom } from '#core/store/queries/cursor.ts';
import { descendantIds } from '#core/store/queries/descendants.ts';
import { idsStartingWith } from '#core/store/queries/id-prefix.ts';
import { AppError } from '#shared/errors.ts';
import type { JobId } from '#shared/ids.ts';
import { eventLevels, isEnded, metricPointSchema } from '#shared/schema/job.ts';
import type { JobEvent, MetricPoint } from '#shared/schema/job.ts';

export function createJobStore(connection: Connection): JobStore {
  const { file } = connection;

  function get(jobId: JobId) {
    const row = connection.get('SELECT * FROM jobs WHERE job_id = ?', [jobId]);
    return row === undefined ? null : jobFromRow(row, file);
  }

  return {
    insert(job) {
      return connection.transaction(() => {
        if (job.parentId !== null && get(job.parentId) === null) {
          throw new AppError({ code: 'NOT_FOUND', message: `No job ${job.parentId} is stored.` });
        }
        const added = connection.run(
          `INSERT INTO jobs (job_id, parent_id, stage, kind, title, spec, seed, state, created_at)
           VALUES (@jobId, @parentId, @stage, @kind, @title, @spec, @seed, 'queued', @at) ON CONFLICT DO NOTHING`,
          {
            jobId: job.jobId,
            parentId: job.parentId,
            stage: job.stage,
            kind: job.kind,
            title: job.title,
            spec: encodeJson(job.spec),
            seed: job.seed,
            at: job.at,
          },
        );
        const stored = get(job.jobId);
        if (added === 0 || stored === null) {
          throw new AppError({
            code: 'CONFLICT',
            message: `Job ${job.jobId} (stage ${job.stage ?? 'none'}) is stored already.`,
            data: { jobId: job.jobId },
          });
        }
        return stored;
      });
    },

    get,

    idsStartingWith: (prefix, limit) =>
      idsStartingWith(connection, { table: 'jobs', column: 'job_id' }, prefix, limit) as JobId[],

    children: (parentId) =>
      connection
        .all('SELECT * FROM jobs WHERE parent_id = ? ORDER BY job_key', [parentId])
        .map((row) => jobFromRow(row, file)),

    status(jobId) {
      const row = connection.get(`SELECT ${statusColumns} FROM jobs WHERE job_id = ?`, [jobId]);
      if (row === undefined) return null;
      const below = connection.all(`SELECT ${statusColumns} FROM jobs WHERE parent_id = ? ORDER BY job_key`, [
        jobId,
      ]);
      return { job: statusFromRow(row, file), children: below.map((child) => statusFromRow(child, file)) };
    },

    childByStage(parentId, stage) {
      const row = connection.get('SELECT * FROM jobs WHERE parent_id = ? AND stage = ?', [parentId, stage]);
      return row === undefined ? null : jobFromRow(row, file);
    },

    list(filter, page) {
      const conditions: string[] = [];
      const parameters: SqlValue[] = [];
      if (filter.state !== undefined) {
        conditions.push('state = ?');
        parameters.push(filter.state);
      }
      if (filter.kind !== undefined) {
        conditions.push('kind = ?');
        parameters.push(filter.kind);
      }
      if (filter.parentId !== undefined) {
        conditions.push('parent_id IS ?');
        parameters.push(filter.parentId);
      }
      const matching = conditions.length === 0 ? 'TRUE' : conditions.join(' AND ');
      const after = decodeCursor('jobs', 1, page.cursor);
      const rows = connection.all(
        `SELECT * FROM jobs WHERE ${matching}${after === null ? '' : ' AND job_key < ?'} ORDER BY job_key DESC LIMIT ?`,
        [...parameters, ...(after ?? []), page.limit + 1],
      );
      return pageFrom(rows, page.limit, {
        item: (row) => jobFromRow(row, file),
        cursor: (row) => encodeCursor('jobs', [numberOf(row, 'job_key')]),
        total:
          after === null
            ? numberOf(connection.get(`SELECT count(*) AS n FROM jobs WHERE ${matching}`, parameters), 'n')
            : null,
      });
    },

    events(jobId, { afterSeq, limit, includeChildren }) {
      const ids = includeChildren ? descendantIds(connection, jobId) : [jobId];
      // Each job's events lie in seq order in the index, so `limit` of each are enough to merge.
      const events = ids.flatMap((id) =>
        connection
          .all('SELECT * FROM job_events WHERE job_id = ? AND seq > ? ORDER BY seq LIMIT ?', [
            id,
            afterSeq,
            limit,
          ])
          .map((row) => eventFromRow(row, file)),
      );
      return events.sort((a, b) => a.seq - b.seq).slice(0, limit);
    },

    eventsPage(jobId, { level = 'info', code }, page) {
      const after = decodeCursor('events', 1, page.cursor);
      const levels = eventLevels.slice(eventLevels.indexOf(level));
      const named = code === undefined ? '' : " AND (type = ? OR data ->> '$.code' = ?)";
      // One look into the index for each job and, where not all are asked for, each level: there its events lie in seq order.
      const wanted = descendantIds(connection, jobId).flatMap(
        (id): { where: string; values: SqlValue[] }[] => {
          const names = code === undefined ? [] : [code, code];
          if (levels.length === eventLevels.length)
            return [{ where: `job_id = ?${named}`, values: [id, ...names] }];
          return levels.map((one) => ({
            where: `job_id = ? AND level = ?${named}`,
            values: [id, one, ...names],
          }));
        },
      );
      const events: JobEvent[] = wanted.flatMap(({ where, values }) =>
        connection
          .all(
            `SELECT * FROM job_events WHERE ${where}${after === null ? '' : ' AND seq < ?'} ORDER BY seq DESC LIMIT ?`,
            [...values, ...(after ?? []), page.limit + 1],
          )
          .map((row) => eventFromRow(row, file)),
      );
      const counts = wanted.map(({ where, values }) =>
        after === null
          ? numberOf(connection.get(`SELECT count(*) AS n FROM job_events WHERE ${where}`, values), 'n')
          : 0,
      );
      return pageFrom(events.sort((a, b) => b.seq - a.seq).slice(0, page.limit + 1), page.limit, {
        item: (event) => event,
        cursor: (event) => encodeCursor('events', [event.seq]),
        total: after === null ? counts.reduce((sum, count) => sum + count, 0) : null,
      });
    },

    metrics(jobId, { names, maxPoints }) {
      const wanted =
        names ??
        connection
          .all('SELECT DISTINCT name FROM metrics WHERE job_id = ? ORDER BY name', [jobId])
          .map((row) => String(row['name']));
      return wanted.flatMap((name): MetricPoint[] => {
        const total = numberOf(
          connection.get('SELECT count(*) AS n FROM metrics WHERE job_id = ? AND name = ?', [jobId, name]),
          'n',
        );
        // Real points at even distances, with the first and the last: a thinned curve never shows a value that was not measured.
        const stride = Math.max(1, Math.ceil(total / Math.max(1, maxPoints - 1)));
        return connection
          .all(
            `SELECT job_id AS jobId, name, step, value, at FROM (
               SELECT *, row_number() OVER (ORDER BY step) - 1 AS position FROM metrics WHERE job_id = @jobId AND name = @name
             ) WHERE position % @stride = 0 OR position = @last ORDER BY step`,
            { jobId, name, stride, last: total - 1 },
          )
          .map((row) => parseRow(metricPointSchema, row, { table: 'metrics', file }));
      });
    },

    remove(jobId) {
      return connection.transaction(() => {
        const active = descendantIds(connection, jobId).find((id) => {
          const job = get(id);
          return job !== null && !isEnded(job.state);
        });
        if (active !== undefined) {
          throw new AppError({
            code: 'CONFLICT',
            message: 'A job that has not ended cannot be removed. Cancel it first; nothing was removed.',
            data: { jobId: active },
          });
        }
        return connection.run('DELETE FROM jobs WHERE job_id = ?', [jobId]) === 1;
      });
    },
  };
}
