import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useSearchParams } from 'wouter';
import { stringify } from 'yaml';
import { jobIdSchema } from '#shared/ids.ts';
import type { Preset } from '#shared/schema/run.ts';
import { orpc } from '../../../rpc/client.ts';
import { withValue } from '../form/yaml-draft.ts';

/** A preset's text with another policy, and on another split. Without a model it stays as it is. */
export function withPolicy(
  yaml: string | undefined,
  model: string | null,
  adapter: string | null,
  split: string | null = null,
): string | undefined {
  if (yaml === undefined || model === null) return yaml;
  const adapters = adapter === null ? undefined : [{ path: adapter, scale: 1 }];
  const acting = withValue(withValue(yaml, ['policy', 'model'], model), ['policy', 'adapters'], adapters);
  return split === null ? acting : withValue(acting, ['environment', 'split'], split);
}

/**
 * The text that is being written. It belongs to an address: `?preset=…` or `?from=<run>`; a reload of the same address finds the
 * same unsaved text (in this tab's session), another preset starts from its own.
 */
export function useRunDraft(presets: readonly Preset[]) {
  const [parameters, setParameters] = useSearchParams();
  const from = parameters.get('from');
  const presetId =
    parameters.get('preset') ??
    (presets.find((preset) => preset.presetId === 'quickstart') ?? presets[0])?.presetId ??
    null;
  // `?model=…&adapter=…&split=…`: a preset with this policy in place of its own.
  const model = parameters.get('model');
  const adapter = parameters.get('adapter');
  const split = parameters.get('split');
  const source =
    from === null && model !== null
      ? `policy:${presetId ?? ''}:${model}:${adapter ?? ''}:${split ?? ''}`
      : from === null
        ? `preset:${presetId ?? ''}`
        : `run:${from}`;
  const storageKey = `daydream-draft:${source}`;
  const [text, setText] = useState<{ source: string; yaml: string } | null>(null);

  const origin = useQuery({
    ...orpc.jobs.get.queryOptions({ input: { jobId: jobIdSchema.parse(from ?? '-') } }),
    enabled: from !== null,
  });
  const original =
    from === null
      ? withPolicy(presets.find((preset) => preset.presetId === presetId)?.yaml, model, adapter, split)
      : origin.data === undefined
        ? undefined
        : stringify(origin.data.job.spec, { lineWidth: 0 });
  const stored = sessionStorage.getItem(storageKey);
  const yaml = text?.source === source ? text.yaml : (stored ?? original);

  return {
    /** undefined while its preset or run is loading. */
    yaml,
    presetId: from === null ? presetId : null,
    error: origin.error,
    changed: yaml !== undefined && original !== undefined && yaml !== original,
    edit: (next: string) => {
      // At once, not after a pause: a reload right after the last key must find it.
      sessionStorage.setItem(storageKey, next);
      setText({ source, yaml: next });
    },
    reset: () => {
      sessionStorage.removeItem(storageKey);
      if (original !== undefined) setText({ source, yaml: original });
    },
    /** Once it is a run, the text is the run's. */
    forget: () => {
      sessionStorage.removeItem(storageKey);
    },
    choose: (next: string) => {
      setParameters(
        {
          preset: next,
          ...(model === null ? {} : { model }),
          ...(adapter === null ? {} : { adapter }),
          ...(split === null ? {} : { split }),
        },
        { replace: true },
      );
    },
  };
}
