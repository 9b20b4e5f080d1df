import { intervalWords, rateWords } from '#shared/success.ts';
import type { SuccessRow } from '#shared/success.ts';
import { formatInteger } from '../../../ui/format.ts';
import styles from './run.module.css';

/** Success by task type with its interval: a rate of few episodes says little, and shows it. */
export function SuccessTable({
  rows,
  caption,
}: {
  rows: readonly SuccessRow[];
  /** Whose successes, where several stages are shown. */
  caption: string | null;
}) {
  if (rows.length === 0) return null;
  return (
    <table className={styles.success} aria-label={caption ?? 'Success'}>
      {caption !== null && <caption>{caption}</caption>}
      <thead>
        <tr>
          <th scope="col">{rows.length > 1 ? 'Task type' : 'Success'}</th>
          <th scope="col">Goal reached</th>
          <th scope="col">Rate</th>
          <th scope="col">
            <abbr title="Wilson’s score interval for a share">95 % interval</abbr>
          </th>
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={row.name}>
            <th scope="row">{row.name}</th>
            <td>{`${formatInteger(row.successes)} of ${formatInteger(row.scored)}`}</td>
            <td>{rateWords(row)}</td>
            <td>{intervalWords(row)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
