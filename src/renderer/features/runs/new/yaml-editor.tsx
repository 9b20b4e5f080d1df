import { useEffect, useRef } from 'react';
import styles from './new-run.module.css';

/** The text of the run with line numbers; lines with a problem are marked. `goTo` scrolls to a line and selects it. */
export function YamlEditor({
  value,
  badLines,
  goTo,
  onChange,
}: {
  value: string;
  badLines: ReadonlySet<number>;
  goTo: { line: number; at: number } | null;
  onChange: (value: string) => void;
}) {
  const area = useRef<HTMLTextAreaElement>(null);
  const gutter = useRef<HTMLDivElement>(null);
  const lines = value.split('\n');
  useEffect(() => {
    const element = area.current;
    if (goTo === null || element === null) return;
    const all = element.value.split('\n');
    const start = all.slice(0, goTo.line - 1).reduce((sum, line) => sum + line.length + 1, 0);
    element.focus();
    element.setSelectionRange(start, start + (all[goTo.line - 1]?.length ?? 0));
    element.scrollTop = Math.max(0, (goTo.line - 4) * 18);
  }, [goTo]);
  return (
    <div className={styles.editor}>
      <div className={styles.gutter} ref={gutter} aria-hidden>
        {lines.map((_, index) => (
          <div key={index} className={badLines.has(index + 1) ? styles.badLine : undefined}>
            {index + 1}
          </div>
        ))}
      </div>
      <textarea
        ref={area}
        className={styles.text}
        aria-label="YAML of the run"
        spellCheck={false}
        autoCapitalize="off"
        wrap="off"
        value={value}
        onChange={(event) => {
          onChange(event.currentTarget.value);
        }}
        onScroll={(event) => {
          if (gutter.current !== null) gutter.current.scrollTop = event.currentTarget.scrollTop;
        }}
      />
    </div>
  );
}
