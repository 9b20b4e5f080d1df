import { useState } from 'react';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Button, Modal, Select, TextInput } from '@mantine/core';
import { useLocation } from 'wouter';
import { jobIdSchema } from '#shared/ids.ts';
import type { JobId } from '#shared/ids.ts';
import { orpc } from '../../rpc/client.ts';
import { formatDateTime } from '../../ui/format.ts';
import { ErrorState } from '../../ui/states.tsx';
import styles from './datasets.module.css';

/** Writes the data of a finished Early Experience run again, with every review made since. */
export function ExportDialog({
  opened,
  jobId,
  onClose,
}: {
  opened: boolean;
  /** null: the person chooses the run. */
  jobId: JobId | null;
  onClose: () => void;
}) {
  const [, navigate] = useLocation();
  const [chosen, setChosen] = useState<string | null>(null);
  const [name, setName] = useState('');
  const [folder, setFolder] = useState('');
  const queries = useQueryClient();
  const jobs = useQuery({
    ...orpc.jobs.list.queryOptions({
      input: { filter: { kind: 'early-experience', state: 'succeeded' }, limit: 200 },
    }),
    enabled: opened && jobId === null,
  });
  const write = useMutation({
    ...orpc.datasets.export.mutationOptions(),
    onSuccess: async (dataset) => {
      await queries.invalidateQueries({ queryKey: orpc.datasets.list.key() });
      onClose();
      navigate(`/datasets/${encodeURIComponent(dataset.datasetId)}`);
    },
  });
  const target = jobId ?? jobIdSchema.safeParse(chosen).data ?? null;
  const finished = jobs.data?.items ?? [];
  return (
    <Modal
      opened={opened}
      onClose={onClose}
      title={jobId === null ? 'Export a finished run' : 'Export again with reviews'}
      size={560}
      centered
    >
      <form
        className={styles.form}
        onSubmit={(event) => {
          event.preventDefault();
          if (target === null) return;
          write.mutate({
            jobId: target,
            name: name.trim(),
            folder: folder.trim() === '' ? null : folder.trim(),
          });
        }}
      >
        <p className={styles.dim}>
          The rows are made from what is stored: nothing is executed or asked again. Reflections that you kept
          or dropped since count; everything else is as the run’s own filters decided.
        </p>
        {jobId === null && (
          <Select
            label="Run"
            placeholder={
              jobs.isPending
                ? 'Loading'
                : finished.length === 0
                  ? 'No Early Experience run has finished yet'
                  : 'Choose a run'
            }
            disabled={finished.length === 0}
            data={finished.map((job) => ({
              value: job.jobId,
              label: `${job.title}, ${formatDateTime(job.finishedAt ?? job.createdAt)}`,
            }))}
            value={chosen}
            onChange={setChosen}
          />
        )}
        {jobs.isError && <ErrorState error={jobs.error} onRetry={() => void jobs.refetch()} />}
        <TextInput
          label="Name"
          description="Empty: the run’s name"
          maxLength={120}
          value={name}
          onChange={(event) => {
            setName(event.currentTarget.value);
          }}
        />
        <TextInput
          label="Folder"
          description="Empty: inside the data folder"
          value={folder}
          onChange={(event) => {
            setFolder(event.currentTarget.value);
          }}
        />
        {write.isError && <ErrorState error={write.error} />}
        <div className={styles.formEnd}>
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" loading={write.isPending} disabled={target === null}>
            Export
          </Button>
        </div>
      </form>
    </Modal>
  );
}
