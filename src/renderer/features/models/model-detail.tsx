import { notifications } from '@mantine/notifications';
import { IconTrash } from '@tabler/icons-react';
import { useMutation } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useLocation } from 'wouter';
import type { Model } from '#shared/schema/model.ts';
import { orpc, queryClient } from '../../rpc/client.ts';
import { errorRecord } from '../../rpc/errors.ts';
import { useSystemStatus } from '../../rpc/status.ts';
import { ConfirmButton } from '../../ui/confirm-button.tsx';
import { formatBytes, formatInteger } from '../../ui/format.ts';
import { ErrorState } from '../../ui/states.tsx';
import { Facts, Mono, Term, Time } from '../../ui/text.tsx';
import { FitSection } from './fit-section.tsx';
import { MergeSection } from './merge-section.tsx';
import { TestSection } from './test-section.tsx';
import { TryOut } from './try-out.tsx';
import { UnloadButton } from './unload-button.tsx';
import styles from './models.module.css';

/** Everything known about a model, and what can be tried with it before a run. */
export function ModelDetail({ model }: { model: Model }) {
  const [, navigate] = useLocation();
  const { data: status } = useSystemStatus();
  const loads = status?.inference.loaded.filter(({ modelId }) => modelId === model.modelId) ?? [];
  const failed = (error: unknown) =>
    notifications.show({ color: 'red', message: errorRecord(error).message });
  const remove = useMutation({
    ...orpc.models.remove.mutationOptions(),
    onSuccess: async () => {
      await queryClient.invalidateQueries({ queryKey: orpc.models.list.key() });
      navigate('/models', { replace: true });
    },
    onError: failed,
  });
  const unload = useMutation({ ...orpc.models.unload.mutationOptions(), onError: failed });
  const usable = model.problem === null;
  return (
    <>
      <div className={styles.head}>
        <h2>{model.name}</h2>
        {loads.length > 0 && (
          <UnloadButton
            users={loads.reduce((sum, { users }) => sum + users, 0)}
            loading={unload.isPending}
            onUnload={() => {
              unload.mutate({ modelId: model.modelId });
            }}
          />
        )}
        <ConfirmButton
          question="The entry goes; the file stays where it is. Episodes and data sets keep its name and hash."
          confirm="Remove the entry"
          icon={<IconTrash size={14} />}
          loading={remove.isPending}
          onConfirm={() => {
            remove.mutate({ modelId: model.modelId });
          }}
        >
          Remove
        </ConfirmButton>
      </div>
      {model.problem !== null && <ErrorState title="This model cannot be used" error={model.problem} />}
      <section className={styles.section}>
        <h2>What it is</h2>
        <Facts facts={factsOf(model)} />
        {usable && <FormatNote model={model} />}
      </section>
      {usable && model.kind === 'gguf' && <FitSection model={model} />}
      {usable && model.kind === 'gguf' && <MergeSection model={model} />}
      {usable && <TestSection model={model} />}
      {usable && <TryOut model={model} />}
    </>
  );
}

function factsOf(model: Model) {
  const { facts } = model;
  const rows: (readonly [ReactNode, ReactNode])[] = [
    [model.kind === 'http' ? 'Address' : 'File', <Mono key="location">{model.location}</Mono>],
  ];
  if (model.remoteName !== null) rows.push(['Name on the server', model.remoteName]);
  if (model.kind !== 'http') rows.push(['Size', formatBytes(model.sizeBytes)]);
  if (facts !== null) {
    rows.push(
      ['Architecture', facts.architecture],
      ['Parameters', formatInteger(facts.parameters)],
      [
        <Term key="quantisation" name="quantisation">
          Quantisation
        </Term>,
        facts.quantisation,
      ],
      ['Layers', formatInteger(facts.layers)],
      [
        <Term key="context" name="context">
          Trained context
        </Term>,
        `${formatInteger(facts.contextLength)} tokens`,
      ],
      ['Embedding', formatInteger(facts.embeddingLength)],
      ['Vocabulary', `${formatInteger(facts.vocabularySize)} tokens`],
    );
  }
  if (model.sha256 !== null) rows.push(['SHA-256', <Mono key="sha">{model.sha256}</Mono>]);
  rows.push(['Added', <Time key="added" at={model.addedAt} />]);
  return rows;
}

function FormatNote({ model }: { model: Model }) {
  if (model.kind === 'http') {
    return (
      <p className={styles.dim}>
        The server applies its own chat template. Token ids may be missing, so training on exact tokens may
        not be possible.
      </p>
    );
  }
  return model.facts?.hasChatTemplate === true ? (
    <p className={styles.dim}>
      The file has a <Term name="chat template" />: the prompt format <code>auto</code> uses it.
    </p>
  ) : (
    <p className={styles.dim}>
      The file has no <Term name="chat template" />, so it is treated as a <Term name="base model" />: the
      prompt format <code>auto</code> writes plain text with worked examples and stops at the end of the
      answer. Choose <code>chat</code> only for a model that was tuned on conversations.
    </p>
  );
}
