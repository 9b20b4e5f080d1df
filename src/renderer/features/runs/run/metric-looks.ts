/** Counts that give others their n and have no curve of their own. */
export const uncharted: ReadonlySet<string> = new Set(['episodes-scored']);

/** How a metric of the host is called and coloured; an unknown one keeps its own name. */
interface MetricLook {
  title: string;
  unit: string;
  xLabel: string;
  color: string;
  /** A share, shown in percent. */
  percent: boolean;
}

const looks: Record<string, Partial<MetricLook>> = {
  'success-rate': {
    title: 'Success',
    unit: 'of episodes',
    color: '--dd-success',
    xLabel: 'episode',
    percent: true,
  },
  'mean-reward': { title: 'Mean reward', unit: 'per episode', xLabel: 'episode' },
  'mean-steps': { title: 'Mean length', unit: 'steps', color: '--dd-real', xLabel: 'episode' },
  'invalid-share': {
    title: 'Invalid actions',
    unit: 'of steps',
    color: '--dd-invalid',
    xLabel: 'episode',
    percent: true,
  },
  'parse-failure-share': {
    title: 'Unreadable answers',
    unit: 'of steps',
    color: '--dd-invalid',
    xLabel: 'episode',
    percent: true,
  },
  'completion-tokens': { title: 'Tokens written', unit: 'tokens' },
  'evaluated-prompt-tokens': { title: 'Prompt tokens evaluated', unit: 'tokens' },
  'branches-accepted': {
    title: 'Branches accepted',
    unit: 'branches',
    color: '--dd-alternative',
    xLabel: 'state',
  },
  'branches-rejected': { title: 'Branches rejected', unit: 'branches', color: '--dd-error', xLabel: 'state' },
  'environment-steps': {
    title: 'Real environment steps',
    unit: 'steps',
    color: '--dd-real',
    xLabel: 'state',
  },
  'kept-share': {
    title: 'Reflections kept',
    unit: 'of texts',
    color: '--dd-success',
    xLabel: 'state',
    percent: true,
  },
  gradientNorm: { title: 'Gradient norm', unit: 'before clipping', xLabel: 'update' },
  learningRate: { title: 'Learning rate', xLabel: 'update' },
  entropy: { title: 'Entropy', unit: 'nats per target token', xLabel: 'update' },
  rowTokensPerSecond: { title: 'Speed, tokens of rows', unit: 'tokens/s', xLabel: 'update' },
  computedTokensPerSecond: { title: 'Speed, tokens computed', unit: 'tokens/s', xLabel: 'update' },
  rowTokens: { title: 'Row tokens', unit: 'tokens, all updates', xLabel: 'update' },
};

/** `loss/iwm`: the loss of one stage of a training. */
function lossLook(name: string): Partial<MetricLook> | undefined {
  const [, stage] = /^loss\/(.+)$/.exec(name) ?? [];
  return stage === undefined
    ? undefined
    : { title: `Loss, ${stage}`, unit: 'nats per target token', xLabel: 'update' };
}

export function metricLook(name: string): MetricLook {
  const words = name.replaceAll('-', ' ');
  return {
    title: words.charAt(0).toUpperCase() + words.slice(1),
    unit: '',
    xLabel: 'step',
    color: '--dd-accent-text',
    percent: false,
    ...(lossLook(name) ?? looks[name]),
  };
}

/** Where a metric stands on a page: losses first, then as listed above, unknown ones last. */
export function metricRank(name: string): number {
  if (name.startsWith('loss/')) return -1;
  const at = Object.keys(looks).indexOf(name);
  return at === -1 ? Infinity : at;
}
