import { useEffect, useEffectEvent, useRef, useState } from 'react';
import { TextInput } from '@mantine/core';
import { IconSearch } from '@tabler/icons-react';

/** Types freely and hands the text on once the typing rests, so that a query per key never runs. */
export function SearchField({
  label,
  value,
  onCommit,
  className,
}: {
  label: string;
  value: string;
  onCommit: (text: string) => void;
  className?: string | undefined;
}) {
  const [text, setText] = useState(value);
  const committed = useRef(value);
  const commit = useEffectEvent(onCommit);
  useEffect(() => {
    // Only a change from outside (back, a link, Clear) replaces what is being typed.
    if (value !== committed.current) setText(value);
    committed.current = value;
  }, [value]);
  useEffect(() => {
    if (text === committed.current) return;
    const timer = setTimeout(() => {
      committed.current = text;
      commit(text);
    }, 250);
    return () => {
      clearTimeout(timer);
    };
  }, [text]);
  return (
    <TextInput
      className={className ?? ''}
      aria-label={label}
      data-search-field
      placeholder={label}
      leftSection={<IconSearch size={14} />}
      value={text}
      onChange={(event) => {
        setText(event.currentTarget.value);
      }}
      onKeyDown={(event) => {
        if (event.key === 'Escape') event.currentTarget.blur();
      }}
    />
  );
}

/** For a page's `/` key. */
export function focusSearch(): void {
  document.querySelector<HTMLInputElement>('[data-search-field]')?.focus();
}
