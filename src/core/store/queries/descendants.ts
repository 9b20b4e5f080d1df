import type { Connection } from '#core/store/driver.ts';
import type { JobId } from '#shared/ids.ts';

/** The job itself first, then everything below it, oldest first. Empty when the job is not stored. */
export function descendantIds(connection: Connection, jobId: JobId): JobId[] {
  return connection
    .all(
      `WITH RECURSIVE tree (job_id, job_key) AS (
         SELECT job_id, job_key FROM jobs WHERE job_id = ?
         UNION ALL
         SELECT jobs.job_id, jobs.job_key FROM jobs JOIN tree ON jobs.parent_id = tree.job_id
       ) SELECT job_id FROM tree ORDER BY job_key`,
      [jobId],
    )
    .map((row) => String(row['job_id']) as JobId);
}
