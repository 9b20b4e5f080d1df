import { useEffect, useRef } from 'react';
import type { ReactNode } from 'react';
import { useVirtualizer } from '@tanstack/react-virtual';
import styles from './viewer.module.css';

/**
 * A list of fixed row height that draws only what is in sight. It scrolls itself; the page owns the selection and the keys.
 * `onEnd` is called while the last rows are in sight.
 */
export function VirtualList<Item>({
  label,
  items,
  rowHeight,
  selected,
  keyOf,
  row,
  onSelect,
  onOpen,
  onEnd,
  header,
}: {
  label: string;
  items: readonly Item[];
  rowHeight: number;
  selected: number | null;
  keyOf: (item: Item) => string;
  row: (item: Item, index: number) => ReactNode;
  onSelect: (index: number) => void;
  onOpen?: (index: number) => void;
  onEnd?: () => void;
  header?: ReactNode;
}) {
  const scroller = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: items.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    overscan: 12,
    getItemKey: (index) => {
      const item = items[index];
      return item === undefined ? index : keyOf(item);
    },
  });
  const rows = virtual.getVirtualItems();
  const lastShown = rows.at(-1)?.index ?? -1;
  useEffect(() => {
    if (items.length > 0 && lastShown >= items.length - 5) onEnd?.();
  }, [lastShown, items.length, onEnd]);
  useEffect(() => {
    if (selected !== null) virtual.scrollToIndex(selected, { align: 'auto' });
    // Only a new selection scrolls; a new page of rows must not move what is being read.
  }, [selected]);
  return (
    <div className={styles.virtual} ref={scroller}>
      {header}
      <div
        role="listbox"
        aria-label={label}
        tabIndex={0}
        className={styles.virtualBody}
        style={{ height: virtual.getTotalSize() }}
      >
        {rows.map(({ index, key, start }) => {
          const item = items[index];
          if (item === undefined) return null;
          return (
            <div
              key={key}
              role="option"
              aria-selected={index === selected}
              aria-posinset={index + 1}
              aria-setsize={items.length}
              className={styles.virtualRow}
              style={{ height: rowHeight, transform: `translateY(${String(start)}px)` }}
              onClick={() => {
                onSelect(index);
                onOpen?.(index);
              }}
            >
              {row(item, index)}
            </div>
          );
        })}
      </div>
    </div>
  );
}
