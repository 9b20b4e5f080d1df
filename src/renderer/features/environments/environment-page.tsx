import { useQuery } from '@tanstack/react-query';
import { Tabs } from '@mantine/core';
import { useLocation, useSearchParams } from 'wouter';
import { environmentIdSchema } from '#shared/ids.ts';
import { orpc } from '../../rpc/client.ts';
import type { PageProps } from '../../ui/viewer/page-props.ts';
import { useKeys } from '../../ui/keys.ts';
import { Page } from '../../ui/page.tsx';
import { ErrorState, LoadingState } from '../../ui/states.tsx';
import { ConformancePanel } from './conformance-panel.tsx';
import { EnvironmentFacts } from './environment-facts.tsx';
import { RemoveEnvironment } from './remove-environment.tsx';
import { TaskBrowser } from './task-browser.tsx';
import { WriteTasks } from './write-tasks.tsx';
import viewer from '../../ui/viewer/viewer.module.css';
import styles from './environments.module.css';

const tabs = ['tasks', 'about', 'conformance'] as const;
const tabLabels = { tasks: 'Tasks', about: 'About', conformance: 'Conformance' };

/** One world: its tasks to play, what it is, and the proof that it keeps the environment contract. */
export function EnvironmentPage({ params }: PageProps) {
  const id = environmentIdSchema.safeParse(params.environmentId);
  const [parameters, setParameters] = useSearchParams();
  const tab = tabs.find((name) => name === parameters.get('tab')) ?? 'tasks';
  const environment = useQuery({
    ...orpc.environments.get.queryOptions({
      input: { environmentId: id.data ?? environmentIdSchema.parse('unknown') },
    }),
    staleTime: 60_000,
  });
  const [, navigate] = useLocation();
  useKeys([
    {
      key: 'Escape',
      label: 'Back to the list',
      run: () => {
        navigate('/environments');
      },
    },
  ]);
  const breadcrumbs = [{ label: 'Environments', href: '/environments' }];
  if (environment.isError)
    return (
      <Page title={params.environmentId ?? 'Environment'} breadcrumb={breadcrumbs}>
        <ErrorState
          error={environment.error}
          back={{ label: 'All environments', href: '/environments' }}
          onRetry={() => void environment.refetch()}
        />
      </Page>
    );
  if (environment.isPending)
    return (
      <Page title={params.environmentId ?? 'Environment'} breadcrumb={breadcrumbs}>
        <LoadingState rows={12} />
      </Page>
    );
  const world = environment.data;
  return (
    <Page
      layout="flush"
      title={world.title}
      breadcrumb={breadcrumbs}
      actions={
        <>
          {world.family === 'household' && world.folder === null && <WriteTasks environment={world} />}
          {world.folder !== null && <RemoveEnvironment environment={world} />}
        </>
      }
    >
      <Tabs
        className={styles.tabs}
        value={tab}
        keepMounted={false}
        onChange={(value) => {
          setParameters(
            (before) => {
              const next = new URLSearchParams(before);
              if (value === null || value === 'tasks') next.delete('tab');
              else next.set('tab', value);
              return next;
            },
            { replace: true },
          );
        }}
      >
        <Tabs.List className={viewer.tabList ?? ''}>
          {tabs.map((name) => (
            <Tabs.Tab key={name} value={name} className={viewer.tab ?? ''}>
              {tabLabels[name]}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        <Tabs.Panel value="tasks" className={styles.fillPanel}>
          <TaskBrowser environment={world} />
        </Tabs.Panel>
        <Tabs.Panel value="about" className={styles.scrollPanel}>
          <EnvironmentFacts environment={world} />
        </Tabs.Panel>
        <Tabs.Panel value="conformance" className={styles.scrollPanel}>
          <ConformancePanel environment={world} />
        </Tabs.Panel>
      </Tabs>
    </Page>
  );
}
