import { subscript } from '../../ui/viewer/step-text.tsx';
import type { StepSummary } from '../../ui/viewer/step-view.ts';
import { formatDuration, formatInteger } from '../../ui/format.ts';
import { Fact, Section } from './fact.tsx';
import styles from './trajectories.module.css';

/** What decided this step. Both hashes, so that a proof of a branch (the state) and of a replay (the outcome) can be compared. */
export function StepFacts({ step }: { step: StepSummary }) {
  return (
    <Section title={`Step ${String(step.stepIndex)}`}>
      <Fact name="Reward">{step.reward}</Fact>
      <Fact name="Parsed">{step.parseStatus === 'ok' ? 'yes' : step.parseStatus.replace('-', ' ')}</Fact>
      {step.completionTokens > 0 && (
        <Fact name="Sampled">{`${formatInteger(step.completionTokens)} tokens`}</Fact>
      )}
      {step.modelMs > 0 && <Fact name="Model">{formatDuration(step.modelMs)}</Fact>}
      <Fact name="Environment">
        {step.environmentMs === 0 ? '< 1 ms' : formatDuration(step.environmentMs)}
      </Fact>
      <Hash of={step.stepIndex} what="The state shown here" sha256={step.stateHash} />
      <Hash of={step.stepIndex + 1} what="The outcome of the action" sha256={step.observationHash} />
      {step.error !== null && <p className={styles.error}>{`${step.error.code}: ${step.error.message}`}</p>}
    </Section>
  );
}

function Hash({ of, what, sha256 }: { of: number; what: string; sha256: string }) {
  return (
    <Fact
      name={`Hash of s${subscript(of)}`}
      mono
      title={`${what}: SHA-256 of its text and its admissible actions, ${sha256}`}
    >
      {sha256.slice(0, 12)}
    </Fact>
  );
}
