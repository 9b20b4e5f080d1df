import { useLocalStorage } from '@mantine/hooks';
import type { KeyboardEvent, PointerEvent, ReactNode } from 'react';
import styles from './split-pane.module.css';

/**
 * Two panes beside each other; the border moves by mouse and by arrow keys, and its place is remembered under `name`. Nest it for
 * three panes. `fixed` says which side keeps its width in pixels; the other takes the rest.
 */
export function SplitPane({
  name,
  fixed = 'left',
  initial = 280,
  min = 160,
  max = 640,
  left,
  right,
  label = 'Width of the pane',
}: {
  name: string;
  fixed?: 'left' | 'right';
  initial?: number;
  min?: number;
  max?: number;
  left: ReactNode;
  right: ReactNode;
  label?: string;
}) {
  const [width, setWidth] = useLocalStorage({
    key: `daydream-pane-${name}`,
    defaultValue: initial,
    getInitialValueInEffect: false,
  });
  const clamp = (value: number) => Math.max(min, Math.min(max, Math.round(value)));
  const shown = clamp(width);
  const sign = fixed === 'left' ? 1 : -1;

  const drag = (event: PointerEvent<HTMLButtonElement>) => {
    const handle = event.currentTarget;
    const startX = event.clientX;
    const move = (next: globalThis.PointerEvent) => {
      setWidth(clamp(shown + sign * (next.clientX - startX)));
    };
    handle.setPointerCapture(event.pointerId);
    handle.addEventListener('pointermove', move);
    handle.addEventListener(
      'lostpointercapture',
      () => {
        handle.removeEventListener('pointermove', move);
      },
      { once: true },
    );
  };
  const key = (event: KeyboardEvent) => {
    const by = { ArrowLeft: -16, ArrowRight: 16 }[event.key];
    if (by === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    setWidth(clamp(shown + sign * by));
  };
  return (
    <div className={styles.split}>
      <div
        className={fixed === 'left' ? styles.pane : `${styles.pane} ${styles.rest}`}
        style={fixed === 'left' ? { flex: `0 1 ${String(shown)}px` } : undefined}
      >
        {left}
      </div>
      <button
        type="button"
        role="separator"
        aria-orientation="vertical"
        aria-label={label}
        aria-valuenow={shown}
        aria-valuemin={min}
        aria-valuemax={max}
        className={styles.handle}
        onPointerDown={drag}
        onKeyDown={key}
      />
      <div
        className={fixed === 'right' ? styles.pane : `${styles.pane} ${styles.rest}`}
        style={fixed === 'right' ? { flex: `0 1 ${String(shown)}px` } : undefined}
      >
        {right}
      </div>
    </div>
  );
}
