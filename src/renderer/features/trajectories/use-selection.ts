import { useCallback, useMemo } from 'react';
import { useSearchParams } from 'wouter';

export const stepTabs = ['text', 'prompt', 'tokens', 'raw'] as const;
export type StepTab = (typeof stepTabs)[number];

export interface Selection {
  readonly step: number;
  readonly tab: StepTab;
  readonly search: string;
}

/** Step, tab and search of the viewer, kept in the URL. Stepping replaces the entry: Back leaves the episode, not a hundred steps. */
export function useSelection(): [Selection, (change: Partial<Selection>) => void] {
  const [parameters, setParameters] = useSearchParams();
  const selection = useMemo(() => readSelection(parameters), [parameters]);
  const select = useCallback(
    (change: Partial<Selection>) => {
      setParameters((before) => writeSelection({ ...readSelection(before), ...change }, before), {
        replace: true,
      });
    },
    [setParameters],
  );
  return [selection, select];
}

export function readSelection(parameters: URLSearchParams): Selection {
  const step = Number(parameters.get('step') ?? '0');
  const tab = stepTabs.find((name) => name === parameters.get('tab')) ?? 'text';
  return {
    step: Number.isSafeInteger(step) && step >= 0 ? step : 0,
    tab,
    search: parameters.get('find') ?? '',
  };
}

export function writeSelection(selection: Selection, into: URLSearchParams): URLSearchParams {
  const result = new URLSearchParams(into);
  result.set('step', String(selection.step));
  if (selection.tab === 'text') result.delete('tab');
  else result.set('tab', selection.tab);
  if (selection.search === '') result.delete('find');
  else result.set('find', selection.search);
  return result;
}
