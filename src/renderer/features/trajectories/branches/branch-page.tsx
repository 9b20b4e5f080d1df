import { useMemo } from 'react';
import { useQuery } from '@tanstack/react-query';
import { Button } from '@mantine/core';
import { IconListDetails } from '@tabler/icons-react';
import { useLocation, useSearchParams } from 'wouter';
import { episodeIdSchema } from '#shared/ids.ts';
import { orpc } from '../../../rpc/client.ts';
import { useKeys } from '../../../ui/keys.ts';
import type { PageProps } from '../../../ui/viewer/page-props.ts';
import { Page } from '../../../ui/page.tsx';
import { LinkButton } from '../../../ui/viewer/link-button.tsx';
import { Notice } from '../../../ui/viewer/notice.tsx';
import { EmptyState, ErrorState, LoadingState } from '../../../ui/states.tsx';
import { SplitPane } from '../../../ui/split-pane.tsx';
import { viewEpisode } from '../../../ui/viewer/step-view.ts';
import { listParameters } from '../filters.ts';
import { readSelection } from '../use-selection.ts';
import { BranchTrunk, TwigLegend } from './branch-trunk.tsx';
import { groupBranches, namedBranch } from './group-branches.ts';
import { StateDetail } from './state-detail.tsx';
import viewer from '../../../ui/viewer/viewer.module.css';

/** The expert's path with what was really executed beside it. The URL holds the state and the opened twig. */
export function BranchPage({ params }: PageProps) {
  const episodeId = episodeIdSchema.parse(params.episodeId);
  const [, navigate] = useLocation();
  const [parameters, setParameters] = useSearchParams();

  const episode = useQuery(orpc.episodes.get.queryOptions({ input: { episodeId } }));
  const branches = useQuery(orpc.episodes.branches.queryOptions({ input: { episodeId } }));
  const reflections = useQuery(
    orpc.episodes.reflections.list.queryOptions({ input: { episodeId, limit: 500 } }),
  );

  const states = useMemo(
    () =>
      episode.data === undefined || branches.data === undefined
        ? []
        : groupBranches(
            viewEpisode(episode.data.episode, episode.data.steps),
            branches.data,
            reflections.data?.items ?? [],
          ),
    [episode.data, branches.data, reflections.data],
  );
  const selected = Math.max(0, Math.min(readSelection(parameters).step, states.length - 1));
  const state = states[selected];
  const name = parameters.get('branch');
  const opened =
    state === undefined || name === null
      ? null
      : (namedBranch(state, name, parameters.get('action'))?.branchId ?? null);

  const select = (step: number, branch: string | null = null) => {
    setParameters(
      (before) => {
        const next = new URLSearchParams(before);
        next.set('step', String(Math.max(0, Math.min(states.length - 1, step))));
        next.delete('action');
        if (branch === null) next.delete('branch');
        else next.set('branch', branch);
        return next;
      },
      { replace: true },
    );
  };
  const hop = (by: 1 | -1) => {
    if (state === undefined) return;
    const twigs = state.alternatives;
    const at = twigs.findIndex((twig) => twig.branchId === opened);
    const next = twigs[at === -1 && by === -1 ? twigs.length - 1 : at + by];
    select(selected, next?.branchId ?? null);
  };
  const toSteps = () => {
    const next = new URLSearchParams(parameters);
    next.delete('branch');
    next.delete('action');
    navigate(`/trajectories/${encodeURIComponent(episodeId)}?${next.toString()}`);
  };

  useKeys([
    {
      key: 'j',
      label: 'Next state',
      run: () => {
        select(selected + 1);
      },
    },
    {
      key: 'k',
      label: 'Previous state',
      run: () => {
        select(selected - 1);
      },
    },
    {
      key: 'ArrowDown',
      label: 'Next alternative',
      run: () => {
        hop(1);
      },
    },
    {
      key: 'ArrowUp',
      label: 'Previous alternative',
      run: () => {
        hop(-1);
      },
    },
    { key: 'b', label: 'Back to the steps', run: toSteps },
    {
      key: 'Escape',
      label: 'Close the alternative, then back to the steps',
      run: () => {
        if (opened === null) toSteps();
        else select(selected);
      },
    },
  ]);

  const title = episode.data?.episode.instruction ?? 'Branches';
  const failed = [episode, branches, reflections].find((query) => query.isError);
  return (
    <Page
      layout="flush"
      title={title}
      breadcrumb={[
        { label: 'Trajectories', href: `/trajectories${listParameters(parameters)}` },
        { label: 'Episode', href: `/trajectories/${encodeURIComponent(episodeId)}?step=${String(selected)}` },
      ]}
      actions={
        <Button size="xs" variant="default" leftSection={<IconListDetails size={14} />} onClick={toSteps}>
          Steps
        </Button>
      }
    >
      {failed?.error ? (
        <Notice>
          <ErrorState
            error={failed.error}
            back={{ label: 'All episodes', href: '/trajectories' }}
            onRetry={() => void failed.refetch()}
          />
        </Notice>
      ) : episode.isPending || branches.isPending ? (
        <Notice>
          <LoadingState rows={12} />
        </Notice>
      ) : branches.data?.length === 0 ? (
        <Notice>
          <EmptyState
            title="No alternatives were executed from this episode"
            action={<LinkButton href={'/runs/new'}>{'New Early Experience run'}</LinkButton>}
          >
            Branches come from an Early Experience run: it takes demonstrations and really executes K other
            actions from each of their states.
          </EmptyState>
        </Notice>
      ) : (
        <SplitPane
          name="branches"
          initial={290}
          label="Width of the trunk"
          left={
            <div className={viewer.pane}>
              <BranchTrunk
                states={states}
                selected={selected}
                onSelect={(index) => {
                  select(index);
                }}
              />
              <TwigLegend />
            </div>
          }
          right={
            <div className={viewer.pane}>
              {state !== undefined && (
                <StateDetail
                  state={state}
                  datasets={episode.data?.datasets ?? []}
                  opened={opened}
                  onOpen={(branchId) => {
                    select(selected, branchId);
                  }}
                />
              )}
            </div>
          }
        />
      )}
    </Page>
  );
}
