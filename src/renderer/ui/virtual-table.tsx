import { useVirtualizer } from '@tanstack/react-virtual';
import { useEffect, useEffectEvent, useId, useLayoutEffect, useRef, useState } from 'react';
import type { KeyboardEvent, ReactNode } from 'react';
import styles from './virtual-table.module.css';

export interface Column<Row> {
  id: string;
  header: ReactNode;
  /** A CSS grid track: `120px`, `minmax(200px, 1fr)`. */
  width: string;
  align?: 'left' | 'right';
  cell: (row: Row) => ReactNode;
  /** Hover text of the cell, where it may be cut. */
  title?: (row: Row) => string;
}

export interface VirtualTableProps<Row> {
  /** What the rows are, for screen readers. */
  label: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  rowKey: (row: Row) => string;
  onOpen: (row: Row) => void;
  /** Remembers the place (active row and scroll) under this name, e.g. path + filters, while the page lives. */
  placeKey: string;
  /** Keyset paging: asked for when the end comes near. */
  hasMore?: boolean;
  loadingMore?: boolean;
  onMore?: () => void;
  /** Of all rows, loaded or not; null when unknown. */
  total?: number | null;
  autoFocus?: boolean;
}

interface Place {
  offset: number;
  key: string | null;
}
const places = new Map<string, Place>();
const rowHeight = 32;
const headHeight = 28;

/** A list of any length: arrows, Home, End, Page keys and Enter; coming back finds the same row at the same place. */
export function VirtualTable<Row>({
  label,
  columns,
  rows,
  rowKey,
  onOpen,
  placeKey,
  hasMore = false,
  loadingMore = false,
  onMore,
  total = null,
  autoFocus = true,
}: VirtualTableProps<Row>) {
  const grid = useRef<HTMLDivElement>(null);
  const id = useId();
  const [activeKey, setActiveKey] = useState<string | null>(() => places.get(placeKey)?.key ?? null);
  const found = activeKey === null ? -1 : rows.findIndex((row) => rowKey(row) === activeKey);
  const active = found === -1 ? 0 : found;

  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => grid.current,
    estimateSize: () => rowHeight,
    overscan: 12,
    scrollMargin: headHeight,
    scrollPaddingStart: headHeight,
    initialOffset: () => places.get(placeKey)?.offset ?? 0,
    getItemKey: (index) => {
      const row = rows[index];
      return row === undefined ? index : rowKey(row);
    },
  });

  // Rows that arrive above must not push what one is reading: `places` is kept by key, and the scroll offset by pixel.
  useLayoutEffect(() => {
    const place = places.get(placeKey);
    setActiveKey(place?.key ?? null);
    if (grid.current !== null) grid.current.scrollTop = place?.offset ?? 0;
    if (autoFocus && document.activeElement === document.body) grid.current?.focus({ preventScroll: true });
  }, [placeKey, autoFocus]);

  const remember = (key: string | null) => {
    places.set(placeKey, { offset: grid.current?.scrollTop ?? 0, key });
  };

  const items = virtual.getVirtualItems();
  const lastShown = items.at(-1)?.index ?? -1;
  const askMore = useEffectEvent(() => onMore?.());
  const wantsMore = hasMore && !loadingMore && lastShown >= rows.length - 30;
  useEffect(() => {
    if (wantsMore) askMore();
  }, [wantsMore]);

  const activate = (index: number) => {
    const next = Math.max(0, Math.min(rows.length - 1, index));
    const row = rows[next];
    if (row === undefined) return;
    virtual.scrollToIndex(next);
    setActiveKey(rowKey(row));
    remember(rowKey(row));
  };
  const open = (row: Row) => {
    setActiveKey(rowKey(row));
    remember(rowKey(row));
    onOpen(row);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const page = Math.max(1, Math.floor((grid.current?.clientHeight ?? rowHeight) / rowHeight) - 1);
    const moves: Record<string, number> = {
      ArrowDown: found === -1 ? 0 : active + 1,
      ArrowUp: active - 1,
      j: found === -1 ? 0 : active + 1,
      k: active - 1,
      PageDown: active + page,
      PageUp: active - page,
      Home: 0,
      End: rows.length - 1,
    };
    const target = moves[event.key];
    if (target !== undefined) {
      event.preventDefault();
      activate(target);
      return;
    }
    const row = rows[active];
    if (event.key === 'Enter' && event.target === grid.current && row !== undefined) {
      event.preventDefault();
      open(row);
    }
  };

  const tracks = { gridTemplateColumns: columns.map(({ width }) => width).join(' ') };
  return (
    <div
      ref={grid}
      className={styles.table}
      role="grid"
      tabIndex={0}
      aria-label={label}
      aria-rowcount={total ?? (hasMore ? -1 : rows.length + 1)}
      aria-colcount={columns.length}
      aria-activedescendant={rows.length === 0 ? undefined : `${id}-${String(active)}`}
      onKeyDown={onKeyDown}
      onScroll={() => {
        remember(activeKey);
      }}
    >
      <div className={styles.head} style={tracks} role="row">
        {columns.map((column) => (
          <div
            key={column.id}
            role="columnheader"
            className={column.align === 'right' ? `${styles.cell} ${styles.right}` : styles.cell}
          >
            {column.header}
          </div>
        ))}
      </div>
      <div
        className={styles.body}
        style={{ height: virtual.getTotalSize() + (hasMore ? rowHeight : 0) }}
        role="rowgroup"
      >
        {items.map(({ index, start, key }) => {
          const row = rows[index];
          if (row === undefined) return null;
          const isActive = index === found;
          // Before a choice, the keyboard stands on the first row: it is marked while the table has the focus.
          const isFirst = found === -1 && index === 0;
          return (
            <div
              key={key}
              id={`${id}-${String(index)}`}
              role="row"
              aria-rowindex={index + 2}
              aria-selected={isActive}
              className={[styles.row, isActive ? styles.active : '', isFirst ? styles.first : '']
                .join(' ')
                .trim()}
              style={{ ...tracks, transform: `translateY(${String(start - headHeight)}px)` }}
              onClick={(event) => {
                // A link or button in the row acts for itself.
                if ((event.target as Element).closest('a, button') === null) open(row);
              }}
            >
              {columns.map((column) => (
                <div
                  key={column.id}
                  role="gridcell"
                  className={column.align === 'right' ? `${styles.cell} ${styles.right}` : styles.cell}
                  title={column.title?.(row)}
                >
                  {column.cell(row)}
                </div>
              ))}
            </div>
          );
        })}
      </div>
      {loadingMore && (
        <div className={styles.more} role="status">
          Loading more…
        </div>
      )}
    </div>
  );
}
