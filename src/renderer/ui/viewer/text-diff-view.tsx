import { Fragment, useMemo } from 'react';
import type { ReactNode } from 'react';
import { sideBySide } from './text-diff.ts';
import type { DiffPart } from './text-diff.ts';
import { visibleText } from './visible-text.tsx';
import styles from './viewer.module.css';

/** Two outcomes of the same state. What only one side says is underlined and tinted on that side. */
export function TextDiffView({
  left,
  right,
  leftTitle,
  rightTitle,
}: {
  left: string;
  right: string;
  leftTitle: ReactNode;
  rightTitle: ReactNode;
}) {
  const diff = useMemo(() => sideBySide(left, right), [left, right]);
  return (
    <div className={styles.diff}>
      <section>
        <h4 className={styles.diffTitle}>{leftTitle}</h4>
        <DiffText parts={diff.left} kind="removed" />
      </section>
      <section>
        <h4 className={styles.diffTitle}>{rightTitle}</h4>
        <DiffText parts={diff.right} kind="added" />
      </section>
      <p className={styles.diffNote}>
        {diff.equal
          ? 'The same text, word for word.'
          : `${String(Math.round(diff.similarity * 100))} % of the words in common`}
      </p>
    </div>
  );
}

function DiffText({ parts, kind }: { parts: readonly DiffPart[]; kind: 'removed' | 'added' }) {
  if (parts.length === 0) return <p className={styles.empty}>no text</p>;
  const Changed = kind === 'removed' ? 'del' : 'ins';
  return (
    <pre className={styles.mono}>
      {parts.map((part, index) =>
        part.changed ? (
          <Changed key={index} className={styles[kind]}>
            {visibleText(part.text)}
          </Changed>
        ) : (
          <Fragment key={index}>{visibleText(part.text)}</Fragment>
        ),
      )}
    </pre>
  );
}
