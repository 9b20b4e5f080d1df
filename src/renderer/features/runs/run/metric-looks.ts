/** Counts that give others their n and have no curve of their own. */
export const uncharted: ReadonlySet<string> = new Set(['episodes-scored']);

/** How a metric of the host is called and coloured; an unknown one keeps its own name. */
interface MetricLook {
  title: string;
  unit: string;
  /** What a point's step counts, in one word. */
  xLabel: string;
  color: string;
  /** A share, shown in percent. */
  percent: boolean;
}

/** A metric's step counts what its kind of job works through: the tokens of a rollout stand over its episodes, those of branching over its states. */
const counted: Readonly<Record<string, string>> = {
  rollout: 'episode',
  demonstrations: 'episode',
  branching: 'state',
  reflection: 'text',
  train: 'update',
};

const looks: Record<string, Partial<Omit<MetricLook, 'xLabel'>>> = {
  'success-rate': {
    title: 'Success',
    unit: 'of episodes',
    color: '--dd-success',
    percent: true,
  },
  'mean-reward': { title: 'Mean reward', unit: 'per episode' },
  'mean-steps': { title: 'Mean length', unit: 'steps', color: '--dd-real' },
  'invalid-share': {
    title: 'Invalid actions',
    unit: 'of steps',
    color: '--dd-invalid',
    percent: true,
  },
  'parse-failure-share': {
    title: 'Unreadable answers',
    unit: 'of steps',
    color: '--dd-invalid',
    percent: true,
  },
  'completion-tokens': { title: 'Tokens written', unit: 'tokens' },
  'evaluated-prompt-tokens': { title: 'Prompt tokens evaluated', unit: 'tokens' },
  'branches-accepted': {
    title: 'Branches accepted',
    unit: 'branches',
    color: '--dd-alternative',
  },
  'branches-rejected': { title: 'Branches rejected', unit: 'branches', color: '--dd-error' },
  'environment-steps': {
    title: 'Real environment steps',
    unit: 'steps',
    color: '--dd-real',
  },
  'kept-share': {
    title: 'Reflections kept',
    unit: 'of texts',
    color: '--dd-success',
    percent: true,
  },
  gradientNorm: { title: 'Gradient norm', unit: 'before clipping' },
  learningRate: { title: 'Learning rate' },
  entropy: { title: 'Entropy', unit: 'nats per target token' },
  rowTokensPerSecond: { title: 'Speed, tokens of rows', unit: 'tokens/s' },
  computedTokensPerSecond: { title: 'Speed, tokens computed', unit: 'tokens/s' },
  rowTokens: { title: 'Row tokens', unit: 'tokens, all updates' },
};

/** `loss/iwm`: the loss of one stage of a training. */
function lossLook(name: string): Partial<Omit<MetricLook, 'xLabel'>> | undefined {
  const [, stage] = /^loss\/(.+)$/.exec(name) ?? [];
  return stage === undefined ? undefined : { title: `Loss, ${stage}`, unit: 'nats per target token' };
}

/** @param kind of the job that measured it */
export function metricLook(name: string, kind: string): MetricLook {
  const words = name.replaceAll('-', ' ');
  return {
    title: words.charAt(0).toUpperCase() + words.slice(1),
    unit: '',
    color: '--dd-accent-text',
    percent: false,
    ...(lossLook(name) ?? looks[name]),
    ...(name === 'invalid-share' && kind === 'branching' ? { unit: 'of branches' } : {}),
    xLabel: counted[kind] ?? 'step',
  };
}

/** Where a metric stands on a page: losses first, then as listed above, unknown ones last. */
export function metricRank(name: string): number {
  if (name.startsWith('loss/')) return -1;
  const at = Object.keys(looks).indexOf(name);
  return at === -1 ? Infinity : at;
}
