/** Rows of `jobs` and `job_events` as the shared schemas have them. */
import type { SqlRow } from '#core/store/driver.ts';
import { decodeJson, parseRow } from '#core/store/columns.ts';
import { jobEventSchema, jobSchema, jobStatusSchema } from '#shared/schema/job.ts';
import type { Job, JobEvent, JobStatus } from '#shared/schema/job.ts';

/** Of `jobs`, what `statusFromRow` reads. */
export const statusColumns =
  'job_id, parent_id, stage, kind, title, seed, state, attempt, progress, error, created_at, started_at, finished_at, active_ms, active_mark, last_event_at';

function statusOf(row: SqlRow) {
  return {
    jobId: row['job_id'],
    parentId: row['parent_id'],
    stage: row['stage'],
    kind: row['kind'],
    title: row['title'],
    seed: row['seed'],
    state: row['state'],
    attempt: row['attempt'],
    progress: decodeJson(row['progress']),
    error: decodeJson(row['error']),
    createdAt: row['created_at'],
    startedAt: row['started_at'],
    finishedAt: row['finished_at'],
    activeMs: row['active_ms'],
    activeAt: row['active_mark'],
    lastEventAt: row['last_event_at'],
  };
}

export function jobFromRow(row: SqlRow, file: string): Job {
  const json = { spec: decodeJson(row['spec']), result: decodeJson(row['result']) };
  return parseRow(jobSchema, { ...statusOf(row), ...json }, { table: 'jobs', file });
}

export function statusFromRow(row: SqlRow, file: string): JobStatus {
  return parseRow(jobStatusSchema, statusOf(row), { table: 'jobs', file });
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
