import { IconShieldCheck, IconWorldUpload } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { orpc } from '../../rpc/client.ts';
import { useSystemStatus } from '../../rpc/status.ts';
import { formatInteger } from '../../ui/format.ts';
import { LoadingState } from '../../ui/states.tsx';
import { Mono } from '../../ui/text.tsx';
import styles from './settings.module.css';

/** Not a promise but a count: connections that left this machine, and the only entries that could cause one. */
export function OfflineProof() {
  const status = useSystemStatus();
  const models = useQuery(orpc.models.list.queryOptions());
  const http = (models.data ?? []).filter(({ kind }) => kind === 'http');
  const count = status.data?.outgoingConnections;
  return (
    <section className={styles.section} id="offline" aria-label="Offline proof">
      <h2>Offline</h2>
      {count === undefined ? (
        <LoadingState rows={2} />
      ) : (
        <>
          <p className={styles.inline} style={{ margin: '0 0 8px' }}>
            {count === 0 ? (
              <IconShieldCheck size={18} className={styles.ok} aria-hidden />
            ) : (
              <IconWorldUpload size={18} className={styles.warn} aria-hidden />
            )}
            <strong>
              {count === 0 ? 'Nothing has left this machine' : `${formatInteger(count)} outgoing connections`}
            </strong>
          </p>
          <p className={styles.help}>
            Counted since the host started. Daydream has no telemetry, no update check and no account; only an
            HTTP model that you add can be reached, and only while it is used. This page may load nothing but
            its own files, which its content policy enforces.
          </p>
          <div className={styles.row}>
            <span>HTTP models</span>
            <div style={{ paddingTop: 4 }}>
              {http.length === 0
                ? 'none'
                : http.map((model) => (
                    <div key={model.modelId}>
                      <Mono>{model.location}</Mono> {model.name}
                    </div>
                  ))}
            </div>
          </div>
        </>
      )}
    </section>
  );
}
