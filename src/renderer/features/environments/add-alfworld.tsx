import { useState } from 'react';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Button, Modal, TextInput } from '@mantine/core';
import { Link } from 'wouter';
import { environmentIdSchema } from '#shared/ids.ts';
import { orpc } from '../../rpc/client.ts';
import { formatInteger } from '../../ui/format.ts';
import { ErrorState } from '../../ui/states.tsx';
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
        <form
          className={styles.form}
          onSubmit={(event) => {
            event.preventDefault();
            if (folder.trim() === '' || id?.success === false) return;
            add.mutate({ folder: folder.trim(), ...(id === undefined ? {} : { id: id.data }) });
          }}
        >
          <p className={styles.dim}>
            Every game.tw-pddl below the folder becomes a task of a second environment with ALFWorld’s own
            rules. The files stay where they are and are only read.
          </p>
          <TextInput
            label="Folder"
            description="Absolute path on this machine, for example …/alfworld/json_2.1.1"
            value={folder}
            data-autofocus
            onChange={(event) => {
              setFolder(event.currentTarget.value);
            }}
          />
          <TextInput
            label="Name"
            description="Empty: alfworld. Lower-case letters, digits and hyphens."
            value={name}
            error={id?.success === false ? 'Lower-case letters, digits and hyphens only' : undefined}
            onChange={(event) => {
              setName(event.currentTarget.value);
            }}
          />
          {add.isError && <ErrorState error={add.error} />}
          <div className={styles.formEnd}>
            <Button variant="default" onClick={close}>
              Cancel
            </Button>
            <Button type="submit" loading={add.isPending} disabled={folder.trim() === ''}>
              Read the games
            </Button>
          </div>
        </form>
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
