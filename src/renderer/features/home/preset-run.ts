/** A preset made ready to start: its `policy.model` filled with a model of this machine. */
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { parseDocument } from 'yaml';
import type { Model } from '#shared/schema/model.ts';
import type { Preset } from '#shared/schema/run.ts';
import { orpc } from '../../rpc/client.ts';

/** The chance policy needs no weights: a first look works before any model is there. */
export const chancePolicy = 'scripted:random';

export function withModel(yaml: string, model: string): string {
  const document = parseDocument(yaml);
  document.setIn(['policy', 'model'], model);
  return document.toString({ lineWidth: 0 });
}

/** The smallest usable file is the quickest first look; servers come after files. */
export function firstModel(models: readonly Model[]): Model | undefined {
  return models
    .filter(({ problem }) => problem === null)
    .toSorted(
      (left, right) =>
        Number(left.kind === 'http') - Number(right.kind === 'http') || left.sizeBytes - right.sizeBytes,
    )[0];
}

export function usePresetRun(presetId: string) {
  const presets = useQuery(orpc.runs.presets.queryOptions({ staleTime: 60_000 }));
  const models = useQuery(orpc.models.list.queryOptions());
  const preset: Preset | undefined = presets.data?.find((candidate) => candidate.presetId === presetId);
  const model = firstModel(models.data ?? []);
  const yaml =
    preset === undefined || !models.isSuccess ? null : withModel(preset.yaml, model?.modelId ?? chancePolicy);
  const check = useQuery({
    ...orpc.runs.check.queryOptions({ input: { yaml: yaml ?? '' } }),
    enabled: yaml !== null,
    placeholderData: keepPreviousData,
  });
  return { preset, model, yaml, check, error: presets.error ?? models.error ?? check.error };
}
