import { useEffect, useMemo, useState } from 'react';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useSearchParams } from 'wouter';
import type { MarkedReflection } from '#shared/contract/episodes.ts';
import type { Review } from '#shared/schema/branch.ts';
import { orpc } from '../../../rpc/client.ts';
import { formatInteger } from '../../../ui/format.ts';
import { useKeys } from '../../../ui/keys.ts';
import { Page } from '../../../ui/page.tsx';
import { LinkButton } from '../../../ui/viewer/link-button.tsx';
import { KeyHints } from '../../../ui/text.tsx';
import { Notice } from '../../../ui/viewer/notice.tsx';
import { EmptyState, ErrorState, LoadingState } from '../../../ui/states.tsx';
import { SplitPane } from '../../../ui/split-pane.tsx';
import { visibleText } from '../../../ui/viewer/visible-text.tsx';
import { VirtualList } from '../../../ui/viewer/virtual-list.tsx';
import { flagLabels } from '../../../ui/flag-labels.ts';
import { ReflectionCard } from '../branches/reflection-card.tsx';
import type { Decision } from '../branches/reflection-card.tsx';
import { verdictOf } from '../branches/reflection-verdict.ts';
import { reviewInput, useReview } from '../branches/use-review.ts';
import { ReviewContext } from './review-context.tsx';
import { ReviewFilters } from './review-filters.tsx';
import { readReviewQuery, writeReviewQuery } from './review-query.ts';
import viewer from '../../../ui/viewer/viewer.module.css';
import styles from '../branches/branches.module.css';

/** Reflections one by one: k keeps, d drops, u takes the last decision back. What is decided leaves a list of pending ones. */
export function ReviewPage() {
  const [parameters, setParameters] = useSearchParams();
  const query = readReviewQuery(parameters);
  const review = useReview();
  const [history, setHistory] = useState<readonly { reflection: MarkedReflection; before: Review }[]>([]);

  const list = useInfiniteQuery(
    orpc.episodes.reflections.list.infiniteOptions({
      input: (cursor: string | null) => ({ ...query.filter, cursor, limit: 100 }),
      initialPageParam: null,
      getNextPageParam: (page) => page.nextCursor,
    }),
  );
  const items = useMemo(() => list.data?.pages.flatMap((page) => page.items) ?? [], [list.data]);
  const total = list.data?.pages[0]?.total ?? null;
  const found = items.findIndex((item) => item.reflectionId === query.selected);
  const position = found === -1 ? 0 : found;
  const current = items[position];

  const set = (change: Parameters<typeof writeReviewQuery>[0]) => {
    setParameters((before) => writeReviewQuery(change, before), { replace: true });
  };
  const select = (index: number) => {
    const item = items[Math.max(0, Math.min(items.length - 1, index))];
    if (item !== undefined) set({ selected: item.reflectionId });
  };
  useEffect(() => {
    if (position > items.length - 10 && list.hasNextPage && !list.isFetchingNextPage)
      void list.fetchNextPage();
  }, [position, items.length, list]);

  const decide = (decision: Decision, reason: string) => {
    if (current === undefined || review.isPending) return;
    const next = items[position + 1] ?? items[position - 1];
    review.mutate(reviewInput(current, decision, reason), {
      onSuccess: () => {
        setHistory((before) => [...before, { reflection: current, before: current.review }]);
        if (next !== undefined) set({ selected: next.reflectionId });
      },
    });
  };
  const undo = () => {
    const last = history.at(-1);
    if (last === undefined || review.isPending) return;
    review.mutate(reviewInput(last.reflection, last.before.decision, last.before.reason), {
      onSuccess: () => {
        setHistory((before) => before.slice(0, -1));
        set({ selected: last.reflection.reflectionId });
      },
    });
  };

  useKeys([
    {
      key: 'k',
      label: 'Keep',
      run: () => {
        press('keep');
      },
    },
    {
      key: 'd',
      label: 'Drop',
      run: () => {
        press('drop');
      },
    },
    { key: 'u', label: 'Undo the last decision', run: undo },
    {
      key: 'ArrowDown',
      label: 'Next reflection',
      run: () => {
        select(position + 1);
      },
    },
    {
      key: 'ArrowUp',
      label: 'Previous reflection',
      run: () => {
        select(position - 1);
      },
    },
  ]);

  return (
    <Page
      layout="flush"
      title="Reflections"
      breadcrumb={[{ label: 'Trajectories', href: '/trajectories' }]}
      actions={
        <ReviewFilters
          filter={query.filter}
          onChange={(change) => {
            set({ ...change, selected: null });
          }}
        />
      }
    >
      {list.isError ? (
        <Notice>
          <ErrorState error={list.error} onRetry={() => void list.refetch()} />
        </Notice>
      ) : list.isPending ? (
        <Notice>
          <LoadingState rows={12} />
        </Notice>
      ) : current === undefined ? (
        <Notice>
          <EmptyState
            title={query.filter.decision === 'pending' ? 'Nothing waits for review' : 'No reflection matches'}
            action={
              query.filter.kept === true ? (
                <LinkButton href={'/trajectories/reviews?kept=false'}>
                  {'Read what the filters dropped'}
                </LinkButton>
              ) : (
                <LinkButton href={'/runs/new'}>{'New Early Experience run'}</LinkButton>
              )
            }
          >
            Reflections are written by an Early Experience run from the really executed alternatives of a
            state. Every one of them can be kept or dropped here; the decision overrides the filters when the
            data is exported again.
          </EmptyState>
        </Notice>
      ) : (
        <SplitPane
          name="reviews"
          initial={300}
          label="Width of the list"
          left={
            <div className={viewer.pane}>
              <p className={styles.reviewCount}>
                {total === null
                  ? `${formatInteger(items.length)} loaded`
                  : `${formatInteger(total)} ${total === 1 ? 'reflection' : 'reflections'}`}
              </p>
              <VirtualList
                label="Reflections"
                items={items}
                rowHeight={50}
                selected={position}
                keyOf={(item) => item.reflectionId}
                onSelect={select}
                onEnd={() => {
                  if (list.hasNextPage && !list.isFetchingNextPage) void list.fetchNextPage();
                }}
                row={(item) => <ReviewRow reflection={item} />}
              />
            </div>
          }
          right={
            <div className={viewer.pane}>
              <div className={styles.detail}>
                <ReviewContext reflection={current} />
                <ReflectionCard
                  reflection={current}
                  busy={review.isPending}
                  onReview={(decision, reason) => {
                    decide(decision, reason);
                  }}
                />
                <p className={styles.dim}>
                  <KeyHints
                    hints={[
                      { key: 'k', label: 'keep' },
                      { key: 'd', label: 'drop' },
                      { key: 'u', label: 'undo' },
                    ]}
                  />
                  {history.length > 0 && ` ${String(history.length)} decided in this sitting`}
                </p>
              </div>
            </div>
          }
        />
      )}
    </Page>
  );
}

/** The card's own button, so that a typed reason goes along. */
function press(decision: Decision): void {
  document.querySelector<HTMLButtonElement>(`button[data-decision="${decision}"]`)?.click();
}

function ReviewRow({ reflection }: { reflection: MarkedReflection }) {
  const verdict = verdictOf(reflection);
  return (
    <span className={styles.reviewCell}>
      <span className={styles.reviewLine}>
        <span className={styles.reviewText}>
          {reflection.text === '' ? '(empty)' : visibleText(reflection.text)}
        </span>
      </span>
      <span className={styles.reviewLine}>
        <span className={styles.dim}>
          {reflection.flags.map(({ flag }) => flagLabels[flag].label).join(', ') || 'no flag'}
        </span>
        <span className={styles.verdict} data-kept={verdict.kept} title={verdict.text}>
          {verdict.kept ? 'keep' : 'drop'}
        </span>
      </span>
    </span>
  );
}
