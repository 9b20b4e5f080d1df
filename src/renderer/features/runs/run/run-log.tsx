import { Button, SegmentedControl } from '@mantine/core';
import { memo } from 'react';
import { useSearchParams } from 'wouter';
import { jobIdSchema } from '#shared/ids.ts';
import type { JobId } from '#shared/ids.ts';
import { eventLevels } from '#shared/schema/job.ts';
import type { Job, JobEvent } from '#shared/schema/job.ts';
import { formatClock, formatDateTime, formatInteger } from '../../../ui/format.ts';
import { ErrorState, LoadingState } from '../../../ui/states.tsx';
import { useLog } from './use-log.ts';
import styles from './run.module.css';

const levelOptions: { value: JobEvent['level']; label: string }[] = [
  { value: 'info', label: 'All' },
  { value: 'warn', label: 'Warnings' },
  { value: 'error', label: 'Errors' },
];

/** Everything the run said, newest first, to its first word; filters are in the address. */
export function RunLog({
  jobId,
  stages,
  stageId,
}: {
  jobId: JobId;
  stages: readonly Job[];
  stageId: string | null;
}) {
  const [parameters, setParameters] = useSearchParams();
  const wanted = parameters.get('level');
  const level = eventLevels.find((name) => name === wanted) ?? 'info';
  const code = parameters.get('code');
  const names = new Map(stages.map((stage) => [stage.jobId as string, stage.stage ?? '']));
  const { pages, events, total } = useLog(jobId, {
    level,
    code,
    stageId: jobIdSchema.nullable().catch(null).parse(stageId),
  });
  const set = (name: 'level' | 'code', value: string | null) => {
    setParameters(
      (old) => {
        const next = new URLSearchParams(old);
        if (value === null) next.delete(name);
        else next.set(name, value);
        return next;
      },
      { replace: true },
    );
  };
  return (
    <section className={styles.section} aria-label="Log">
      <div className={styles.sectionHead}>
        <SegmentedControl
          data={levelOptions}
          value={level}
          aria-label="Level"
          onChange={(value) => {
            set('level', value === 'info' ? null : value);
          }}
        />
        {code !== null && (
          <Button
            variant="default"
            onClick={() => {
              set('code', null);
            }}
          >
            {code} ✕
          </Button>
        )}
        {pages.isSuccess && <span className={styles.dim}>{countWords(events.length, total)}</span>}
      </div>
      {pages.isPending && <LoadingState rows={10} />}
      {pages.error !== null && (
        <ErrorState
          title="The log could not be read"
          error={pages.error}
          onRetry={() => void (pages.isFetchNextPageError ? pages.fetchNextPage() : pages.refetch())}
        />
      )}
      {pages.isSuccess && events.length === 0 && <p className={styles.dim}>{emptyWords(level, code)}</p>}
      {events.map((event) => (
        <LogLine key={event.seq} event={event} stage={names.get(event.jobId) ?? ''} />
      ))}
      {pages.hasNextPage && (
        <Button
          variant="default"
          mt={8}
          loading={pages.isFetchingNextPage}
          onClick={() => void pages.fetchNextPage()}
        >
          More lines
        </Button>
      )}
    </section>
  );
}

function countWords(shown: number, total: number): string {
  if (shown >= total) return total === 1 ? '1 line' : `${formatInteger(total)} lines`;
  return `the newest ${formatInteger(shown)} of ${formatInteger(total)} lines`;
}

function emptyWords(level: JobEvent['level'], code: string | null): string {
  if (code !== null) return `Nothing with the code ${code} was said.`;
  if (level === 'error') return 'No errors.';
  return level === 'warn' ? 'No warnings and no errors.' : 'Nothing was said yet.';
}

const LogLine = memo(function LogLine({ event, stage }: { event: JobEvent; stage: string }) {
  return (
    <div className={styles.log}>
      <time title={formatDateTime(event.at)} className={styles.dim}>
        {formatClock(event.at)}
      </time>
      <span
        className={
          event.level === 'error' ? styles.logError : event.level === 'warn' ? styles.logWarn : styles.dim
        }
      >
        {event.level}
      </span>
      <span className={styles.dim}>{[stage, event.type].filter((text) => text !== '').join(' · ')}</span>
      <span className={styles.message}>{event.message}</span>
    </div>
  );
});
