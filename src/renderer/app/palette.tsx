import { Modal } from '@mantine/core';
import { useEffect, useEffectEvent, useRef, useState } from 'react';
import type { KeyboardEvent } from 'react';
import { useKeys } from '../ui/keys.ts';
import { usePaletteEntries } from './palette-entries.ts';
import type { PaletteEntry } from './palette-entries.ts';
import { closePalette, openPalette, usePaletteOpen } from './palette-store.ts';
import styles from './palette.module.css';

/** Ctrl/⌘ K: one box for pages, runs, episodes by id, commands. */
export function Palette() {
  const open = usePaletteOpen();
  useKeys([{ key: 'Mod+K', label: 'Pages, runs, episodes, commands', run: openPalette }]);
  return (
    <Modal
      opened={open}
      onClose={closePalette}
      withCloseButton={false}
      padding={0}
      size={560}
      yOffset="12vh"
      attributes={{ content: { 'aria-label': 'Search and commands' } }}
    >
      {open && <PaletteBody />}
    </Modal>
  );
}

function PaletteBody() {
  const [query, setQuery] = useState('');
  const [selected, setSelected] = useState(0);
  const { entries, pending } = usePaletteEntries(query, true);
  // Enter before the answer came: the first entry is opened when it does.
  const [hasty, setHasty] = useState(false);
  const list = useRef<HTMLDivElement>(null);
  const at = Math.min(selected, Math.max(0, entries.length - 1));
  useEffect(() => {
    list.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: 'nearest' });
  }, [at]);
  const run = (entry: PaletteEntry | undefined) => {
    if (entry === undefined) return;
    closePalette();
    entry.run();
  };
  const openFirst = useEffectEvent(() => {
    run(entries[0]);
  });
  const due = hasty && entries.length > 0;
  useEffect(() => {
    if (due) openFirst();
  }, [due]);
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'ArrowDown') setSelected(Math.min(at + 1, entries.length - 1));
    else if (event.key === 'ArrowUp') setSelected(Math.max(at - 1, 0));
    else if (event.key === 'Enter' && entries.length === 0) setHasty(pending);
    else if (event.key === 'Enter') run(entries[at]);
    else return;
    event.preventDefault();
  };
  return (
    <div>
      <input
        className={styles.input}
        value={query}
        placeholder="Page, run, task, episode id, command…"
        data-autofocus
        role="combobox"
        aria-expanded
        aria-controls="palette-list"
        aria-activedescendant={entries.length === 0 ? undefined : `palette-${String(at)}`}
        aria-label="Search"
        onChange={(event) => {
          setQuery(event.currentTarget.value);
          setSelected(0);
          setHasty(false);
        }}
        onKeyDown={onKeyDown}
      />
      <div className={styles.list} id="palette-list" role="listbox" aria-label="Results" ref={list}>
        {entries.map((entry, index) => (
          <div
            key={entry.id}
            id={`palette-${String(index)}`}
            role="option"
            aria-selected={index === at}
            className={styles.entry}
            onMouseMove={() => {
              setSelected(index);
            }}
            onClick={() => {
              run(entry);
            }}
          >
            <span className={styles.name}>{entry.name}</span>
            <span className={styles.kind}>{entry.kind}</span>
          </div>
        ))}
        {entries.length === 0 && (
          <p className={styles.none} role="status">
            {pending
              ? 'Looking…'
              : 'Nothing is called so. An episode is found by words of its task, or by its whole id.'}
          </p>
        )}
      </div>
    </div>
  );
}
