import { useEffect, useMemo, useRef, useState } from 'react';
import { TextInput } from '@mantine/core';
import { useKeys } from '../../ui/keys.ts';
import { AdmissibleList } from '../../ui/viewer/admissible-list.tsx';
import { filterActions } from '../../ui/viewer/filter-actions.ts';
import styles from './environments.module.css';

/**
 * One field to act: typing filters the admissible actions, arrows choose, Enter takes the chosen one; digits take the first
 * nine while the field is empty. What matches nothing (or Shift+Enter) is sent as it stands: wrong actions are part of the world.
 */
export function ActionInput({
  actions,
  onAct,
}: {
  actions: readonly string[] | null;
  onAct: (action: string) => void;
}) {
  const [text, setText] = useState('');
  const [position, setPosition] = useState(0);
  const field = useRef<HTMLInputElement>(null);
  const list = useRef<HTMLDivElement>(null);
  const shown = useMemo(() => filterActions(actions ?? [], text), [actions, text]);
  const highlighted = text === '' && position === 0 ? null : Math.min(position, shown.length - 1);

  useEffect(() => {
    setText('');
    setPosition(0);
    field.current?.focus();
  }, [actions]);
  useEffect(() => {
    list.current?.querySelector('[data-highlighted]')?.scrollIntoView?.({ block: 'nearest' });
  }, [highlighted]);

  const act = (action: string) => {
    if (action.trim() !== '') onAct(action);
  };
  const actNumbered = (key: string): boolean => {
    const action = text === '' ? shown[Number(key) - 1] : undefined;
    if (action !== undefined) act(action);
    return action !== undefined;
  };
  // Wherever the focus is: a click on a hint or on a move must not take the digits away.
  useKeys([
    {
      key: '1–9',
      label: 'Take the numbered action',
      run: ({ key }) => {
        actNumbered(key);
      },
    },
  ]);

  const onKeyDown = (event: React.KeyboardEvent<HTMLInputElement>) => {
    if (event.nativeEvent.isComposing || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      event.preventDefault();
      const start = highlighted ?? -1;
      const next = event.key === 'ArrowDown' ? start + 1 : start - 1;
      setPosition(Math.max(0, Math.min(shown.length - 1, next)));
    } else if (event.key === 'Enter') {
      event.preventDefault();
      const chosen = event.shiftKey || highlighted === null ? undefined : shown[highlighted];
      act(chosen ?? text);
    } else if (event.key === 'Escape') {
      if (text === '') event.currentTarget.blur();
      setText('');
      setPosition(0);
    } else if (/^[1-9]$/u.test(event.key) && actNumbered(event.key)) {
      event.preventDefault();
    }
  };

  return (
    <div className={styles.act}>
      <TextInput
        ref={field}
        size="sm"
        data-action-field
        aria-label="Action"
        placeholder="Type, or press a digit"
        classNames={{ input: styles.actInput ?? '' }}
        value={text}
        autoComplete="off"
        spellCheck={false}
        onChange={(event) => {
          setText(event.currentTarget.value);
          setPosition(0);
        }}
        onKeyDown={onKeyDown}
      />
      <p className={styles.actHelp} aria-live="polite">
        {actions === null
          ? 'This world does not list its actions; Enter sends what you typed.'
          : text !== '' && shown.length === 0
            ? 'No admissible action matches; Enter sends it as it stands.'
            : `${String(shown.length)} of ${String(actions.length)} actions`}
      </p>
      <div ref={list} className={styles.actList}>
        <AdmissibleList actions={actions} filter={text} highlighted={highlighted} onPick={act} />
      </div>
    </div>
  );
}
