import { ActionIcon, Menu, useComputedColorScheme } from '@mantine/core';
import { IconDownload } from '@tabler/icons-react';
import { useEffect, useMemo, useRef, useState } from 'react';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { formatCompact, formatNumber } from '../ui/format.ts';
import { saveFile } from './save-file.ts';
import { align, csvOf, smooth } from './series.ts';
import type { Series } from './series.ts';
import styles from './line-chart.module.css';

export interface ChartLine extends Series {
  /** A CSS variable, e.g. `--dd-accent-text`. */
  color: string;
  /** Another run beside ours: told apart by its dashes too. */
  dashed?: boolean;
}

const height = 150;

/** A step is a whole number, and so is every tick. */
const wholeSteps = Array.from({ length: 10 }, (_, power) =>
  [1, 2, 5].map((digit) => digit * 10 ** power),
).flat();

function say(value: number, percent: boolean): string {
  return percent ? `${formatNumber(100 * value)} %` : formatNumber(value);
}

function token(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

/** Curves over a step. All charts with one `sync` key share the cursor. Exports what it shows as PNG and CSV. */
export function LineChart({
  title,
  note = '',
  unit,
  percent = false,
  xLabel,
  lines,
  sync,
  smoothing = 0,
  logScale = false,
}: {
  title: string;
  /** Beside the title, e.g. the stage. */
  note?: string;
  unit: string;
  /** The values are shares and are shown in percent; what is exported stays a share. */
  percent?: boolean;
  xLabel: string;
  lines: readonly ChartLine[];
  sync: string;
  smoothing?: number;
  logScale?: boolean;
}) {
  const host = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const [at, setAt] = useState<number | null>(null);
  const scheme = useComputedColorScheme();
  const shown = useMemo(
    () => lines.map((line) => ({ ...line, values: smooth(line.values, smoothing) })),
    [lines, smoothing],
  );
  // What was measured stays visible behind what was smoothed: a smooth line alone would claim more than there is.
  const raw = useMemo(() => (smoothing > 0 ? lines : []), [lines, smoothing]);
  const data = useMemo(() => align([...shown, ...raw]), [shown, raw]);
  const log = logScale && shown.every(({ values }) => values.every((value) => value > 0));
  const look = JSON.stringify([
    ...lines.map(({ label, color, dashed }) => [label, color, dashed === true, false]),
    ...raw.map(({ label, color }) => [label, color, false, true]),
  ]);
  const drawable = data[0].length > 1;

  useEffect(() => {
    const element = host.current;
    if (element === null || !drawable) return;
    const axis = {
      stroke: token('--dd-text-dim'),
      grid: { stroke: token('--dd-grid'), width: 1 },
      ticks: { show: false },
      font: '11px "Inter Variable"',
      size: 28,
    };
    const looks = JSON.parse(look) as [string, string, boolean, boolean][];
    const chart = new uPlot(
      {
        width: Math.max(120, element.clientWidth),
        height,
        padding: [8, 18, 0, 0],
        legend: { show: false },
        cursor: { sync: { key: sync }, drag: { x: true, y: false }, points: { size: 6 } },
        scales: { x: { time: false }, y: { distr: log ? 3 : 1 } },
        axes: [
          { ...axis, incrs: wholeSteps, values: (_self, ticks) => ticks.map((tick) => formatCompact(tick)) },
          {
            ...axis,
            size: 48,
            values: (_self, ticks) =>
              ticks.map((tick) =>
                tick === null ? '' : Math.abs(tick) >= 10_000 ? formatCompact(tick) : say(tick, percent),
              ),
          },
        ],
        series: [
          { label: xLabel },
          ...looks.map(([label, color, dashed, faint]) => ({
            label,
            stroke: token(color),
            width: faint ? 1 : 1.5,
            alpha: faint ? 0.3 : 1,
            spanGaps: true,
            points: { show: false },
            ...(dashed ? { dash: [5, 4] } : {}),
          })),
        ],
        hooks: {
          setCursor: [
            (self) => {
              setAt(self.cursor.idx ?? null);
            },
          ],
        },
      },
      data,
      element,
    );
    plot.current = chart;
    const resize = new ResizeObserver(() => {
      chart.setSize({ width: Math.max(120, element.clientWidth), height });
    });
    resize.observe(element);
    return () => {
      resize.disconnect();
      chart.destroy();
      plot.current = null;
    };
    // Data alone does not make a new chart: the effect below moves it, and a zoom stays.
  }, [look, log, scheme, sync, xLabel, percent, drawable]);
  useEffect(() => {
    plot.current?.setData(data);
  }, [data]);

  const index = at ?? data[0].length - 1;
  const step = data[0][index];
  const reading = shown
    .map((_line, line) => data[line + 1]?.[index])
    .map((value) => (value === null || value === undefined ? '–' : say(value, percent)))
    .join(' / ');
  const name = title.replaceAll(/[^\w-]+/g, '-');
  return (
    <figure
      className={styles.chart}
      style={{ margin: 0 }}
      aria-label={`${title}, ${smoothing > 0 ? 'smoothed, ' : ''}last value ${reading} ${unit}`}
    >
      <div className={styles.head}>
        <figcaption className={styles.title} title={`${title}, ${unit}`}>
          {title} {note !== '' && <span className={styles.unit}>{note}</span>}
        </figcaption>
        <span className={styles.value}>
          {reading} <span className={styles.unit}>{unit}</span>
          {smoothing > 0 && <span className={styles.unit}> smoothed</span>}
          {step !== undefined && (
            <span className={styles.unit}>{` at ${xLabel} ${formatCompact(step)}`}</span>
          )}
        </span>
        <Menu position="bottom-end">
          <Menu.Target>
            <ActionIcon aria-label={`Export ${title}`} size={20}>
              <IconDownload size={14} />
            </ActionIcon>
          </Menu.Target>
          <Menu.Dropdown>
            <Menu.Item
              disabled={!drawable}
              onClick={() => {
                const canvas = host.current?.querySelector('canvas');
                canvas?.toBlob((image) => {
                  if (image !== null) saveFile(`${name}.png`, image);
                });
              }}
            >
              PNG
            </Menu.Item>
            <Menu.Item
              onClick={() => {
                saveFile(`${name}.csv`, new Blob([csvOf(xLabel, lines)], { type: 'text/csv' }));
              }}
            >
              CSV
            </Menu.Item>
          </Menu.Dropdown>
        </Menu>
      </div>
      {drawable ? (
        <div ref={host} className={styles.plot} />
      ) : (
        <div className={styles.single}>
          <strong>{reading === '' ? '–' : reading}</strong>
          {data[0].length === 1 ? 'one point so far' : 'no point yet'}
        </div>
      )}
      {lines.length > 1 && (
        <div className={styles.legend}>
          {lines.map(({ label, color, dashed }) => (
            <span key={label}>
              <span
                className={styles.swatch}
                style={{ borderColor: `var(${color})`, borderTopStyle: dashed === true ? 'dashed' : 'solid' }}
              />
              {label}
            </span>
          ))}
        </div>
      )}
    </figure>
  );
}
