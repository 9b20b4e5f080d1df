import { describe, expect, it } from 'vitest';
import { assign } from '#core/runs/assign.ts';
import { commandFor } from '#core/runs/command.ts';
import { builtInPresets } from '#core/runs/presets.ts';
import { parseRun } from '#core/runs/yaml.ts';

const familyOf = (): string => 'household';

function runOf(preset: string, sets: readonly string[]) {
  const yaml = builtInPresets().find(({ presetId }) => presetId === preset)?.yaml ?? '';
  const { run, problems } = parseRun(assign(yaml, sets), familyOf);
  if (run === null) throw new Error(JSON.stringify(problems));
  return run;
}

describe('presets', () => {
  it('are all valid once a model is chosen, and each says what it reproduces', () => {
    const presets = builtInPresets();
    expect(presets.length).toBeGreaterThanOrEqual(5);
    for (const { presetId, title, summary, reproduces } of presets) {
      expect(runOf(presetId, ['policy.model=m.gguf'])).toMatchObject({ policy: { model: 'm.gguf' } });
      expect([title, summary, reproduces].every((text) => text.length > 5)).toBe(true);
    }
  });

  it('take the model as their only open question; the quick ones have the starter', () => {
    for (const { presetId, yaml } of builtInPresets()) {
      const open = ['quickstart', 'rollout-quick'].includes(presetId) ? [] : ['policy.model'];
      expect(parseRun(yaml, familyOf).problems.map(({ path }) => path)).toEqual(open);
    }
  });
});

describe('commandFor', () => {
  it('names the nearest preset and what differs from it', () => {
    const run = runOf('early-experience-small', ['policy.model=/m/a b.gguf', 'branching.sr.k=4', 'seed=9']);
    expect(commandFor(run, builtInPresets(), familyOf)).toBe(
      `daydream run early-experience-small --set seed=9 --set 'policy.model="/m/a b.gguf"' --set branching.sr.k=4`,
    );
  });

  it('adds nothing to a preset that only got its model', () => {
    for (const { presetId } of builtInPresets()) {
      const run = runOf(presetId, ['policy.model=m.gguf']);
      expect(commandFor(run, builtInPresets(), familyOf)).toBe(
        `daydream run ${presetId} --set policy.model=m.gguf`,
      );
    }
  });

  it('gives a command that leads back to the very same run', () => {
    const run = runOf('rollout-household', [
      'policy.model=x.gguf',
      'environment.taskTypes=[cool]',
      "name=it's mine",
    ]);
    const words = [
      ...commandFor(run, builtInPresets(), familyOf).matchAll(/--set (?:'((?:[^']|'\\'')*)'|(\S+))/g),
    ];
    const sets = words.map(([, single, plain]) => (single ?? plain ?? '').replaceAll(`'\\''`, "'"));
    expect(runOf('rollout-household', sets)).toEqual(run);
  });
});
