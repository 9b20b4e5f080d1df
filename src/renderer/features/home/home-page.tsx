import { useQuery } from '@tanstack/react-query';
import { orpc } from '../../rpc/client.ts';
import { useSystemStatus } from '../../rpc/status.ts';
import { Page } from '../../ui/page.tsx';
import { ErrorState, LoadingState } from '../../ui/states.tsx';
import { FirstLaunch } from './first-launch.tsx';
import { Machine } from './machine.tsx';
import { Results, RunningNow } from './run-lists.tsx';
import { StartCards } from './start-cards.tsx';
import styles from './home.module.css';

/** Before anything has run: one sentence, one button. After: start, what runs, what came of it, where it is. */
export default function HomePage() {
  const status = useSystemStatus();
  const jobs = useQuery({
    ...orpc.jobs.list.queryOptions({ input: { limit: 30, filter: { parentId: null } } }),
    refetchInterval: (status.data?.counts.runningJobs ?? 0) > 0 ? 2000 : 15_000,
  });
  const empty = status.data?.counts.jobs === 0 && status.data.counts.episodes === 0;
  return (
    <Page title="Home">
      {status.isError && status.data === undefined ? (
        <ErrorState
          title="The host’s state could not be read"
          error={status.error}
          onRetry={() => void status.refetch()}
        />
      ) : status.data === undefined ? (
        <LoadingState rows={8} rowHeight={32} />
      ) : empty && (jobs.data?.items.length ?? 0) === 0 ? (
        <FirstLaunch />
      ) : (
        <>
          <StartCards />
          <div className={styles.columns}>
            <div>
              <RunningNow jobs={jobs.data?.items ?? []} pending={jobs.isPending} />
              <Results jobs={jobs.data?.items ?? []} pending={jobs.isPending} />
              {jobs.isError && <ErrorState error={jobs.error} onRetry={() => void jobs.refetch()} />}
            </div>
            <Machine status={status.data} />
          </div>
        </>
      )}
    </Page>
  );
}
