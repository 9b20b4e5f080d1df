import type { ReactNode } from 'react';
import { Button, TextInput } from '@mantine/core';
import { ErrorState } from '../../ui/states.tsx';
import styles from './environments.module.css';

/** A dialog's form about one folder on this machine: what it does, the folder, further fields, what went wrong, and its two buttons. */
export function FolderForm(props: {
  /** What will be done with the folder. */
  summary: string;
  /** Which folder is meant. */
  description: string;
  folder: string;
  onFolder: (folder: string) => void;
  submit: string;
  /** The request that it sends. */
  request: { isPending: boolean; isError: boolean; error: unknown };
  onSubmit: () => void;
  onCancel: () => void;
  children: ReactNode;
}) {
  const { folder, request } = props;
  return (
    <form
      className={styles.form}
      onSubmit={(event) => {
        event.preventDefault();
        if (folder.trim() !== '') props.onSubmit();
      }}
    >
      <p className={styles.dim}>{props.summary}</p>
      <TextInput
        label="Folder"
        description={props.description}
        value={folder}
        data-autofocus
        onChange={(event) => {
          props.onFolder(event.currentTarget.value);
        }}
      />
      {props.children}
      {request.isError && <ErrorState error={request.error} />}
      <div className={styles.formEnd}>
        <Button variant="default" onClick={props.onCancel}>
          Cancel
        </Button>
        <Button type="submit" loading={request.isPending} disabled={folder.trim() === ''}>
          {props.submit}
        </Button>
      </div>
    </form>
  );
}
