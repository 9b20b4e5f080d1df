import { shortId } from '../../../ui/format.ts';
import { TextDiffView } from '../../../ui/viewer/text-diff-view.tsx';
import { visibleText } from '../../../ui/viewer/visible-text.tsx';
import { TwigShape } from './twig-shape.tsx';
import { firstLine, twigKind, twigLabels } from './group-branches.ts';
import type { BranchRun, BranchState } from './group-branches.ts';
import { RunHeading } from './run-heading.tsx';
import type { Branch } from '#shared/schema/branch.ts';
import styles from './branches.module.css';

interface TwigProps {
  state: BranchState;
  opened: string | null;
  onOpen: (branchId: string | null) => void;
}

/** The twigs of one state as a fan of rows, by run; the opened one shows its outcome beside the expert's. */
export function TwigList(props: TwigProps) {
  const { runs, alternatives } = props.state;
  if (alternatives.length === 0)
    return (
      <p className={styles.dim}>
        No alternative was executed from this state. An Early Experience run branches every state of its
        demonstrations.
      </p>
    );
  return runs.map((run) => (
    <div key={run.jobId ?? ''} role="group" aria-label={`Run ${shortId(run.jobId ?? '')}`}>
      {runs.length > 1 && <RunHeading run={run} />}
      <RunTwigs {...props} run={run} />
    </div>
  ));
}

function RunTwigs({ state, run, opened, onOpen }: TwigProps & { run: BranchRun }) {
  const groups: { title: string; help: string; twigs: readonly Branch[] }[] = [
    {
      title: 'World modelling',
      help: 'Alternatives for the implicit world model (IWM)',
      twigs: run.twigs.filter((twig) => twig.purpose === 'iwm'),
    },
    {
      title: 'Self-reflection',
      help: 'Alternatives that the reflection compares (SR)',
      twigs: run.twigs.filter((twig) => twig.purpose === 'sr'),
    },
    {
      title: 'Rejected',
      help: 'The start could not be proved equal; counted, never used',
      twigs: run.rejected,
    },
  ];
  const shown = groups.filter((group) => group.twigs.length > 0);
  return shown.map((group) => (
    <section key={group.title} className={styles.twigGroup}>
      <h3 title={group.help}>
        {group.title}
        <span className={styles.dim}>{` K = ${String(group.twigs.length)}`}</span>
      </h3>
      <div className={styles.twigHead} aria-hidden>
        <span />
        <span>Action</span>
        <span>Outcome, first line</span>
        <span>Against the expert</span>
        <span title="Who chose the action: a uniform draw, the policy, or a refill up to K">Source</span>
      </div>
      <ul className={styles.twigs}>
        {group.twigs.map((twig) => (
          <TwigRow
            key={twig.branchId}
            twig={twig}
            state={state}
            open={twig.branchId === opened}
            onToggle={() => {
              onOpen(twig.branchId === opened ? null : twig.branchId);
            }}
          />
        ))}
      </ul>
    </section>
  ));
}

function TwigRow({
  twig,
  state,
  open,
  onToggle,
}: {
  twig: Branch;
  state: BranchState;
  open: boolean;
  onToggle: () => void;
}) {
  const kind = twigKind(twig);
  return (
    <li data-open={open || undefined}>
      <button
        type="button"
        className={styles.twigRow}
        aria-expanded={open}
        onClick={onToggle}
        data-branch={twig.branchId}
      >
        <svg width="30" height="32" aria-hidden className={styles.twigSvg}>
          <path className={styles.twigLine} fill="none" d="M4 0 V 10 Q 4 16, 12 16 H 20" />
          <path className={styles.twigRest} fill="none" d="M4 10 V 32" />
          <TwigShape kind={kind} x={22} y={16} size={4.5} />
        </svg>
        <span className={styles.twigAction} title={twig.action}>
          {visibleText(twig.action)}
        </span>
        <span className={styles.twigOutcome} title={twig.observation}>
          {visibleText(firstLine(twig.observation))}
        </span>
        <span className={styles.twigKind} data-kind={kind}>
          {twig.success ? 'Reaches the goal' : twigLabels[kind]}
        </span>
        <span className={styles.twigSource}>{twig.source}</span>
      </button>
      {open && (
        <div className={styles.twigOpen}>
          <TextDiffView
            left={state.step.outcome}
            right={twig.observation}
            leftTitle={
              <>
                <span className={styles.expertWord}>Expert</span> {state.step.action}
              </>
            }
            rightTitle={
              <>
                <span className={styles.alternativeWord}>Alternative</span> {twig.action}
              </>
            }
          />
          <TwigFacts twig={twig} />
        </div>
      )}
    </li>
  );
}

function TwigFacts({ twig }: { twig: Branch }) {
  const proof = `${twig.proof.method}, prefix ${String(twig.proof.prefixLength)}, ${
    twig.proof.expectedHash === twig.proof.observedHash
      ? `same start ${twig.proof.observedHash.slice(0, 12)}`
      : `start differs: expected ${twig.proof.expectedHash.slice(0, 12)}, saw ${twig.proof.observedHash.slice(0, 12)}`
  }`;
  const facts: [string, string][] = [
    ['Proof', proof],
    ['Admissible', twig.admissible ? 'yes' : 'no'],
  ];
  if (twig.canonicalAction !== twig.action) facts.push(['Canonical', twig.canonicalAction]);
  if (twig.reward !== 0) facts.push(['Reward', String(twig.reward)]);
  if (twig.rejectReason !== null) facts.push(['Rejected', twig.rejectReason]);
  if (twig.error !== null) facts.push(['Error', `${twig.error.code}: ${twig.error.message}`]);
  if (twig.proposal !== null) {
    facts.push(['Proposed at', `temperature ${String(twig.proposal.temperature)}`]);
    if (twig.proposal.raw.trim() !== twig.action) facts.push(['As written', twig.proposal.raw]);
  }
  return (
    <dl className={styles.twigFacts}>
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
