import { Button } from '@mantine/core';
import { Link } from 'wouter';
import { formatAbout, formatInteger, sentence } from '../../ui/format.ts';
import { usePresetRun } from './preset-run.ts';
import styles from './home.module.css';

/** Where one starts most often, each with what it will cost here. */
export function StartCards() {
  // The larger collection is for a model that can read its prompts; the bundled one, and what was made from it, has the quick start.
  const larger = usePresetRun('early-experience-small');
  return (
    <div className={styles.cards}>
      <RunCard presetId="quickstart" />
      {larger.own && <RunCard presetId="early-experience-small" />}
      <RunCard presetId="rollout-quick" />
      <section className={styles.card}>
        <h2>Play a task yourself</h2>
        <p className={styles.dim}>
          Act in the household by hand, see what the agent sees, and record a success as a demonstration.
        </p>
        <div className={styles.cardFoot}>
          <Button component={Link} href="/environments" variant="default">
            Choose a task
          </Button>
        </div>
      </section>
    </div>
  );
}

function RunCard({ presetId }: { presetId: string }) {
  const { preset, model, href, check, error } = usePresetRun(presetId);
  const estimate = check.data?.estimate;
  const cost =
    error !== null
      ? 'The estimate could not be made.'
      : !estimate
        ? check.isPending
          ? ' '
          : 'Choose a model to see what it costs here.'
        : `${estimate.durationMs === null ? 'Time not measured yet' : sentence(`${formatAbout(estimate.durationMs)} on this machine`)}, up to ${formatInteger(estimate.environmentSteps)} environment steps and ${formatInteger(estimate.modelCalls)} model calls${model === null ? ', drawn by chance without a model' : ` with ${model.name}`}.`;
  return (
    <section className={styles.card}>
      <h2>{preset?.title ?? ' '}</h2>
      <p className={styles.dim}>{preset?.summary ?? ' '}</p>
      <p className={styles.dim}>{cost}</p>
      <div className={styles.cardFoot}>
        <Button component={Link} href={href} variant="default">
          Set up
        </Button>
      </div>
    </section>
  );
}
