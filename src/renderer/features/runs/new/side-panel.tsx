import type { UseQueryResult } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import type { Client } from '#shared/contract/index.ts';
import type { RunProblem } from '#shared/schema/run.ts';
import { ErrorState } from '../../../ui/states.tsx';
import { fieldId } from '../../../ui/form/form-context.tsx';
import { withCode } from '../../../ui/text.tsx';
import { EstimateView, ProblemList } from './check-panel.tsx';
import { YamlEditor } from './yaml-editor.tsx';
import styles from './new-run.module.css';

type Check = Awaited<ReturnType<Client['runs']['check']>>;

/** Always in sight: the cost, what is wrong with a way to it, how it differs from the paper, and the text itself. */
export function SidePanel({
  yaml,
  readable,
  check,
  checking,
  problems,
  onEdit,
}: {
  yaml: string;
  readable: boolean;
  check: UseQueryResult<Check>;
  checking: boolean;
  problems: readonly RunProblem[];
  onEdit: (yaml: string) => void;
}) {
  const [goTo, setGoTo] = useState<{ line: number; at: number } | null>(null);
  const badLines = useMemo(
    () =>
      new Set(
        problems.flatMap(({ line, severity }) => (line === null || severity !== 'error' ? [] : [line])),
      ),
    [problems],
  );
  const jump = (problem: RunProblem) => {
    const field = document.getElementById(fieldId(problem.path.split('.')));
    if (field !== null) {
      field.closest('details')?.setAttribute('open', '');
      field.scrollIntoView({ block: 'center' });
      field.focus();
    } else if (problem.line !== null) setGoTo({ line: problem.line, at: Date.now() });
  };
  const deviations = check.data?.deviations ?? [];
  return (
    <div className={`${styles.column} ${styles.side}`}>
      <EstimateView estimate={readable ? (check.data?.estimate ?? null) : null} stale={checking} />
      <ProblemList problems={problems} checking={checking} onJump={jump} />
      {check.isError && <ErrorState title="The run could not be checked" error={check.error} />}
      {deviations.length > 0 && (
        <section className={styles.block}>
          <h2>Differs from the paper</h2>
          {deviations.map(({ label, reason }) => (
            <p key={label} className={styles.dim} style={{ marginBottom: 4 }}>
              <span className={styles.path}>{label}</span> {withCode(reason)}
            </p>
          ))}
        </section>
      )}
      <YamlEditor value={yaml} badLines={badLines} goTo={goTo} onChange={onEdit} />
    </div>
  );
}
