import type { EpisodeRow } from '#shared/schema/episode.ts';

export type OutcomeKind = 'running' | 'success' | 'failure' | 'truncated' | 'abandoned' | 'error';

/** Short enough for a column, and no code that is cut: which part broke. */
function errorWords(code: string): string {
  if (code.startsWith('MODEL_')) return 'Model error';
  if (code.startsWith('ENVIRONMENT_')) return 'World error';
  if (code === 'TIMEOUT') return 'Timed out';
  return code === 'DISK_FULL' ? 'Disk full' : 'Error';
}

/** How an episode ended, in one word and one kind. An infrastructure error is never shown as a failure of the policy. */
export function outcomeOf(episode: Pick<EpisodeRow, 'status' | 'success' | 'endReason' | 'error'>): {
  kind: OutcomeKind;
  label: string;
} {
  if (episode.status === 'running') return { kind: 'running', label: 'Running' };
  if (episode.status === 'failed') return { kind: 'error', label: errorWords(episode.error?.code ?? '') };
  if (episode.status === 'abandoned') return { kind: 'abandoned', label: 'Abandoned' };
  if (episode.success) return { kind: 'success', label: 'Success' };
  switch (episode.endReason) {
    case 'step-limit':
      return { kind: 'truncated', label: 'Step limit' };
    case 'token-limit':
      return { kind: 'truncated', label: 'Token limit' };
    case 'context-full':
      return { kind: 'truncated', label: 'Context full' };
    case 'invalid-limit':
      return { kind: 'truncated', label: 'Invalid limit' };
    case 'policy-ended':
      return { kind: 'truncated', label: 'Stopped short' };
    case 'terminated':
    case null:
      return { kind: 'failure', label: 'No success' };
  }
}
