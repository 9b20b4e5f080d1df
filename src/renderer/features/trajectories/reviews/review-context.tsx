import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import type { Reflection } from '#shared/schema/branch.ts';
import { orpc } from '../../../rpc/client.ts';
import { ErrorState, LoadingState } from '../../../ui/states.tsx';
import { MonoText } from '../../../ui/viewer/mono-text.tsx';
import { Block } from '../../../ui/viewer/step-text.tsx';
import { viewEpisode } from '../../../ui/viewer/step-view.ts';
import { TwigShape } from '../branches/twig-shape.tsx';
import { firstLine, twigKind, twigLabels } from '../branches/group-branches.ts';
import styles from '../branches/branches.module.css';

/** What the reflection is about, so that it can be judged without leaving the queue: state, expert, the alternatives shown. */
export function ReviewContext({ reflection }: { reflection: Reflection }) {
  const { episodeId, stepIndex } = reflection;
  const episode = useQuery({
    ...orpc.episodes.get.queryOptions({ input: { episodeId } }),
    staleTime: 60_000,
  });
  const branches = useQuery({
    ...orpc.episodes.branches.queryOptions({ input: { episodeId } }),
    staleTime: 60_000,
  });
  const failed = [episode, branches].find((query) => query.isError);
  if (failed?.error) return <ErrorState error={failed.error} onRetry={() => void failed.refetch()} />;
  if (episode.data === undefined || branches.data === undefined) return <LoadingState rows={5} />;
  const step = viewEpisode(episode.data.episode, episode.data.steps)[stepIndex];
  const shown = branches.data.filter((branch) => reflection.branchIds.includes(branch.branchId));
  return (
    <>
      <p className={styles.reviewTask}>
        {episode.data.episode.instruction}
        <Link
          href={`/trajectories/${encodeURIComponent(episodeId)}/branches?step=${String(stepIndex)}`}
        >{`State ${String(stepIndex)} in the tree`}</Link>
      </p>
      <Block label="State">
        <MonoText text={step?.state ?? ''} />
      </Block>
      <div className={styles.expertBox}>
        <span className={styles.expertWord}>Expert</span>
        <code>{reflection.expertAction}</code>
        <span className={styles.dim}>{step?.outcome}</span>
      </div>
      <ul className={styles.shown} aria-label="Alternatives shown to the generator">
        {shown.map((branch) => (
          <li key={branch.branchId} title={twigLabels[twigKind(branch)]}>
            <svg width="12" height="12" aria-hidden>
              <TwigShape kind={twigKind(branch)} x={6} y={6} />
            </svg>
            <code>{branch.action}</code>
            <span className={styles.twigOutcome}>{firstLine(branch.observation)}</span>
          </li>
        ))}
      </ul>
    </>
  );
}
