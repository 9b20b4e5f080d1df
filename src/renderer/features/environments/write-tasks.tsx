import { useState } from 'react';
import { useMutation } from '@tanstack/react-query';
import { Button, Modal, NumberInput, Select } from '@mantine/core';
import { IconFileExport } from '@tabler/icons-react';
import { splitSchema } from '#shared/schema/environment.ts';
import type { EnvironmentDescription } from '#shared/schema/environment.ts';
import { orpc } from '../../rpc/client.ts';
import { formatBytes, formatInteger } from '../../ui/format.ts';
import { FolderForm } from './folder-form.tsx';
import styles from './environments.module.css';

/** Writes a world's tasks as the files that the original engine plays: all of them or nothing. */
export function WriteTasks({ environment }: { environment: EnvironmentDescription }) {
  const [opened, setOpened] = useState(false);
  const [folder, setFolder] = useState('');
  const [split, setSplit] = useState<string | null>(null);
  const [tasks, setTasks] = useState<number | string>('');
  const write = useMutation(orpc.environments.writeTasks.mutationOptions());
  const close = () => {
    write.reset();
    setOpened(false);
  };
  return (
    <>
      <Button
        size="xs"
        variant="default"
        leftSection={<IconFileExport size={14} />}
        onClick={() => {
          setOpened(true);
        }}
      >
        Write as ALFWorld games
      </Button>
      <Modal opened={opened} onClose={close} title="Write as ALFWorld games" size={640} centered>
        {write.data === undefined ? (
          <FolderForm
            summary="Each task becomes a game.tw-pddl, a traj_data.json and an initial_state.pddl, as in the original data, and the original engine plays them."
            description="Absolute path on this machine; empty or not there yet"
            folder={folder}
            onFolder={setFolder}
            submit="Write"
            request={write}
            onSubmit={() => {
              write.mutate({
                environmentId: environment.id,
                folder: folder.trim(),
                split: splitSchema.safeParse(split).data ?? null,
                tasksPerSplit: typeof tasks === 'number' ? tasks : null,
              });
            }}
            onCancel={close}
          >
            <Select
              label="Split"
              placeholder="All of them"
              clearable
              data={environment.splits.map((one) => one.split)}
              value={split}
              onChange={setSplit}
            />
            <NumberInput
              label="Tasks"
              description="The first so many of each split; empty: all of them"
              min={1}
              allowDecimal={false}
              value={tasks}
              onChange={setTasks}
            />
          </FolderForm>
        ) : (
          <div className={styles.form}>
            <p>
              {`${formatInteger(write.data.tasks)} tasks in ${formatInteger(write.data.files)} files (${formatBytes(write.data.bytes)}): ${write.data.splits.map((one) => `${one.split} ${formatInteger(one.tasks)}`).join(', ')}.`}
            </p>
            <p>
              Folder: <code>{write.data.folder}</code>
            </p>
            <div className={styles.formEnd}>
              <Button onClick={close}>Done</Button>
            </div>
          </div>
        )}
      </Modal>
    </>
  );
}
