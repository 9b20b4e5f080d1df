import { useState } from 'react';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Button, NumberInput } from '@mantine/core';
import { IconAlertTriangle, IconCircleCheck } from '@tabler/icons-react';
import type { EnvironmentDescription } from '#shared/schema/environment.ts';
import { orpc } from '../../rpc/client.ts';
import { formatDateTime, formatInteger } from '../../ui/format.ts';
import { EmptyState, ErrorState, LoadingState } from '../../ui/states.tsx';
import styles from './environments.module.css';

/** Runs the conformance suite on a sample of each split and shows rule by rule what was checked. */
export function ConformancePanel({ environment }: { environment: EnvironmentDescription }) {
  const environmentId = environment.id;
  const queries = useQueryClient();
  const [tasks, setTasks] = useState(20);
  const last = useQuery(orpc.environments.lastCheck.queryOptions({ input: { environmentId } }));
  const check = useMutation({
    ...orpc.environments.check.mutationOptions(),
    onSuccess: (result) => {
      queries.setQueryData(orpc.environments.lastCheck.queryKey({ input: { environmentId } }), result);
    },
  });
  const run = () => {
    check.mutate({ environmentId, tasksPerSplit: tasks });
  };
  return (
    <div className={styles.about}>
      <div className={styles.checkBar}>
        <NumberInput
          size="xs"
          label="Tasks of each split"
          min={1}
          max={5000}
          allowDecimal={false}
          value={tasks}
          onChange={(value) => {
            if (typeof value === 'number' && value >= 1) setTasks(Math.min(5000, value));
          }}
        />
        <Button size="xs" loading={check.isPending} onClick={run}>
          Check
        </Button>
        <span className={styles.dim}>
          {check.isPending
            ? `Playing ${formatInteger(tasks)} tasks of each split by the expert, at random and by replay…`
            : last.data
              ? `Last checked ${formatDateTime(last.data.at)}`
              : ''}
        </span>
      </div>
      {check.isError && <ErrorState error={check.error} onRetry={run} />}
      {last.isError ? (
        <ErrorState error={last.error} onRetry={() => void last.refetch()} />
      ) : last.isPending ? (
        <LoadingState rows={8} />
      ) : last.data === null ? (
        <EmptyState title="Not checked on this machine yet">
          The check plays a sample of every split: same seed gives the same observations, the expert reaches
          every goal, an invalid action costs a step and nothing else, a branch equals a replay.
        </EmptyState>
      ) : (
        <table className={styles.rules} aria-label="Conformance rules">
          <thead>
            <tr>
              <th>Rule</th>
              <th>Result</th>
              <th className={styles.number}>Checked</th>
              <th>Detail</th>
            </tr>
          </thead>
          <tbody>
            {last.data.rules.map((rule) => (
              <tr key={rule.rule} data-passed={rule.passed}>
                <td>{rule.rule}</td>
                <td>
                  <span className={styles.check} data-state={rule.passed ? 'passed' : 'failed'}>
                    {rule.passed ? (
                      <IconCircleCheck size={14} aria-hidden />
                    ) : (
                      <IconAlertTriangle size={14} aria-hidden />
                    )}
                    {rule.passed ? 'holds' : 'broken'}
                  </span>
                </td>
                <td className={styles.number}>{`${formatInteger(rule.checked)} ${rule.unit}`}</td>
                <td className={styles.ruleDetail}>{rule.detail}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </div>
  );
}
