import { Modal } from '@mantine/core';
import { useState } from 'react';
import { useKeyList, useKeys } from '../ui/keys.ts';
import { Kbd } from '../ui/text.tsx';

const everywhere = [
  { key: 'Mod+K', label: 'Pages, runs, episodes, commands' },
  { key: '?', label: 'Keys of this page' },
  { key: 'ArrowDown', label: 'Next row of a list' },
  { key: 'ArrowUp', label: 'Previous row of a list' },
  { key: 'Enter', label: 'Open the row' },
  { key: 'Escape', label: 'Back to the list, at the same place' },
];

/** `?` shows what the keyboard does here. */
export function KeysOverlay() {
  const [open, setOpen] = useState(false);
  useKeys([
    {
      key: '?',
      label: 'Keys of this page',
      run: () => {
        setOpen(true);
      },
    },
  ]);
  const common = new Set(everywhere.map(({ key }) => key));
  const here = useKeyList().filter(({ key }) => !common.has(key));
  return (
    <Modal
      opened={open}
      onClose={() => {
        setOpen(false);
      }}
      title="Keys"
      size="md"
    >
      {here.length > 0 && <KeyTable title="On this page" entries={here} />}
      <KeyTable title="Everywhere" entries={everywhere} />
    </Modal>
  );
}

function KeyTable({ title, entries }: { title: string; entries: readonly { key: string; label: string }[] }) {
  return (
    <section style={{ marginBottom: 16 }}>
      <h2 style={{ fontSize: 13, margin: '0 0 4px', fontWeight: 600 }}>{title}</h2>
      {entries.map(({ key, label }) => (
        <div
          key={key}
          style={{
            display: 'flex',
            justifyContent: 'space-between',
            lineHeight: '26px',
            borderTop: '1px solid var(--dd-border)',
          }}
        >
          <span>{label}</span>
          <Kbd keys={key} />
        </div>
      ))}
    </section>
  );
}
