import { Button } from '@mantine/core';
import { IconPlayerPlay } from '@tabler/icons-react';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useCallback, useEffect, useRef, useState } from 'react';
import { useLocation, useSearchParams } from 'wouter';
import { jobIdSchema } from '#shared/ids.ts';
import { orpc, queryClient } from '../../rpc/client.ts';
import { jobHref } from '../../ui/job-href.ts';
import { useKeys } from '../../ui/keys.ts';
import { Page } from '../../ui/page.tsx';
import { ErrorState, LoadingState } from '../../ui/states.tsx';
import { checkDraft, draftOf } from './draft.ts';
import type { Draft } from './draft.ts';
import { TrainingForm } from './training-form.tsx';

function storedDraft(key: string): Draft | null {
  const text = sessionStorage.getItem(key);
  return text === null ? null : (JSON.parse(text) as Draft);
}

/** The draft of an address: `?dataset=…&base=…&adapter=…`, or `?from=<training>`. A reload finds what was filled in. */
function useTrainingDraft() {
  const [parameters] = useSearchParams();
  const from = parameters.get('from');
  const dataset = parameters.get('dataset');
  const base = parameters.get('base');
  const adapter = parameters.get('adapter');
  const key = `daydream-training:${parameters.toString()}`;
  const [held, setHeld] = useState<{ key: string; draft: Draft } | null>(null);
  const origin = useQuery({
    ...orpc.jobs.get.queryOptions({ input: { jobId: jobIdSchema.parse(from ?? '-') } }),
    enabled: from !== null,
  });
  const edit = useCallback(
    (draft: Draft) => {
      sessionStorage.setItem(key, JSON.stringify(draft));
      setHeld({ key, draft });
    },
    [key],
  );
  const original: Draft | undefined =
    from === null
      ? {
          ...(dataset === null ? {} : { dataset: { datasetId: dataset } }),
          ...(base === null ? {} : { base }),
          ...(adapter === null ? {} : { adapter: { path: adapter } }),
        }
      : origin.data && draftOf(origin.data.job.spec);
  return {
    draft: held?.key === key ? held.draft : (storedDraft(key) ?? original),
    error: origin.error,
    edit,
    forget: () => {
      sessionStorage.removeItem(key);
    },
  };
}

/** Start form. The host checks model, data set and memory before a job exists; what it refuses stands above the form. */
export default function NewTrainingPage() {
  const [, navigate] = useLocation();
  const { draft, error, edit, forget } = useTrainingDraft();
  const [tried, setTried] = useState(false);
  const { run, problems } = checkDraft(draft ?? {});
  const shown = tried ? problems : problems.filter(({ path }) => path !== 'dataset' && path !== 'base');
  const start = useMutation({
    ...orpc.training.start.mutationOptions(),
    onSuccess: (job) => {
      forget();
      void queryClient.invalidateQueries({ queryKey: orpc.jobs.list.key() });
      navigate(jobHref(job));
    },
  });
  // Start is in reach wherever the form is scrolled to; what it answers stands above the form.
  const refusal = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (start.error !== null) refusal.current?.focus();
  }, [start.error]);
  const begin = () => {
    setTried(true);
    if (run === null) document.getElementById(`field-${problems[0]?.path ?? ''}`)?.focus();
    else if (!start.isPending) start.mutate(run);
  };
  useKeys([
    { key: 'Mod+Enter', label: 'Start the training', run: begin },
    {
      key: 'Escape',
      label: 'Back to the trainings',
      run: () => {
        navigate('/training');
      },
    },
  ]);
  return (
    <Page
      title="New training"
      breadcrumb={[{ label: 'Training', href: '/training' }]}
      layout="form"
      actions={
        <Button
          leftSection={<IconPlayerPlay size={14} />}
          disabled={draft === undefined}
          loading={start.isPending}
          onClick={begin}
        >
          Start
        </Button>
      }
    >
      <div ref={refusal} tabIndex={-1}>
        {start.isError && <ErrorState title="The training was not started" error={start.error} />}
      </div>
      {error !== null && <ErrorState title="The training to copy could not be read" error={error} />}
      {draft === undefined ? (
        error === null && <LoadingState rows={14} />
      ) : (
        <TrainingForm draft={draft} problems={shown} onChange={edit} />
      )}
    </Page>
  );
}
