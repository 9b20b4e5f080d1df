/** How a token is shaded: five classes of probability, so that the legend can name each exactly. */
export interface ShadeClass {
  readonly level: 0 | 1 | 2 | 3 | 4;
  readonly label: string;
  /** Smallest probability in this class. */
  readonly from: number;
}

export const shadeClasses: readonly [ShadeClass, ...ShadeClass[]] = [
  { level: 0, label: '≥ 90 %', from: 0.9 },
  { level: 1, label: '50–90 %', from: 0.5 },
  { level: 2, label: '10–50 %', from: 0.1 },
  { level: 3, label: '1–10 %', from: 0.01 },
  { level: 4, label: '< 1 %', from: 0 },
];

/** @param logprob natural logarithm, ≤ 0; null for tokens that nobody sampled (the prompt). */
export function shadeOf(logprob: number | null): ShadeClass['level'] | null {
  if (logprob === null || Number.isNaN(logprob)) return null;
  const probability = Math.exp(logprob);
  return (shadeClasses.find((shade) => probability >= shade.from) ?? shadeClasses[0]).level;
}

export interface TokenStatistics {
  readonly count: number;
  readonly sum: number;
  readonly mean: number;
  /** exp(−mean log-probability). */
  readonly perplexity: number;
  readonly lowest: number;
}

/** Over the tokens that carry a value; null when none does. */
export function tokenStatistics(logprobs: readonly (number | null)[]): TokenStatistics | null {
  const values = logprobs.filter((value): value is number => value !== null && !Number.isNaN(value));
  if (values.length === 0) return null;
  const sum = values.reduce((total, value) => total + value, 0);
  const mean = sum / values.length;
  return {
    count: values.length,
    sum,
    mean,
    perplexity: Math.exp(-mean),
    lowest: values.reduce((low, value) => Math.min(low, value), 0),
  };
}

/** White space made visible where a token is nothing else; a new line keeps breaking the line. */
export function showToken(text: string): string {
  if (text === '') return '∅';
  return text.replaceAll('\n', '↵\n').replaceAll('\t', '→');
}
