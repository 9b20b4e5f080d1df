import { createContext, useContext, useLayoutEffect, useRef, useState, useSyncExternalStore } from 'react';
import type { ReactNode } from 'react';
import type { RunProblem } from '#shared/schema/run.ts';

/** What each field needs of the draft: its value, how to change it, and what is wrong with it. */
export interface FormContext {
  value: (path: readonly string[]) => unknown;
  set: (path: readonly string[], value: unknown) => void;
  /** What an absent key means where that follows from other fields; undefined: the schema's default. */
  implied?: (path: readonly string[]) => string | undefined;
  problems: (path: readonly string[]) => readonly RunProblem[];
}

interface Store {
  form: FormContext;
  subscribe: (listener: () => void) => () => void;
  replace: (form: FormContext) => void;
}

function createStore(first: FormContext): Store {
  const listeners = new Set<() => void>();
  const store: Store = {
    form: first,
    subscribe: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    replace: (form) => {
      store.form = form;
      for (const listener of listeners) listener();
    },
  };
  return store;
}

const context = createContext<Store | null>(null);

/** The context never changes, so a key press draws again only the fields that read something else than before. */
export function FormProvider({ value, children }: { value: FormContext; children: ReactNode }) {
  const [store] = useState(() => createStore(value));
  useLayoutEffect(() => {
    if (store.form !== value) store.replace(value);
  }, [store, value]);
  return <context.Provider value={store}>{children}</context.Provider>;
}

function useStore(): Store {
  const store = useContext(context);
  if (store === null) throw new Error('A field stands outside its form.');
  return store;
}

/** Plain data read from the form. The caller is drawn again when the data differs, not when the form does. */
export function useFormData<Data>(read: (form: FormContext) => Data): Data {
  const store = useStore();
  const last = useRef<{ text: string | undefined; data: Data } | null>(null);
  return useSyncExternalStore(store.subscribe, () => {
    const data = read(store.form);
    const text = JSON.stringify(data) as string | undefined;
    if (last.current === null || last.current.text !== text) last.current = { text, data };
    return last.current.data;
  });
}

export function useSetField(): FormContext['set'] {
  const store = useStore();
  return (path, value) => {
    store.form.set(path, value);
  };
}

/** The element of a field, for labels and for the jump from a problem. */
export function fieldId(path: readonly string[]): string {
  return `field-${path.join('.')}`;
}
