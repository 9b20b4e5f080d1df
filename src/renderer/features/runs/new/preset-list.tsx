import { ActionIcon } from '@mantine/core';
import { IconTrash } from '@tabler/icons-react';
import type { Preset } from '#shared/schema/run.ts';
import styles from './new-run.module.css';

/** Where to start from, and what each reproduces. */
export function PresetList({
  presets,
  selected,
  onChoose,
  onRemove,
}: {
  presets: readonly Preset[];
  selected: string | null;
  onChoose: (presetId: string) => void;
  onRemove: (presetId: string) => void;
}) {
  const own = presets.filter(({ builtIn }) => !builtIn);
  const builtIn = presets.filter((preset) => preset.builtIn);
  const entry = (preset: Preset) => (
    <div key={preset.presetId} style={{ display: 'flex', alignItems: 'flex-start' }}>
      <button
        type="button"
        className={styles.preset}
        aria-pressed={preset.presetId === selected}
        onClick={() => {
          onChoose(preset.presetId);
        }}
      >
        <span className={styles.presetTitle}>{preset.title}</span>
        {preset.presetId === selected && preset.summary !== '' && (
          <span className={styles.presetText}>{preset.summary}</span>
        )}
        {preset.reproduces !== '' && (
          <span className={styles.presetText}>Reproduces: {preset.reproduces}</span>
        )}
      </button>
      {!preset.builtIn && (
        <ActionIcon
          aria-label={`Remove the preset ${preset.title}`}
          onClick={() => {
            onRemove(preset.presetId);
          }}
        >
          <IconTrash size={14} />
        </ActionIcon>
      )}
    </div>
  );
  return (
    <nav aria-label="Presets">
      {own.length > 0 && <p className={styles.groupName}>Your presets</p>}
      {own.map(entry)}
      <p className={styles.groupName}>Presets</p>
      {builtIn.map(entry)}
    </nav>
  );
}
