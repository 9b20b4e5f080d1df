/** Keys of the current page: they work, and `?` lists them. The last mounted wins where two want the same key. */
import { useEffect, useEffectEvent, useId, useSyncExternalStore } from 'react';

export interface KeyBinding {
  /** `j`, `Shift+J`, `/`, `ArrowDown`, `Mod+K` (Ctrl, or ⌘ on a Mac), `1–9` (any of these digits). */
  key: string;
  label: string;
  run: (event: KeyboardEvent) => void;
}

type Listed = Pick<KeyBinding, 'key' | 'label'>;

const groups = new Map<string, readonly Listed[]>();
let snapshot: readonly Listed[] = [];
const listeners = new Set<() => void>();

function publish(): void {
  const seen = new Map<string, Listed>();
  for (const group of groups.values()) for (const entry of group) seen.set(entry.key, entry);
  snapshot = [...seen.values()];
  for (const listener of listeners) listener();
}

export function useKeyList(): readonly Listed[] {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => {
        listeners.delete(listener);
      };
    },
    () => snapshot,
  );
}

const isMac = /Mac|iPhone|iPad/.test(navigator.userAgent);

/** For people: `⌘K` or `Ctrl K`, arrows as arrows. */
export function keyLabel(key: string): string {
  const arrows: Record<string, string> = {
    ArrowDown: '↓',
    ArrowUp: '↑',
    ArrowLeft: '←',
    ArrowRight: '→',
    Escape: 'Esc',
    Mod: isMac ? '⌘' : 'Ctrl',
  };
  return key
    .split('+')
    .map((part) => arrows[part] ?? part)
    .join(' ');
}

function isTyping(target: EventTarget | null, key: string): boolean {
  if (!(target instanceof HTMLElement)) return false;
  // A radio or checkbox takes arrows and Space, no letters: the page's letters go on working after a click on one.
  if (target instanceof HTMLInputElement && ['radio', 'checkbox'].includes(target.type))
    return key.startsWith('Arrow') || key === ' ';
  return target.isContentEditable || ['INPUT', 'TEXTAREA', 'SELECT'].includes(target.tagName);
}

export function matchesKey(event: KeyboardEvent, key: string): boolean {
  const parts = key.split('+');
  const last = parts.at(-1) ?? '';
  const wantsMod = parts.includes('Mod');
  if (wantsMod !== (isMac ? event.metaKey : event.ctrlKey)) return false;
  if (event.altKey || (isMac ? event.ctrlKey : event.metaKey)) return false;
  if (parts.includes('Shift') && !event.shiftKey) return false;
  if (last === '1–9') return /^[1-9]$/.test(event.key);
  if (last.length === 1) {
    const isLetter = last.toLowerCase() !== last.toUpperCase();
    // A sign such as ? or / needs Shift on some keyboards; a plain letter must not.
    if (isLetter && event.shiftKey !== parts.includes('Shift')) return false;
    return event.key.toLowerCase() === last.toLowerCase();
  }
  return event.key === last;
}

export function useKeys(bindings: readonly KeyBinding[]): void {
  const id = useId();
  const signature = bindings.map(({ key, label }) => `${key}\t${label}`).join('\n');
  const handle = useEffectEvent((event: KeyboardEvent) => {
    if (event.defaultPrevented) return;
    // A dialogue owns the keyboard while it is open.
    if (event.target instanceof Element && event.target.closest('[role="dialog"]') !== null) return;
    const typing = isTyping(event.target, event.key);
    const binding = bindings.find(({ key }) => matchesKey(event, key) && (!typing || key.startsWith('Mod+')));
    if (binding === undefined) return;
    event.preventDefault();
    binding.run(event);
  });
  useEffect(() => {
    const entries = signature
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => {
        const [key = '', label = ''] = line.split('\t');
        return { key, label };
      });
    groups.set(id, entries);
    publish();
    return () => {
      groups.delete(id);
      publish();
    };
  }, [id, signature]);
  useEffect(() => {
    const listener = (event: KeyboardEvent) => {
      handle(event);
    };
    window.addEventListener('keydown', listener);
    return () => {
      window.removeEventListener('keydown', listener);
    };
  }, []);
}
