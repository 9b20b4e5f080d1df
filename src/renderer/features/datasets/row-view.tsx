import { Link } from 'wouter';
import type { SftRow } from '#shared/schema/dataset.ts';
import { MonoText } from '../../ui/viewer/mono-text.tsx';
import styles from './datasets.module.css';

/** One line of a part as a trainer reads it: messages in order, the target (the only text with loss) marked. */
export function RowView({ row }: { row: SftRow }) {
  const last = row.messages.length - 1;
  return (
    <article className={styles.rowView} aria-label={`Row ${row.id}`}>
      <header className={styles.rowHead}>
        <Link href={episodeLink(row)}>{`Episode step ${String(row.meta.step)}`}</Link>
        <span>{`${row.meta.environment}, ${row.meta.split}, ${row.meta.task_type}`}</span>
        <span>{`source ${row.meta.source}${row.meta.valid ? '' : ', invalid action'}`}</span>
        <span className={styles.rowId}>{row.id}</span>
      </header>
      {row.messages.map((message, index) => (
        <section key={index} className={styles.message} data-target={index === last || undefined}>
          <h4>
            {message.role}
            {index === last && <span className={styles.target}>target, the loss is here</span>}
          </h4>
          <MonoText text={message.content} empty="empty message" />
        </section>
      ))}
    </article>
  );
}

export function episodeLink({ meta }: SftRow): string {
  const base = `/trajectories/${encodeURIComponent(meta.episode_id)}`;
  const step = `step=${String(meta.step)}`;
  if (meta.kind === 'il') return `${base}?${step}`;
  const branch = meta.kind === 'iwm' ? meta.branch_ids[0] : undefined;
  const named =
    branch === undefined
      ? ''
      : `&branch=${encodeURIComponent(branch)}&action=${encodeURIComponent(meta.action)}`;
  return `${base}/branches?${step}${named}`;
}
