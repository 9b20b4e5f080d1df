import { useState } from 'react';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Button, Checkbox, Modal } from '@mantine/core';
import { useLocation } from 'wouter';
import type { Dataset } from '#shared/schema/dataset.ts';
import { orpc } from '../../rpc/client.ts';
import { ErrorState } from '../../ui/states.tsx';
import styles from './datasets.module.css';

/** Forgets the entry; the files go only when that is ticked. Episodes and reviews stay in either case. */
export function RemoveDialog({
  dataset,
  opened,
  onClose,
}: {
  dataset: Dataset;
  opened: boolean;
  onClose: () => void;
}) {
  const [deleteFiles, setDeleteFiles] = useState(false);
  const [, navigate] = useLocation();
  const queries = useQueryClient();
  const remove = useMutation({
    ...orpc.datasets.remove.mutationOptions(),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: orpc.datasets.list.key() });
      navigate('/datasets', { replace: true });
    },
  });
  return (
    <Modal opened={opened} onClose={onClose} title={`Remove ${dataset.name}?`} centered>
      <div className={styles.form}>
        <p>
          The entry is forgotten. The episodes, branches and reflections behind it stay, so the run can be
          exported again.
        </p>
        <Checkbox
          label={`Also delete the files in ${dataset.folder}`}
          checked={deleteFiles}
          onChange={(event) => {
            setDeleteFiles(event.currentTarget.checked);
          }}
        />
        {remove.isError && <ErrorState error={remove.error} />}
        <div className={styles.formEnd}>
          <Button variant="default" onClick={onClose}>
            Keep
          </Button>
          <Button
            color="red"
            loading={remove.isPending}
            onClick={() => {
              remove.mutate({ datasetId: dataset.datasetId, deleteFiles });
            }}
          >
            {deleteFiles ? 'Remove and delete' : 'Remove'}
          </Button>
        </div>
      </div>
    </Modal>
  );
}
