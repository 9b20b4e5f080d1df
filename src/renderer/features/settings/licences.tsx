import { TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { orpc } from '../../rpc/client.ts';
import { useSystemStatus } from '../../rpc/status.ts';
import { ErrorState, LoadingState } from '../../ui/states.tsx';
import styles from './settings.module.css';

export function Licences() {
  const licences = useQuery(orpc.system.licences.queryOptions({ staleTime: Infinity }));
  const { data: status } = useSystemStatus();
  const [filter, setFilter] = useState('');
  const shown = (licences.data ?? []).filter(({ name, licence, kind }) =>
    `${name} ${licence} ${kind}`.toLowerCase().includes(filter.toLowerCase()),
  );
  return (
    <section className={styles.section} id="licences" aria-label="Licences">
      <h2>Licences</h2>
      <p className={styles.help} style={{ marginBottom: 8 }}>
        Daydream {status?.version ?? ''} is Apache-2.0, on Node {status?.node ?? ''}. What it brings along:
      </p>
      {licences.isPending && <LoadingState rows={6} />}
      {licences.isError && <ErrorState error={licences.error} onRetry={() => void licences.refetch()} />}
      {licences.data !== undefined && (
        <>
          <TextInput
            aria-label="Filter licences"
            placeholder="Filter"
            w={220}
            mb={4}
            value={filter}
            onChange={(event) => {
              setFilter(event.currentTarget.value);
            }}
          />
          <table className={styles.licences}>
            <thead>
              <tr>
                <th scope="col">Name</th>
                <th scope="col">Version</th>
                <th scope="col">Licence</th>
                <th scope="col">Kind</th>
              </tr>
            </thead>
            <tbody>
              {shown.map((entry) => (
                <tr key={`${entry.kind}/${entry.name}`}>
                  <td>{entry.name}</td>
                  <td>{entry.version}</td>
                  <td>{entry.licence}</td>
                  <td>{entry.kind}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </>
      )}
    </section>
  );
}
