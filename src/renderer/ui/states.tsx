/** The states that every view has besides its content: loading, empty, partial, stale, error. */
import { Button, CopyButton } from '@mantine/core';
import {
  IconAlertTriangle,
  IconClockPause,
  IconInbox,
  IconInfoCircle,
  IconInfoTriangle,
} from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { errorDetails, errorRecord } from '../rpc/errors.ts';
import { formatClock } from './format.ts';
import { LinkButton } from './viewer/link-button.tsx';
import styles from './states.module.css';

/** As high as what it stands for: `rows` of `rowHeight` pixels, so nothing jumps when the content comes. */
export function LoadingState({ rows = 4, rowHeight = 24 }: { rows?: number; rowHeight?: number }) {
  return (
    <div className={styles.skeletons} role="status" aria-label="Loading">
      {Array.from({ length: rows }, (_, index) => (
        <div
          key={index}
          className={styles.skeleton}
          style={{ height: rowHeight, width: `${String(100 - ((index * 17) % 40))}%` }}
        />
      ))}
    </div>
  );
}

/** What this is, why it is empty, and the one thing that fills it. */
export function EmptyState({
  title,
  children,
  action,
}: {
  title: string;
  children?: ReactNode;
  action?: ReactNode;
}) {
  return (
    <div className={`${styles.state} ${styles.empty}`}>
      <IconInbox size={18} className={styles.icon} aria-hidden />
      <div>
        <p className={styles.title}>{title}</p>
        {children !== undefined && <div className={styles.dim}>{children}</div>}
        {action !== undefined && <div className={styles.actions}>{action}</div>}
      </div>
    </div>
  );
}

/** What happened, what was kept, what to do (the host words it so), with details for the clipboard. */
export function ErrorState({
  error,
  title,
  onRetry,
  back,
}: {
  error: unknown;
  title?: string | undefined;
  onRetry?: (() => void) | undefined;
  /** The list that the page belongs to: the way on when this one thing is not there. */
  back?: { label: string; href: string } | undefined;
}) {
  const record = errorRecord(error);
  return (
    <div className={`${styles.state} ${styles.error}`} role="alert">
      <IconAlertTriangle size={18} className={styles.icon} aria-hidden />
      <div>
        {title !== undefined && <p className={styles.title}>{title}</p>}
        <p className={styles.message}>{record.message}</p>
        <p className={styles.code}>{record.code}</p>
        <div className={styles.actions}>
          {back !== undefined && <LinkButton href={back.href}>{back.label}</LinkButton>}
          {onRetry !== undefined && record.code !== 'NOT_FOUND' && (
            <Button variant="default" onClick={onRetry}>
              Try again
            </Button>
          )}
          <CopyButton value={errorDetails(error)}>
            {({ copied, copy }) => (
              <Button variant="default" onClick={copy}>
                {copied ? 'Copied' : 'Copy details'}
              </Button>
            )}
          </CopyButton>
        </div>
      </div>
    </div>
  );
}

/** Shows above what is there and says what is missing. */
export function PartialNote({ children }: { children: ReactNode }) {
  return (
    <div className={`${styles.state} ${styles.partial}`} role="status">
      <IconInfoTriangle size={16} className={styles.icon} aria-hidden />
      <div>{children}</div>
    </div>
  );
}

/** Says what holds here, without alarm: what a pause does, what came of a request. */
export function InfoNote({ children }: { children: ReactNode }) {
  return (
    <div className={`${styles.state} ${styles.info}`} role="status">
      <IconInfoCircle size={16} className={styles.icon} aria-hidden />
      <div className={styles.message}>{children}</div>
    </div>
  );
}

/** Greys its content and says when it was true. */
export function Stale({ since, children }: { since: number | null; children: ReactNode }) {
  if (since === null) return children;
  return (
    <div>
      <span className={styles.staleNote} role="status">
        <IconClockPause size={14} aria-hidden /> as of {formatClock(since)}
      </span>
      <div className={styles.stale}>{children}</div>
    </div>
  );
}
