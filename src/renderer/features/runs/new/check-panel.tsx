import { IconAlertTriangle, IconCheck, IconX } from '@tabler/icons-react';
import type { RunEstimate, RunProblem } from '#shared/schema/run.ts';
import { formatAbout, formatBytes, formatCompact, formatInteger } from '../../../ui/format.ts';
import { Stat } from '../../../ui/text.tsx';
import styles from './new-run.module.css';

/** What the run will cost, before it starts. Upper bounds, as the host says them. */
export function EstimateView({ estimate, stale }: { estimate: RunEstimate | null; stale: boolean }) {
  const number = (value: number) => ({ value: formatCompact(value), title: formatInteger(value) });
  const atMost = (value: number | undefined) =>
    value === undefined
      ? { value: '–' }
      : { value: `≤ ${formatCompact(value)}`, title: `at most ${formatInteger(value)}` };
  const show = (value: number | null | undefined) =>
    value === null || value === undefined ? { value: '–' } : number(value);
  return (
    <section className={styles.block} aria-label="Estimate" aria-busy={stale}>
      <h2>Estimate</h2>
      <div className={stale ? `${styles.numbers} ${styles.stale}` : styles.numbers}>
        <Stat
          label="Time on this machine"
          value={
            estimate === null
              ? '–'
              : estimate.durationMs === null
                ? 'not measured yet'
                : formatAbout(estimate.durationMs)
          }
          title="From the model’s measured speed. Test the model on its page to measure it."
        />
        <Stat label="Demonstrations" {...show(estimate?.demonstrations)} />
        <Stat label="Environment steps" {...atMost(estimate?.environmentSteps)} />
        <Stat label="Model calls" {...atMost(estimate?.modelCalls)} />
        <Stat label="Tokens read" {...atMost(estimate?.promptTokens)} />
        <Stat label="Tokens written" {...atMost(estimate?.completionTokens)} />
        <Stat
          label="Memory"
          value={typeof estimate?.memoryBytes !== 'number' ? '–' : formatBytes(estimate.memoryBytes)}
        />
        <Stat label="Disk" value={estimate === null ? '–' : formatBytes(estimate.diskBytes)} />
      </div>
    </section>
  );
}

export function ProblemList({
  problems,
  checking,
  onJump,
}: {
  problems: readonly RunProblem[];
  checking: boolean;
  onJump: (problem: RunProblem) => void;
}) {
  return (
    <section className={styles.block} aria-label="Problems">
      <h2>Problems</h2>
      {problems.length === 0 && (
        <p className={styles.dim}>
          {checking ? (
            'Checking…'
          ) : (
            <>
              <IconCheck size={13} color="var(--dd-success)" style={{ verticalAlign: -2 }} /> None: this run
              can start.
            </>
          )}
        </p>
      )}
      {problems.map((problem) => (
        <button
          key={`${problem.path}${problem.message}`}
          type="button"
          className={problem.severity === 'error' ? styles.problem : `${styles.problem} ${styles.warning}`}
          onClick={() => {
            onJump(problem);
          }}
        >
          {problem.severity === 'error' ? (
            <IconX size={14} aria-label="Error" />
          ) : (
            <IconAlertTriangle size={14} aria-label="Warning" />
          )}
          <span>
            {problem.path !== '' && <span className={styles.path}>{problem.path}</span>}
            {problem.line !== null && <span className={styles.dim}>{` line ${String(problem.line)}`}</span>}
            {problem.path !== '' && <br />}
            {problem.message}
          </span>
        </button>
      ))}
    </section>
  );
}
