import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import type { JobId } from '#shared/ids.ts';
import { orpc } from '../../../rpc/client.ts';
import { shortId } from '../../../ui/format.ts';
import { Time } from '../../../ui/text.tsx';
import type { BranchRun } from './group-branches.ts';
import styles from './branches.module.css';

/** Which run branched here and when, where a state has been branched by several. */
export function RunHeading({ run }: { run: BranchRun }) {
  return (
    <p className={styles.runHeading}>
      {run.jobId === null ? 'Without a run' : <RunName jobId={run.jobId} />}
      <span className={styles.dim}>
        <Time at={run.startedAt} />
      </span>
    </p>
  );
}

function RunName({ jobId }: { jobId: JobId }) {
  // A removed run leaves its branches: then its id is all that is known, and the heading is no link.
  const stage = useQuery({
    ...orpc.jobs.get.queryOptions({ input: { jobId } }),
    staleTime: 60_000,
    retry: false,
  });
  if (stage.data === undefined) return <span>Run {shortId(jobId)}</span>;
  const { job } = stage.data;
  const runId = job.parentId ?? job.jobId;
  return (
    <Link href={`/runs/${encodeURIComponent(runId)}?stage=${encodeURIComponent(jobId)}`}>
      Run {shortId(runId)}, seed {job.seed}
    </Link>
  );
}
