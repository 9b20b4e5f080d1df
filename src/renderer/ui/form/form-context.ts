import { createContext, useContext } from 'react';
import type { RunProblem } from '#shared/schema/run.ts';

/** What each field needs of the draft: its value, how to change it, and what is wrong with it. */
export interface FormContext {
  value: (path: readonly string[]) => unknown;
  set: (path: readonly string[], value: unknown) => void;
  problems: (path: readonly string[]) => readonly RunProblem[];
}

const context = createContext<FormContext | null>(null);
export const FormProvider = context.Provider;

export function useForm(): FormContext {
  const form = useContext(context);
  if (form === null) throw new Error('A field stands outside its form.');
  return form;
}

/** The element of a field, for labels and for the jump from a problem. */
export function fieldId(path: readonly string[]): string {
  return `field-${path.join('.')}`;
}
