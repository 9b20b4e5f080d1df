import { Button, TextInput } from '@mantine/core';
import { IconGitMerge } from '@tabler/icons-react';
import { useMutation } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { Link, useSearchParams } from 'wouter';
import type { Model } from '#shared/schema/model.ts';
import { orpc, queryClient } from '../../rpc/client.ts';
import { formatBytes, formatDuration } from '../../ui/format.ts';
import { ErrorState, InfoNote } from '../../ui/states.tsx';
import { useNow } from '../../ui/text.tsx';
import styles from './models.module.css';

/** `household-il` of `/…/household-il.gguf`: what a merged model is called after. */
function stemOf(file: string): string {
  return file.replace(/^.*[\\/]/, '').replace(/\.gguf$/, '');
}

/** Adds an adapter into this model, to a file of its own; neither of the two changes. `?adapter=` fills it in. */
export function MergeSection({ model }: { model: Model }) {
  const [parameters] = useSearchParams();
  const given = parameters.get('adapter') ?? '';
  const [adapter, setAdapter] = useState(given);
  const [name, setName] = useState<string | null>(null);
  const section = useRef<HTMLElement>(null);
  useEffect(() => {
    if (given !== '') section.current?.scrollIntoView({ block: 'center' });
  }, [given]);
  const suggested = adapter.trim() === '' ? '' : `${stemOf(adapter.trim())}-merged.gguf`;
  const file = (name ?? '').trim() || suggested;
  const merge = useMutation({
    ...orpc.training.merge.mutationOptions(),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: orpc.models.list.key() }),
  });
  return (
    <section className={styles.section} aria-label="Merge an adapter" ref={section}>
      <h2>Merge an adapter</h2>
      <p className={styles.dim}>
        The adapter is added into the weights, to a new model file that needs no adapter any more. The changed
        matrices are stored as float32, so a quantised model grows. This model and the adapter stay as they
        are.
      </p>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (!merge.isPending && adapter.trim() !== '')
            merge.mutate({ base: model.modelId, adapter: adapter.trim(), file });
        }}
      >
        <TextInput
          label="Adapter"
          placeholder="path of a LoRA adapter (.gguf)"
          value={adapter}
          onChange={(event) => {
            setAdapter(event.currentTarget.value);
          }}
        />
        <TextInput
          label="Name of the new model"
          description="A name alone lies in the folder “models” of the data folder; or the whole path of a file that does not exist."
          mt={8}
          placeholder={suggested}
          value={name ?? ''}
          onChange={(event) => {
            setName(event.currentTarget.value);
          }}
        />
        <Button
          type="submit"
          my={8}
          variant="default"
          leftSection={<IconGitMerge size={14} />}
          loading={merge.isPending}
          disabled={adapter.trim() === ''}
        >
          Merge
        </Button>
      </form>
      {merge.isPending && <Running since={merge.submittedAt} />}
      {merge.isError && <ErrorState title="Nothing was merged" error={merge.error} />}
      {merge.data !== undefined && (
        <InfoNote>
          Merged into <Link href={`/models/${merge.data.modelId}`}>{merge.data.name}</Link>,{' '}
          {formatBytes(merge.data.sizeBytes)}, which is registered: {merge.data.location}
        </InfoNote>
      )}
    </section>
  );
}

function Running({ since }: { since: number }) {
  const now = useNow(500);
  return (
    <p className={styles.dim} role="status">
      Reading both, adding, writing the new file: {formatDuration(Math.max(0, now - since))} so far.
    </p>
  );
}
