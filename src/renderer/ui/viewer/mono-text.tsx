import { Fragment, useMemo } from 'react';
import { findText } from './find-text.ts';
import { visibleText } from './visible-text.tsx';
import styles from './viewer.module.css';

/** What a model or an environment said: wrapped, never truncated; matches of a search marked. */
export function MonoText({
  text,
  search = '',
  empty = 'nothing',
}: {
  text: string;
  search?: string;
  empty?: string;
}) {
  const spans = useMemo(() => findText(text, search === '' ? [] : [search]), [text, search]);
  if (text === '') return <p className={styles.empty}>{empty}</p>;
  return (
    <pre className={styles.mono}>
      {spans.map((span, index) =>
        span.match === null ? (
          <Fragment key={index}>{visibleText(span.text)}</Fragment>
        ) : (
          <mark key={index}>{visibleText(span.text)}</mark>
        ),
      )}
    </pre>
  );
}
