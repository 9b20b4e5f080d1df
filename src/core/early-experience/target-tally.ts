/**
 * What a world model would mostly learn from the exported rows: the loss is summed over target tokens, so a command with a long answer
 * (`help`) may weigh more than its rows. Faithful to the uniform sampler, and shown; `branching.iwm.excludeActions` changes it.
 */
import type { Manifest, SftRow } from '#shared/schema/dataset.ts';
import { canonicalAction } from '#core/agents/index.ts';

type Targets = NonNullable<Manifest['iwmTargets']>;
type KindCount = Targets['kinds'][number];

/** Open action spaces have thousands of kinds; those beyond are one line. */
const MOST_KINDS = 20;

/** The command without its arguments: `go to desk 1` → `go`, `click[buy now]` → `click`, `{"name": "ls", …}` → `ls`. */
export function actionKind(action: string): string {
  const canonical = canonicalAction(action);
  const name = canonical.startsWith('{') ? /"name"\s*:\s*"([^"]*)"/u.exec(canonical)?.[1] : undefined;
  return name ?? /^[\p{L}\p{N}_-]+/u.exec(canonical)?.[0] ?? canonical.slice(0, 20);
}

export class TargetTally {
  readonly #texts = new Set<string>();
  readonly #kinds = new Map<string, { rows: number; characters: number; texts: Set<string> }>();

  /** @param row of `iwm_sft`, written */
  add({ messages, meta }: SftRow): void {
    // With its delimiter: the loss is taken over that too.
    const text = messages.at(-1)?.content ?? '';
    this.#texts.add(text);
    const kind = actionKind(meta.action);
    const count = this.#kinds.get(kind) ?? { rows: 0, characters: 0, texts: new Set() };
    count.rows += 1;
    count.characters += text.length;
    count.texts.add(text);
    this.#kinds.set(kind, count);
  }

  /** Kinds by their characters, the biggest first; their rows and characters sum to the whole. null without rows. */
  result(): Targets | null {
    const kinds = [...this.#kinds]
      .map(([kind, { rows, characters, texts }]): KindCount => ({
        kind,
        rows,
        characters,
        distinct: texts.size,
      }))
      .sort((a, b) => b.characters - a.characters || (a.kind < b.kind ? -1 : 1));
    if (kinds.length === 0) return null;
    const total = (of: 'rows' | 'characters', among: readonly KindCount[]) =>
      among.reduce((sum, one) => sum + one[of], 0);
    return {
      rows: total('rows', kinds),
      characters: total('characters', kinds),
      distinct: this.#texts.size,
      kinds: kinds.slice(0, MOST_KINDS),
    };
  }
}
