import { useState } from 'react';
import { useQuery } from '@tanstack/react-query';
import { Button } from '@mantine/core';
import { IconFolderPlus } from '@tabler/icons-react';
import { Link } from 'wouter';
import type { EnvironmentDescription } from '#shared/schema/environment.ts';
import { orpc } from '../../rpc/client.ts';
import { formatInteger } from '../../ui/format.ts';
import { Page } from '../../ui/page.tsx';
import { EmptyState, ErrorState, LoadingState } from '../../ui/states.tsx';
import { AddAlfworld } from './add-alfworld.tsx';
import { CheckState } from './check-state.tsx';
import { RemoveEnvironment } from './remove-environment.tsx';
import styles from './environments.module.css';

/** Every world of this installation: bundled ones and the folders that the user added. */
export function EnvironmentsPage() {
  const environments = useQuery(orpc.environments.list.queryOptions());
  const missing = useQuery(orpc.environments.missing.queryOptions());
  const [adding, setAdding] = useState(false);
  return (
    <Page
      title="Environments"
      actions={
        <Button
          size="xs"
          variant="default"
          leftSection={<IconFolderPlus size={14} />}
          onClick={() => {
            setAdding(true);
          }}
        >
          Add ALFWorld games
        </Button>
      }
    >
      <AddAlfworld
        opened={adding}
        onClose={() => {
          setAdding(false);
        }}
      />
      {(missing.data ?? []).map(({ environmentId, folder }) => (
        <div key={environmentId} className={styles.away}>
          <code>{environmentId}</code>
          {`is away: its games are read from ${folder}, where none can be read now. Bring the folder back, or remove it.`}
          <RemoveEnvironment environment={{ id: environmentId, folder }} />
        </div>
      ))}
      {environments.isError ? (
        <ErrorState error={environments.error} onRetry={() => void environments.refetch()} />
      ) : environments.isPending ? (
        <LoadingState rows={8} />
      ) : environments.data.length === 0 ? (
        <EmptyState
          title="No environment"
          action={
            <Button
              onClick={() => {
                setAdding(true);
              }}
            >
              {'Add ALFWorld games'}
            </Button>
          }
        >
          This installation brings no world. Add a folder of official ALFWorld games.
        </EmptyState>
      ) : (
        <ul className={styles.worlds}>
          {environments.data.map((environment) => (
            <World key={environment.id} environment={environment} />
          ))}
        </ul>
      )}
    </Page>
  );
}

function World({ environment }: { environment: EnvironmentDescription }) {
  const total = environment.splits.reduce((sum, split) => sum + split.tasks, 0);
  return (
    <li className={styles.world}>
      <div className={styles.worldMain}>
        <h2>
          <Link href={`/environments/${environment.id}`}>{environment.title}</Link>
          <code>{environment.id}</code>
        </h2>
        <p>{environment.summary}</p>
        <p className={styles.dim}>
          {`Benchmark: ${environment.standsBeside}. ${environment.taskTypes.length === 1 ? '1 task type' : `${String(environment.taskTypes.length)} task types`}. ${environment.licence}. Version ${environment.version}, data `}
          <code title={environment.dataChecksum}>{environment.dataChecksum.slice(0, 12)}</code>
          {environment.folder !== null && `, from ${environment.folder}`}.
        </p>
      </div>
      <SplitSizes environment={environment} total={total} />
      <div className={styles.worldState}>
        <CheckState environmentId={environment.id} />
        <Button size="xs" variant="default" component={Link} href={`/environments/${environment.id}`}>
          Browse and play
        </Button>
      </div>
    </li>
  );
}

export function SplitSizes({ environment, total }: { environment: EnvironmentDescription; total: number }) {
  return (
    <dl className={styles.splits}>
      {environment.splits.map((split) => (
        <div key={split.split}>
          <dt>{split.split}</dt>
          <dd>{formatInteger(split.tasks)}</dd>
        </div>
      ))}
      <div className={styles.splitTotal}>
        <dt>tasks</dt>
        <dd>{formatInteger(total)}</dd>
      </div>
    </dl>
  );
}
