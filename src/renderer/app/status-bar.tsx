import {
  IconBrain,
  IconCpu,
  IconPlayerPlay,
  IconPlugConnectedX,
  IconShieldCheck,
  IconWorld,
  IconWorldUpload,
} from '@tabler/icons-react';
import { Link } from 'wouter';
import type { SystemStatus } from '#shared/schema/system.ts';
import { useConnectionState } from '../rpc/client.ts';
import { useRunning } from '../rpc/running.ts';
import { useSystemStatus } from '../rpc/status.ts';
import {
  formatCompact,
  formatDevice,
  formatDuration,
  formatInteger,
  formatNames,
  formatPercent,
} from '../ui/format.ts';
import { jobHref } from '../ui/job-href.ts';
import { remainingMs } from '../ui/progress.ts';
import { Term, useNow } from '../ui/text.tsx';
import styles from './status-bar.module.css';

/** One line that is always true: device, models, what runs, real steps, offline. */
export function StatusBar() {
  const { data: status } = useSystemStatus();
  const connected = useConnectionState() === 'open';
  return (
    <footer className={styles.bar} aria-label="Status">
      {!connected && (
        <span className={`${styles.item} ${styles.warn}`}>
          <IconPlugConnectedX size={14} aria-hidden /> not connected
        </span>
      )}
      {status !== undefined && (
        <>
          <Device status={status} />
          <Models status={status} />
          <RunningJob connected={connected} />
          <span className={styles.grow} />
          <span className={styles.item} title={formatInteger(status.realEnvironmentSteps)}>
            <IconWorld size={14} aria-hidden />
            <Term name="real environment steps">{formatCompact(status.realEnvironmentSteps)} real steps</Term>
          </span>
          <Offline connections={status.outgoingConnections} />
        </>
      )}
    </footer>
  );
}

function Device({ status }: { status: SystemStatus }) {
  const { device } = status.inference;
  return (
    <span className={styles.item} title={`${String(status.cores)} cores`}>
      <IconCpu size={14} aria-hidden />
      <span className={styles.cut}>{formatDevice(device)}</span>
    </span>
  );
}

function Models({ status }: { status: SystemStatus }) {
  const { state, loaded, restarts } = status.inference;
  const names = formatNames(loaded.map(({ name }) => name));
  const speed = loaded.reduce((sum, { tokensPerSecond }) => sum + (tokensPerSecond ?? 0), 0);
  const trouble = state === 'restarting' || state === 'failed';
  return (
    <Link href="/models" className={trouble ? `${styles.item} ${styles.warn}` : styles.item} title={names}>
      <IconBrain size={14} aria-hidden />
      <span className={styles.cut}>
        {trouble ? `inference ${state}` : loaded.length === 0 ? 'no model loaded' : names}
        {speed > 0 && ` · ${formatInteger(speed)} tokens/s`}
        {restarts > 0 && ` · restarted ${String(restarts)}×`}
      </span>
    </Link>
  );
}

function RunningJob({ connected }: { connected: boolean }) {
  const [first, ...others] = useRunning();
  const now = useNow(1000);
  if (first === undefined) return null;
  const { run: job, stage } = first;
  const part = stage ?? job;
  const { progress } = part;
  const remaining = remainingMs(part, now);
  const share = progress?.total ? Math.min(1, progress.done / progress.total) : null;
  return (
    <Link href={jobHref(job)} className={styles.item}>
      <IconPlayerPlay size={14} aria-hidden />
      <span className={styles.cut}>
        {job.title}
        {stage !== null && `, ${stage.stage ?? stage.title}`}
        {others.length > 0 && ` and ${String(others.length)} more`}
      </span>
      {share !== null && (
        <>
          <span className={styles.meter} aria-hidden>
            <span style={{ width: `${String(share * 100)}%` }} />
          </span>
          {formatPercent(progress?.done ?? 0, progress?.total ?? 0)}
        </>
      )}
      {connected && remaining !== null && <span>· {formatDuration(remaining)} left</span>}
    </Link>
  );
}

function Offline({ connections }: { connections: number }) {
  return connections === 0 ? (
    <Link href="/settings#offline" className={`${styles.item} ${styles.ok}`}>
      <IconShieldCheck size={14} aria-hidden /> offline
    </Link>
  ) : (
    <Link href="/settings#offline" className={`${styles.item} ${styles.warn}`}>
      <IconWorldUpload size={14} aria-hidden /> {formatInteger(connections)} outgoing
    </Link>
  );
}
