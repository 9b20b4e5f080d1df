import { useEffect, useEffectEvent, useState } from 'react';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Button } from '@mantine/core';
import { IconRefresh, IconVideo } from '@tabler/icons-react';
import { Link, useLocation, useSearchParams } from 'wouter';
import { environmentIdSchema, taskIdSchema } from '#shared/ids.ts';
import { trainingSplit } from '#shared/schema/environment.ts';
import type { PlayState } from '#shared/contract/environments.ts';
import { orpc } from '../../rpc/client.ts';
import { useKeys } from '../../ui/keys.ts';
import type { PageProps } from '../../ui/viewer/page-props.ts';
import { Page } from '../../ui/page.tsx';
import { Notice } from '../../ui/viewer/notice.tsx';
import { EmptyState, ErrorState, LoadingState } from '../../ui/states.tsx';
import { LinkButton } from '../../ui/viewer/link-button.tsx';
import { PlayView } from './play-view.tsx';
import styles from './environments.module.css';
import { readTaskFilter, writeTaskFilter } from './task-query.ts';

/** A world played by hand. The URL holds world, task and game, so a reload comes back to the same move. */
export function PlayPage({ params }: PageProps) {
  const environmentId = environmentIdSchema.parse(params.environmentId);
  const [, navigate] = useLocation();
  const [parameters, setParameters] = useSearchParams();
  const taskId = taskIdSchema.safeParse(parameters.get('task'));
  const playId = parameters.get('play');
  const queries = useQueryClient();
  const [hintShown, setHintShown] = useState(false);

  const selectedText = parameters.get('step');
  const selected = selectedText === null ? null : Number(selectedText);
  const put = (changes: Record<string, string | null>) => {
    setParameters(
      (before) => {
        const next = new URLSearchParams(before);
        for (const [name, value] of Object.entries(changes)) {
          if (value === null) next.delete(name);
          else next.set(name, value);
        }
        return next;
      },
      { replace: true },
    );
  };

  const keep = (state: PlayState) => {
    queries.setQueryData(orpc.environments.play.get.queryKey({ input: { playId: state.playId } }), state);
  };
  const open = useMutation({
    ...orpc.environments.play.open.mutationOptions(),
    onSuccess: (state) => {
      keep(state);
      put({ play: state.playId, step: null });
    },
  });
  const game = useQuery({
    ...orpc.environments.play.get.queryOptions({ input: { playId: playId ?? '' } }),
    enabled: playId !== null,
    staleTime: Infinity,
  });
  const settle = (state: PlayState) => {
    keep(state);
    setHintShown(false);
    put({ step: null });
  };
  const act = useMutation({ ...orpc.environments.play.act.mutationOptions(), onSuccess: settle });
  const undo = useMutation({ ...orpc.environments.play.undo.mutationOptions(), onSuccess: settle });
  const record = useMutation(orpc.environments.play.record.mutationOptions());
  const busy = act.isPending || undo.isPending || open.isPending;

  const start = () => {
    if (!taskId.success) return;
    record.reset();
    open.mutate({ environmentId, taskId: taskId.data });
  };
  const startOnce = useEffectEvent(() => {
    if (playId === null && open.isIdle) start();
  });
  useEffect(() => {
    startOnce();
  }, [parameters]);

  const state = game.data;
  const doAct = (action: string) => {
    if (state === undefined || busy || state.finished) return;
    act.mutate({ playId: state.playId, action });
  };
  const doUndo = () => {
    if (state === undefined || busy || state.moves.length === 0) return;
    record.reset();
    undo.mutate({ playId: state.playId });
  };
  const showHint = () => {
    setHintShown((shown) => !shown);
  };
  const look = (index: number | null) => {
    put({ step: index === null ? null : String(index) });
  };

  const back = writeTaskFilter(readTaskFilter(parameters), new URLSearchParams()).toString();
  const tasksPath = `/environments/${environmentId}${back === '' ? '' : `?${back}`}`;

  useKeys([
    {
      key: 'Escape',
      label: 'Back to the tasks',
      run: () => {
        navigate(tasksPath);
      },
    },
    { key: 'u', label: 'Undo', run: doUndo },
    { key: 'Mod+z', label: 'Undo', run: doUndo },
    { key: 'h', label: 'Hint of the expert', run: showHint },
    {
      key: 'i',
      label: 'Type an action',
      run: () => document.querySelector<HTMLInputElement>('[data-action-field]')?.focus(),
    },
    {
      key: 'k',
      label: 'Look one move back',
      run: () => {
        if (state && state.moves.length > 0) look(Math.max(0, (selected ?? state.moves.length) - 1));
      },
    },
    {
      key: 'j',
      label: 'One move on',
      run: () => {
        if (state && selected !== null) look(selected + 1 >= state.moves.length ? null : selected + 1);
      },
    },
  ]);

  const breadcrumbs = [
    { label: 'Environments', href: '/environments' },
    { label: environmentId, href: tasksPath },
  ];
  const failure = open.error ?? game.error ?? act.error ?? undo.error;
  return (
    <Page
      layout="flush"
      title={state?.task.instruction ?? 'Play'}
      titleNode={
        state === undefined ? null : (
          <span className={styles.kind} title={`${state.task.type}, ${state.task.split}`}>
            {`${state.task.type}, ${state.task.split}`}
          </span>
        )
      }
      breadcrumb={breadcrumbs}
      actions={
        <Button
          size="xs"
          variant="default"
          leftSection={<IconRefresh size={14} />}
          disabled={!taskId.success || busy}
          onClick={start}
        >
          Start again
        </Button>
      }
    >
      {!taskId.success ? (
        <Notice>
          <EmptyState
            title="No task chosen"
            action={<LinkButton href={`/environments/${environmentId}`}>{'Browse tasks'}</LinkButton>}
          >
            Choose a task of this world; it opens here, ready for your first action.
          </EmptyState>
        </Notice>
      ) : state === undefined ? (
        failure ? (
          <Notice>
            <ErrorState
              error={failure}
              back={{ label: 'All environments', href: '/environments' }}
              onRetry={start}
            />
          </Notice>
        ) : (
          <Notice>
            <LoadingState rows={12} />
          </Notice>
        )
      ) : (
        <PlayView
          play={state}
          selected={selected !== null && selected >= 0 && selected < state.moves.length ? selected : null}
          busy={busy}
          hintShown={hintShown}
          problem={failure ?? record.error}
          onSelect={look}
          onAct={doAct}
          onUndo={doUndo}
          onHint={showHint}
          footer={
            record.data === undefined ? (
              <Button
                size="xs"
                leftSection={<IconVideo size={14} />}
                loading={record.isPending}
                onClick={() => {
                  record.mutate({ playId: state.playId });
                }}
              >
                {state.moves.at(-1)?.success === true && state.task.split === trainingSplit
                  ? 'Record as demonstration'
                  : 'Record as episode'}
              </Button>
            ) : (
              <Link href={`/trajectories/${encodeURIComponent(record.data.episodeId)}`}>
                {record.data.demonstration ? 'Recorded as demonstration: open it' : 'Recorded: open it'}
              </Link>
            )
          }
        />
      )}
    </Page>
  );
}
