import { useState } from 'react';
import { useMutation, useQuery } from '@tanstack/react-query';
import { Button, Tabs } from '@mantine/core';
import { IconPackageExport, IconSchool, IconShieldCheck, IconTrash } from '@tabler/icons-react';
import { Link, useLocation, useSearchParams } from 'wouter';
import { datasetIdSchema } from '#shared/ids.ts';
import { orpc } from '../../rpc/client.ts';
import { formatDateTime } from '../../ui/format.ts';
import type { PageProps } from '../../ui/viewer/page-props.ts';
import { useKeys } from '../../ui/keys.ts';
import { Page } from '../../ui/page.tsx';
import { ErrorState, LoadingState } from '../../ui/states.tsx';
import { ExportDialog } from './export-dialog.tsx';
import { ManifestView } from './manifest-view.tsx';
import { RemoveDialog } from './remove-dialog.tsx';
import { RowsView } from './rows-view.tsx';
import { UseView } from './use-view.tsx';
import { ValidationResult } from './validation-result.tsx';
import viewer from '../../ui/viewer/viewer.module.css';
import styles from './datasets.module.css';

const tabs = ['manifest', 'rows', 'use'] as const;
const tabLabels = { manifest: 'Manifest', rows: 'Rows', use: 'Use it' };

/** One data set: where it comes from, what is in it, whether its files are whole, and how a trainer reads it. */
export function DatasetPage({ params }: PageProps) {
  const datasetId = datasetIdSchema.parse(params.datasetId);
  const [parameters, setParameters] = useSearchParams();
  const [dialog, setDialog] = useState<'export' | 'remove' | null>(null);
  const tab = tabs.find((name) => name === parameters.get('tab')) ?? 'manifest';
  const dataset = useQuery(orpc.datasets.get.queryOptions({ input: { datasetId } }));
  const validate = useMutation(orpc.datasets.validate.mutationOptions());
  const [, navigate] = useLocation();
  useKeys([
    {
      key: 'Escape',
      label: 'Back to the list',
      run: () => {
        navigate('/datasets');
      },
    },
  ]);
  const breadcrumbs = [{ label: 'Datasets', href: '/datasets' }];
  const close = () => {
    setDialog(null);
  };

  if (dataset.isError)
    return (
      <Page title="Data set" breadcrumb={breadcrumbs}>
        <ErrorState
          error={dataset.error}
          back={{ label: 'All data sets', href: '/datasets' }}
          onRetry={() => void dataset.refetch()}
        />
      </Page>
    );
  if (dataset.isPending)
    return (
      <Page title="Data set" breadcrumb={breadcrumbs}>
        <LoadingState rows={12} />
      </Page>
    );
  const { data } = dataset;
  return (
    <Page
      layout="flush"
      title={data.name}
      breadcrumb={breadcrumbs}
      actions={
        <>
          <Button
            size="xs"
            variant="default"
            leftSection={<IconShieldCheck size={14} />}
            loading={validate.isPending}
            onClick={() => {
              validate.mutate({ datasetId });
            }}
          >
            Validate
          </Button>
          <Button
            size="xs"
            variant="default"
            leftSection={<IconTrash size={14} />}
            onClick={() => {
              setDialog('remove');
            }}
          >
            Remove
          </Button>
          <Button
            size="xs"
            variant="default"
            component={Link}
            href={`/training/new?dataset=${encodeURIComponent(datasetId)}`}
            leftSection={<IconSchool size={14} />}
          >
            Train on it
          </Button>
          {data.jobId !== null && !data.runRemoved && (
            <Button
              size="xs"
              leftSection={<IconPackageExport size={14} />}
              onClick={() => {
                setDialog('export');
              }}
            >
              Export again
            </Button>
          )}
        </>
      }
    >
      <ExportDialog opened={dialog === 'export'} jobId={data.jobId} onClose={close} />
      <RemoveDialog dataset={data} opened={dialog === 'remove'} onClose={close} />
      <div className={styles.page}>
        <div className={styles.subtitle}>
          <code data-folder>{data.folder}</code>
          <span>{formatDateTime(data.createdAt)}</span>
          {data.runRemoved && (
            <span>Its run was removed: the files stay as they are and are not exported again.</span>
          )}
        </div>
        {validate.isError && <ErrorState error={validate.error} />}
        {validate.data !== undefined && <ValidationResult result={validate.data} />}
        <Tabs
          className={styles.tabs}
          value={tab}
          keepMounted={false}
          onChange={(value) => {
            setParameters(
              (before) => {
                const next = new URLSearchParams(before);
                if (value === null || value === 'manifest') next.delete('tab');
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
          <Tabs.Panel value="manifest" className={styles.scrollPanel}>
            <ManifestView dataset={data} runRemoved={data.runRemoved} />
          </Tabs.Panel>
          <Tabs.Panel value="rows" className={styles.fillPanel}>
            <RowsView dataset={data} />
          </Tabs.Panel>
          <Tabs.Panel value="use" className={styles.scrollPanel}>
            <UseView dataset={data} />
          </Tabs.Panel>
        </Tabs>
      </div>
    </Page>
  );
}
