import { Button, TextInput } from '@mantine/core';
import { IconAlertTriangle, IconCheck, IconX } from '@tabler/icons-react';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { orpc } from '../../rpc/client.ts';
import { useSystemStatus } from '../../rpc/status.ts';
import { formatBytes } from '../../ui/format.ts';
import { ErrorState, LoadingState } from '../../ui/states.tsx';
import { Mono } from '../../ui/text.tsx';
import styles from './settings.module.css';

/** Where everything is, how to copy it, and whether this installation is sound. */
export function DataFolder() {
  const { data: status } = useSystemStatus();
  const [file, setFile] = useState('');
  const backup = useMutation(orpc.system.backup.mutationOptions());
  const doctor = useQuery({ ...orpc.system.doctor.queryOptions(), enabled: false });
  const bridge = window.daydream;
  return (
    <section className={styles.section} id="data" aria-label="Data folder">
      <h2>Data folder</h2>
      <div className={styles.row}>
        <span>Folder</span>
        <div className={styles.inline}>
          <Mono>{status?.dataFolder ?? '–'}</Mono>
          {bridge !== undefined && (
            <Button
              variant="default"
              onClick={() => {
                bridge.openDataFolder();
              }}
            >
              Open
            </Button>
          )}
        </div>
      </div>
      <div className={styles.row}>
        <span>Size</span>
        <div style={{ paddingTop: 4 }}>
          {status === undefined
            ? '–'
            : `${formatBytes(status.storeBytes)} used, ${formatBytes(status.freeDiskBytes)} free on this disk`}
        </div>
      </div>
      <div className={styles.row}>
        <label htmlFor="backup">Backup</label>
        <form
          onSubmit={(event) => {
            event.preventDefault();
            if (file.trim() !== '') backup.mutate({ file: file.trim() });
          }}
        >
          <div className={styles.inline}>
            <TextInput
              id="backup"
              flex={1}
              placeholder="Path of the new file, e.g. /backup/daydream.sqlite"
              value={file}
              onChange={(event) => {
                setFile(event.currentTarget.value);
              }}
            />
            <Button type="submit" variant="default" loading={backup.isPending} disabled={file.trim() === ''}>
              Copy the database
            </Button>
          </div>
          <p className={styles.help}>The copy is whole even while runs are writing.</p>
          {backup.data !== undefined && (
            <p className={styles.help} role="status">
              <IconCheck size={13} className={styles.ok} aria-hidden /> {formatBytes(backup.data.bytes)} in{' '}
              <Mono>{backup.data.file}</Mono>
            </p>
          )}
          {backup.isError && <ErrorState title="No backup was made" error={backup.error} />}
        </form>
      </div>
      <div className={styles.row}>
        <span>Check-up</span>
        <div>
          <Button variant="default" loading={doctor.isFetching} onClick={() => void doctor.refetch()}>
            Check this installation
          </Button>
          {doctor.isFetching && doctor.data === undefined && <LoadingState rows={5} />}
          {doctor.isError && <ErrorState error={doctor.error} />}
          {doctor.data?.map((check) => (
            <div key={check.check} className={styles.check}>
              {check.status === 'ok' ? (
                <IconCheck size={15} className={styles.ok} aria-label="good" />
              ) : check.status === 'warning' ? (
                <IconAlertTriangle size={15} className={styles.warn} aria-label="warning" />
              ) : (
                <IconX size={15} className={styles.bad} aria-label="error" />
              )}
              <span>{check.check}</span>
              <span>
                {check.detail}
                {check.fix !== '' && <p className={styles.help}>{check.fix}</p>}
              </span>
            </div>
          ))}
        </div>
      </div>
    </section>
  );
}
