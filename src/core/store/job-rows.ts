/** Rows of `jobs` and `job_events` as the shared schemas have them. */
import type { SqlRow } from '#core/store/driver.ts';
import { decodeJson, parseRow } from '#core/store/columns.ts';
import { jobEventSchema, jobSchema } from '#shared/schema/job.ts';
import type { Job, JobEvent } from '#shared/schema/job.ts';

export function jobFromRow(row: SqlRow, file: string): Job {
  return parseRow(
    jobSchema,
    {
      jobId: row['job_id'],
      parentId: row['parent_id'],
      stage: row['stage'],
      kind: row['kind'],
      title: row['title'],
      spec: decodeJson(row['spec']),
      seed: row['seed'],
      state: row['state'],
      attempt: row['attempt'],
      progress: decodeJson(row['progress']),
      result: decodeJson(row['result']),
      error: decodeJson(row['error']),
      createdAt: row['created_at'],
      startedAt: row['started_at'],
      finishedAt: row['finished_at'],
      activeMs: row['active_ms'],
      activeAt: row['active_mark'],
      lastEventAt: row['last_event_at'],
    },
    { table: 'jobs', file },
  );
}

export function eventFromRow(row: SqlRow, file: string): JobEvent {
  return parseRow(
    jobEventSchema,
    {
      seq: row['seq'],
      jobId: row['job_id'],
      at: row['at'],
      type: row['type'],
      level: row['level'],
      message: row['message'],
      data: decodeJson(row['data']),
    },
    { table: 'job_events', file },
  );
}
