import type { Episode } from '#shared/schema/episode.ts';
import type { StepView } from '../../ui/viewer/step-view.ts';

/** The episode, or one step of it, as Markdown for an issue or a paper's appendix. */
export function episodeMarkdown(
  episode: Pick<
    Episode,
    'episodeId' | 'instruction' | 'environmentId' | 'environmentVersion' | 'policyLabel' | 'seed'
  > & {
    success: boolean;
    totalReward: number;
  },
  steps: readonly StepView[],
): string {
  const head = [
    `### ${episode.instruction}`,
    '',
    `- Episode \`${episode.episodeId}\` · ${episode.environmentId} ${episode.environmentVersion} · seed ${episode.seed}`,
    `- Policy: ${episode.policyLabel}`,
    `- ${episode.success ? 'Success' : 'No success'} · reward ${episode.totalReward} · ${steps.length} steps`,
  ];
  return [...head, '', ...steps.map(stepMarkdown)].join('\n');
}

export function stepMarkdown(step: StepView): string {
  const lines = [`#### Step ${step.index}`, '', 'Observation', '', fence(step.state), ''];
  if (step.thought !== null && step.thought !== '') lines.push('Thought', '', fence(step.thought), '');
  lines.push('Action', '', fence(step.action), '', 'Outcome', '', fence(step.outcome), '');
  return lines.join('\n');
}

/** A fence longer than any run of backticks inside, so that no observation can close it. */
function fence(text: string): string {
  const longest = (text.match(/`+/gu) ?? []).reduce((length, run) => Math.max(length, run.length), 0);
  const ticks = '`'.repeat(Math.max(3, longest + 1));
  return `${ticks}text\n${text}\n${ticks}`;
}
