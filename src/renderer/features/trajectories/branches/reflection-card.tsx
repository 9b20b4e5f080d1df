import { Fragment, useEffect, useState } from 'react';
import { Button, TextInput } from '@mantine/core';
import { IconAlertTriangle, IconArrowBackUp, IconCheck, IconTrash } from '@tabler/icons-react';
import type { MarkedReflection } from '#shared/contract/episodes.ts';
import type { Review } from '#shared/schema/branch.ts';
import { findText } from '../../../ui/viewer/find-text.ts';
import { MonoText } from '../../../ui/viewer/mono-text.tsx';
import { visibleText } from '../../../ui/viewer/visible-text.tsx';
import { flagLabels } from '../../../ui/flag-labels.ts';
import { verdictOf } from './reflection-verdict.ts';
import styles from './branches.module.css';

export type Decision = Review['decision'];

const decisions = [
  { decision: 'keep', label: 'Keep', Icon: IconCheck },
  { decision: 'drop', label: 'Drop', Icon: IconTrash },
] as const;

/** A reflection with what the detectors found in it, and the person's decision over the filters'. */
export function ReflectionCard({
  reflection,
  busy,
  onReview,
}: {
  reflection: MarkedReflection;
  busy: boolean;
  onReview: (decision: Decision, reason: string) => void;
}) {
  const verdict = verdictOf(reflection);
  const [reason, setReason] = useState(reflection.review.reason);
  useEffect(() => {
    setReason(reflection.review.reason);
  }, [reflection.reflectionId, reflection.review.reason]);
  const spans = findText(
    reflection.text,
    reflection.flags.map((flag) => flag.evidence),
  );
  return (
    <article className={styles.reflection} aria-label="Reflection">
      <header className={styles.reflectionHead}>
        <span className={styles.verdict} data-kept={verdict.kept}>
          {verdict.kept ? <IconCheck size={14} aria-hidden /> : <IconTrash size={14} aria-hidden />}
          {verdict.text}
        </span>
        <ul className={styles.flags} aria-label="Detector flags">
          {reflection.flags.map(({ flag }, index) => (
            <li key={index} className={styles.flag} title={flagLabels[flag].help}>
              <IconAlertTriangle size={12} aria-hidden />
              {flagLabels[flag].label}
            </li>
          ))}
        </ul>
        <span className={styles.dim}>
          {`${reflection.generatorLabel}, attempt ${String(reflection.attempt + 1)}, ${String(reflection.branchIds.length)} alternatives shown`}
        </span>
      </header>
      {reflection.flags.length > 0 && (
        <dl className={styles.found} aria-label="What the detectors found">
          {reflection.flags.map(({ flag, evidence }, index) => (
            <Fragment key={index}>
              <dt>{flagLabels[flag].label}</dt>
              <dd>{visibleText(evidence)}</dd>
            </Fragment>
          ))}
        </dl>
      )}
      <div className={styles.reflectionText}>
        {reflection.text === '' ? (
          <span className={styles.dim}>The model wrote nothing.</span>
        ) : (
          <p>
            {spans.map((span, index) =>
              span.match === null ? (
                <Fragment key={index}>{visibleText(span.text)}</Fragment>
              ) : (
                <mark
                  key={index}
                  className={styles.evidence}
                  title={flagLabels[reflection.flags[span.match]?.flag ?? 'empty'].label}
                >
                  {visibleText(span.text)}
                </mark>
              ),
            )}
          </p>
        )}
      </div>
      <details className={styles.generator}>
        <summary>Prompt and raw answer of the generator</summary>
        <MonoText text={reflection.prompt} />
        <h4 className={styles.dim}>Raw answer</h4>
        <MonoText text={reflection.raw} empty="nothing" />
      </details>
      {!reflection.runRemoved && (
        <footer className={styles.reflectionFoot}>
          <TextInput
            size="xs"
            className={styles.reason}
            aria-label="Reason for the decision"
            placeholder="Reason (optional, stored with the decision)"
            maxLength={2000}
            value={reason}
            onChange={(event) => {
              setReason(event.currentTarget.value);
            }}
          />
          {decisions.map(({ decision, label, Icon }) => (
            <Button
              key={decision}
              size="xs"
              data-decision={decision}
              variant={reflection.review.decision === decision ? 'filled' : 'default'}
              disabled={busy}
              leftSection={<Icon size={14} />}
              onClick={() => {
                onReview(decision, reason);
              }}
            >
              {label}
            </Button>
          ))}
          <Button
            size="xs"
            variant="subtle"
            disabled={busy || reflection.review.decision === 'pending'}
            leftSection={<IconArrowBackUp size={14} />}
            onClick={() => {
              onReview('pending', '');
            }}
          >
            Undo
          </Button>
        </footer>
      )}
    </article>
  );
}
