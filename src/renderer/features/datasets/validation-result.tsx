import { IconAlertTriangle, IconCircleCheck } from '@tabler/icons-react';
import styles from './datasets.module.css';

export interface Validation {
  ok: boolean;
  problems: { file: string; line: number | null; reason: string }[];
}

/** What reading every line and checksum again found. */
export function ValidationResult({ result }: { result: Validation }) {
  return (
    <div className={styles.validation} data-ok={result.ok} role="status">
      {result.ok ? <IconCircleCheck size={16} aria-hidden /> : <IconAlertTriangle size={16} aria-hidden />}
      {result.ok ? (
        <span>Valid: every line parses and every checksum is that of the manifest.</span>
      ) : (
        <div>
          <p>{`${String(result.problems.length)} ${result.problems.length === 1 ? 'problem' : 'problems'}. The files are unchanged; export the run again to replace them.`}</p>
          <ul>
            {result.problems.slice(0, 100).map((problem, index) => (
              <li key={index}>
                <code>
                  {problem.line === null ? problem.file : `${problem.file}:${String(problem.line)}`}
                </code>{' '}
                {problem.reason}
              </li>
            ))}
          </ul>
          {result.problems.length > 100 && <p>{`and ${String(result.problems.length - 100)} more`}</p>}
        </div>
      )}
    </div>
  );
}
