import { Button, PasswordInput, SegmentedControl, TextInput } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import type { Model } from '#shared/schema/model.ts';
import { orpc, queryClient } from '../../rpc/client.ts';
import { errorRecord } from '../../rpc/errors.ts';
import styles from './models.module.css';

/** A GGUF file, a folder of them, or a server: by path or address, since the host may run on another file system than this page. */
export function AddModel({ onAdded }: { onAdded: (model: Model) => void }) {
  const [kind, setKind] = useState('file');
  const [path, setPath] = useState('');
  const [http, setHttp] = useState({ baseUrl: '', model: '', apiKey: '' });
  const refresh = () => queryClient.invalidateQueries({ queryKey: orpc.models.list.key() });
  const addFile = useMutation({
    ...orpc.models.add.mutationOptions(),
    onSuccess: async (added) => {
      await refresh();
      setPath('');
      const [first] = added;
      notifications.show({
        message:
          added.length === 1 ? `Added ${first?.name ?? ''}` : `${String(added.length)} GGUF files found`,
      });
      if (first !== undefined) onAdded(first);
    },
  });
  const addHttp = useMutation({
    ...orpc.models.addHttp.mutationOptions(),
    onSuccess: async (added) => {
      await refresh();
      setHttp({ baseUrl: '', model: '', apiKey: '' });
      onAdded(added);
    },
  });
  const error = kind === 'file' ? addFile.error : addHttp.error;
  return (
    <div className={styles.add}>
      <SegmentedControl
        fullWidth
        mb={8}
        aria-label="Kind of model"
        value={kind}
        onChange={setKind}
        data={[
          { value: 'file', label: 'File or folder' },
          { value: 'http', label: 'HTTP server' },
        ]}
      />
      {kind === 'file' ? (
        <form
          onSubmit={(event) => {
            event.preventDefault();
            if (path.trim() !== '') addFile.mutate({ path: path.trim() });
          }}
        >
          <TextInput
            label="Path"
            placeholder="/home/you/models or a .gguf file"
            value={path}
            onChange={(event) => {
              setPath(event.currentTarget.value);
            }}
          />
          <Button type="submit" mt={8} fullWidth loading={addFile.isPending} disabled={path.trim() === ''}>
            Add
          </Button>
        </form>
      ) : (
        <form
          onSubmit={(event) => {
            event.preventDefault();
            addHttp.mutate({
              baseUrl: http.baseUrl.trim(),
              model: http.model.trim(),
              ...(http.apiKey === '' ? {} : { apiKey: http.apiKey }),
            });
          }}
        >
          <TextInput
            label="Base URL"
            placeholder="http://127.0.0.1:8080/v1"
            value={http.baseUrl}
            onChange={(event) => {
              setHttp({ ...http, baseUrl: event.currentTarget.value });
            }}
          />
          <TextInput
            label="Model name on the server"
            mt={4}
            value={http.model}
            onChange={(event) => {
              setHttp({ ...http, model: event.currentTarget.value });
            }}
          />
          <PasswordInput
            label="API key, if it needs one"
            mt={4}
            autoComplete="off"
            value={http.apiKey}
            onChange={(event) => {
              setHttp({ ...http, apiKey: event.currentTarget.value });
            }}
          />
          <p className={styles.dim} style={{ margin: '4px 0' }}>
            Prompts go to this address. Anything beyond this machine is counted as an outgoing connection.
          </p>
          <Button
            type="submit"
            fullWidth
            loading={addHttp.isPending}
            disabled={http.baseUrl.trim() === '' || http.model.trim() === ''}
          >
            Add
          </Button>
        </form>
      )}
      {error !== null && (
        <p
          role="alert"
          style={{ color: 'var(--dd-error)', margin: '8px 0 0', overflowWrap: 'anywhere', fontSize: 12 }}
        >
          {errorRecord(error).message}
        </p>
      )}
    </div>
  );
}
