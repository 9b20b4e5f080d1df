import type { ReactNode } from 'react';
import styles from './viewer.module.css';

/** Characters that no font shows: controls, zero-width and direction marks, and what stands for bytes that were no text. */
const unseen =
  /([^\P{Cc}\n\t]|[\u{ad}\u{200b}\u{200c}\u{200e}\u{200f}\u{202a}-\u{202e}\u{2060}-\u{2069}\u{feff}\u{fffd}])/u;

function codePoint(character: string): string {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
}

/** A text with its unseen characters shown by their number, each set apart, so that broken output can be read and told apart. */
export function visibleText(text: string): ReactNode {
  if (!unseen.test(text)) return text;
  return text.split(unseen).map((part, index) =>
    index % 2 === 0 ? (
      part
    ) : (
      <span
        key={index}
        className={styles.unseen}
        title={part === '\u{fffd}' ? 'Bytes that are no character' : 'A character that cannot be seen'}
      >
        {part === '\u{fffd}' ? part : codePoint(part)}
      </span>
    ),
  );
}
