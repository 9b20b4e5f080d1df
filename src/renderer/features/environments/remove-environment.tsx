import { useState } from 'react';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Button, Modal } from '@mantine/core';
import { IconTrash } from '@tabler/icons-react';
import { useLocation } from 'wouter';
import type { EnvironmentDescription } from '#shared/schema/environment.ts';
import { orpc } from '../../rpc/client.ts';
import { ErrorState } from '../../ui/states.tsx';
import styles from './environments.module.css';

/** Only for folders that the user added; the folder and the episodes played in it stay. */
export function RemoveEnvironment({
  environment,
}: {
  environment: Pick<EnvironmentDescription, 'id' | 'folder'>;
}) {
  const [opened, setOpened] = useState(false);
  const [, navigate] = useLocation();
  const queries = useQueryClient();
  const remove = useMutation({
    ...orpc.environments.remove.mutationOptions(),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: orpc.environments.key() });
      navigate('/environments', { replace: true });
    },
  });
  return (
    <>
      <Button
        size="xs"
        variant="default"
        leftSection={<IconTrash size={14} />}
        onClick={() => {
          setOpened(true);
        }}
      >
        Remove
      </Button>
      <Modal
        opened={opened}
        onClose={() => {
          setOpened(false);
        }}
        title={`Remove ${environment.id}?`}
        centered
      >
        <div className={styles.form}>
          <p>
            {`The entry is forgotten. The games in ${environment.folder ?? 'its folder'} and the episodes played in them stay; the folder can be added again.`}
          </p>
          {remove.isError && <ErrorState error={remove.error} />}
          <div className={styles.formEnd}>
            <Button
              variant="default"
              onClick={() => {
                setOpened(false);
              }}
            >
              Keep
            </Button>
            <Button
              color="red"
              loading={remove.isPending}
              onClick={() => {
                remove.mutate({ environmentId: environment.id });
              }}
            >
              Remove
            </Button>
          </div>
        </div>
      </Modal>
    </>
  );
}
