/** The command line that starts the same run: the nearest preset plus what differs from it. */
import type { Preset, Run } from '#shared/schema/run.ts';
import { runSchema } from '#shared/schema/run.ts';
import { parse } from 'yaml';
import type { FamilyOf } from '#core/early-experience/index.ts';
import { withProfile } from '#core/early-experience/index.ts';

type Leaves = Map<string, unknown>;

/** Dotted path → value; lists count as one value, because `--set` replaces them whole. */
function leaves(value: unknown, path = '', found: Leaves = new Map()): Leaves {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return found.set(path, value);
  for (const [key, child] of Object.entries(value))
    leaves(child, path === '' ? key : `${path}.${key}`, found);
  return found;
}

/** What `run` has otherwise than `base`; null when `base` has something that no `--set` can take away. */
function difference(run: Leaves, base: Leaves): [string, unknown][] | null {
  if ([...base.keys()].some((path) => !run.has(path))) return null;
  return [...run].filter(([path, value]) => JSON.stringify(value) !== JSON.stringify(base.get(path)));
}

/** One shell word for POSIX shells. */
export function shellWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

/** YAML flow values are JSON, except that plain words need no quotes. */
function flow(value: unknown): string {
  return typeof value === 'string' && /^[A-Za-z./][\w./-]*$/.test(value) ? value : JSON.stringify(value);
}

/** A preset with its model still open counts as any model: choosing it is one `--set`. */
function presetLeaves({ yaml }: Preset, familyOf: FamilyOf): Leaves | null {
  const value = parse(yaml) as { policy?: { model?: string } } | null;
  if (value?.policy?.model === '') value.policy.model = ' ';
  const parsed = runSchema.safeParse(withProfile(value, familyOf));
  return parsed.success ? leaves(parsed.data) : null;
}

export function commandFor(run: Run, presets: readonly Preset[], familyOf: FamilyOf): string {
  const wanted = leaves(run);
  let best: { presetId: string; sets: [string, unknown][] } | null = null;
  for (const preset of presets) {
    const base = presetLeaves(preset, familyOf);
    const sets = base === null ? null : difference(wanted, base);
    if (sets === null || (best !== null && best.sets.length <= sets.length)) continue;
    best = { presetId: preset.presetId, sets };
  }
  if (best === null) return 'daydream run FILE.yaml';
  const words = best.sets.map(([path, value]) => `--set ${shellWord(`${path}=${flow(value)}`)}`);
  return ['daydream run', shellWord(best.presetId), ...words].join(' ');
}
