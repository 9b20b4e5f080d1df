import { Link } from 'wouter';
import { visibleText } from '../../../ui/viewer/visible-text.tsx';
import type { BranchState } from './group-branches.ts';
import { RunHeading } from './run-heading.tsx';
import styles from './branches.module.css';

function whyNone({ runs }: BranchState): string {
  const all = runs.flatMap(({ twigs, rejected }) => [...twigs, ...rejected]);
  if (all.some(({ inIwm }) => inIwm === null))
    return 'The run that branched here was removed, and with it what it writes into iwm_sft.';
  return all.some(({ purpose }) => purpose === 'iwm')
    ? 'No accepted alternative of the IWM sampler has an outcome to predict.'
    : 'This run writes no world-model rows: its IWM sampler is off.';
}

/** The rows that world modelling takes from this state, by the run that executed them, and the data sets that they went into. */
export function Triples({
  state,
  datasets,
}: {
  state: BranchState;
  datasets: readonly { datasetId: string; name: string }[];
}) {
  const several = state.runs.length > 1;
  const total = state.runs.reduce((sum, { triples }) => sum + triples.length, 0);
  return (
    <section>
      <h3 className={styles.h3}>
        World-model triples <span className={styles.dim}>{String(total)}</span>
      </h3>
      {total === 0 && <p className={styles.dim}>{whyNone(state)}</p>}
      {state.runs
        .filter(({ triples }) => triples.length > 0)
        .map((run) => (
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
                {run.triples.map((triple) => (
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
