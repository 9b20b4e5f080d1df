import { useQuery } from '@tanstack/react-query';
import { IconAlertTriangle, IconCircleCheck, IconCircleDashed } from '@tabler/icons-react';
import type { EnvironmentId } from '#shared/ids.ts';
import { orpc } from '../../rpc/client.ts';
import { Time } from '../../ui/text.tsx';
import styles from './environments.module.css';

/** The last conformance check in one line: never run, all rules hold, or how many do not. */
export function CheckState({ environmentId }: { environmentId: EnvironmentId }) {
  const check = useQuery(orpc.environments.lastCheck.queryOptions({ input: { environmentId } }));
  if (check.isPending) return <span className={styles.check}>…</span>;
  if (check.isError) return <span className={styles.check}>Check state unknown</span>;
  if (check.data === null)
    return (
      <span className={styles.check}>
        <IconCircleDashed size={14} aria-hidden /> Not checked here yet
      </span>
    );
  const failed = check.data.rules.filter((rule) => !rule.passed).length;
  return (
    <span className={styles.check} data-state={failed === 0 ? 'passed' : 'failed'}>
      {failed === 0 ? <IconCircleCheck size={14} aria-hidden /> : <IconAlertTriangle size={14} aria-hidden />}
      {failed === 0
        ? `${String(check.data.rules.length)} rules hold`
        : `${String(failed)} of ${String(check.data.rules.length)} rules broken`}
      <span className={styles.dim}>
        <Time at={check.data.at} />
      </span>
    </span>
  );
}
