/** Small pieces of text with a fixed look: what a machine said, a number with its unit, times, terms, keys, facts. */
import { Tooltip } from '@mantine/core';
import { useEffect, useState } from 'react';
import type { ReactNode } from 'react';
import { formatAgo, formatDateTime } from './format.ts';
import { keyLabel } from './keys.ts';
import { terms } from './terms.ts';
import type { TermName } from './terms.ts';
import styles from './text.module.css';

/** Anything a model or an environment said: JetBrains Mono, wrapped, never cut. */
export function Mono({ children }: { children: ReactNode }) {
  return <span className={styles.mono}>{children}</span>;
}

export function Stat({
  label,
  value,
  unit,
  title,
}: {
  label: ReactNode;
  value: ReactNode;
  unit?: string | undefined;
  title?: string | undefined;
}) {
  return (
    <div className={styles.stat} title={title}>
      <span className={styles.statLabel}>{label}</span>
      <span className={styles.statValue}>
        {value}
        {unit !== undefined && <span className={styles.unit}> {unit}</span>}
      </span>
    </div>
  );
}

/** The clock, at a pace: a component that shows elapsed time renders again each `everyMs`. */
export function useNow(everyMs = 1000): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => {
      setNow(Date.now());
    }, everyMs);
    return () => {
      clearInterval(timer);
    };
  }, [everyMs]);
  return now;
}

/** Relative, with the absolute time on hover. */
export function Time({ at }: { at: number }) {
  const now = useNow(15_000);
  return (
    <time dateTime={new Date(at).toISOString()} title={formatDateTime(at)}>
      {formatAgo(at, now)}
    </time>
  );
}

/** A term of art with its one-line meaning. */
export function Term({ name, children }: { name: TermName; children?: ReactNode }) {
  return (
    <Tooltip label={terms[name]}>
      <span className={styles.term} tabIndex={0} aria-description={terms[name]}>
        {children ?? name}
      </span>
    </Tooltip>
  );
}

export function Kbd({ keys }: { keys: string }) {
  return <kbd className={styles.kbd}>{keyLabel(keys)}</kbd>;
}

export function KeyHints({ hints }: { hints: readonly { key: string; label: string }[] }) {
  return (
    <span className={styles.keys}>
      {hints.map(({ key, label }) => (
        <span key={key}>
          <Kbd keys={key} /> {label}
        </span>
      ))}
    </span>
  );
}

export function Facts({ facts }: { facts: readonly (readonly [ReactNode, ReactNode])[] }) {
  return (
    <dl className={styles.facts}>
      {facts.map(([name, value], index) => (
        <div key={index} style={{ display: 'contents' }}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

/** `words` in back-ticks, as help and reasons have them, become code. */
export function withCode(text: string): ReactNode[] {
  return text.split('`').map((part, index) => (index % 2 === 1 ? <code key={index}>{part}</code> : part));
}
