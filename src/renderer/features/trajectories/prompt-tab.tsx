import { useState } from 'react';
import { MonoText } from '../../ui/viewer/mono-text.tsx';
import styles from './trajectories.module.css';

export interface PromptMessage {
  role: string;
  content: string;
  isNew: boolean;
}

/** Exactly what the model saw, by message. What is new since the previous step stays open; the rest folds to one line. */
export function PromptTab({ messages, search }: { messages: readonly PromptMessage[]; search: string }) {
  const [opened, setOpened] = useState<ReadonlySet<number>>(new Set());
  const fresh = messages.filter((message) => message.isNew).length;
  const allOpen = messages.every((message, index) => message.isNew || opened.has(index));
  return (
    <div className={styles.prompt}>
      <p className={styles.promptNote}>
        {`${String(messages.length)} messages, ${String(fresh)} new since the previous step`}
        {fresh < messages.length && (
          <button
            type="button"
            className={styles.link}
            onClick={() => {
              setOpened(allOpen ? new Set() : new Set(messages.keys()));
            }}
          >
            {allOpen ? 'Fold earlier ones' : 'Unfold all'}
          </button>
        )}
      </p>
      {messages.map((message, index) => {
        const found = search !== '' && message.content.toLowerCase().includes(search.toLowerCase());
        const open = message.isNew || opened.has(index) || found;
        return (
          <details
            key={index}
            className={styles.message}
            data-new={message.isNew || undefined}
            open={open}
            onToggle={(event) => {
              const isOpen = event.currentTarget.open;
              if (message.isNew || isOpen === opened.has(index)) return;
              setOpened((before) => {
                const next = new Set(before);
                if (isOpen) next.add(index);
                else next.delete(index);
                return next;
              });
            }}
          >
            <summary>
              <span className={styles.role}>{message.role}</span>
              {message.isNew && <span className={styles.new}>new</span>}
              {!open && <span className={styles.firstLine}>{message.content.split('\n', 1)[0]}</span>}
            </summary>
            <MonoText text={message.content} search={search} empty="empty message" />
          </details>
        );
      })}
    </div>
  );
}
