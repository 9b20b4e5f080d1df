import type { FilterCount, Manifest } from '#shared/schema/dataset.ts';
import { formatInteger, formatPercent } from '../../ui/format.ts';
import styles from './datasets.module.css';
import { partLabels } from './part-labels.ts';

/** Candidates that are no rows: each once under its first reason, and beside it how many texts carry the flag. */
export function LeftOut({ filters }: { filters: readonly FilterCount[] }) {
  if (filters.length === 0) return <p className={styles.dim}>Nothing: every candidate is a row.</p>;
  return (
    <table className={styles.table}>
      <thead>
        <tr>
          <th>Part</th>
          <th>Reason</th>
          <th className={styles.number} title="Each candidate once, under its first reason">
            Left out
          </th>
          <th className={styles.number} title="Texts that carry the flag; one may carry several">
            Flagged
          </th>
          <th>What it is</th>
        </tr>
      </thead>
      <tbody>
        {filters.map(({ part, filter, dropped, flagged, help }) => (
          <tr key={`${part ?? ''}:${filter}`}>
            <td>{part === null ? 'not stated' : partLabels[part].label}</td>
            <td>{filter}</td>
            <td className={styles.number}>{formatInteger(dropped)}</td>
            <td className={styles.number}>{flagged === null ? '' : formatInteger(flagged)}</td>
            <td className={styles.wrap}>{help}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** The loss of the world model is a sum over target tokens, so a command with long answers weighs more than its rows. */
export function Targets({ targets }: { targets: NonNullable<Manifest['iwmTargets']> }) {
  const { rows, distinct, characters, kinds } = targets;
  return (
    <>
      <p className={styles.dim}>
        {`${formatInteger(distinct)} distinct targets in ${formatInteger(rows)} rows. By command, most target text first:`}
      </p>
      <table className={styles.table}>
        <thead>
          <tr>
            <th>Command</th>
            <th className={styles.number}>Rows</th>
            <th className={styles.number}>Share of rows</th>
            <th className={styles.number}>Distinct targets</th>
            <th className={styles.number}>Share of target text</th>
          </tr>
        </thead>
        <tbody>
          {kinds.map((one) => (
            <tr key={one.kind}>
              <td className={styles.mono}>{one.kind}</td>
              <td className={styles.number}>{formatInteger(one.rows)}</td>
              <td className={styles.number}>{formatPercent(one.rows, rows)}</td>
              <td className={styles.number}>{formatInteger(one.distinct)}</td>
              <td className={styles.number}>{formatPercent(one.characters, characters)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </>
  );
}
