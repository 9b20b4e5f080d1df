import { MonoText } from '../../../ui/viewer/mono-text.tsx';
import { Block } from '../../../ui/viewer/step-text.tsx';
import type { BranchState } from './group-branches.ts';
import { ReflectionCard } from './reflection-card.tsx';
import { Triples } from './triples.tsx';
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
      <Triples state={state} datasets={datasets} />
    </div>
  );
}
