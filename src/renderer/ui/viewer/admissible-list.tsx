import { useMemo } from 'react';
import { filterActions } from './filter-actions.ts';
import styles from './viewer.module.css';

/** The actions that the environment allowed in a state, with the one that was taken. With `onPick` they can be clicked. */
export function AdmissibleList({
  actions,
  chosen = null,
  filter = '',
  highlighted = null,
  onPick,
}: {
  actions: readonly string[] | null;
  chosen?: string | null;
  filter?: string;
  /** Position among the filtered ones that Enter would take. */
  highlighted?: number | null;
  onPick?: (action: string) => void;
}) {
  const shown = useMemo(() => filterActions(actions ?? [], filter), [actions, filter]);
  if (actions === null) return <p className={styles.empty}>This environment does not list its actions.</p>;
  if (shown.length === 0)
    return (
      <p className={styles.empty}>{actions.length === 0 ? 'No action is possible.' : 'No action matches.'}</p>
    );
  return (
    <ul className={styles.actions} data-pick={onPick !== undefined || undefined}>
      {shown.map((action, position) => (
        <li
          key={action}
          data-chosen={action === chosen || undefined}
          data-highlighted={position === highlighted || undefined}
        >
          {onPick === undefined ? (
            <span>
              {action === chosen && <span className={styles.chosen}>taken</span>}
              {action}
            </span>
          ) : (
            <button
              type="button"
              onClick={() => {
                onPick(action);
              }}
            >
              <kbd aria-hidden>{position < 9 ? position + 1 : ''}</kbd>
              {action}
            </button>
          )}
        </li>
      ))}
    </ul>
  );
}
