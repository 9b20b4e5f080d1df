import { useQuery } from '@tanstack/react-query';
import { Tabs } from '@mantine/core';
import type { Episode } from '#shared/schema/episode.ts';
import { orpc } from '../../rpc/client.ts';
import { ErrorState, LoadingState } from '../../ui/states.tsx';
import { MonoText } from '../../ui/viewer/mono-text.tsx';
import { StepText } from '../../ui/viewer/step-text.tsx';
import type { StepView } from '../../ui/viewer/step-view.ts';
import { TokenView } from '../../ui/viewer/token-view.tsx';
import { PromptTab } from './prompt-tab.tsx';
import { stepTabs } from './use-selection.ts';
import type { StepTab } from './use-selection.ts';
import viewer from '../../ui/viewer/viewer.module.css';
import styles from './trajectories.module.css';

const tabLabels: Record<StepTab, string> = { text: 'Text', prompt: 'Prompt', tokens: 'Tokens', raw: 'Raw' };

/** Centre pane: the selected step as text, as the model's exact prompt, as tokens, as stored. */
export function StepTabs({
  episode,
  view,
  tab,
  search,
  onTab,
}: {
  episode: Episode;
  view: StepView;
  tab: StepTab;
  search: string;
  onTab: (tab: StepTab) => void;
}) {
  return (
    <Tabs
      value={tab}
      onChange={(value) => {
        const chosen = stepTabs.find((name) => name === value);
        if (chosen !== undefined) onTab(chosen);
      }}
      keepMounted={false}
      className={styles.tabs}
    >
      <Tabs.List className={viewer.tabList ?? ''}>
        {stepTabs.map((name) => (
          <Tabs.Tab key={name} value={name} className={viewer.tab ?? ''}>
            {tabLabels[name]}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      <Tabs.Panel value="text" className={styles.panel}>
        <StepText step={view} search={search} />
      </Tabs.Panel>
      <Tabs.Panel value="prompt" className={styles.panel}>
        <Prompt episode={episode} stepIndex={view.index} search={search} />
      </Tabs.Panel>
      <Tabs.Panel value="tokens" className={styles.panel}>
        <Tokens episode={episode} stepIndex={view.index} />
      </Tabs.Panel>
      <Tabs.Panel value="raw" className={styles.panel}>
        <Raw episode={episode} stepIndex={view.index} search={search} />
      </Tabs.Panel>
    </Tabs>
  );
}

function usePrompt(episode: Episode, stepIndex: number) {
  return useQuery({
    ...orpc.episodes.prompt.queryOptions({ input: { episodeId: episode.episodeId, stepIndex } }),
    enabled: episode.policy.kind === 'model',
    staleTime: Infinity,
  });
}

function Prompt({ episode, stepIndex, search }: { episode: Episode; stepIndex: number; search: string }) {
  const prompt = usePrompt(episode, stepIndex);
  if (episode.policy.kind !== 'model') return <NoModel kind={episode.policy.kind} />;
  if (prompt.isPending) return <LoadingState rows={6} />;
  if (prompt.isError) return <ErrorState error={prompt.error} onRetry={() => void prompt.refetch()} />;
  return <PromptTab messages={prompt.data.messages} search={search} />;
}

function Tokens({ episode, stepIndex }: { episode: Episode; stepIndex: number }) {
  const prompt = usePrompt(episode, stepIndex);
  if (episode.policy.kind !== 'model') return <NoModel kind={episode.policy.kind} />;
  if (prompt.isPending) return <LoadingState rows={6} />;
  if (prompt.isError) return <ErrorState error={prompt.error} onRetry={() => void prompt.refetch()} />;
  if (prompt.data.tokens === null)
    return (
      <p className={styles.dim}>
        No token ids were stored for this step: the model behind it (an HTTP server or a script) does not give
        them.
      </p>
    );
  return <TokenView tokens={prompt.data.tokens} />;
}

function Raw({ episode, stepIndex, search }: { episode: Episode; stepIndex: number; search: string }) {
  const step = useQuery({
    ...orpc.episodes.step.queryOptions({ input: { episodeId: episode.episodeId, stepIndex } }),
    staleTime: Infinity,
  });
  if (step.isPending) return <LoadingState rows={10} />;
  if (step.isError) return <ErrorState error={step.error} onRetry={() => void step.refetch()} />;
  return <MonoText text={JSON.stringify(step.data, null, 2)} search={search} />;
}

function NoModel({ kind }: { kind: Episode['policy']['kind'] }) {
  const who = {
    solver: 'The environment’s solver',
    human: 'A person',
    imported: 'An imported file',
    scripted: 'A script',
    model: 'A model',
  }[kind];
  return (
    <p
      className={styles.dim}
    >{`${who} chose this action: no model was asked, so there is no prompt and no token.`}</p>
  );
}
