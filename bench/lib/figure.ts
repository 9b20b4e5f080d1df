/**
 * What a bench reports. A bench file `bench/NAME.ts` has one default export, a `Bench`; `npm run bench -- NAME --json` prints one
 * line for each figure and exits 0 only if every bar held. A speed is compared with a baseline measured in the same run, in
 * interleaved pairs, because this machine's speed changes from minute to minute.
 */
import type { TrainingDevice } from '#shared/schema/training.ts';

export interface Figure {
  /** What was measured, e.g. `tokens per second at 32 episodes`. */
  figure: string;
  value: number;
  unit: string;
  /** The value it is compared with, same unit, measured in the same run; null where the bar is absolute. */
  baseline: number | null;
  /** value / baseline (median over pairs); null without a baseline. */
  ratio: number | null;
  /** The condition in words, e.g. `ratio >= 0.8`; null for a figure that is only reported. */
  bar: string | null;
  ok: boolean;
  /** Why it could not be measured here, or what the reader must know. */
  note?: string;
}

export interface BenchOptions {
  /** Smaller work for a quick look; bars are still checked. */
  quick: boolean;
  seed: number;
  /** A GGUF of the user's; null: the bench writes or makes its own. */
  model: string | null;
  /** Where the trainer's benches train. */
  device: TrainingDevice;
  signal: AbortSignal;
  /** A line for people (stderr). */
  say(line: string): void;
}

export interface Bench {
  name: string;
  summary: string;
  run(options: BenchOptions): Promise<Figure[]>;
}

/** NaN for an empty list. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = Math.floor((sorted.length - 1) / 2);
  const low = sorted[middle] ?? Number.NaN;
  const high = sorted[Math.ceil((sorted.length - 1) / 2)] ?? Number.NaN;
  return (low + high) / 2;
}

export interface Pairs {
  value: number;
  baseline: number;
  /** Median of the pairs' own ratios, which a drift of the machine's speed leaves alone. */
  ratio: number;
  ratios: number[];
}

/** Measures both in turn, `pairs` times (at least 5), swapping who goes first. Each function returns its figure (a rate or a time). */
export async function medianOfPairs(
  ours: () => number | Promise<number>,
  baseline: () => number | Promise<number>,
  pairs = 5,
): Promise<Pairs> {
  const values: number[] = [];
  const baselines: number[] = [];
  const ratios: number[] = [];
  for (let index = 0; index < Math.max(5, pairs); index += 1) {
    const oursFirst = index % 2 === 0;
    const first = oursFirst ? await ours() : await baseline();
    const second = oursFirst ? await baseline() : await ours();
    const value = oursFirst ? first : second;
    const base = oursFirst ? second : first;
    values.push(value);
    baselines.push(base);
    ratios.push(value / base);
  }
  return { value: median(values), baseline: median(baselines), ratio: median(ratios), ratios };
}

type Bar = { op: '>=' | '<=' | '<' | '='; limit: number };

function holds(actual: number, bar: Bar): boolean {
  if (!Number.isFinite(actual)) return false;
  if (bar.op === '>=') return actual >= bar.limit;
  if (bar.op === '<=') return actual <= bar.limit;
  if (bar.op === '<') return actual < bar.limit;
  return actual === bar.limit;
}

/** A figure with a bar on the ratio to its baseline. */
export function ratioFigure(figure: string, unit: string, pairs: Pairs, bar: Bar): Figure {
  return {
    figure,
    unit,
    value: pairs.value,
    baseline: pairs.baseline,
    ratio: pairs.ratio,
    bar: `ratio ${bar.op} ${String(bar.limit)}`,
    ok: holds(pairs.ratio, bar),
  };
}

/** A figure with a bar on its own value, or with none (only reported). */
export function valueFigure(figure: string, unit: string, value: number, bar: Bar | null): Figure {
  return {
    figure,
    unit,
    value,
    baseline: null,
    ratio: null,
    bar: bar === null ? null : `value ${bar.op} ${String(bar.limit)}`,
    ok: bar === null || holds(value, bar),
  };
}
