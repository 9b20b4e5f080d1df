/** An episode as text, for reading in a terminal. */
import type { Client } from '#shared/contract/index.ts';

type Shown = Awaited<ReturnType<Client['episodes']['get']>>;

function indent(text: string, by: string): string {
  return text
    .trim()
    .split('\n')
    .map((line) => `${by}${line}`)
    .join('\n');
}

export function outcomeWords({ status, endReason, success, steps, error }: Shown['episode']): string {
  if (status === 'failed') return `failed (${error?.code ?? 'unknown error'}) after ${String(steps)} steps`;
  if (status !== 'finished') return `${status} after ${String(steps)} steps`;
  return `${success ? 'SUCCESS' : 'no success'} after ${String(steps)} steps (${endReason ?? 'ended'})`;
}

export function transcript({ episode, steps }: Shown): string {
  const lines = [
    `Episode ${episode.episodeId}  ${episode.environmentId} · ${episode.split} · ${episode.taskType} · seed ${String(episode.seed)}`,
    `Policy: ${episode.policyLabel}`,
    `Task: ${episode.instruction}`,
    indent(episode.initialObservation, '  '),
  ];
  for (const step of steps) {
    const marks = [step.valid ? '' : 'invalid', step.parseStatus === 'ok' ? '' : step.parseStatus]
      .filter((mark) => mark !== '')
      .join(', ');
    if (step.thought !== null && step.thought.trim() !== '') lines.push(indent(step.thought, '  · '));
    lines.push(`> ${step.action}${marks === '' ? '' : `   [${marks}]`}`, indent(step.observation, '  '));
  }
  lines.push(`= ${outcomeWords(episode)}`);
  return lines.join('\n');
}
