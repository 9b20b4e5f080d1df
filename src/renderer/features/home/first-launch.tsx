import { Button } from '@mantine/core';
import { IconPlayerPlay } from '@tabler/icons-react';
import { useMutation } from '@tanstack/react-query';
import { Link, useLocation } from 'wouter';
import { orpc, queryClient } from '../../rpc/client.ts';
import { formatAbout, formatInteger, sentence } from '../../ui/format.ts';
import { ErrorState } from '../../ui/states.tsx';
import { usePresetRun } from './preset-run.ts';
import styles from './home.module.css';

export function FirstLaunch() {
  const [, navigate] = useLocation();
  const { model, yaml, check, error } = usePresetRun('quickstart');
  const start = useMutation({
    ...orpc.runs.start.mutationOptions(),
    onSuccess: (job) => {
      void queryClient.invalidateQueries({ queryKey: orpc.jobs.list.key() });
      navigate(`/runs/${encodeURIComponent(job.jobId)}`);
    },
  });
  const estimate = check.data?.estimate;
  const problem = check.data?.problems.find(({ severity }) => severity === 'error');
  return (
    <div className={styles.first}>
      <h2>Daydream lets a local model learn from what its own actions lead to.</h2>
      <p>
        <Button
          size="sm"
          leftSection={<IconPlayerPlay size={16} />}
          disabled={yaml === null || !check.data?.run}
          loading={start.isPending}
          onClick={() => {
            if (yaml !== null) start.mutate({ yaml });
          }}
        >
          Run Early Experience on the bundled world
        </Button>
      </p>
      <p className={styles.dim}>
        {estimate &&
          `${estimate.durationMs === null ? 'A few minutes' : sentence(formatAbout(estimate.durationMs))} on this machine, up to ${formatInteger(estimate.environmentSteps)} environment steps. `}
        {model === null ? (
          <>
            No model is registered yet, so actions are drawn by chance: demonstrations, branches and their
            outcomes are real, and the reflections are left out until you{' '}
            <Link href="/models">add a model</Link>.
          </>
        ) : (
          `The policy is ${model.name}.`
        )}
      </p>
      {problem !== undefined && (
        <ErrorState title="The quick start cannot run as it is" error={new Error(problem.message)} />
      )}
      {error !== null && <ErrorState error={error} />}
      {start.isError && <ErrorState title="The run was not started" error={start.error} />}
    </div>
  );
}
