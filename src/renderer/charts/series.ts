/** Pure shaping of metric points for a chart: aligned columns, smoothing, CSV. */
import type { MetricPoint } from '#shared/schema/job.ts';

export interface Series {
  label: string;
  steps: number[];
  values: number[];
}

/** Points of one metric, by step; a later point at the same step wins. */
export function seriesOf(points: readonly MetricPoint[], name: string, label: string): Series {
  const byStep = new Map<number, number>();
  for (const point of points) if (point.name === name) byStep.set(point.step, point.value);
  const steps = [...byStep.keys()].toSorted((left, right) => left - right);
  return { label, steps, values: steps.map((step) => byStep.get(step) ?? Number.NaN) };
}

/** Exponential moving average with the bias of its start removed; `weight` 0 leaves the values alone, 0.99 smooths strongly. */
export function smooth(values: readonly number[], weight: number): number[] {
  if (weight <= 0) return [...values];
  let average = 0;
  let mass = 0;
  return values.map((value) => {
    average = weight * average + (1 - weight) * value;
    mass = weight * mass + (1 - weight);
    return average / mass;
  });
}

/** uPlot's columns: one shared x, null where a series has no point. */
export function align(series: readonly Series[]): [number[], ...(number | null)[][]] {
  const steps = [...new Set(series.flatMap((one) => one.steps))].toSorted((left, right) => left - right);
  const columns = series.map((one) => {
    const byStep = new Map(one.steps.map((step, index) => [step, one.values[index] ?? null]));
    return steps.map((step) => byStep.get(step) ?? null);
  });
  return [steps, ...columns];
}

export function csvOf(xLabel: string, series: readonly Series[]): string {
  const [steps, ...columns] = align(series);
  const quote = (text: string) => `"${text.replaceAll('"', '""')}"`;
  const lines = [[xLabel, ...series.map(({ label }) => label)].map(quote).join(',')];
  steps.forEach((step, row) => {
    lines.push([String(step), ...columns.map((column) => String(column[row] ?? ''))].join(','));
  });
  return `${lines.join('\n')}\n`;
}
