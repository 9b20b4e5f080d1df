import { Link } from 'wouter';
import { visibleText } from '../../../ui/viewer/visible-text.tsx';
import { iwmTriples } from './group-branches.ts';
import type { BranchState } from './group-branches.ts';
import { RunHeading } from './run-heading.tsx';
import styles from './branches.module.css';

/** The rows that world modelling takes from this state, by the run that executed them, and the data sets that they went into. */
export function Triples({
  state,
  datasets,
}: {
  state: BranchState;
  datasets: readonly { datasetId: string; name: string }[];
}) {
  const runs = state.runs.map((run) => ({ run, triples: iwmTriples(run) }));
  const several = runs.length > 1;
  const total = runs.reduce((sum, { triples }) => sum + triples.length, 0);
  return (
    <section>
      <h3 className={styles.h3}>
        World-model triples <span className={styles.dim}>{String(total)}</span>
      </h3>
      {total === 0 && <p className={styles.dim}>No accepted alternative of the IWM sampler here.</p>}
      {runs
        .filter(({ triples }) => triples.length > 0)
        .map(({ run, triples }) => (
          <div key={run.jobId ?? ''}>
            {several && <RunHeading run={run} />}
            <table className={styles.triples}>
              <thead>
                <tr>
                  <th className={styles.tripleAction}>Action in this state</th>
                  <th>Target: next state</th>
                  <th className={styles.tripleSource}>Source</th>
                </tr>
              </thead>
              <tbody>
                {triples.map((triple) => (
                  <tr key={triple.branchId}>
                    <td>{visibleText(triple.action)}</td>
                    <td>{visibleText(triple.observation)}</td>
                    <td className={triple.purpose === 'expert' ? styles.expertWord : undefined}>
                      {triple.source}
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        ))}
      {datasets.length > 0 && (
        <p className={styles.dim}>
          {'In '}
          {datasets.map((dataset, index) => (
            <span key={dataset.datasetId}>
              {index > 0 && ', '}
              <Link href={`/datasets/${encodeURIComponent(dataset.datasetId)}?tab=rows&part=iwm_sft`}>
                {dataset.name}
              </Link>
            </span>
          ))}
        </p>
      )}
    </section>
  );
}
