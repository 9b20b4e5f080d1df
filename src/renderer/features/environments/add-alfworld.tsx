import { useState } from 'react';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Button, Modal, TextInput } from '@mantine/core';
import { Link } from 'wouter';
import { environmentIdSchema } from '#shared/ids.ts';
import { orpc } from '../../rpc/client.ts';
import { formatInteger } from '../../ui/format.ts';
import { FolderForm } from './folder-form.tsx';
import styles from './environments.module.css';

/** Adds a folder of official games. What could not be read is listed by file with its reason; the rest is kept. */
export function AddAlfworld({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  const [folder, setFolder] = useState('');
  const [name, setName] = useState('');
  const queries = useQueryClient();
  const add = useMutation({
    ...orpc.environments.addAlfworld.mutationOptions(),
    onSuccess: () => queries.invalidateQueries({ queryKey: orpc.environments.key() }),
  });
  const id = name === '' ? undefined : environmentIdSchema.safeParse(name);
  const close = () => {
    add.reset();
    setFolder('');
    setName('');
    onClose();
  };
  return (
    <Modal opened={opened} onClose={close} title="Add ALFWorld games" size={640} centered>
      {add.data === undefined ? (
        <FolderForm
          summary="Every game.tw-pddl below the folder becomes a task of a second environment with ALFWorld’s own rules. The files stay where they are and are only read."
          description="Absolute path on this machine, for example …/alfworld/json_2.1.1"
          folder={folder}
          onFolder={setFolder}
          submit="Read the games"
          request={add}
          onSubmit={() => {
            if (id?.success === false) return;
            add.mutate({ folder: folder.trim(), ...(id === undefined ? {} : { id: id.data }) });
          }}
          onCancel={close}
        >
          <TextInput
            label="Name"
            description="Empty: alfworld. Lower-case letters, digits and hyphens."
            value={name}
            error={id?.success === false ? 'Lower-case letters, digits and hyphens only' : undefined}
            onChange={(event) => {
              setName(event.currentTarget.value);
            }}
          />
        </FolderForm>
      ) : (
        <div className={styles.form}>
          <p>
            {`${formatInteger(add.data.games)} games are now `}
            <Link href={`/environments/${add.data.environment.id}`} onClick={close}>
              {add.data.environment.id}
            </Link>
            {add.data.rejected.length === 0
              ? '. Every file was read.'
              : `. ${formatInteger(add.data.rejected.length)} files were left out:`}
          </p>
          <p>
            {add.data.environment.splits
              .map(({ split, tasks }) => `${split} ${formatInteger(tasks)}`)
              .join(', ')}
            {add.data.environment.splits.every(({ split, tasks }) => split === 'train' || tasks === 0) &&
              '. All are training tasks: no folder is named valid_train, valid_seen or valid_unseen.'}
          </p>
          {add.data.rejected.length > 0 && (
            <ul className={styles.rejected}>
              {add.data.rejected.map((file) => (
                <li key={file.file}>
                  <code>{file.file}</code>
                  <span>{file.reason}</span>
                </li>
              ))}
            </ul>
          )}
          <div className={styles.formEnd}>
            <Button onClick={close}>Done</Button>
          </div>
        </div>
      )}
    </Modal>
  );
}
