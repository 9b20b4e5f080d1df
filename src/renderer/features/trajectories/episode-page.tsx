import { useMemo, useRef } from 'react';
import { useQuery } from '@tanstack/react-query';
import { Button, TextInput } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { IconChevronLeft, IconChevronRight, IconCopy, IconGitBranch, IconSearch } from '@tabler/icons-react';
import { useLocation, useSearchParams } from 'wouter';
import { episodeIdSchema } from '#shared/ids.ts';
import { orpc } from '../../rpc/client.ts';
import { useKeys } from '../../ui/keys.ts';
import type { PageProps } from '../../ui/viewer/page-props.ts';
import { Page } from '../../ui/page.tsx';
import { Notice } from '../../ui/viewer/notice.tsx';
import { EmptyState, ErrorState, LoadingState } from '../../ui/states.tsx';
import { ThreePanes } from '../../ui/viewer/three-panes.tsx';
import { Minimap } from '../../ui/viewer/minimap.tsx';
import { StepList } from '../../ui/viewer/step-list.tsx';
import { viewEpisode } from '../../ui/viewer/step-view.ts';
import { FactsPane } from './facts-pane.tsx';
import { listParameters, readQuery } from './filters.ts';
import { episodeMarkdown, stepMarkdown } from './markdown.ts';
import { PartialEpisode } from './partial-episode.tsx';
import { OutcomeBadge } from './outcome-badge.tsx';
import { nextHit, stepsWith } from './search-episode.ts';
import { StepTabs } from './step-tabs.tsx';
import { useSelection } from './use-selection.ts';
import viewer from '../../ui/viewer/viewer.module.css';
import styles from './trajectories.module.css';

/** Every step of one episode. The URL holds step, tab, search, and the list's filters, so that J and K follow the list. */
export function EpisodePage({ params }: PageProps) {
  const episodeId = episodeIdSchema.parse(params.episodeId);
  const [, navigate] = useLocation();
  const [parameters] = useSearchParams();
  const [selection, select] = useSelection();
  const search = useRef<HTMLInputElement>(null);
  const query = readQuery(parameters);

  const loaded = useQuery({
    ...orpc.episodes.get.queryOptions({ input: { episodeId } }),
    refetchInterval: (state) => (state.state.data?.episode.status === 'running' ? 1000 : false),
  });
  const neighbours = useQuery(
    orpc.episodes.neighbours.queryOptions({ input: { episodeId, filter: query.filter, sort: query.sort } }),
  );

  const steps = useMemo(
    () => (loaded.data === undefined ? [] : viewEpisode(loaded.data.episode, loaded.data.steps)),
    [loaded.data],
  );
  const hits = useMemo(() => stepsWith(steps, selection.search), [steps, selection.search]);
  const last = steps.length - 1;
  const position = Math.max(0, Math.min(selection.step, last));
  const view = steps[position];

  const goTo = (id: string | null | undefined) => {
    if (id === null || id === undefined) return;
    const next = new URLSearchParams(parameters);
    next.delete('step');
    navigate(`/trajectories/${encodeURIComponent(id)}?${next.toString()}`, { replace: true });
  };
  const move = (by: number) => {
    select({ step: Math.max(0, Math.min(last, position + by)) });
  };
  const branches = () => {
    const next = new URLSearchParams(parameters);
    next.set('step', String(position));
    next.delete('tab');
    navigate(`/trajectories/${encodeURIComponent(episodeId)}/branches?${next.toString()}`);
  };
  const copy = (whole: boolean) => {
    if (loaded.data === undefined || view === undefined) return;
    const text = whole ? episodeMarkdown(loaded.data.episode, steps) : stepMarkdown(view);
    void navigator.clipboard.writeText(text).then(
      () =>
        notifications.show({
          message: whole ? 'Episode copied as Markdown' : `Step ${String(position)} copied as Markdown`,
        }),
      () => notifications.show({ color: 'red', message: 'The clipboard is not available in this window.' }),
    );
  };
  const hop = (direction: 1 | -1) => {
    const hit = nextHit(hits, position, direction);
    if (hit !== null) select({ step: hit });
  };

  useKeys([
    {
      key: 'Escape',
      label: 'Back to the list',
      run: () => {
        navigate(`/trajectories${listParameters(parameters)}`);
      },
    },
    {
      key: 'j',
      label: 'Next step',
      run: () => {
        move(1);
      },
    },
    {
      key: 'k',
      label: 'Previous step',
      run: () => {
        move(-1);
      },
    },
    {
      key: 'ArrowDown',
      label: 'Next step',
      run: () => {
        move(1);
      },
    },
    {
      key: 'ArrowUp',
      label: 'Previous step',
      run: () => {
        move(-1);
      },
    },
    {
      key: 'Shift+J',
      label: 'Next episode of the list',
      run: () => {
        goTo(neighbours.data?.next);
      },
    },
    {
      key: 'Shift+K',
      label: 'Previous episode of the list',
      run: () => {
        goTo(neighbours.data?.previous);
      },
    },
    { key: 'b', label: 'Branches of this state', run: branches },
    { key: '/', label: 'Search in the episode', run: () => search.current?.focus() },
    {
      key: 'n',
      label: 'Next match',
      run: () => {
        hop(1);
      },
    },
    {
      key: 'c',
      label: 'Copy the step as Markdown',
      run: () => {
        copy(false);
      },
    },
    {
      key: 'Shift+C',
      label: 'Copy the episode as Markdown',
      run: () => {
        copy(true);
      },
    },
  ]);

  if (loaded.isPending)
    return (
      <Page title="Episode">
        <LoadingState rows={12} />
      </Page>
    );
  if (loaded.isError)
    return (
      <Page title="Episode">
        <ErrorState
          error={loaded.error}
          back={{ label: 'All episodes', href: '/trajectories' }}
          onRetry={() => void loaded.refetch()}
        />
      </Page>
    );
  const { episode, datasets } = loaded.data;
  const step = loaded.data.steps[position];
  const branched = loaded.data.steps.some((other) => other.branches > 0);
  return (
    <Page
      layout="flush"
      title={episode.instruction}
      breadcrumb={[{ label: 'Trajectories', href: `/trajectories${listParameters(parameters)}` }]}
      actions={
        <>
          <TextInput
            ref={search}
            size="xs"
            aria-label="Search in the episode"
            placeholder="Search in the episode"
            leftSection={<IconSearch size={14} />}
            value={selection.search}
            onChange={(event) => {
              select({ search: event.currentTarget.value });
            }}
            onKeyDown={(event) => {
              if (event.key === 'Enter') hop(event.shiftKey ? -1 : 1);
              if (event.key === 'Escape') {
                select({ search: '' });
                event.currentTarget.blur();
              }
            }}
            rightSectionWidth={44}
            rightSection={
              selection.search === '' ? null : <span className={styles.dim}>{String(hits.length)}</span>
            }
          />
          <Button.Group>
            <Button
              size="xs"
              variant="default"
              aria-label="Previous episode"
              disabled={!neighbours.data?.previous}
              onClick={() => {
                goTo(neighbours.data?.previous);
              }}
            >
              <IconChevronLeft size={14} />
            </Button>
            <Button
              size="xs"
              variant="default"
              aria-label="Next episode"
              disabled={!neighbours.data?.next}
              onClick={() => {
                goTo(neighbours.data?.next);
              }}
            >
              <IconChevronRight size={14} />
            </Button>
          </Button.Group>
          <Button
            size="xs"
            variant="default"
            leftSection={<IconCopy size={14} />}
            onClick={() => {
              copy(true);
            }}
          >
            Copy
          </Button>
          <Button
            size="xs"
            variant={branched ? 'filled' : 'default'}
            disabled={!branched}
            leftSection={<IconGitBranch size={14} />}
            onClick={branches}
          >
            Branches
          </Button>
        </>
      }
    >
      <ThreePanes
        name="episode"
        left={
          <>
            <div className={viewer.paneHead}>
              <div className={styles.paneTitle}>
                <OutcomeBadge episode={episode} />
                <span
                  className={styles.dim}
                >{`${String(steps.length)} steps, reward ${String(episode.totalReward)}${episode.retries > 0 ? `, retried ${String(episode.retries)}×` : ''}`}</span>
              </div>
              <Minimap
                steps={steps}
                selected={position}
                onSelect={(index) => {
                  select({ step: index });
                }}
              />
            </div>
            <StepList
              steps={steps}
              selected={position}
              hits={hits}
              onSelect={(index) => {
                select({ step: index });
              }}
            />
          </>
        }
        centre={
          view === undefined ? (
            <Notice>
              <EmptyState title="No step yet">
                {episode.status === 'running'
                  ? 'The model is working on its first action; this page follows.'
                  : 'The episode ended before its first action. What happened stands on the right.'}
              </EmptyState>
            </Notice>
          ) : (
            <>
              <PartialEpisode episode={episode} />
              <StepTabs
                episode={episode}
                view={view}
                tab={selection.tab}
                search={selection.search}
                onTab={(tab) => {
                  select({ tab });
                }}
              />
            </>
          )
        }
        right={<FactsPane episode={episode} view={view} step={step} datasets={datasets} />}
      />
    </Page>
  );
}
