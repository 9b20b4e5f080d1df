import { useQuery } from '@tanstack/react-query';
import { useEffect } from 'react';
import { Link, useLocation } from 'wouter';
import type { Model } from '#shared/schema/model.ts';
import { orpc } from '../../rpc/client.ts';
import { useSystemStatus } from '../../rpc/status.ts';
import { formatBytes, formatCompact } from '../../ui/format.ts';
import { useKeys } from '../../ui/keys.ts';
import { Page } from '../../ui/page.tsx';
import { SplitPane } from '../../ui/split-pane.tsx';
import { EmptyState, ErrorState, LoadingState } from '../../ui/states.tsx';
import { AddModel } from './add-model.tsx';
import { ModelDetail } from './model-detail.tsx';
import styles from './models.module.css';

/** Files and servers on the left; the chosen one in full on the right. The choice is in the address. */
export default function ModelsPage({ params }: { params: Readonly<Record<string, string | undefined>> }) {
  const [, navigate] = useLocation();
  const models = useQuery(orpc.models.list.queryOptions());
  const list = models.data ?? [];
  const chosen =
    list.find(({ modelId }) => modelId === params['modelId']) ??
    (params['modelId'] === undefined ? list[0] : undefined);
  const step = (by: number) => {
    const at = chosen === undefined ? -1 : list.indexOf(chosen);
    const next = list[Math.max(0, Math.min(list.length - 1, at + by))];
    if (next !== undefined) navigate(`/models/${next.modelId}`, { replace: true });
  };
  useKeys([
    {
      key: 'ArrowDown',
      label: 'Next model',
      run: () => {
        step(1);
      },
    },
    {
      key: 'ArrowUp',
      label: 'Previous model',
      run: () => {
        step(-1);
      },
    },
  ]);
  useEffect(() => {
    document.querySelector('[data-model-list] [aria-current="true"]')?.scrollIntoView({ block: 'nearest' });
  }, [chosen?.modelId]);
  return (
    <Page title="Models" layout="flush">
      <SplitPane
        name="models"
        initial={300}
        min={220}
        label="Width of the model list"
        left={
          <div className={styles.side}>
            <div className={styles.list} data-model-list>
              {models.isPending && <LoadingState rows={5} rowHeight={40} />}
              {models.isError && (
                <ErrorState
                  title="The models could not be read"
                  error={models.error}
                  onRetry={() => void models.refetch()}
                />
              )}
              {list.map((model) => (
                <Entry key={model.modelId} model={model} current={model === chosen} />
              ))}
              {models.isSuccess && list.length === 0 && (
                <p className={styles.dim} style={{ padding: 8 }}>
                  No model yet.
                </p>
              )}
            </div>
            <AddModel
              onAdded={(model) => {
                navigate(`/models/${model.modelId}`);
              }}
            />
          </div>
        }
        right={
          <div className={styles.detail}>
            {chosen !== undefined && <ModelDetail key={chosen.modelId} model={chosen} />}
            {models.isSuccess && chosen === undefined && (
              <EmptyState
                title={list.length === 0 ? 'No model is registered' : 'This model is not registered any more'}
              >
                {list.length === 0
                  ? 'A model is a GGUF file on this machine, or an OpenAI-compatible server on your network. Give the path of a file or folder on the left, under “File or folder”, or the address of a server; nothing is downloaded, and files stay where they are.'
                  : 'It was removed from the list; its file was left where it is. Choose another one on the left, or add it again there.'}
              </EmptyState>
            )}
          </div>
        }
      />
    </Page>
  );
}

function Entry({ model, current }: { model: Model; current: boolean }) {
  const { data: status } = useSystemStatus();
  const loaded = status?.inference.loaded.some(({ modelId }) => modelId === model.modelId) === true;
  const facts =
    model.problem !== null
      ? 'cannot be used'
      : model.kind === 'http'
        ? model.location
        : [
            model.facts === null ? '' : `${formatCompact(model.facts.parameters)} parameters`,
            model.facts?.quantisation ?? '',
            formatBytes(model.sizeBytes),
          ]
            .filter((text) => text !== '')
            .join(' · ');
  return (
    <Link
      href={`/models/${model.modelId}`}
      replace
      className={styles.entry}
      aria-current={current}
      title={model.location}
    >
      <span className={styles.name}>
        <span>{model.name}</span>
        {loaded && <span className={styles.loaded}>loaded</span>}
      </span>
      <span className={model.problem === null ? styles.sub : `${styles.sub} ${styles.bad}`}>
        {model.problem === null ? facts : `✕ ${facts}`}
      </span>
    </Link>
  );
}
