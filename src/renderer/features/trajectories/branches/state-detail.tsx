import { Link } from 'wouter';
import { MonoText } from '../../../ui/viewer/mono-text.tsx';
import { Block } from '../../../ui/viewer/step-text.tsx';
import { iwmTriples } from './group-branches.ts';
import type { BranchState } from './group-branches.ts';
import { ReflectionCard } from './reflection-card.tsx';
import { TwigList } from './twig-list.tsx';
import { reviewInput, useReview } from './use-review.ts';
import styles from './branches.module.css';

/** One state of the trunk: what the expert saw and did, the twigs, and the training rows that came of them. */
export function StateDetail({
  state,
  datasets,
  opened,
  onOpen,
}: {
  state: BranchState;
  datasets: readonly { datasetId: string; name: string }[];
  opened: string | null;
  onOpen: (branchId: string | null) => void;
}) {
  const review = useReview();
  const triples = iwmTriples(state);
  return (
    <div className={styles.detail}>
      <Block label={`State ${String(state.step.index)}`}>
        <MonoText text={state.step.state} />
      </Block>
      <div className={styles.expertBox}>
        <span className={styles.expertWord}>Expert</span>
        <code>{state.step.action}</code>
        <span className={styles.dim}>{state.step.outcome}</span>
      </div>
      <section aria-label="Alternatives">
        <TwigList state={state} opened={opened} onOpen={onOpen} />
      </section>
      <section>
        <h3 className={styles.h3}>
          Reflection <span className={styles.dim}>{String(state.reflections.length)}</span>
        </h3>
        {state.reflections.length === 0 && <p className={styles.dim}>None was written for this state.</p>}
        <div className={styles.stack}>
          {state.reflections.map((reflection) => (
            <ReflectionCard
              key={reflection.reflectionId}
              reflection={reflection}
              busy={review.isPending}
              onReview={(decision, reason) => {
                review.mutate(reviewInput(reflection, decision, reason));
              }}
            />
          ))}
        </div>
      </section>
      <section>
        <h3 className={styles.h3}>
          World-model triples <span className={styles.dim}>{String(triples.length)}</span>
        </h3>
        {triples.length === 0 ? (
          <p className={styles.dim}>No accepted alternative of the IWM sampler here.</p>
        ) : (
          <table className={styles.triples}>
            <thead>
              <tr>
                <th>Action in this state</th>
                <th>Target: next state</th>
                <th>Source</th>
              </tr>
            </thead>
            <tbody>
              {triples.map((triple) => (
                <tr key={triple.branchId}>
                  <td>{triple.action}</td>
                  <td>{triple.observation}</td>
                  <td className={triple.purpose === 'expert' ? styles.expertWord : undefined}>
                    {triple.source}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        )}
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
    </div>
  );
}
