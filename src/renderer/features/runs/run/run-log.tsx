import { Button, SegmentedControl } from '@mantine/core';
import { useMemo, useState } from 'react';
import { useSearchParams } from 'wouter';
import type { JobId } from '#shared/ids.ts';
import type { Job, JobEvent } from '#shared/schema/job.ts';
import { client } from '../../../rpc/client.ts';
import { formatClock, formatDateTime } from '../../../ui/format.ts';
import { mergeEvents } from './use-run.ts';
import styles from './run.module.css';

/** Lines drawn at first and with each `More lines`. */
const batch = 200;

const levelOptions = [
  { value: '', label: 'All' },
  { value: 'warn', label: 'Warnings' },
  { value: 'error', label: 'Errors' },
];

/** Everything the run said, newest first; filters are in the address. */
export function RunLog({
  jobId,
  events,
  stages,
  stageId,
}: {
  jobId: JobId;
  events: readonly JobEvent[];
  stages: readonly Job[];
  stageId: string | null;
}) {
  const [parameters, setParameters] = useSearchParams();
  const [loading, setLoading] = useState(false);
  const [drawn, setDrawn] = useState(batch);
  const [older, setOlder] = useState<{ items: JobEvent[]; cursor: string | null | undefined }>({
    items: [],
    cursor: undefined,
  });
  const level = parameters.get('level') ?? '';
  const code = parameters.get('code');
  const names = new Map(stages.map((stage) => [stage.jobId as string, stage.stage ?? '']));
  const shown = useMemo(
    () =>
      mergeEvents(events, older.items).filter(
        (event) =>
          (level === '' || event.level === level || (level === 'warn' && event.level === 'error')) &&
          (stageId === null || event.jobId === stageId) &&
          (code === null || event.data['code'] === code || event.type === code),
      ),
    [events, older.items, level, stageId, code],
  );
  const loadOlder = async () => {
    setLoading(true);
    try {
      const page = await client.jobs.events({ jobId, limit: 200, cursor: older.cursor ?? null });
      setOlder((old) => ({ items: [...old.items, ...page.items], cursor: page.nextCursor }));
    } finally {
      setLoading(false);
    }
  };
  const set = (next: Record<string, string | null>) => {
    setParameters(
      (old) => {
        const merged = new URLSearchParams(old);
        for (const [name, value] of Object.entries(next)) {
          if (value === null || value === '') merged.delete(name);
          else merged.set(name, value);
        }
        return merged;
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
            set({ level: value });
          }}
        />
        {code !== null && (
          <Button
            variant="default"
            onClick={() => {
              set({ code: null });
            }}
          >
            {code} ✕
          </Button>
        )}
        <span className={styles.dim}>{shown.length} lines</span>
      </div>
      {shown.length === 0 && <p className={styles.dim}>Nothing of this kind was said.</p>}
      {shown.slice(0, drawn).map((event) => (
        <div key={event.seq} className={styles.log}>
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
          <span className={styles.dim}>
            {[names.get(event.jobId) ?? '', event.type].filter((text) => text !== '').join(' · ')}
          </span>
          <span className={styles.message}>{event.message}</span>
        </div>
      ))}
      {(shown.length > drawn || (older.cursor !== null && events.length >= batch)) && (
        <Button
          variant="default"
          mt={8}
          loading={loading}
          onClick={() => {
            setDrawn((lines) => lines + batch);
            if (shown.length <= drawn + batch) void loadOlder();
          }}
        >
          More lines
        </Button>
      )}
    </section>
  );
}
