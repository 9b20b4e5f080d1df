import { Button, CopyButton } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { notifications } from '@mantine/notifications';
import { IconPlayerPlay } from '@tabler/icons-react';
import { keepPreviousData, useMutation, useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { useLocation } from 'wouter';
import type { RunProblem } from '#shared/schema/run.ts';
import { orpc, queryClient } from '../../../rpc/client.ts';
import { errorRecord } from '../../../rpc/errors.ts';
import { useKeys } from '../../../ui/keys.ts';
import { Page } from '../../../ui/page.tsx';
import { EmptyState, ErrorState, LoadingState } from '../../../ui/states.tsx';
import { RunForm } from '../form/run-form.tsx';
import { readDraft } from '../form/yaml-draft.ts';
import { PresetList } from './preset-list.tsx';
import { SavePreset } from './save-preset.tsx';
import { SidePanel } from './side-panel.tsx';
import { useRunDraft } from './use-draft.ts';
import styles from './new-run.module.css';

/** Preset → form ↔ YAML of the same run, checked and estimated as one types. */
export default function NewRunPage() {
  const [, navigate] = useLocation();
  const presets = useQuery(orpc.runs.presets.queryOptions({ staleTime: 60_000 }));
  const draft = useRunDraft(presets.data ?? []);
  const yaml = draft.yaml ?? '';
  const [settled] = useDebouncedValue(yaml, 250);
  const check = useQuery({
    ...orpc.runs.check.queryOptions({ input: { yaml: settled } }),
    enabled: settled.trim() !== '',
    placeholderData: keepPreviousData,
    gcTime: 30_000,
  });
  const checking = settled !== yaml || check.isFetching;
  const parsed = useMemo(() => readDraft(yaml), [yaml]);
  const problems = useMemo<readonly RunProblem[]>(
    () =>
      parsed.ok
        ? (check.data?.problems ?? [])
        : [{ path: '', message: parsed.message, severity: 'error', line: parsed.line }],
    [parsed, check.data],
  );
  const start = useMutation({
    ...orpc.runs.start.mutationOptions(),
    onSuccess: (job) => {
      draft.forget();
      void queryClient.invalidateQueries({ queryKey: orpc.jobs.list.key() });
      navigate(`/runs/${encodeURIComponent(job.jobId)}`);
    },
  });
  const removePreset = useMutation({
    ...orpc.runs.removePreset.mutationOptions(),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: orpc.runs.presets.key() }),
    onError: (error) => notifications.show({ color: 'red', message: errorRecord(error).message }),
  });
  const canStart =
    parsed.ok &&
    !checking &&
    Boolean(check.data?.run) &&
    !problems.some(({ severity }) => severity === 'error');
  const begin = () => {
    if (canStart && !start.isPending) start.mutate({ yaml });
  };
  useKeys([
    { key: 'Mod+Enter', label: 'Start the run', run: begin },
    {
      key: 'Escape',
      label: 'Back to the runs',
      run: () => {
        navigate('/runs');
      },
    },
  ]);
  return (
    <Page
      title="New run"
      breadcrumb={[{ label: 'Runs', href: '/runs' }]}
      layout="flush"
      actions={
        <>
          {draft.changed && (
            <Button variant="subtle" color="gray" onClick={draft.reset}>
              Reset
            </Button>
          )}
          <CopyButton value={check.data?.command ?? ''}>
            {({ copied, copy }) => (
              <Button
                variant="default"
                disabled={check.data === undefined || check.data.command === ''}
                onClick={copy}
              >
                {copied ? 'Copied' : 'Copy command'}
              </Button>
            )}
          </CopyButton>
          <SavePreset yaml={yaml} disabled={!parsed.ok} onSaved={draft.choose} />
          <Button
            leftSection={<IconPlayerPlay size={14} />}
            disabled={!canStart}
            loading={start.isPending}
            onClick={begin}
          >
            Start
          </Button>
        </>
      }
    >
      <div className={styles.layout}>
        <div className={`${styles.column} ${styles.presets}`}>
          {presets.isPending ? (
            <LoadingState rows={5} rowHeight={48} />
          ) : presets.isError ? (
            <ErrorState error={presets.error} onRetry={() => void presets.refetch()} />
          ) : (
            <PresetList
              presets={presets.data}
              selected={draft.presetId}
              onChoose={draft.choose}
              onRemove={(presetId) => {
                removePreset.mutate({ presetId });
              }}
            />
          )}
        </div>
        <div className={`${styles.column} ${styles.form}`}>
          {start.isError && <ErrorState title="The run was not started" error={start.error} />}
          {draft.error !== null && (
            <ErrorState title="The run to copy could not be read" error={draft.error} />
          )}
          {draft.yaml === undefined ? (
            <LoadingState rows={14} />
          ) : !parsed.ok ? (
            <EmptyState title="The YAML cannot be read, so the form waits">
              {parsed.message} Correct it on the right; nothing is lost.
            </EmptyState>
          ) : parsed.kind === null ? (
            <EmptyState title="Which kind of run?">
              Write <code>kind: early-experience</code> or <code>kind: rollout</code> in the YAML, or choose a
              preset.
            </EmptyState>
          ) : (
            <RunForm
              kind={parsed.kind}
              draft={parsed}
              yaml={yaml}
              problems={problems}
              onChange={draft.edit}
            />
          )}
        </div>
        <SidePanel
          yaml={yaml}
          readable={parsed.ok}
          check={check}
          checking={checking}
          problems={problems}
          onEdit={draft.edit}
        />
      </div>
    </Page>
  );
}
