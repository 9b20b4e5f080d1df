import { useMantineColorScheme } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useLocation } from 'wouter';
import { episodeIdSchema } from '#shared/ids.ts';
import type { EpisodeRow } from '#shared/schema/episode.ts';
import { client, orpc, queryClient } from '../rpc/client.ts';
import { formatAgo, formatInteger, shortId } from '../ui/format.ts';
import { jobHref } from '../ui/job-href.ts';
import { places } from './features.ts';

export interface PaletteEntry {
  id: string;
  name: string;
  /** What it is, on the right. */
  kind: string;
  /** Found by these too, and not shown. */
  words?: string;
  run: () => void;
}

/** Every word of the query occurs in the text, in any order. */
export function matchesQuery(text: string, query: string): boolean {
  const haystack = text.toLowerCase();
  return query
    .toLowerCase()
    .split(/\s+/)
    .every((word) => haystack.includes(word));
}

/** Episodes of one query that the palette lists; all of them are a step away, in the trajectory list. */
const listedEpisodes = 8;

/** Pages, commands, runs by title or id, episodes by the words of their task, and an episode by its id. */
export function usePaletteEntries(
  query: string,
  open: boolean,
): {
  entries: PaletteEntry[];
  /** More may come for this query. */
  pending: boolean;
} {
  const [, navigate] = useLocation();
  const { setColorScheme } = useMantineColorScheme();
  const [settled] = useDebouncedValue(query.trim(), 150);
  const jobs = useQuery({
    ...orpc.jobs.list.queryOptions({ input: { limit: 100, filter: { parentId: null } } }),
    enabled: open,
  });
  const looksLikeId = settled.length >= 6 && !settled.includes(' ');
  const episode = useQuery({
    ...orpc.episodes.get.queryOptions({ input: { episodeId: episodeIdSchema.parse(settled || '-') } }),
    enabled: open && looksLikeId,
    retry: false,
  });

  const asksText = settled.length >= 3;
  const tasks = useQuery({
    ...orpc.episodes.list.queryOptions({ input: { limit: listedEpisodes, filter: { text: settled } } }),
    enabled: open && asksText,
  });

  const setTheme = (theme: 'system' | 'light' | 'dark') => {
    setColorScheme(theme === 'system' ? 'auto' : theme);
    void client.system.settings.set({ theme }).then((settings) => {
      queryClient.setQueryData(orpc.system.settings.get.queryKey(), settings);
    });
  };
  const go = (href: string) => () => {
    navigate(href);
  };
  const entries: PaletteEntry[] = [
    ...places.map(({ href, name, words }) => ({ id: href, name, kind: 'page', words, run: go(href) })),
    { id: 'new-run', name: 'New run', kind: 'command', run: go('/runs/new') },
    { id: 'new-training', name: 'New training', kind: 'command', run: go('/training/new') },
    ...(['system', 'light', 'dark'] as const).map((theme) => ({
      id: `theme-${theme}`,
      name: `Theme: ${theme}`,
      kind: 'command',
      run: () => {
        setTheme(theme);
      },
    })),
    ...(window.daydream === undefined
      ? []
      : [
          {
            id: 'data-folder',
            name: 'Open the data folder',
            kind: 'command',
            run: () => window.daydream?.openDataFolder(),
          },
        ]),
    ...(jobs.data?.items ?? []).map((job) => ({
      id: job.jobId,
      name: job.title === '' ? job.kind : job.title,
      kind: `${job.kind === 'train' ? 'training' : 'run'} ${shortId(job.jobId)} · ${job.state} · ${formatAgo(job.createdAt, Date.now())}`,
      run: go(jobHref(job)),
    })),
  ];
  const found =
    query.trim() === ''
      ? entries
      : entries.filter(({ id, name, kind, words = '' }) =>
          matchesQuery(`${name} ${kind} ${id} ${words}`, query),
        );
  const hit = looksLikeId ? episode.data?.episode : undefined;
  if (hit !== undefined) {
    found.unshift({
      id: hit.episodeId,
      name: hit.instruction,
      kind: `episode ${shortId(hit.episodeId)}`,
      run: go(`/trajectories/${encodeURIComponent(hit.episodeId)}`),
    });
  }
  const pending =
    jobs.isPending ||
    query.trim() !== settled ||
    (looksLikeId && episode.isFetching) ||
    (asksText && tasks.isFetching);
  // Those of an older query would be opened by an Enter that meant this one.
  const byTask = asksText && query.trim() === settled ? tasks.data : undefined;
  const shown = found.slice(0, 40);
  if (byTask !== undefined) shown.push(...episodeEntries(byTask, settled, go));
  return { entries: shown, pending };
}

function episodeEntries(
  { items, total }: { items: readonly EpisodeRow[]; total: number | null },
  text: string,
  go: (href: string) => () => void,
): PaletteEntry[] {
  const entries = items.map((row) => ({
    id: `task-${row.episodeId}`,
    name: row.instruction,
    kind: `episode · ${row.policyLabel} · ${formatAgo(row.startedAt, Date.now())}`,
    run: go(`/trajectories/${encodeURIComponent(row.episodeId)}`),
  }));
  if (total === null || total <= items.length) return entries;
  return [
    ...entries,
    {
      id: 'all-tasks',
      name: `All ${formatInteger(total)} episodes with “${text}” in their task`,
      kind: 'trajectories',
      run: go(`/trajectories?text=${encodeURIComponent(text)}`),
    },
  ];
}
