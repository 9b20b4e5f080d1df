/** A preset made ready to start: where it leaves `policy.model` open, filled with a model of this machine. */
import { useQuery } from '@tanstack/react-query';
import { parseDocument } from 'yaml';
import { z } from 'zod';
import type { Model } from '#shared/schema/model.ts';
import { orpc } from '../../rpc/client.ts';

/** The chance policy needs no weights: a first look works before any model is there. */
export const chancePolicy = 'scripted:random';

function withModel(yaml: string, model: string): string {
  const document = parseDocument(yaml);
  document.setIn(['policy', 'model'], model);
  return document.toString({ lineWidth: 0 });
}

const namesModel = z.object({ policy: z.object({ model: z.string() }) });

/** What a preset names itself; '' where it leaves the choice open. */
function ownModel(yaml: string): string {
  return namesModel.safeParse(parseDocument(yaml).toJS()).data?.policy.model ?? '';
}

/** The smallest usable file is the quickest first look; servers come after files. */
function smallest(models: readonly Model[]): Model | undefined {
  return models.toSorted(
    (left, right) =>
      Number(left.kind === 'http') - Number(right.kind === 'http') || left.sizeBytes - right.sizeBytes,
  )[0];
}

/** Merging and full training keep the header of their base: its name in there tells what a model was made from. */
function isMadeFrom(base: Model | undefined, { facts }: Model): boolean {
  return typeof facts?.name === 'string' && facts.name === base?.facts?.name;
}

/**
 * The text to start and the model that it starts with: its own where it names one; else the smallest of this machine that is neither the
 * bundled one nor made from it; else the bundled one, which has a preset of its own. Without either, chance.
 */
export function readyPreset(
  yaml: string,
  models: readonly Model[],
  bundled: string,
): { yaml: string; model: Model | null; chosen: boolean; own: boolean } {
  const usable = models.filter(({ problem }) => problem === null);
  const named = ownModel(yaml);
  if (named !== '') {
    const model = usable.find(({ modelId, name, location }) => [modelId, name, location].includes(named));
    return model === undefined
      ? { yaml: withModel(yaml, chancePolicy), model: null, chosen: false, own: false }
      : { yaml, model, chosen: false, own: false };
  }
  const starter = models.find(({ name }) => name === bundled);
  const own = smallest(usable.filter((one) => one.name !== bundled && !isMadeFrom(starter, one)));
  const model = own ?? usable.find((one) => one === starter) ?? smallest(usable);
  return model === undefined
    ? { yaml: withModel(yaml, chancePolicy), model: null, chosen: false, own: false }
    : { yaml: withModel(yaml, model.modelId), model, chosen: true, own: own !== undefined };
}

export function usePresetRun(presetId: string) {
  const presets = useQuery(orpc.runs.presets.queryOptions({ staleTime: 60_000 }));
  const models = useQuery(orpc.models.list.queryOptions());
  const yamlOf = (id: string) => presets.data?.find((candidate) => candidate.presetId === id)?.yaml;
  const own = yamlOf(presetId);
  const bundled = ownModel(yamlOf('quickstart') ?? '');
  const ready =
    own === undefined || models.data === undefined ? null : readyPreset(own, models.data, bundled);
  const yaml = ready?.yaml ?? null;
  const check = useQuery({
    ...orpc.runs.check.queryOptions({ input: { yaml: yaml ?? '' } }),
    enabled: yaml !== null,
  });
  return {
    preset: presets.data?.find((candidate) => candidate.presetId === presetId),
    model: ready?.model ?? null,
    /** The preset leaves its model open, and one that is the user's own is there for it. */
    own: ready?.own === true,
    /** Where it is set up with the very model that the estimate is for. */
    href: `/runs/new?preset=${presetId}${ready?.chosen === true ? `&model=${encodeURIComponent(ready.model?.modelId ?? '')}` : ''}`,
    yaml,
    check,
    error: presets.error ?? models.error ?? check.error,
  };
}
